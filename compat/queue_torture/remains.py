"""What is left at the end: the records of the topic and of the dead-letter topics, as a Kafka client reads them."""

import time

from confluent_kafka import Consumer, TopicPartition

from plan import message, value

SECONDS = 60


def records(bootstrap, topic, partitions):
    """All records of a topic: partition, offset, timestamp, key, value and headers, to the end as it is now."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "remains", "enable.auto.commit": False, "enable.partition.eof": False})
    ends, at = {}, []
    for partition in range(partitions):
        low, high = consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=30)
        assert low == 0, f"{topic}-{partition} begins at {low}"
        if high > 0:
            ends[partition] = high
            at.append(TopicPartition(topic, partition, 0))
    if at:
        consumer.assign(at)
    deadline = time.monotonic() + SECONDS
    while ends:
        for record in consumer.consume(10_000, timeout=0.5):
            assert record.error() is None, record.error()
            deadline = time.monotonic() + SECONDS
            if record.offset() < ends.get(record.partition(), 0):
                yield record
        for position in consumer.position([TopicPartition(topic, partition) for partition in ends]):
            if position.offset >= ends[position.partition]:
                del ends[position.partition]
        assert time.monotonic() < deadline, f"{topic} cannot be read to its end: {ends}"
    consumer.close()


def text(data):
    return None if data is None else data.decode()


def due_of(timestamp, headers):
    """When a queue may deliver it at the earliest, as its headers say."""
    if "deliver-at" in headers:
        return int(headers["deliver-at"])
    if "deliver-after" in headers:
        return timestamp + int(headers["deliver-after"])
    return None


def of_topic(bootstrap, topic, partitions, keys):
    """A line for each: [partition, offset, timestamp, number, due, whether it is what its number says]."""
    for record in records(bootstrap, topic, partitions):
        number = int(record.value().split(b" ", 1)[0])
        headers = {name: text(data) for name, data in record.headers() or []}
        planned = message(number, keys)
        is_so = (text(record.value()), text(record.key()), headers["kind"]) == (value(planned), planned.key, planned.kind)
        timestamp = record.timestamp()[1]
        yield [record.partition(), record.offset(), timestamp, number, due_of(timestamp, headers), is_so]


def of_dead(bootstrap, topic, partitions, keys):
    """A line for each dead letter: [number, whether its payload is the record's, its `fanlog.dead.` headers]."""
    for record in records(bootstrap, topic, partitions):
        number = int(record.value().split(b" ", 1)[0])
        headers = {name: text(data) for name, data in record.headers() or []}
        planned = message(number, keys)
        is_so = (text(record.value()), text(record.key()), headers.get("kind")) == (value(planned), planned.key, planned.kind)
        prefix = "fanlog.dead."
        said = {name.removeprefix(prefix): data for name, data in headers.items() if name.startswith(prefix)}
        said["entries"] = said.pop("history", "[]").count('"attempt":')
        yield [number, is_so, said]
