"""Two queues on one topic, one with order per key and one without, while consumers are killed and frozen, and the broker is killed, frozen or
loses its power. Messages come by HTTP and by a Kafka client; some are delayed, some always fail, some are passed over by a filter.

usage: queues.py --binary FANLOG --folder DIR [--messages N --seconds S --kills K --cuts C --pauses P --consumers N --seed N --port P]
       queues.py --folder DIR --judge     what was written down, once more

Each consumer is a process (consumer.py) that writes down what it was given and what it said; checker.py judges all of it once every message
has come to an end. The last line is the outcome in a few words.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "torture")]

from api import Api  # noqa: E402
from clock import Clock, distance  # noqa: E402
from judge import judge, say  # noqa: E402
from remains import of_dead, of_topic  # noqa: E402
from torture.broker import Broker  # noqa: E402
from torture.disk_image import DiskImage  # noqa: E402
from two_queues import LOCKS_MS, PARTITIONS, QUEUES, TOPIC  # noqa: E402
from writer import Writer  # noqa: E402

# After something was done to a consumer it is let be for so long.
REST_SECONDS = 1
# After the last restart, which must bring back nothing.
QUIET_SECONDS = 3
START_SECONDS = 60
LOOK_SECONDS = 0.5
# Mishaps go on until so much is done, by the slower queue.
DISTURBED = 0.95


class Slot:
    """A consumer's place: one process after the other."""

    def __init__(self, number, queue):
        self.number, self.queue = number, queue
        self.lives, self.process, self.name, self.is_frozen, self.due = 0, None, None, False, 0.0


class Run:
    def __init__(self, options):
        self.options, self.folder = options, Path(options.folder)
        self.distance, self.random = distance(), random.Random(options.seed)
        self.clock, self.write = Clock(self.distance), Writer(self.folder / "runner.jsonl")
        self.log = open(self.folder / "clients.log", "ab")
        self.disk = DiskImage(self.folder) if options.cuts else None
        self.slots = [Slot(number, list(QUEUES)[number % 2]) for number in range(options.consumers)]
        self.producers, self.acked, self.seen = {}, 0, {}
        self.keys = max(options.messages // 10, 20)
        self.api = Api(options.port + 1)
        # What is done to the broker, once the slower queue has got so far.
        mishaps = ["kill"] * options.kills + ["cut"] * options.cuts + ["pause"] * options.pauses
        self.random.shuffle(mishaps)
        step = options.messages * DISTURBED / max(len(mishaps), 1)
        self.mishaps = [(step * (at + self.random.uniform(0.2, 0.9)), what) for at, what in enumerate(mishaps)]
        self.progress, self.looked_at = 0, 0.0

    def say(self, line):
        print(f"    {time.strftime('%H:%M:%S')} {line}", flush=True)

    def start(self):
        if self.disk:
            self.disk.make()
        data = (self.disk.mount_point if self.disk else self.folder) / "data"
        serve = f"{self.options.binary} serve --data {{data}} --kafka 127.0.0.1:{{port}} --http 127.0.0.1:{{http}}"
        self.broker = Broker(serve, data, self.options.port, self.folder / "broker.log", START_SECONDS)
        self.broker.start()
        # Ids of messages are remembered for longer than any retry takes.
        self.broker.create_topic(TOPIC, PARTITIONS, {"dedup.window.ms": "300000", "segment.bytes": "16777216"})
        for name, settings in QUEUES.items():
            status, answer = self.api.post("/v1/queues", {"name": name, "topic": TOPIC, "start": "earliest", **settings})
            assert status == 201, answer
        self.write(k="run", keys=self.keys, topic=TOPIC, messages=self.options.messages, t=self.clock())
        for slot in self.slots:
            self.spawn(slot)
        half = self.options.messages // 2
        self.produce("http", 1, half)
        self.produce("kafka", half + 1, self.options.messages)

    def produce(self, way, first, last):
        rate = (last - first + 1) / self.options.seconds
        options = {"way": way, "port": self.options.port + (way == "http"), "topic": TOPIC, "first": first, "last": last, "keys": self.keys, "rate": rate,
                   "batch": max(min(int(rate / 10), 500), 10), "history": str(self.folder / f"by-{way}.jsonl"), "distance": self.distance}
        self.producers[way] = self.client("producer.py", options)

    def spawn(self, slot):
        slot.lives += 1
        slot.name = f"{slot.queue}-{slot.number}.{slot.lives}"
        options = {"port": self.options.port + 1, "queue": slot.queue, "name": slot.name, "history": str(self.folder / f"of-{slot.name}.jsonl"),
                   "distance": self.distance, "lock": LOCKS_MS[slot.queue], "batch": self.options.batch, "work": self.options.work, "long": self.options.long, "seed": self.random.random()}
        slot.process, slot.due = self.client("consumer.py", options), time.monotonic() + REST_SECONDS

    def client(self, program, options):
        command = [sys.executable, "-B", str(HERE / program), json.dumps(options)]
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, start_new_session=True)

    def run(self):
        next_at = said_at = time.monotonic()
        while self.progress < self.options.messages * DISTURBED or self.mishaps:
            now = time.monotonic()
            if now >= next_at:
                self.disturb(now)
                next_at = now + self.random.uniform(0.4, 1.6) * self.options.between
            self.thaw_some(now)
            self.look(now)
            if self.mishaps and self.progress >= self.mishaps[0][0]:
                self.mishap(self.mishaps.pop(0)[1])
            if now - said_at > 10:
                said_at = now
                self.say(f"{self.acked} published; {self.told()}")
            self.check_alive()
            time.sleep(0.02)
        for way, process in self.producers.items():
            assert process.wait(60) == 0, f"the producer by {way} ended with {process.returncode}; see clients.log"

    def look(self, now):
        """How far the slower queue has got."""
        if now - self.looked_at > LOOK_SECONDS:
            self.looked_at = now
            self.count_acked()
            statuses = self.statuses().values()
            # What is still being read after a start is not counted yet.
            if all(is_whole(status) for status in statuses):
                depth = max(status["depth"] for status in statuses)
                self.progress = max(self.acked - depth, self.progress)

    def thaw_some(self, now):
        for slot in self.slots:
            if slot.is_frozen and now >= slot.due:
                self.thaw(slot)

    def mishap(self, what):
        before = self.clock()
        if what == "pause":
            self.broker.signal(signal.SIGSTOP)
            time.sleep(self.random.uniform(0.2, 4))
            self.broker.signal(signal.SIGCONT)
            took = 0
        else:
            if what == "cut":
                self.broker.freeze()
                self.disk.cut_power()
            self.broker.kill()
            if what == "cut":
                self.disk.restore_power()
            took = self.broker.start()
        self.write(k=what, t0=before, t=self.clock())
        self.say(f"{what} of the broker, {self.acked} published, back after {took:.1f} s; {len(self.mishaps)} to come")

    def disturb(self, now):
        free = [slot for slot in self.slots if not slot.is_frozen and now >= slot.due]
        if not free:
            return
        slot = self.random.choice(free)
        if slot.process is None:
            self.spawn(slot)
        elif self.random.random() < 0.5:
            self.kill(slot)
            slot.due = now + self.random.uniform(0, 1)
        else:
            self.freeze(slot)

    def freeze(self, slot):
        """With something in its hands, if that can be had; mostly for longer than it may hold it."""
        for _ in range(30):
            slot.process.send_signal(signal.SIGSTOP)
            if holds_something(self.folder / f"of-{slot.name}.jsonl"):
                break
            slot.process.send_signal(signal.SIGCONT)
            time.sleep(0.02)
        slot.process.send_signal(signal.SIGSTOP)
        self.write(k="freeze", n=slot.name, t=self.clock())
        slot.is_frozen = True
        slot.due = time.monotonic() + LOCKS_MS[slot.queue] / 1_000 * self.random.uniform(0.5, 1.8)

    def kill(self, slot):
        slot.process.kill()
        slot.process.wait()
        self.write(k="killed", n=slot.name, t=self.clock())
        slot.process, slot.is_frozen = None, False

    def thaw(self, slot):
        slot.process.send_signal(signal.SIGCONT)
        self.write(k="thaw", n=slot.name, t=self.clock())
        slot.is_frozen, slot.due = False, time.monotonic() + REST_SECONDS

    def check_alive(self):
        self.broker.check_alive()
        for slot in self.slots:
            if slot.process is not None:
                assert slot.process.poll() is None, f"{slot.name} has ended by itself; see clients.log"

    def count_acked(self):
        for way in self.producers:
            path = self.folder / f"by-{way}.jsonl"
            if not path.exists():
                continue
            with open(path, encoding="utf-8") as file:
                file.seek(self.seen.get(way, 0))
                for line in iter(file.readline, ""):
                    if not line.endswith("\n"):
                        break
                    self.seen[way] = file.tell()
                    if line.startswith('{"k":"ack"'):
                        self.acked += len(json.loads(line)["m"])

    def status(self, queue):
        code, status = self.api.get(f"/v1/queues/{queue}/status")
        return status if code == 200 else {"hindrances": [status]}

    def told(self):
        return "; ".join(f"{name}: {status.get('depth')} to do, {status.get('dead_letters')} dead" for name, status in self.statuses().items())

    def statuses(self):
        return {name: self.status(name) for name in QUEUES}

    def drain(self):
        """Nobody is disturbed any more; all that is left comes to its end."""
        for slot in self.slots:
            if slot.is_frozen:
                self.thaw(slot)
            if slot.process is None:
                self.spawn(slot)
        deadline = said_at = time.monotonic()
        deadline += 120 + self.options.messages / 300
        while not all(is_empty(status) for status in self.statuses().values()):
            self.check_alive()
            if time.monotonic() > said_at + 10:
                said_at = time.monotonic()
                self.say(f"draining; {self.told()}")
            if time.monotonic() > deadline:
                self.say(f"not drained: {json.dumps(self.statuses())[:4000]}")
                break
            time.sleep(0.2)

    def finish(self):
        self.drain()
        # What has come to its end stays there.
        self.mishap("kill")
        time.sleep(QUIET_SECONDS)
        for slot in self.slots:
            slot.process.send_signal(signal.SIGTERM)
        for slot in self.slots:
            assert slot.process.wait(60) == 0, f"{slot.name} ended with {slot.process.returncode}; see clients.log"
            slot.process = None
        self.write(k="end", t=self.clock(), drift=abs(distance() - self.distance), status=self.statuses())
        self.say("reading what is left")
        bootstrap = self.broker.bootstrap
        self.put("topic.jsonl", of_topic(bootstrap, TOPIC, PARTITIONS, self.keys))
        for name in QUEUES:
            self.put(f"dead-{name}.jsonl", of_dead(bootstrap, f"{name}.dead", self.partitions_of(f"{name}.dead"), self.keys))
        self.broker.stop()

    def partitions_of(self, topic):
        return len(self.broker.admin().list_topics(topic, timeout=30).topics[topic].partitions)

    def put(self, name, rows):
        with open(self.folder / name, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)

    def stop(self):
        for process in [slot.process for slot in self.slots] + list(self.producers.values()):
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()
        self.broker.kill()
        if self.disk:
            self.disk.unmount()


def is_whole(status):
    """Whether a queue has all its partitions, and so knows what it has to do."""
    return all(hindrance.get("kind") not in ("loading", "unavailable") for hindrance in status["hindrances"]) and "depth" in status


def is_empty(status):
    return is_whole(status) and not any(status[name] for name in ("depth", "unread", "moving"))


def holds_something(path):
    """Whether a consumer is at work, by the last line that it has written down."""
    if not path.exists():
        return False
    with open(path, "rb") as file:
        file.seek(max(file.seek(0, os.SEEK_END) - 20_000, 0))
        last = file.read().splitlines()[-1:]
    # Behind the last answer of a batch comes the next ask, at once.
    return bool(last) and not last[0].startswith((b'{"k":"ask"', b'{"k":"lost"')) and not last[0].endswith(b'"m":[]}')


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--binary")
    add("--folder", required=True)
    add("--judge", action="store_true")
    add("--messages", type=int, default=1_200)
    add("--seconds", type=float, default=6, help="how long they are published")
    add("--kills", type=int, default=1)
    add("--cuts", type=int, default=0)
    add("--pauses", type=int, default=1)
    add("--consumers", type=int, default=8)
    add("--between", type=float, default=0.7, help="seconds between what is done to consumers")
    add("--batch", type=int, default=50)
    add("--work", type=float, default=400, help="milliseconds, that a batch takes at most")
    add("--long", type=float, default=0.03, help="the share of batches that are held for longer than their lock")
    add("--seed", type=int, default=os.getpid())
    add("--port", type=int, default=10_000 + 2 * (os.getpid() % 10_000))
    return parser.parse_args()


def main():
    options = parse()
    if not options.judge:
        os.makedirs(options.folder, exist_ok=True)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by a signal"))
        run = Run(options)
        run.start()
        try:
            run.run()
            run.finish()
        finally:
            run.stop()
    violations, found, done = judge(Path(options.folder))
    print(say(violations, found, done), flush=True)
    sys.exit(1 if violations else 0)


if __name__ == "__main__":
    main()
