"""Read-process-write in transactions over two topics and a group, with `kill -9` of clients and broker at random.

usage: rounds.py FANLOG DIR PORT ROUNDS SEED

Each round writes numbers to `in-a` and `in-b`, lets three copiers carry them over, and kills copiers and the broker meanwhile. At the
end a reader of committed records must find every number exactly once, in order for each partition of the input (TXN-1), no transaction
may be under way for longer than its time-out, and the group must stand at the end of the input.
"""

import os
import random
import signal
import subprocess
import sys
import time

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

HERE = os.path.dirname(os.path.abspath(__file__))
TOPICS, PARTITIONS, TIMEOUT_MS, COPIERS = ("a", "b"), 2, 6000, 3
# The time-out of what a killed copier left, the session of its place in the group, and the work itself.
PATIENCE = 60


class Broker:
    def __init__(self, program, data, port):
        self.command = [program, "serve", "--data", data, "--kafka", f"127.0.0.1:{port}", "--http", f"127.0.0.1:{port + 1}"]
        self.bootstrap, self.log = f"127.0.0.1:{port}", open(os.path.join(data, "..", "broker.log"), "ab")
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=self.log, stderr=self.log)
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        deadline = time.monotonic() + 60
        while True:
            try:
                admin.list_topics(timeout=1)
                return
            except Exception:
                if time.monotonic() > deadline:
                    raise

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        self.process.terminate()
        self.process.wait()


class Copiers:
    def __init__(self, bootstrap, log):
        self.bootstrap, self.log = bootstrap, log
        self.processes = [self.start(number) for number in range(COPIERS)]

    def start(self, number):
        command = [sys.executable, os.path.join(HERE, "copier.py"), self.bootstrap, f"copier-{number}", str(TIMEOUT_MS)]
        return subprocess.Popen(command, stdout=self.log, stderr=self.log)

    def kill_one(self):
        number = random.randrange(COPIERS)
        self.processes[number].send_signal(signal.SIGKILL)
        self.processes[number].wait()
        self.processes[number] = self.start(number)

    def restart_ended(self):
        """As a supervisor does; how many there were."""
        ended = [number for number, process in enumerate(self.processes) if process.poll() is not None]
        for number in ended:
            self.processes[number] = self.start(number)
        return len(ended)

    def say_where(self):
        for process in self.processes:
            process.send_signal(signal.SIGUSR1)
        time.sleep(1)

    def stop(self):
        for process in self.processes:
            process.send_signal(signal.SIGKILL)
            process.wait()


def main():
    program, directory, port, rounds, seed = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6])
    random.seed(seed)
    data = os.path.join(directory, "data")
    os.makedirs(data)
    broker = Broker(program, data, port)
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    names = [f"{way}-{topic}" for way in ("in", "out") for topic in TOPICS]
    for done in admin.create_topics([NewTopic(name, PARTITIONS, 1) for name in names]).values():
        done.result()
    copiers = Copiers(broker.bootstrap, open(os.path.join(directory, "copiers.log"), "ab"))
    try:
        written = {(topic, part): 0 for topic in TOPICS for part in range(PARTITIONS)}
        for number in range(rounds):
            began = time.monotonic()
            write(broker.bootstrap, written)
            for _ in range(random.randrange(1, 4)):
                time.sleep(random.uniform(0.05, 1.5))
                if random.random() < 0.5:
                    copiers.kill_one()
                else:
                    broker.kill()
                    broker.start()
            waited = check(broker.bootstrap, written, copiers)
            print(f"round {number + 1}: {sum(written.values())} records once each, {waited:.1f} s after the last kill, {time.monotonic() - began:.1f} s", flush=True)
    finally:
        copiers.stop()
        broker.stop()


def write(bootstrap, written):
    producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True})
    for (topic, part), count in written.items():
        more = random.randrange(20, 200)
        for number in range(count, count + more):
            producer.produce(f"in-{topic}", str(number), partition=part)
        written[topic, part] = count + more
    assert producer.flush(60) == 0, "the input is not written"


def check(bootstrap, written, copiers):
    """How long it took until all of the output was there."""
    began = time.monotonic()
    while True:
        found = read(bootstrap)
        for place, count in written.items():
            numbers = found.get(place, [])
            assert numbers == list(range(len(numbers))), f"TXN-1: out-{place} has {odd(numbers)}"
        if all(len(found.get(place, [])) == count for place, count in written.items()):
            break
        if time.monotonic() - began > PATIENCE:
            copiers.say_where()
            raise AssertionError(f"hangs: {[(place, len(found.get(place, [])), count) for place, count in written.items()]}")
        copiers.restart_ended()
        time.sleep(0.3)
    return time.monotonic() - began


def odd(numbers):
    for at, (before, after) in enumerate(zip(numbers, numbers[1:])):
        if after != before + 1:
            return f"{before} and then {after} at {at}"
    return f"{numbers[:1]} first"


def read(bootstrap):
    consumer = Consumer({
        "bootstrap.servers": bootstrap, "group.id": "checker", "enable.auto.commit": False, "auto.offset.reset": "earliest",
        "isolation.level": "read_committed", "enable.partition.eof": True,
    })
    places = [TopicPartition(f"out-{topic}", part, 0) for topic in TOPICS for part in range(PARTITIONS)]
    consumer.assign(places)
    found, ended = {}, set()
    while len(ended) < len(places):
        each = consumer.poll(30)
        assert each is not None, "a reader of committed records hangs"
        place = each.topic().removeprefix("out-"), each.partition()
        if each.error():
            ended.add(place)
        else:
            found.setdefault(place, []).append(int(each.value()))
    consumer.close()
    return found


main()
