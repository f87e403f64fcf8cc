"""Fetch: every version, limits, long polls."""

import time
import uuid

from probing import OFFSET_OUT_OF_RANGE, Topic, UNKNOWN_TOPIC, UNKNOWN_TOPIC_ID, expect, now, probe
from wire import (
    Connection, FETCH, NO_TAGS, array, batch, batches, compact_array, compact_string, fetch, i16, i32, i64, i8,
    produce, string, uvarint,
)


@probe
def p8_fetch_of_an_unknown_topic_is_answered_in_the_requests_version(bootstrap):
    for version in range(4, 19):
        with Connection(bootstrap) as connection:
            error = fetch_unknown(connection, version)
            wanted = UNKNOWN_TOPIC_ID if version >= 13 else UNKNOWN_TOPIC
            expect(error == wanted, f"v{version}: error {error}, expected {wanted}")


def fetch_unknown(connection, version):
    """Asks for a topic that is not there, in any version; every byte of the answer must be accounted for."""
    is_flexible = version >= 12
    topic = uuid.uuid4().bytes if version >= 13 else None
    name = f"absent-{uuid.uuid4()}"
    partition = i32(0)
    partition += i32(-1) if version >= 9 else b""
    partition += i64(0)
    partition += i32(-1) if version >= 12 else b""
    partition += i64(-1) if version >= 5 else b""
    partition += i32(1 << 20) + (NO_TAGS if is_flexible else b"")
    many = compact_array if is_flexible else array
    text = compact_string if is_flexible else string
    wanted = (topic if version >= 13 else text(name)) + many([partition]) + (NO_TAGS if is_flexible else b"")
    body = i32(-1) if version <= 14 else b""
    body += i32(0) + i32(1) + i32(1 << 20) + i8(0)
    body += i32(0) + i32(-1) if version >= 7 else b""
    body += many([wanted])
    body += many([]) if version >= 7 else b""
    body += text("") if version >= 11 else b""
    body += NO_TAGS if is_flexible else b""
    answer = connection.ask(FETCH, version, body, is_flexible)
    answer.i32()
    if version >= 7:
        expect(answer.i16() == 0, f"v{version}: an error of the whole answer")
        answer.i32()
    many = answer.compact_array if is_flexible else answer.array

    def aborted():
        answer.i64(), answer.i64()
        return answer.tags() if is_flexible else None

    def one():
        answer.i32()
        error = answer.i16()
        answer.i64(), answer.i64()
        if version >= 5:
            answer.i64()
        many(aborted)
        if version >= 11:
            answer.i32()
        length = answer.uvarint() - 1 if is_flexible else answer.i32()
        answer.take(max(length, 0))
        if is_flexible:
            answer.tags()
        return error

    def one_topic():
        if version >= 13:
            answer.take(16)
        else:
            (answer.compact_string if is_flexible else answer.string)()
        errors = many(one)
        if is_flexible:
            answer.tags()
        return errors

    topics = many(one_topic)
    if is_flexible:
        answer.tags()
    answer.done()
    return topics[0][0]


@probe
def p7_an_empty_partition_is_zero_bytes_and_not_null(bootstrap):
    with Topic(bootstrap) as topic, Connection(bootstrap) as connection:
        error, end, records = fetch(connection, topic, 0, 0)
        expect((error, end, records) == (0, 0, b""), f"error {error}, end {end}, records {records!r}")


@probe
def p67_an_offset_inside_a_batch_brings_the_whole_batch(bootstrap):
    with Topic(bootstrap) as topic, Connection(bootstrap) as connection:
        produce(connection, topic, 0, batch([b"a0", b"a1"], now()))
        _, _, records = fetch(connection, topic, 0, 1)
        expect([base for base, _, _ in batches(records)] == [0], "not the batch that holds offset 1")


@probe
def p59_the_first_batch_comes_whole_whatever_the_limit(bootstrap):
    with Topic(bootstrap) as topic, Connection(bootstrap) as connection:
        produce(connection, topic, 0, batch([b"x" * 5000], now()))
        _, _, records = fetch(connection, topic, 0, 0, max_bytes=10)
        expect(len(list(batches(records))) == 1, f"{len(records)} bytes hold no whole batch")


@probe
def an_offset_past_the_end_is_out_of_range(bootstrap):
    with Topic(bootstrap) as topic, Connection(bootstrap) as connection:
        error, _, _ = fetch(connection, topic, 0, 7)
        expect(error == OFFSET_OUT_OF_RANGE, f"error {error}, expected {OFFSET_OUT_OF_RANGE}")


@probe
def a_long_poll_ends_with_the_first_record(bootstrap):
    with Topic(bootstrap) as topic, Connection(bootstrap) as reader, Connection(bootstrap) as writer:
        wanted = i32(0) + i64(0) + i32(1 << 20)
        body = i32(-1) + i32(10000) + i32(1) + i32(1 << 20) + i8(0) + array([string(topic) + array([wanted])])
        frame, correlation = reader.frame(FETCH, 4, body)
        started = time.monotonic()
        reader.send_raw(frame)
        produce(writer, topic, 0, batch([b"x"], now()))
        reader.receive(correlation)
        waited = time.monotonic() - started
        expect(waited < 5, f"answered after {waited:.1f} s of a poll of 10 s")


@probe
def batches_are_served_byte_for_byte(bootstrap):
    with Topic(bootstrap) as topic, Connection(bootstrap) as connection:
        sent = batch([b"a", b"b", b"c"], now())
        produce(connection, topic, 0, sent)
        _, _, records = fetch(connection, topic, 0, 0)
        # Base offset (8 bytes) and leader epoch (4 bytes at 12) are the broker's.
        expect(records[8:12] == sent[8:12] and records[16:] == sent[16:], "LOG-4: the bytes changed")
