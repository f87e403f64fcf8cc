"""aiokafka; see talk.py. It names no member when it sends offsets (KIP-447), so a copier holds a lock against rebalances."""

import asyncio
import signal
import time

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener, TopicPartition

from talk import ABORT_EVERY, main


class Client:
    def __init__(self, bootstrap):
        self.bootstrap = bootstrap

    async def open(self, transactional_id, timeout_ms):
        self.producer = AIOKafkaProducer(
            bootstrap_servers=self.bootstrap, transactional_id=transactional_id, transaction_timeout_ms=int(timeout_ms)
        )
        await self.producer.start()

    def begin(self):
        return self.producer.begin_transaction()

    def commit(self):
        return self.producer.commit_transaction()

    def abort(self):
        return self.producer.abort_transaction()

    async def send(self, topic, partition, value):
        await asyncio.wait_for(self.producer.send_and_wait(topic, value.encode(), partition=int(partition)), 20)

    def offsets(self, group, topic, partition, offset):
        return self.producer.send_offsets_to_transaction({TopicPartition(topic, int(partition)): int(offset)}, group)

    async def read(self, topic, partition, isolation, end, quiet_ms):
        consumer = AIOKafkaConsumer(bootstrap_servers=self.bootstrap, isolation_level=isolation, auto_offset_reset="earliest")
        await consumer.start()
        consumer.assign([TopicPartition(topic, int(partition))])
        found, quiet_since = [], time.monotonic()
        while end not in found and time.monotonic() - quiet_since < int(quiet_ms) / 1000:
            for records in (await consumer.getmany(timeout_ms=100)).values():
                found += [record.value.decode() for record in records]
                quiet_since = time.monotonic()
        await consumer.stop()
        return found


class BetweenTransactions(ConsumerRebalanceListener):
    """Partitions go only when no transaction is open."""

    def __init__(self, lock):
        self.lock, self.rebalances = lock, 0

    async def on_partitions_revoked(self, revoked):
        async with self.lock:
            self.rebalances += 1

    async def on_partitions_assigned(self, assigned):
        pass


async def copy(bootstrap, source, target, group, transactional_id):
    is_stopping = []
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, lambda: is_stopping.append(True))
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap, transactional_id=transactional_id, transaction_timeout_ms=8_000)
    consumer = AIOKafkaConsumer(
        bootstrap_servers=bootstrap, group_id=group, isolation_level="read_committed", auto_offset_reset="earliest",
        enable_auto_commit=False, session_timeout_ms=6000, heartbeat_interval_ms=500,
    )
    lock = asyncio.Lock()
    listener = BetweenTransactions(lock)
    await producer.start()
    consumer.subscribe([source], listener=listener)
    await consumer.start()
    rounds = 0
    while not is_stopping:
        polled = await consumer.getmany(timeout_ms=200, max_records=10)
        # Not before the call: it may outlast a rebalance, and what it returns then is the new assignment's.
        seen = listener.rebalances
        async with lock:
            if not polled or listener.rebalances != seen:
                continue
            rounds += 1
            await one(producer, consumer, polled, target, group, rounds % ABORT_EVERY != 0)
    await consumer.stop()
    await producer.stop()


async def one(producer, consumer, polled, target, group, is_committed):
    await producer.begin_transaction()
    for partition, records in polled.items():
        for record in records:
            await producer.send(target, record.value, partition=partition.partition)
    if not is_committed:
        await producer.abort_transaction()
        for partition, records in polled.items():
            consumer.seek(partition, records[0].offset)
        return
    offsets = {partition: records[-1].offset + 1 for partition, records in polled.items()}
    await producer.send_offsets_to_transaction(offsets, group)
    await producer.commit_transaction()
    print("copied", sum(map(len, polled.values())), flush=True)


main(Client, copy)
