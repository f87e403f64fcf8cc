"""Read-process-write in transactions over two topics and a group, with `kill -9` of clients and broker at random.

usage: rounds.py FANLOG DIR PORT ROUNDS SEED [RESULTS COMMIT BUILD]

Each round writes numbers to `in-a` and `in-b`, lets three copiers carry them over, and meanwhile kills copiers (to be started again at
once, or by the next round: then their transactions and their places in the group end by their time-outs), freezes one until another of
its name has taken over (a zombie, whose writes must count for nothing: TXN-2), and kills the broker. At the end of a round a reader of
committed records must find every number exactly once, in order for each partition of the input (TXN-1), and the group must stand at the
end of the input. No last stable offset, of the offsets' topic neither, may stand still for longer than the transaction time-out and the
broker's start.
"""

import datetime
import os
import platform
import random
import signal
import subprocess
import sys
import time

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from stable import Watch

HERE = os.path.dirname(os.path.abspath(__file__))
TOPICS, PARTITIONS, TIMEOUT_MS, COPIERS = ("a", "b"), 2, 6000, 3
# Beside the time-out a transaction may take until its broker is there again, and until somebody looks.
SLACK_SECONDS = 2.0
# The time-out of what a killed copier left, the session of its place in the group, and the work itself.
PATIENCE = 30
# How copiers end.
STUCK, FATAL = 1, 3


class Broker:
    def __init__(self, program, data, port):
        self.command = [program, "serve", "--data", data, "--kafka", f"127.0.0.1:{port}", "--http", f"127.0.0.1:{port + 1}"]
        self.bootstrap, self.log = f"127.0.0.1:{port}", open(os.path.join(data, "..", "broker.log"), "ab")
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=self.log, stderr=self.log)
        admin = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0, "metadata.recovery.strategy": "none"})
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
        self.zombies, self.stuck, self.fenced = [], 0, 0
        self.processes = [self.start(number) for number in range(COPIERS)]
        self.is_dead = [False] * COPIERS

    def start(self, number):
        command = [sys.executable, os.path.join(HERE, "copier.py"), self.bootstrap, f"copier-{number}", str(TIMEOUT_MS)]
        return subprocess.Popen(command, stdout=self.log, stderr=self.log)

    def hit_one(self):
        number = random.randrange(COPIERS)
        way = random.choice(("kill", "kill for long", "freeze"))
        process = self.processes[number]
        if way == "freeze" and process.poll() is None:
            process.send_signal(signal.SIGSTOP)
            self.zombies.append(process)
        else:
            process.send_signal(signal.SIGKILL)
            process.wait()
        if way == "kill for long" and sum(self.is_dead) + 1 < COPIERS:
            self.is_dead[number] = True
        else:
            self.processes[number], self.is_dead[number] = self.start(number), False

    def wake_zombies(self):
        for process in self.zombies:
            process.send_signal(signal.SIGCONT)

    def restart_all(self):
        """Those that were left dead too; what zombies did not learn by writing they need not learn any more."""
        for process in self.zombies:
            process.send_signal(signal.SIGKILL)
            self.fenced += process.wait() == FATAL
        self.zombies, self.is_dead = [], [False] * COPIERS
        self.restart_ended()

    def restart_ended(self):
        """As a supervisor does."""
        for number, process in enumerate(self.processes):
            if process.poll() is None or self.is_dead[number]:
                continue
            self.stuck += process.returncode == STUCK
            self.processes[number] = self.start(number)

    def say_where(self):
        for process in self.processes:
            process.send_signal(signal.SIGUSR1)
        time.sleep(1)

    def stop(self):
        for process in self.processes + self.zombies:
            process.send_signal(signal.SIGKILL)
            process.wait()


def main():
    program, directory, port, rounds, seed = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6])
    random.seed(seed)
    data = os.path.join(directory, "data")
    os.makedirs(data)
    broker = Broker(program, data, port)
    admin = AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 0, "metadata.recovery.strategy": "none"})
    names = [f"{way}-{topic}" for way in ("in", "out") for topic in TOPICS]
    for done in admin.create_topics([NewTopic(name, PARTITIONS, 1) for name in names]).values():
        done.result()
    watch = Watch(broker.bootstrap, ["out-a", "out-b", "__consumer_offsets"])
    copiers = Copiers(broker.bootstrap, open(os.path.join(directory, "copiers.log"), "ab"))
    written = {(topic, part): 0 for topic in TOPICS for part in range(PARTITIONS)}
    longest, kills = 0.0, 0
    try:
        for number in range(rounds):
            began = time.monotonic()
            kills += hit(broker, copiers, written)
            waited = check(broker.bootstrap, admin, written, copiers)
            longest = max(longest, waited)
            print(f"round {number + 1}: {sum(written.values())} records once each, {waited:.1f} s after the last kill, {time.monotonic() - began:.1f} s", flush=True)
            copiers.restart_all()
            judge(watch, copiers)
    finally:
        copiers.stop()
        watch.stop()
        broker.stop()
    verdict = (
        f"holds: each record once; all was out at most {longest:.1f} s after the last kill; no last stable offset stood still for longer than "
        f"{watch.longest:.1f} s ({watch.where}; {watch.looked} looks), where the transaction time-out is {TIMEOUT_MS // 1000} s; the broker was "
        f"killed {kills} times; {copiers.fenced} zombies met their fence; {copiers.stuck} calls of clients did not return"
    )
    print(verdict)
    if len(sys.argv) > 6:
        note(sys.argv[6:], seed, rounds, sum(written.values()), verdict)


def hit(broker, copiers, written):
    """One round's input and faults; how often the broker was killed."""
    write(broker.bootstrap, written)
    kills = 0
    for _ in range(random.randrange(1, 4)):
        time.sleep(random.uniform(0.05, 1.5))
        if random.random() < 0.5:
            copiers.hit_one()
        else:
            broker.kill()
            broker.start()
            kills += 1
    copiers.wake_zombies()
    return kills


def judge(watch, copiers):
    limit = TIMEOUT_MS / 1000 + SLACK_SECONDS
    assert watch.longest <= limit, f"hangs: the last stable offset stood still for {watch.longest:.1f} s: {watch.where}"
    assert copiers.stuck == 0, "a client's call did not return: copiers.log says which"


def note(where, seed, rounds, records, verdict):
    """A row like those of the other scenarios."""
    results, commit, build = where
    machine = f"{platform.system()} {platform.release().split('-')[0]}, {os.cpu_count()} cores"
    row = [datetime.date.today().isoformat(), commit, machine, f"transactions ({build} build), seed {seed}", rounds, *[records] * 3, verdict]
    with open(results, "a", encoding="utf-8") as file:
        file.write("| " + " | ".join(str(cell) for cell in row) + " |\n")


def write(bootstrap, written):
    producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True, "log_level": 0, "metadata.recovery.strategy": "none"})
    for (topic, part), count in written.items():
        more = random.randrange(20, 200)
        for number in range(count, count + more):
            producer.produce(f"in-{topic}", str(number), partition=part)
        written[topic, part] = count + more
    assert producer.flush(60) == 0, "the input is not written"


def check(bootstrap, admin, written, copiers):
    """How long it took until all of the output was there."""
    began = time.monotonic()
    while True:
        found = read(bootstrap)
        for place, count in written.items():
            numbers = found.get(place, [])
            assert numbers == list(range(len(numbers))), f"TXN-1: out-{place} has {odd(numbers)}"
        if all(len(found.get(place, [])) == count for place, count in written.items()):
            if stands_at_the_end(admin, written):
                break
        if time.monotonic() - began > PATIENCE:
            copiers.say_where()
            raise AssertionError(f"hangs: {[(place, len(found.get(place, [])), count) for place, count in written.items()]}")
        copiers.restart_ended()
        time.sleep(0.3)
    return time.monotonic() - began


def stands_at_the_end(admin, written):
    asked = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions("copiers")])["copiers"]
    stands = {(at.topic.removeprefix("in-"), at.partition): at.offset for at in asked.result(10).topic_partitions}
    return all(stands.get(place, 0) == count for place, count in written.items())


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
