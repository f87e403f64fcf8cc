"""Topics, a producer that goes on, and what the broker says of a group."""

import threading
import time
import uuid

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from members import Failed, until

RUN = uuid.uuid4().hex[:8]


class Stage:
    """One broker under test."""

    def __init__(self, bootstrap):
        self.bootstrap = bootstrap
        self.admin = AdminClient({"bootstrap.servers": bootstrap})

    def create(self, topic, partitions):
        self.admin.create_topics([NewTopic(topic, partitions, 1)])[topic].result(20)
        until(lambda: self._serves(topic, partitions), f"{topic} does not serve")

    def _serves(self, topic, partitions):
        """Apache Kafka answers before every partition serves."""
        metadata = self.admin.list_topics(topic, timeout=10).topics[topic]
        return len(metadata.partitions) == partitions and all(p.leader >= 0 for p in metadata.partitions.values())

    def delete(self, topic):
        self.admin.delete_topics([topic])[topic].result(20)

    def group_type(self, group):
        """`CLASSIC` or `CONSUMER`."""
        listed = self.admin.list_consumer_groups(request_timeout=10).result(20).valid
        found = [each.type.name for each in listed if each.group_id == group]
        return found[0] if found else None

    def wait_for_type(self, group, wanted):
        until(lambda: self.group_type(group) == wanted, lambda: f"{group} is {self.group_type(group)}, wanted {wanted}")

    def committed(self, group):
        """What the broker has of the group: partition -> offset."""
        asked = [ConsumerGroupTopicPartitions(group)]
        answer = self.admin.list_consumer_group_offsets(asked)[group].result(20)
        return {f"{each.topic}:{each.partition}": each.offset for each in answer.topic_partitions if each.offset >= 0}

    def ends(self, topic, partitions):
        consumer = Consumer({"bootstrap.servers": self.bootstrap, "group.id": "none"})
        try:
            found = [consumer.get_watermark_offsets(TopicPartition(topic, p), timeout=20)[1] for p in range(partitions)]
        finally:
            consumer.close()
        return {f"{topic}:{p}": end for p, end in enumerate(found) if end}

    def produce(self, topic, partitions, values):
        producer = Producer({"bootstrap.servers": self.bootstrap, "linger.ms": 0})
        for number, value in enumerate(values):
            producer.produce(topic, value, partition=number % partitions)
        if producer.flush(30):
            raise Failed(f"{topic}: records were not stored")


class Stream:
    """Produces to all partitions until it is stopped; `sent` are the values that are stored."""

    def __init__(self, bootstrap, topic, partitions):
        self.producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 0})
        self.topic, self.partitions, self.sent = topic, partitions, []
        self.is_stopping = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        number = 0
        while not self.is_stopping.is_set():
            value = f"{number:06}"
            self.producer.produce(self.topic, value, partition=number % self.partitions, on_delivery=self._stored)
            self.producer.poll(0)
            number += 1
            time.sleep(0.01)
        self.producer.flush(30)

    def _stored(self, error, message):
        if not error:
            self.sent.append(message.value().decode())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        self.is_stopping.set()
        self.thread.join(40)
