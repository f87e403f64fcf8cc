"""Shows that librdkafka waits for ever in send_offsets_to_transaction once its only broker was down, whichever broker that is.

usage: hang.py BOOTSTRAP STRATEGY COMMAND...     STRATEGY is a value of metadata.recovery.strategy: rebootstrap (librdkafka's own) or none

Starts the broker by the command, commits a transaction with offsets, ends the broker by `kill -9`, starts it again, and commits another.
"""

import os
import subprocess
import sys
import threading
import time

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

TIMEOUT, PATIENCE = 5, 60


def main():
    bootstrap, strategy, command = sys.argv[1], sys.argv[2], sys.argv[3:]
    broker = start(bootstrap, command)
    try:
        both = {"bootstrap.servers": bootstrap, "log_level": 0}
        producer = Producer(both | {"transactional.id": f"hang-{time.time()}", "metadata.recovery.strategy": strategy})
        consumer = Consumer(both | {"group.id": "hang"})
        consumer.subscribe(["hang"])
        while not consumer.assignment():
            consumer.poll(0.1)
        group = consumer.consumer_group_metadata()
        retried(producer.init_transactions)
        transaction(producer, group)
        broker.kill()
        broker.wait()
        time.sleep(1)
        broker = start(bootstrap, command)
        # Long enough for the client to have every connection again.
        time.sleep(5)
        began, is_done = time.monotonic(), threading.Event()
        threading.Thread(target=lambda: (transaction(producer, group), is_done.set()), daemon=True).start()
        ended = is_done.wait(PATIENCE)
        took = time.monotonic() - began
        print(f"committed after {took:.1f} s" if ended else f"HANGS: given {TIMEOUT} s, it has not returned after {took:.0f} s", flush=True)
    finally:
        broker.kill()
        broker.wait()
        os._exit(0)  # the client would wait for itself


def start(bootstrap, command):
    broker = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    for _ in range(60):
        try:
            admin.list_topics(timeout=1)
            break
        except KafkaException:
            pass
    for made in admin.create_topics([NewTopic("hang", 1, 1)]).values():
        try:
            made.result()
        except KafkaException:
            pass  # it is there
    return broker


def transaction(producer, group):
    producer.begin_transaction()
    producer.produce("hang", b"x")
    retried(lambda seconds: producer.send_offsets_to_transaction([TopicPartition("hang", 0, 1)], group, seconds))
    retried(producer.commit_transaction)


def retried(call):
    while True:
        try:
            return call(TIMEOUT)
        except KafkaException as error:
            if not error.args[0].retriable():
                raise


main()
