"""kafka-python 3; see talk.py."""

import signal
import time

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.structs import ConsumerGroupMetadata, OffsetAndMetadata

from talk import ABORT_EVERY, main


class Client:
    def __init__(self, bootstrap):
        self.bootstrap = bootstrap

    def open(self, transactional_id, timeout_ms):
        self.producer = KafkaProducer(
            bootstrap_servers=self.bootstrap, transactional_id=transactional_id, transaction_timeout_ms=int(timeout_ms), max_block_ms=20_000
        )
        self.producer.init_transactions()

    def begin(self):
        self.producer.begin_transaction()

    def commit(self):
        self.producer.commit_transaction()

    def abort(self):
        self.producer.abort_transaction()

    def send(self, topic, partition, value):
        self.producer.send(topic, value.encode(), partition=int(partition)).get(20)

    def offsets(self, group, topic, partition, offset):
        self._offsets(group, topic, partition, offset)

    def stale(self, group, topic, partition, offset):
        self._offsets(ConsumerGroupMetadata(group, 7, "nobody", None), topic, partition, offset)

    def _offsets(self, group, topic, partition, offset):
        position = {TopicPartition(topic, int(partition)): OffsetAndMetadata(int(offset), "", -1)}
        self.producer.send_offsets_to_transaction(position, group)

    def read(self, topic, partition, isolation, end, quiet_ms):
        consumer = KafkaConsumer(bootstrap_servers=self.bootstrap, isolation_level=isolation, auto_offset_reset="earliest")
        consumer.assign([TopicPartition(topic, int(partition))])
        found, quiet_since = [], time.monotonic()
        while end not in found and time.monotonic() - quiet_since < int(quiet_ms) / 1000:
            for records in consumer.poll(timeout_ms=100).values():
                found += [record.value.decode() for record in records]
                quiet_since = time.monotonic()
        consumer.close()
        return found


async def copy(bootstrap, source, target, group, transactional_id):
    is_stopping = []
    signal.signal(signal.SIGTERM, lambda *_: is_stopping.append(True))
    producer = KafkaProducer(bootstrap_servers=bootstrap, transactional_id=transactional_id, transaction_timeout_ms=8_000)
    producer.init_transactions()
    consumer = KafkaConsumer(
        source, bootstrap_servers=bootstrap, group_id=group, isolation_level="read_committed", auto_offset_reset="earliest",
        enable_auto_commit=False, session_timeout_ms=6000, heartbeat_interval_ms=500, max_poll_records=10,
    )
    rounds = 0
    while not is_stopping:
        polled = consumer.poll(timeout_ms=200)
        if not polled:
            continue
        rounds += 1
        producer.begin_transaction()
        for partition, records in polled.items():
            for record in records:
                producer.send(target, record.value, partition=partition.partition)
        if rounds % ABORT_EVERY == 0:
            producer.abort_transaction()
            for partition, records in polled.items():
                consumer.seek(partition, records[0].offset)
            continue
        offsets = {p: OffsetAndMetadata(records[-1].offset + 1, "", -1) for p, records in polled.items()}
        producer.send_offsets_to_transaction(offsets, consumer.group_metadata())
        producer.commit_transaction()
        print("copied", sum(map(len, polled.values())), flush=True)
    consumer.close()
    producer.close()


main(Client, copy)
