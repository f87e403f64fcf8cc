"""The share consumer of confluent-kafka (librdkafka), a preview there: what its calls do.

    share_confluent.py BOOTSTRAP [--fanlog]

One line for each check: `ok` or `failed`, and what.
"""

import sys
import time
import uuid

from confluent_kafka import AcknowledgeType, Producer, ShareConsumer
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewTopic

PATIENCE_S = 30
RUN = uuid.uuid4().hex[:8]


def check(holds, what):
    print(("ok" if holds else "failed") + f"\t{what}", flush=True)


class Queue:
    """A topic, and a share group that reads it from the beginning."""

    def __init__(self, bootstrap, name, partitions=1):
        self.bootstrap, self.topic, self.group = bootstrap, f"{RUN}.{name}", f"{RUN}-{name}"
        admin = AdminClient({"bootstrap.servers": bootstrap})
        admin.create_topics([NewTopic(self.topic, partitions, 1)])[self.topic].result(20)
        earliest = ConfigEntry("share.auto.offset.reset", "earliest", incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource(ConfigResource.Type.GROUP, self.group, incremental_configs=[earliest])
        for answer in admin.incremental_alter_configs([resource]).values():
            answer.result(20)

    def produce(self, count):
        producer = Producer({"bootstrap.servers": self.bootstrap})
        for number in range(count):
            producer.produce(self.topic, f"v{number}")
        producer.flush(20)

    def consumer(self, **settings):
        settings = {key.replace("_", "."): value for key, value in settings.items()}
        consumer = ShareConsumer({"bootstrap.servers": self.bootstrap, "group.id": self.group} | settings)
        consumer.subscribe([self.topic])
        return consumer


def read(consumer, count, each=None):
    """Polls until `count` messages came; each is handed to `each`, and its word is committed."""
    found, until = [], time.monotonic() + PATIENCE_S
    while len(found) < count and time.monotonic() < until:
        messages = [message for message in consumer.poll(1.0) if message.error() is None]
        for message in messages:
            found.append(message.value().decode())
            if each:
                consumer.acknowledge(message, each(message))
        if each and messages:
            consumer.commit_sync()
    return found


def more(consumer):
    return [message.value() for _ in range(3) for message in consumer.poll(0.5) if message.error() is None]


def implicit(bootstrap):
    queue = Queue(bootstrap, "implicit", 3)
    queue.produce(500)
    consumer = queue.consumer()
    found = read(consumer, 500)
    check(len(found) == 500 and len(set(found)) == 500, f"implicit: every record once ({len(found)})")
    consumer.commit_sync()
    consumer.close()
    consumer = queue.consumer()
    check(not more(consumer), "implicit: nothing again for the next member")
    consumer.close()


def explicit(bootstrap):
    queue = Queue(bootstrap, "explicit")
    queue.produce(9)
    times = {}

    def word(message):
        value = message.value().decode()
        times[value] = times.get(value, 0) + 1
        kind = int(value[1:]) % 3
        if kind == 1 and times[value] == 1:
            return AcknowledgeType.RELEASE
        return AcknowledgeType.REJECT if kind == 2 else AcknowledgeType.ACCEPT

    consumer = queue.consumer(share_acknowledgement_mode="explicit")
    read(consumer, 12, word)
    check(times == {f"v{n}": 2 if n % 3 == 1 else 1 for n in range(9)}, f"explicit: what was released comes once more ({times})")
    check(not more(consumer), "explicit: nothing else")
    consumer.close()


def held(bootstrap):
    queue = Queue(bootstrap, "held")
    queue.produce(5)
    one = queue.consumer(share_acknowledgement_mode="explicit")
    first = []
    until = time.monotonic() + PATIENCE_S
    while not first and time.monotonic() < until:
        first = [message for message in one.poll(1.0) if message.error() is None]
    two = queue.consumer(share_acknowledgement_mode="explicit")
    check(not more(two), f"held: nobody else is given what a member holds ({len(first)})")
    one.close()
    found = read(two, 5, lambda message: AcknowledgeType.ACCEPT)
    check(sorted(found) == [f"v{n}" for n in range(5)], f"held: all of it comes back with the member's end ({found})")
    two.close()


def main():
    bootstrap = sys.argv[1]
    for case in (implicit, explicit, held):
        try:
            case(bootstrap)
        except Exception as error:  # whatever it is, the case proves nothing
            check(False, f"{case.__name__}: {error!r}")


main()
