"""Reads `in-*`, writes `out-*` and commits what it read, in one transaction each: until it is killed.

usage: copier.py BOOTSTRAP NAME TIMEOUT_MS

Each input carries a number; for every one the output gets it once, in the partition of the input. Some transactions are aborted.
"""

import faulthandler
import random
import signal
import sys
import time

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer


def main():
    faulthandler.register(signal.SIGUSR1)  # says where it is, for those who wait for it
    bootstrap, name, timeout = sys.argv[1], sys.argv[2], int(sys.argv[3])
    while True:
        try:
            copy(bootstrap, name, timeout)
        except KafkaException as error:
            print(time.time(), name, "again:", error, flush=True)
            time.sleep(0.1)


def copy(bootstrap, name, timeout):
    producer = Producer({
        "bootstrap.servers": bootstrap, "transactional.id": name, "transaction.timeout.ms": timeout, "message.timeout.ms": timeout,
        "linger.ms": 1, "reconnect.backoff.max.ms": 200, "retry.backoff.ms": 20,
    })
    consumer = Consumer({
        "bootstrap.servers": bootstrap, "group.id": "copiers", "enable.auto.commit": False, "auto.offset.reset": "earliest",
        "isolation.level": "read_committed", "session.timeout.ms": 6000, "heartbeat.interval.ms": 500, "reconnect.backoff.max.ms": 200,
    })
    try:
        retried(producer.init_transactions)
        consumer.subscribe(["in-a", "in-b"])
        while True:
            step(producer, consumer)
    finally:
        consumer.close()


def step(producer, consumer):
    read = [each for each in consumer.consume(random.choice((1, 5, 50)), timeout=0.5) if not each.error()]
    if not read:
        return
    # librdkafka 2.16 may wait for ever in send_offsets_to_transaction, whatever its time-out, where the broker went away before: it has
    # nothing on its way then. Like any watchdog, this one ends the process.
    faulthandler.dump_traceback_later(STUCK_SECONDS, exit=True)
    producer.begin_transaction()
    try:
        for each in read:
            topic = each.topic().replace("in-", "out-")
            producer.produce(topic, each.value(), partition=each.partition())
        if random.random() < 0.1:
            raise Aborted
        positions, group = consumer.position(consumer.assignment()), consumer.consumer_group_metadata()
        retried(lambda seconds: producer.send_offsets_to_transaction(positions, group, seconds))
        retried(producer.commit_transaction)
    except (KafkaException, Aborted) as error:
        code = error.args[0] if isinstance(error, KafkaException) else None
        if isinstance(code, KafkaError) and code.fatal():
            raise
        retried(producer.abort_transaction)
        # What was read is read again: from where the group stands.
        raise KafkaException(KafkaError(KafkaError._FAIL, "aborted"))
    finally:
        faulthandler.cancel_dump_traceback_later()


STUCK_SECONDS = 15


class Aborted(Exception):
    pass


def retried(call):
    for tries in range(5):
        try:
            return call(2)
        except KafkaException as error:
            if tries == 4 or not error.args[0].retriable():
                raise


main()
