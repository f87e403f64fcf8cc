"""A data directory that a broker left behind, and what clients had been promised of it: for faults that come upon files.

    leave(stage, "stopped" | "killed" | "power cut") -> a folder with the files, and every acknowledged record by its offset
"""

import shutil
from dataclasses import dataclass, field
from pathlib import Path

from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition

from . import values
from .broker import Broker, BrokerFailed

# Small files, so that there are several of each kind.
SETTINGS = ("--set", "fanlog.journal.file.bytes=1048576", "--set", "offsets.topic.num.partitions=2")
TOPICS = {"ledger": {"segment.bytes": "1048576"}, "events": {"segment.bytes": "1048576", "compression.type": "lz4"}}
PARTITIONS = 2
GROUP = "auditors"
RECORDS = 750
WAYS = ("stopped", "killed", "power cut")
# Without news from any partition for so long, a reading ends.
SILENCE_SECONDS = 5.0


@dataclass
class Remains:
    folder: Path
    way: str
    # (topic, partition) -> offset -> value's name
    promised: dict
    committed: dict
    # What may be there and need not.
    optional: dict = field(default_factory=dict)

    def copy_to(self, folder):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.folder, folder)


@dataclass
class Reading:
    """What a client found: records by offset for each partition, and the partitions that it could not read to the end."""

    records: dict
    errors: dict


def leave(stage, way):
    """Runs a broker with its data where `stage` has it, and copies what it leaves. Nobody else may use that stage's disk."""
    folder = stage.folder / f"remains-{way.replace(' ', '-')}"
    data = (stage.disk.mount_point if way == "power cut" else stage.folder) / f"data-{way.replace(' ', '-')}"
    broker = Broker(stage.options.serve, data, stage.options.port, stage.folder / f"{folder.name}.log",
                    stage.options.start_seconds, SETTINGS)
    try:
        broker.start()
        for topic, config in TOPICS.items():
            broker.create_topic(topic, PARTITIONS, config)
        committed = {(topic, index): 5 + index for topic in TOPICS for index in range(PARTITIONS)}
        commit(broker, committed)
        promised = fill(broker)
        end(stage, broker, way)
    finally:
        broker.kill()
    shutil.copytree(data, folder)
    (folder / ".lock").unlink(missing_ok=True)
    return Remains(folder, way, promised, committed)


def end(stage, broker, way):
    if way == "stopped":
        broker.stop()
    elif way == "killed":
        broker.kill()
    else:
        broker.freeze()
        stage.disk.cut_power()
        broker.kill()
        stage.disk.restore_power()


def fill(broker):
    """Every partition several segments; the last record of the first partition is alone in its batch, and the last of all."""
    promised = {(topic, index): {} for topic in TOPICS for index in range(PARTITIONS)}
    names = [(place, f"{place[0]}-{place[1]}.0:{number}") for place in promised for number in range(RECORDS)]
    send(broker, promised, names)
    place = ("ledger", 0)
    send(broker, promised, [(place, last_name())])
    return promised


def last_name():
    """Of a record that is small enough for a commit of one block."""
    names = (f"ledger-0.1:{number}" for number in range(1_000))
    return next(name for name in names if len(values.make(name)) < 300)


def send(broker, promised, names):
    producer = Producer({"bootstrap.servers": broker.bootstrap, "enable.idempotence": True, "linger.ms": 20,
                         "batch.num.messages": 40, "message.timeout.ms": 30_000, "log_level": 0})
    failed = []

    def answered(place, name):
        def note(error, message):
            if error:
                failed.append(error)
            else:
                promised[place][message.offset()] = name
        return note

    for place, name in names:
        producer.produce(place[0], values.make(name), name.encode(), place[1], on_delivery=answered(place, name))
        producer.poll(0)
    if producer.flush(60) or failed:
        raise BrokerFailed(f"records were not acknowledged: {failed[:1]}")


def commit(broker, committed):
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": GROUP, "log_level": 0})
    try:
        consumer.commit(offsets=[TopicPartition(*place, offset) for place, offset in committed.items()],
                        asynchronous=False)
    finally:
        consumer.close()


def committed_offsets(broker, places):
    """What the broker says that the group committed, or the error's text."""
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": GROUP, "log_level": 0})
    try:
        answers = consumer.committed([TopicPartition(*place) for place in places], timeout=SILENCE_SECONDS)
        return {(each.topic, each.partition): str(each.error) if each.error else each.offset for each in answers}
    except Exception as error:  # The library has one class for everything.
        return {place: str(error) for place in places}
    finally:
        consumer.close()


def read(broker, places):
    """Reads partitions from the start to the end, with the library's own check of checksums."""
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "reader", "enable.auto.commit": False,
                         "auto.offset.reset": "error", "enable.partition.eof": True, "check.crcs": True,
                         "fetch.wait.max.ms": 50, "log_level": 0})
    reading = Reading({place: {} for place in places}, {})
    open_places = set(places)
    try:
        consumer.assign([TopicPartition(*place, 0) for place in places])
        while open_places:
            message = consumer.poll(SILENCE_SECONDS)
            if message is None:
                break
            take(message, reading, open_places)
    finally:
        consumer.close()
    for place in open_places:
        reading.errors[place] = "no answer"
    return reading


def take(message, reading, open_places):
    place, error = (message.topic(), message.partition()), message.error()
    if error is None:
        name, is_whole = values.name_of(message.value())
        reading.records[place][message.offset()] = name if is_whole else f"{name} with other bytes"
        return
    open_places.discard(place)
    if error.code() != KafkaError._PARTITION_EOF:
        reading.errors[place] = error.str()
