"""A compacted topic as librdkafka (confluent-kafka) sees it: the latest record of each key, offsets unchanged, before and after.

    latest_per_key.py BOOTSTRAP [--fanlog]

Prints a line for each check: `ok` or `failed`, a tab, and what. It wants a broker whose cleaner looks for work often
(log.cleaner.backoff.ms). It runs against Apache Kafka, too.
"""

import random
import sys
import time
import uuid

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]
ROUNDS = 10
RECORDS_A_ROUND = 1500
KEYS = 300
# A few segments of the smallest size that both brokers take.
VALUE_BYTES = 600
PATIENCE_S = 90
TOPIC = f"compacted-{uuid.uuid4().hex[:8]}"
SETTINGS = {
    "cleanup.policy": "compact",
    "segment.bytes": "1048576",
    "min.cleanable.dirty.ratio": "0.01",
    "delete.retention.ms": "100",
}


def produce(bootstrap):
    """Keys again and again, with every codec, some of them tombstones; what was acknowledged, by offset."""
    chance = random.Random(1)
    acknowledged = {}

    def on_delivery(error, message):
        if error is not None:
            raise RuntimeError(error)
        acknowledged[message.offset()] = (message.key(), message.value())

    for number in range(ROUNDS):
        producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "compression.type": CODECS[number % len(CODECS)],
                "enable.idempotence": True,
                "linger.ms": 5,
            }
        )
        for _ in range(RECORDS_A_ROUND):
            key = b"key-%d" % chance.randrange(KEYS)
            value = None if chance.random() < 0.05 else chance.randbytes(VALUE_BYTES)
            producer.produce(TOPIC, key=key, value=value, on_delivery=on_delivery)
            producer.poll(0)
        producer.flush()
    return acknowledged


def read(bootstrap):
    """Every record from the start on, and where the log ends."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": TOPIC,
            "enable.partition.eof": True,
            "enable.auto.commit": False,
            "check.crcs": True,
        }
    )
    partition = TopicPartition(TOPIC, 0, 0)
    consumer.assign([partition])
    records = []
    while True:
        message = consumer.poll(20)
        if message is None:
            raise RuntimeError(f"the consumer is stuck at {consumer.position([partition])}")
        if message.error():
            break
        records.append((message.offset(), message.key(), message.value()))
    _, end = consumer.get_watermark_offsets(partition)
    consumer.close()
    return records, end


def state(records):
    """What a reader from the start on ends up with."""
    latest = {}
    for offset, key, value in records:
        if value is None:
            latest.pop(key, None)
        else:
            latest[key] = (offset, value)
    return latest


def check_reading(records, end, acknowledged):
    offsets = [offset for offset, _, _ in records]
    if end != len(acknowledged):
        return f"the log ends at {end}, and {len(acknowledged)} records were acknowledged"
    if offsets != sorted(set(offsets)):
        return "offsets do not rise"
    for offset, key, value in records:
        if acknowledged[offset] != (key, value):
            return f"another record than the one acknowledged is at offset {offset}"
    expected = state((offset, *acknowledged[offset]) for offset in sorted(acknowledged))
    if state(records) != expected:
        return "a reader from the start on does not end up with the latest of each key"
    return None


def main():
    bootstrap = sys.argv[1]
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for future in admin.create_topics([NewTopic(TOPIC, 1, 1, config=SETTINGS)]).values():
        future.result()
    acknowledged = produce(bootstrap)
    until = time.monotonic() + PATIENCE_S
    readings, count = 0, len(acknowledged)
    # What the active segment holds is not compacted: a fifth is left or less.
    while count > len(acknowledged) / 5:
        records, end = read(bootstrap)
        readings += 1
        fault = check_reading(records, end, acknowledged)
        if fault is None and time.monotonic() > until:
            fault = f"{len(records)} of {len(acknowledged)} records are left after {PATIENCE_S} s"
        if fault is not None:
            print(f"failed\treading {readings}: {fault}", flush=True)
            sys.exit(1)
        count = len(records)
        time.sleep(0.5)
    print(f"ok\t{len(acknowledged)} records of {KEYS} keys became {count}, offsets unchanged, in each of {readings} readings", flush=True)
    for future in admin.delete_topics([TOPIC]).values():
        future.result()


main()
