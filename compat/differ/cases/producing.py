"""Produce: what is appended, and every reason to refuse it."""

import gzip
import struct

from session import ANSWER_SECONDS, CLOSED, NO_ID, SILENCE_SECONDS, SILENT, STRANGE_ID
from wire import batch, crc32c, i8, i32, i64, varint

LAST_SEQUENCE = 2**31 - 1


def sealed(blob, **changes):
    """The batch with header fields changed, and its checksum made right again."""
    places = {
        "length": (8, ">i"), "epoch": (12, ">i"), "magic": (16, ">b"), "attributes": (21, ">h"), "last": (23, ">i"),
        "first_time": (27, ">q"), "max_time": (35, ">q"), "producer": (43, ">q"), "producer_epoch": (51, ">h"),
        "sequence": (53, ">i"), "count": (57, ">i"),
    }
    out = bytearray(blob)
    for name, value in changes.items():
        at, layout = places[name]
        struct.pack_into(layout, out, at, value)
    struct.pack_into(">I", out, 17, crc32c(bytes(out[21:])))
    return bytes(out)


def record(delta, key=b"k", value=b"v", time=0, headers=(), attributes=0):
    field = lambda blob: varint(-1) if blob is None else varint(len(blob)) + blob
    body = i8(attributes) + varint(time) + varint(delta) + field(key) + field(value) + varint(len(headers))
    body += b"".join(field(name) + field(content) for name, content in headers)
    return varint(len(body)) + body


def batch_of(side, *records, count=None, last=None, **changes):
    """A batch of hand-made records."""
    count = len(records) if count is None else count
    blank = batch([], side.past)
    blob = blank[:57] + i32(count) + b"".join(records)
    last = count - 1 if last is None else last
    return sealed(blob, length=len(blob) - 12, last=last, **changes)


class Producing:
    """Produce to one topic, in one version."""

    def __init__(self, side, topic, version):
        self.side, self.topic, self.version = side, topic, version

    def ask(self, note, records, acks=-1, partition=0, on="main", **fields):
        topic_id = self.side.ids.get(self.topic, STRANGE_ID)
        wanted = {"Name": self.topic, "TopicId": topic_id, "PartitionData": [{"Index": partition, "Records": records}]}
        fields = {"Acks": acks, "TimeoutMs": 10000, "TopicData": [wanted]} | fields
        return self.side.ask("Produce", self.version, note, on=on, **fields)


def each_version(side, name, **configs):
    for version in side.apis["Produce"].versions():
        topic = side.topic(f"{name}-{version}", **configs)
        yield Producing(side, topic, version)


def produce(side):
    for to in each_version(side, "t"):
        to.ask("one", side.batch([b"a"]))
        to.ask("three", side.batch([b"b", b"c", b"d"], 5))
        to.ask("acks 1", side.batch([b"e"]), acks=1)
        for acks in (2, -2, 17):
            to.ask(f"acks {acks}", side.batch([b"x"]), acks=acks)
        to.ask("unknown partition", side.batch([b"x"]), partition=1)
        to.ask("negative partition", side.batch([b"x"]), partition=-1)
        to.ask("null records", None, seconds=SILENCE_SECONDS)
        to.ask("empty records", b"")
        to.ask("two batches", side.batch([b"x"]) + side.batch([b"y"]))
        to.ask("headers", batch_of(side, record(0, headers=[(b"h", b"1"), (b"h", None), (b"", b"")])))
        to.ask("no key", batch_of(side, record(0, key=None)))
        to.ask("no value", batch_of(side, record(0, value=None)))
        to.ask("nothing", None, TopicData=[])
        ident = {"Name": to.topic, "TopicId": side.ids[to.topic]}
        to.ask("topic without partitions", None, TopicData=[ident | {"PartitionData": []}])
        good = {"Index": 0, "Records": side.batch([b"x"])}
        bad = {"Index": 7, "Records": side.batch([b"x"])}
        to.ask("good and bad partition", None, TopicData=[ident | {"PartitionData": [good, bad]}])
        stored(side, to)
        to.ask("partition twice", None, TopicData=[ident | {"PartitionData": [good, good]}])


def stored(side, to):
    """What a consumer finds afterwards."""
    wanted = {"Partition": 0, "FetchOffset": 0, "PartitionMaxBytes": 1 << 20}
    topics = [{"Topic": to.topic, "TopicId": side.ids[to.topic], "Partitions": [wanted]}]
    side.ask("Fetch", 12, f"stored by v{to.version}", MaxWaitMs=0, MinBytes=0, Topics=topics)


def unknown_topics(side):
    for version in side.apis["Produce"].versions():
        to = Producing(side, side.topic_name("never"), version)
        to.ask("unknown", side.batch([b"x"]))
        for name in ("", "a b", "__cluster_metadata", "__transaction_state"):
            part = {"Index": 0, "Records": side.batch([b"x"])}
            to.ask(f"name {name!r}", None, TopicData=[{"Name": name, "TopicId": STRANGE_ID, "PartitionData": [part]}])
        part = {"Index": 0, "Records": side.batch([b"x"])}
        to.ask("no id", None, TopicData=[{"Name": to.topic, "TopicId": NO_ID, "PartitionData": [part]}])
    side.group("g")  # so that the topic of offsets exists on both
    for version in side.apis["Produce"].versions():
        if version < 13:
            part = {"Index": 0, "Records": batch_of(side, record(0))}
            topics = [{"Name": "__consumer_offsets", "PartitionData": [part]}]
            side.ask("Produce", version, "into offsets", Acks=-1, TimeoutMs=10000, TopicData=topics)


def no_acks(side):
    for to in each_version(side, "t"):
        quiet = lambda note, records, **fields: without_answer(side, to, note, records, **fields)
        quiet("good", side.batch([b"x"]))
        quiet("corrupt", b"\0" * 70)
        quiet("unknown partition", side.batch([b"x"]), partition=5)
        quiet("null records", None, seconds=SILENCE_SECONDS)
        side.until("the good one is there", lambda: side.end_offset(to.topic) == 1)


def without_answer(side, to, note, records, partition=0, seconds=ANSWER_SECONDS):
    """No answer comes: the next answer on the connection is the next request's, or the connection is closed."""
    link = side.link("no-acks")
    wanted = {"Name": to.topic, "TopicId": side.ids[to.topic], "PartitionData": [{"Index": partition, "Records": records}]}
    link.send(side.apis["Produce"], to.version, {"Acks": 0, "TimeoutMs": 1000, "TopicData": [wanted]})
    answer = link.receive(link.send(side.apis["ApiVersions"], 0, {}), seconds)
    side.note("Produce", to.version, f"acks 0, {note}: then", answer if answer in (CLOSED, SILENT) else "the next answer")
    side.drop("no-acks")


def bad_batches(side):
    for to in each_version(side, "t"):
        good = side.batch([b"one", b"two"])
        flipped = bytearray(good)
        flipped[-2] ^= 1
        to.ask("checksum", bytes(flipped))
        to.ask("cut off", good[:-3])
        to.ask("header only", good[:30])
        to.ask("one byte", good[:1])
        to.ask("zeros", b"\0" * 70)
        for magic in (0, 1, 3, -1):
            to.ask(f"magic {magic}", sealed(good, magic=magic))
        for length in (0, 48, 49, -1, LAST_SEQUENCE):
            to.ask(f"length {length}", sealed(good, length=length))
        for count in (0, 1, 3, -1, LAST_SEQUENCE):
            to.ask(f"count {count} of 2", sealed(good, count=count))
        for last in (0, 2, -1, LAST_SEQUENCE):
            to.ask(f"last delta {last} of 1", sealed(good, last=last))
        to.ask("offset not 0", i64(77) + good[8:])
        to.ask("leader epoch set", sealed(good, epoch=55))
        to.ask("control", sealed(good, attributes=0x20))
        to.ask("transactional, no producer", sealed(good, attributes=0x10))
        to.ask("unknown attribute", sealed(good, attributes=0x100))
        for codec in (1, 2, 3, 4, 5, 7):
            to.ask(f"codec {codec} on plain bytes", sealed(good, attributes=codec))
        to.ask("empty batch", batch_of(side))
        to.ask("deltas with a gap", batch_of(side, record(0), record(2), last=2))
        to.ask("bytes behind the records", batch_of(side, record(0) + b"\0\0", count=1))
        to.ask("record of no length", batch_of(side, varint(0), count=1))
        to.ask("record of negative length", batch_of(side, varint(-1), count=1))
        to.ask("record too long", batch_of(side, varint(500) + b"x", count=1))
        to.ask("record attributes", batch_of(side, record(0, attributes=1)))
        to.ask("header without a name", batch_of(side, record(0, headers=[(None, b"1")])))
        to.ask("negative header count", batch_of(side, varint(6) + i8(0) + varint(0) + varint(0) + varint(-1) + varint(-1) + varint(-1), count=1))
        to.ask("max time wrong", sealed(good, max_time=side.past + 99))
        to.ask("max time -1", sealed(good, max_time=-1))
        stored(side, to)


def lenient(side):
    """What Kafka lets through and Fanlog does not; each on a topic of its own."""
    good = side.batch([b"one", b"two"])
    for version in side.apis["Produce"].versions():
        for place, (note, blob) in enumerate(
            (
                ("trailing byte", good + b"\0"),
                ("append time set", sealed(good, attributes=0x8)),
                ("deltas start at 1", batch_of(side, record(1), record(2))),
                ("deltas backwards", batch_of(side, record(1), record(0))),
                ("gzip with bytes behind", batch_of(side, gzip.compress(record(0), mtime=0) + b"junk", count=1, attributes=1)),
            )
        ):
            Producing(side, side.topic(f"t-{version}-{place}"), version).ask(note, blob)


def compressed(side):

    for to in each_version(side, "t"):
        records = record(0) + record(1, value=b"w" * 100)
        packed = gzip.compress(records, mtime=0)
        blob = lambda body, count=2, **changes: batch_of(side, body, count=count, attributes=1, **changes)
        to.ask("gzip", blob(packed))
        to.ask("gzip cut off", blob(packed[:-12]))
        to.ask("gzip without trailer", blob(packed[:-8]))
        to.ask("gzip, wrong count", blob(packed, 3))
        to.ask("gzip, fewer than there are", blob(packed, 1))
        to.ask("gzip of nothing", blob(gzip.compress(b"", mtime=0), 0))
        to.ask("gzip, deltas start at 1", blob(gzip.compress(record(1) + record(2), mtime=0)))
        stored(side, to)


def timestamps(side):
    for to in each_version(side, "t"):
        to.ask("none", sealed(side.batch([b"x"]), first_time=-1, max_time=-1))
        to.ask("negative", sealed(side.batch([b"x"]), first_time=-2, max_time=-2))
        to.ask("zero", sealed(side.batch([b"x"]), first_time=0, max_time=0))
        to.ask("two hours ahead", batch([b"x"], side.now_ms + 7_200_000))
        to.ask("half an hour ahead", batch([b"x"], side.now_ms + 1_800_000))
        to.ask("overflow", sealed(side.batch([b"x"]), first_time=2**63 - 1, max_time=2**63 - 1))
        to.ask("second record ahead", batch_of(side, record(0), record(1, time=200_000_000)))
    for to in each_version(side, "before", message_timestamp_before_max_ms=1000):
        to.ask("too old", side.batch([b"x"]))
    for to in each_version(side, "append", message_timestamp_type="LogAppendTime"):
        to.ask("append time", side.batch([b"x"]))
        to.ask("append time, ahead", batch([b"x"], side.now_ms + 7_200_000))
        to.ask("append time set already", sealed(side.batch([b"x"]), attributes=0x8))
        stored(side, to)


def sizes(side):
    for to in each_version(side, "t", max_message_bytes=300):
        to.ask("fits", side.batch([b"x" * 100]))
        to.ask("too large", side.batch([b"x" * 400]))
        exact = 300 - len(side.batch([b""]))
        for more in (-3, -2, -1, 0, 1):
            to.ask(f"value of {exact + more}", side.batch([b"x" * (exact + more)]))
        to.ask("one of two too large", side.batch([b"x" * 100]) + side.batch([b"x" * 400]))
    for to in each_version(side, "segment", segment_bytes=1048576, max_message_bytes=2097152):
        if to.version in (3, 13):
            to.ask("larger than a segment", side.batch([b"x" * 1_100_000]))


def compacted(side):
    for to in each_version(side, "t", cleanup_policy="compact"):
        to.ask("keyed", batch_of(side, record(0)))
        to.ask("keyless", batch_of(side, record(0, key=None)))
        to.ask("the second of three is keyless", batch_of(side, record(0), record(1, key=None), record(2)))
        to.ask("two of three", batch_of(side, record(0, key=None), record(1), record(2, key=None)))
        to.ask("empty key", batch_of(side, record(0, key=b"")))
        stored(side, to)


def recompressed(side):
    """A topic's own codec: what comes out is compressed with it."""
    for to in each_version(side, "t", compression_type="uncompressed"):


        to.ask("plain", side.batch([b"x"]))
        to.ask("gzip", batch_of(side, gzip.compress(record(0), mtime=0), count=1, attributes=1))
        stored(side, to)


def sequences(side):
    for to in each_version(side, "t"):
        producer, epoch = side.producer_id()
        send = lambda note, first, count=1, who=producer, when=epoch: to.ask(
            note, side.batch([b"x"] * count, producer_id=who, epoch=when, sequence=first)
        )
        send("first", 0, 2)
        send("again", 0, 2)
        send("next", 2)
        send("both are known", 0, 2)
        send("gap", 5)
        send("part of a known one", 1)
        send("overlap", 2, 2)
        send("negative", -1)
        for first in range(3, 9):
            send(f"{first}", first)
        send("the fifth last", 4)
        send("the sixth last", 3)
        send("long ago", 0, 2)
        send("epoch up, not from 0", 3, when=epoch + 1)
        send("epoch up", 0, when=epoch + 1)
        send("old epoch", 9)
        send("old epoch from 0", 0, when=epoch)
        send("epoch up by 5", 0, when=epoch + 5)
        send("negative epoch", 0, when=-1)
        stranger = producer + 5_000_000
        send("a stranger from 0", 0, who=stranger)
        send("a stranger from 7", 7, who=stranger + 1)
        send("a stranger with epoch 3", 0, who=stranger + 2, when=3)
        send("id -1 with a sequence", 0, who=-1, when=0)
        send("id -2", 0, who=-2, when=0)
        wrap = producer + 6_000_000
        send("near the end", LAST_SEQUENCE - 2, 2, who=wrap)
        send("wraps within", LAST_SEQUENCE, 2, who=wrap)
        send("behind the wrap", 1, who=wrap)
        send("wrapped again", LAST_SEQUENCE, 2, who=wrap)
        two = [side.batch([b"x"], producer_id=wrap + 1, epoch=0, sequence=at) for at in (0, 1)]
        to.ask("two batches of a producer", two[0] + two[1])
        to.ask("transactional", sealed(side.batch([b"x"], producer_id=wrap + 2, epoch=0, sequence=0), attributes=0x10))
        to.ask("control", sealed(side.batch([b"x"], producer_id=wrap + 3, epoch=0, sequence=0), attributes=0x30))
        stored(side, to)
        producers(side, to, "afterwards")


def producers(side, to, note):
    wanted = [{"Name": to.topic, "PartitionIndexes": [0]}]
    answer = side.quietly("DescribeProducers", 0, Topics=wanted)
    found = answer["Topics"][0]["Partitions"][0]["ActiveProducers"]
    lines = sorted((each["ProducerEpoch"], each["LastSequence"], each["CoordinatorEpoch"], each["CurrentTxnStartOffset"]) for each in found)
    side.note("DescribeProducers", 0, f"{note}, Produce v{to.version}", lines)


def describe_producers(side):
    topic = side.topic("t", 2)
    producer, epoch = side.producer_id()
    ask = lambda note, *topics: side.ask(
        "DescribeProducers", 0, note, Topics=[{"Name": name, "PartitionIndexes": list(indexes)} for name, indexes in topics]
    )
    ask("nobody", (topic, [0, 1]))
    side.produce(topic, side.batch([b"x", b"y"], producer_id=producer, epoch=epoch, sequence=0))
    ask("one", (topic, [0, 1]))
    ask("unknown partition", (topic, [0, 2]))
    ask("negative partition", (topic, [-1]))
    ask("unknown topic", (side.topic_name("never"), [0]))
    ask("bad name", ("a b", [0]))
    ask("no partitions", (topic, []))
    ask("nothing")
    ask("twice", (topic, [0]), (topic, [0]))


CASES = [
    produce, unknown_topics, no_acks, bad_batches, lenient, compressed, timestamps, sizes, compacted, recompressed, sequences,
    describe_producers,
]
