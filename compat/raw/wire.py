"""Just enough of the Kafka protocol over a plain socket to look at a broker and to send it what no client library would.

Standard library only. Requests are written by hand in old, fixed versions, so that a mistake here cannot hide one in a library.
"""

import itertools
import socket
import struct
import time

PRODUCE, FETCH, LIST_OFFSETS, METADATA = 0, 1, 2, 3
OFFSET_COMMIT, OFFSET_FETCH, FIND_COORDINATOR, JOIN_GROUP, SYNC_GROUP = 8, 9, 10, 11, 14
DESCRIBE_GROUPS, API_VERSIONS, CREATE_TOPICS, DELETE_TOPICS, INIT_PRODUCER_ID = 15, 18, 19, 20, 22
CONSUMER_GROUP_DESCRIBE = 69

COORDINATOR_LOADING = 14

CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]


class Closed(Exception):
    """The broker closed the connection."""


def i8(n):
    return struct.pack(">b", n)


def i16(n):
    return struct.pack(">h", n)


def i32(n):
    return struct.pack(">i", n)


def i64(n):
    return struct.pack(">q", n)


def string(text):
    if text is None:
        return i16(-1)
    data = text.encode()
    return i16(len(data)) + data


def data(blob):
    return i32(-1) if blob is None else i32(len(blob)) + blob


def array(items):
    items = list(items)
    return i32(len(items)) + b"".join(items)


def uvarint(n):
    out = b""
    while n >= 0x80:
        out += bytes([n & 0x7F | 0x80])
        n >>= 7
    return out + bytes([n])


def varint(n):
    return uvarint((n << 1) ^ (n >> 63) if n < 0 else n << 1)


def compact_string(text):
    if text is None:
        return uvarint(0)
    encoded = text.encode()
    return uvarint(len(encoded) + 1) + encoded


def compact_array(items):
    items = list(items)
    return uvarint(len(items) + 1) + b"".join(items)


NO_TAGS = uvarint(0)


class Reader:
    """Reads an answer; `done` says that nothing was left over."""

    def __init__(self, blob):
        self.blob = blob
        self.at = 0

    def take(self, count):
        if count < 0 or self.at + count > len(self.blob):
            raise ValueError(f"{count} bytes wanted at {self.at} of {len(self.blob)}")
        self.at += count
        return self.blob[self.at - count : self.at]

    def number(self, layout):
        return struct.unpack(layout, self.take(struct.calcsize(layout)))[0]

    def i8(self):
        return self.number(">b")

    def i16(self):
        return self.number(">h")

    def i32(self):
        return self.number(">i")

    def i64(self):
        return self.number(">q")

    def uvarint(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def varint(self):
        value = self.uvarint()
        return (value >> 1) ^ -(value & 1)

    def string(self):
        length = self.i16()
        return None if length < 0 else self.take(length).decode()

    def compact_string(self):
        length = self.uvarint() - 1
        return None if length < 0 else self.take(length).decode()

    def data(self):
        length = self.i32()
        return None if length < 0 else self.take(length)

    def array(self, item):
        return [item() for _ in range(max(self.i32(), 0))]

    def compact_array(self, item):
        return [item() for _ in range(max(self.uvarint() - 1, 0))]

    def tags(self):
        return {self.uvarint(): self.take(self.uvarint()) for _ in range(self.uvarint())}

    def done(self):
        if self.at != len(self.blob):
            raise ValueError(f"{len(self.blob) - self.at} bytes left over")


class Connection:
    """One TCP connection. Every wait is bounded."""

    def __init__(self, bootstrap, timeout=15):
        host, port = bootstrap.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout)
        self.ids = itertools.count(1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send_raw(self, blob):
        try:
            self.socket.sendall(blob)
        except OSError as error:
            raise Closed(str(error)) from error

    def frame(self, key, version, body, is_flexible=False):
        """A request frame and its correlation id."""
        correlation = next(self.ids)
        header = i16(key) + i16(version) + i32(correlation) + string("raw") + (NO_TAGS if is_flexible else b"")
        return i32(len(header) + len(body)) + header + body, correlation

    def receive_raw(self):
        size = struct.unpack(">i", self._read(4))[0]
        return self._read(size)

    def receive(self, correlation, is_flexible=False):
        reader = Reader(self.receive_raw())
        found = reader.i32()
        if found != correlation:
            raise ValueError(f"answer to request {found}, expected one to {correlation}")
        if is_flexible:
            reader.tags()
        return reader

    def ask(self, key, version, body, is_flexible=False, has_flexible_header=None):
        """Sends one request and returns a reader at the start of the answer's body."""
        frame, correlation = self.frame(key, version, body, is_flexible)
        self.send_raw(frame)
        flexible = is_flexible if has_flexible_header is None else has_flexible_header
        return self.receive(correlation, flexible)

    def is_closed(self):
        """True if the broker closes (or has closed) the connection without a further byte."""
        try:
            return self.socket.recv(1) == b""
        except ConnectionError:
            return True

    def _read(self, count):
        out = b""
        while len(out) < count:
            try:
                chunk = self.socket.recv(count - len(out))
            except ConnectionError as error:
                raise Closed(str(error)) from error
            if not chunk:
                raise Closed(f"connection closed after {len(out)} of {count} bytes")
            out += chunk
        return out


def metadata(connection, topic):
    """Metadata v4 without auto-creation: (topic error, partition numbers)."""
    answer = connection.ask(METADATA, 4, array([string(topic)]) + i8(0))
    answer.i32()
    answer.array(lambda: (answer.i32(), answer.string(), answer.i32(), answer.string()))
    answer.string()
    answer.i32()

    def partition():
        fields = (answer.i16(), answer.i32(), answer.i32())
        answer.array(answer.i32)
        answer.array(answer.i32)
        return fields[1]

    def one():
        return answer.i16(), answer.string(), answer.i8(), answer.array(partition)

    topics = answer.array(one)
    answer.done()
    error, _, _, partitions = topics[0]
    return error, sorted(partitions)


def fetch(connection, topic, partition, offset, max_bytes=1 << 20, wait_ms=0, min_bytes=1):
    """Fetch v4 of one partition: (error, high watermark, record bytes)."""
    wanted = i32(partition) + i64(offset) + i32(max_bytes)
    body = i32(-1) + i32(wait_ms) + i32(min_bytes) + i32(max_bytes) + i8(0)
    answer = connection.ask(FETCH, 4, body + array([string(topic) + array([wanted])]))
    answer.i32()

    def one():
        fields = (answer.i32(), answer.i16(), answer.i64(), answer.i64())
        answer.array(lambda: (answer.i64(), answer.i64()))
        return fields[1], fields[2], answer.data()

    topics = answer.array(lambda: (answer.string(), answer.array(one)))
    answer.done()
    return topics[0][1][0]


def batches(records):
    """(base offset, codec, last offset) of each whole batch."""
    at = 0
    while at + 61 <= len(records):
        base, length = struct.unpack(">qi", records[at : at + 12])
        if at + 12 + length > len(records):
            return
        attributes, last_delta = struct.unpack(">hi", records[at + 21 : at + 27])
        yield base, CODECS[attributes & 7], base + last_delta
        at += 12 + length


def describe_group(connection, group):
    """DescribeGroups v0: (error, state, member ids)."""
    answer = connection.ask(DESCRIBE_GROUPS, 0, array([string(group)]))

    def member():
        fields = (answer.string(), answer.string(), answer.string())
        answer.data()
        answer.data()
        return fields[0]

    def one():
        fields = (answer.i16(), answer.string(), answer.string(), answer.string(), answer.string())
        return fields[0], fields[2], answer.array(member)

    found = answer.array(one)
    answer.done()
    return found[0]


def describe_consumer_group(connection, group):
    """ConsumerGroupDescribe v0, of groups of the new protocol: (error, state, member ids)."""
    body = compact_array([compact_string(group)]) + b"\0" + b"\0"
    answer = connection.ask(CONSUMER_GROUP_DESCRIBE, 0, body, is_flexible=True)
    answer.i32()

    def partitions():
        answer.take(16)
        answer.compact_string()
        answer.compact_array(answer.i32)
        answer.tags()

    def assignment():
        answer.compact_array(partitions)
        answer.tags()

    def member():
        member_id = answer.compact_string()
        answer.compact_string(), answer.compact_string(), answer.i32(), answer.compact_string(), answer.compact_string()
        answer.compact_array(answer.compact_string)
        answer.compact_string()
        assignment()
        assignment()
        answer.tags()
        return member_id

    def one():
        error, _, _, state = answer.i16(), answer.compact_string(), answer.compact_string(), answer.compact_string()
        answer.i32(), answer.i32(), answer.compact_string()
        members = answer.compact_array(member)
        answer.i32()
        answer.tags()
        return error, state, members

    found = answer.compact_array(one)
    answer.tags()
    answer.done()
    return found[0]


_CRC_TABLE = []
for _byte in range(256):
    _crc = _byte
    for _ in range(8):
        _crc = (_crc >> 1) ^ 0x82F63B78 if _crc & 1 else _crc >> 1
    _CRC_TABLE.append(_crc)


def crc32c(blob):
    crc = 0xFFFFFFFF
    for byte in blob:
        crc = _CRC_TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def batch(values, timestamp, producer_id=-1, epoch=-1, sequence=-1, key=b"k"):
    """A plain record batch, magic 2."""
    records = b""
    for delta, value in enumerate(values):
        record = i8(0) + varint(0) + varint(delta) + varint(len(key)) + key + varint(len(value)) + value + varint(0)
        records += varint(len(record)) + record
    sealed = (
        i16(0) + i32(len(values) - 1) + i64(timestamp) + i64(timestamp)
        + i64(producer_id) + i16(epoch) + i32(sequence) + i32(len(values)) + records
    )
    body = i32(-1) + i8(2) + struct.pack(">I", crc32c(sealed)) + sealed
    return i64(0) + i32(len(body)) + body


def produce_body(topic, partition, records, acks=-1):
    """The body of Produce v3."""
    return string(None) + i16(acks) + i32(10000) + array([string(topic) + array([i32(partition) + data(records)])])


def produce(connection, topic, partition, records, acks=-1):
    """Produce v3: (error, base offset)."""
    answer = connection.ask(PRODUCE, 3, produce_body(topic, partition, records, acks))
    topics = answer.array(
        lambda: (answer.string(), answer.array(lambda: (answer.i32(), answer.i16(), answer.i64(), answer.i64())))
    )
    answer.i32()
    answer.done()
    _, error, base, _ = topics[0][1][0]
    return error, base


def create_topic(connection, topic, partitions=1, configs=()):
    """CreateTopics v2: the error."""
    entries = array(string(name) + string(value) for name, value in configs)
    wanted = string(topic) + i32(partitions) + i16(1) + array([]) + entries
    answer = connection.ask(CREATE_TOPICS, 2, array([wanted]) + i32(15000) + i8(0))
    answer.i32()
    topics = answer.array(lambda: (answer.string(), answer.i16(), answer.string()))
    answer.done()
    return topics[0][1]


def delete_topic(connection, topic):
    """DeleteTopics v1: the error."""
    answer = connection.ask(DELETE_TOPICS, 1, array([string(topic)]) + i32(15000))
    answer.i32()
    return answer.array(lambda: (answer.string(), answer.i16()))[0][1]


def init_producer_id(connection, transactional_id=None):
    """InitProducerId v0: (error, producer id, epoch). A broker that is still loading is asked again."""
    deadline = time.monotonic() + 20
    while True:
        answer = connection.ask(INIT_PRODUCER_ID, 0, string(transactional_id) + i32(60000))
        answer.i32()
        fields = (answer.i16(), answer.i64(), answer.i16())
        answer.done()
        if fields[0] != COORDINATOR_LOADING or time.monotonic() > deadline:
            return fields
        time.sleep(0.1)


def list_offset(connection, topic, partition, timestamp):
    """ListOffsets v1: (error, offset)."""
    wanted = string(topic) + array([i32(partition) + i64(timestamp)])
    answer = connection.ask(LIST_OFFSETS, 1, i32(-1) + array([wanted]))
    topics = answer.array(
        lambda: (answer.string(), answer.array(lambda: (answer.i32(), answer.i16(), answer.i64(), answer.i64())))
    )
    answer.done()
    _, error, _, offset = topics[0][1][0]
    return error, offset
