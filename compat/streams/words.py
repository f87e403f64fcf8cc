"""Kafka Streams over the broker: words are counted while the program is killed (kill -9), stopped in order, and started again.

    words.py BOOTSTRAP [--fanlog]

Prints a line for each check: `ok` or `failed`, a tab, and what. The counts are compared with a model. With exactly_once_v2 they must be equal
to it whatever was killed; with at_least_once a kill may count some lines again, but never fewer. exactly_once_v2 runs once the broker
advertises transactions. Class path: STREAMS_CLASS_PATH, of `compat/streams/pom.xml`.
"""

import collections
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "raw"))

from probing import api_versions  # noqa: E402
from wire import Connection  # noqa: E402

END_TXN = 26
RUN = uuid.uuid4().hex[:8]
WORDS = "log topic offset batch leader epoch group member commit fetch".split()
PARTITIONS = 3
LINES = 2000
SECONDS = 120


class Wrong(Exception):
    """The counts are not what they should be, or do not come."""


def until(what, holds, seconds=SECONDS):
    deadline = time.monotonic() + seconds
    while not (found := holds()):
        if time.monotonic() > deadline:
            raise Wrong(f"{what}: still not so after {seconds} s")
        time.sleep(0.1)
    return found


class Counting:
    """One application: its topics, its process, and the model of what it should have counted."""

    def __init__(self, bootstrap, guarantee):
        self.bootstrap, self.guarantee = bootstrap, guarantee
        self.name = f"words-{guarantee.replace('_', '-')}-{RUN}"
        self.input, self.output = f"{self.name}-lines", f"{self.name}-counts"
        self.folder = tempfile.mkdtemp(prefix="streams-")
        self.chance = random.Random(7)
        self.model = collections.Counter()
        self.process, self.states = None, []
        self.admin = AdminClient({"bootstrap.servers": bootstrap})
        topics = [NewTopic(topic, PARTITIONS, 1) for topic in (self.input, self.output)]
        for future in self.admin.create_topics(topics).values():
            future.result(20)

    def send(self, count):
        producer = Producer({"bootstrap.servers": self.bootstrap, "enable.idempotence": True, "linger.ms": 5})
        failures = []
        for _ in range(count):
            words = self.chance.choices(WORDS, k=4)
            self.model.update(words)
            producer.produce(self.input, " ".join(words), on_delivery=lambda error, _: error and failures.append(error))
            producer.poll(0)
        producer.flush()
        if failures:
            raise Wrong(f"not sent: {failures[0]}")

    def start(self):
        command = [
            "java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
            "-cp", os.environ["STREAMS_CLASS_PATH"], "fanlog.WordCount", self.bootstrap, self.name, self.input, self.output,
            self.guarantee, os.path.join(self.folder, "state"),
        ]
        self.states = []
        with open(os.path.join(self.folder, "streams.log"), "a") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        threading.Thread(target=self._read, args=(self.process.stdout, self.states), daemon=True).start()
        until("the application runs", lambda: self.alive() and "state RUNNING" in self.states)

    @staticmethod
    def _read(lines, states):
        for line in lines:
            states.append(line.strip())

    def alive(self):
        if self.process.poll() is not None:
            raise Wrong(f"the application ended with {self.process.returncode}; {self.folder}/streams.log")
        return True

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Wrong("the application does not end after SIGTERM") from None

    def counts(self):
        """The last count of each word that is committed, and how many there were."""
        consumer = Consumer({
            "bootstrap.servers": self.bootstrap, "group.id": f"look-{self.name}", "enable.auto.commit": False,
            "enable.partition.eof": True, "isolation.level": "read_committed",
        })
        consumer.assign([TopicPartition(self.output, index, 0) for index in range(PARTITIONS)])
        found, ended, count = {}, set(), 0
        deadline = time.monotonic() + 30
        while len(ended) < PARTITIONS:
            if time.monotonic() > deadline:
                raise Wrong("the end of the counts is not reached")
            message = consumer.poll(1)
            if message is None:
                continue
            if message.error():
                ended.add(message.partition())
            else:
                count += 1
                before, after = found.get(message.key(), 0), int(message.value())
                if after < before and self.guarantee.startswith("exactly"):
                    raise Wrong(f"{message.key()!r} went from {before} to {after}")
                found[message.key()] = after
        consumer.close()
        return {word.decode(): number for word, number in found.items()}, count

    def until_counted(self, is_exact):
        def is_there():
            self.alive()
            found, _ = self.counts()
            return all(found.get(word, 0) >= number for word, number in self.model.items())

        until("every word is counted", is_there)
        # One count too many would come within a commit or two.
        time.sleep(1)
        found, _ = self.counts()
        if is_exact and found != dict(self.model):
            wrong = {word: (found.get(word), number) for word, number in self.model.items() if found.get(word) != number}
            raise Wrong(f"counted, and right: {wrong}")

    def check_topics(self):
        """The topics that Streams made for itself: compacted where it says so, and deleted from as it reads."""
        names = [name for name in self.admin.list_topics(timeout=10).topics if name.startswith(self.name + "-counts-") or name.startswith(self.name + "-KSTREAM")]
        kinds = sorted(name.rsplit("-", 1)[1] for name in names)
        if kinds != ["changelog", "repartition"]:
            raise Wrong(f"its own topics: {names}")


def scenario(counting):
    """Each step says what it has shown."""
    is_exact = counting.guarantee.startswith("exactly")
    counting.send(LINES)
    counting.start()
    counting.until_counted(True)
    counting.check_topics()
    yield "words are counted, over a repartition topic and a changelog"
    counting.stop()
    counting.send(LINES)
    counting.start()
    counting.until_counted(True)
    yield "stopped in order and started again, it goes on with the counts it had"
    for _ in range(3):
        sending = threading.Thread(target=counting.send, args=(LINES,))
        _, before = counting.counts()
        sending.start()
        until("counts come", lambda: counting.alive() and counting.counts()[1] > before + 5)
        counting.kill()
        sending.join()
        counting.start()
    counting.until_counted(is_exact)
    yield f"killed three times as it counts, {'its counts equal the model' if is_exact else 'no line is left out'}"
    counting.stop()


def serves_transactions(bootstrap):
    with Connection(bootstrap) as connection:
        return END_TXN in api_versions(connection)


def main():
    bootstrap, failed = sys.argv[1], 0
    guarantees = ["at_least_once"] + (["exactly_once_v2"] if serves_transactions(bootstrap) else [])
    for guarantee in guarantees:
        counting = Counting(bootstrap, guarantee)
        try:
            for shown in scenario(counting):
                print(f"ok\tStreams, {guarantee}: {shown}", flush=True)
        except Exception as error:  # whatever it is, it did not work
            failed += 1
            print(f"failed\tStreams, {guarantee}: {str(error) or type(error).__name__} (its log below {counting.folder})".replace("\n", " | "), flush=True)
        finally:
            if counting.process and counting.process.poll() is None:
                counting.kill()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
