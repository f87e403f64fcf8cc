"""Reads `in-*`, writes `out-*` and commits what it read, in one transaction each: until it is killed.

usage: copier.py BOOTSTRAP NAME TIMEOUT_MS

Each input carries a number; for every one the output gets it once, in the partition of the input. Some transactions are aborted.
Ends with 3 where the producer is fenced or fails for good (whoever started it starts it again), with 1 where a call of the client does not
return.
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
            print(time.time(), name, "ends:" if is_fatal(error) else "again:", error, flush=True)
            if is_fatal(error):
                sys.exit(FATAL)
            time.sleep(0.1)


def copy(bootstrap, name, timeout):
    # librdkafka 2.16 forgets its only broker once it is down, but not that it coordinates the group, and then waits in
    # send_offsets_to_transaction for ever (hang.py, beside Kafka too): so it must not forget it.
    both = {"bootstrap.servers": bootstrap, "metadata.recovery.strategy": "none", "reconnect.backoff.max.ms": 200}
    producer = Producer(both | {
        "transactional.id": name, "transaction.timeout.ms": timeout, "message.timeout.ms": timeout, "linger.ms": 1, "retry.backoff.ms": 20,
    })
    consumer = Consumer(both | {
        "group.id": "copiers", "enable.auto.commit": False, "auto.offset.reset": "earliest", "isolation.level": "read_committed",
        "session.timeout.ms": 6000, "heartbeat.interval.ms": 500,
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
    # Each call below is given two seconds, five times.
    faulthandler.dump_traceback_later(STUCK_SECONDS, exit=True)
    producer.begin_transaction()
    try:
        for each in read:
            topic = each.topic().replace("in-", "out-")
            producer.produce(topic, each.value(), partition=each.partition())
        # Work that takes its time, so that faults meet transactions under way.
        time.sleep(random.choice((0, 0, 0.1, 0.5)))
        if random.random() < 0.1:
            raise Aborted
        positions, group = consumer.position(consumer.assignment()), consumer.consumer_group_metadata()
        retried(lambda seconds: producer.send_offsets_to_transaction(positions, group, seconds))
        retried(producer.commit_transaction)
    except (KafkaException, Aborted) as error:
        if is_fatal(error):
            raise
        retried(producer.abort_transaction)
        # What was read is read again: from where the group stands.
        raise KafkaException(KafkaError(KafkaError._FAIL, "aborted"))
    finally:
        faulthandler.cancel_dump_traceback_later()


STUCK_SECONDS = 40
FATAL = 3


def is_fatal(error):
    code = error.args[0] if isinstance(error, KafkaException) else None
    return isinstance(code, KafkaError) and code.fatal()


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
