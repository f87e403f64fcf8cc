"""Transactions by clients that are not librdkafka or Java: what is seen, what is not, offsets, zombies, a copier that is killed.

    of_clients.py BOOTSTRAP [--fanlog] [CLIENT] [CASE]

Each client is the program that `clients/talk.py` describes; librdkafka reads beside it, as a second opinion. One line for each check:
`ok` or `failed`, and what.
"""

import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "groups"))

from confluent_kafka import Consumer, TopicPartition  # noqa: E402

from members import Failed, until  # noqa: E402
from stage import Stage  # noqa: E402

RUN = uuid.uuid4().hex[:8]
HERE = Path(__file__).resolve().parent / "clients"
CLIENTS = {
    "franz-go": lambda: ([str(Path(os.environ["GO_CLIENTS"]) / "franz")], "transact"),
    "kafka-python": lambda: ([sys.executable, str(HERE / "of_kafka_python.py")], None),
    "aiokafka": lambda: ([sys.executable, str(HERE / "of_aiokafka.py")], None),
}
SENDS_OFFSETS = {"kafka-python", "aiokafka"}
"""franz-go sends offsets only from a group's session, which is what its copier uses."""
NAMES_THE_MEMBER = {"kafka-python"}
STRIKES_BACK = {"kafka-python"}
"""Fenced, it asks for a new epoch by its old one. The broker, Apache Kafka too, aborts what is open under the id before it looks at that,
so the new one loses a transaction that is open then."""
QUIET_MS = 1500
LONG_MS = 60_000
FENCED = ("ProducerFenced", "InvalidProducerEpoch", "INVALID_PRODUCER_EPOCH", "PRODUCER_FENCED")
PARTITIONS = 4
RECORDS = 400


class Refused(Exception):
    """The client says no, and why."""


class Program:
    """One process of a client."""

    def __init__(self, client, bootstrap, *copy):
        words, command = CLIENTS[client]()
        words += (["copy", bootstrap, *copy] if copy else [command, bootstrap] if command else [bootstrap])
        self.complaints = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.complaints, text=True)
        self.lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    def line(self):
        try:
            line = self.lines.get(timeout=90)
        except queue.Empty:
            raise Failed("no answer within 90 s") from None
        if line is None:
            raise Failed(f"the program ended: {self.last_words()}")
        return line

    def last_words(self):
        self.complaints.seek(0)
        return self.complaints.read()[-600:]

    def __call__(self, *words):
        """A command; what it answers, or why it is refused."""
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        word, _, rest = self.line().partition(" ")
        if word == "refused":
            raise Refused(rest)
        return rest.split(",") if rest else []

    def refusal(self, *words):
        """Why a command is refused; None if it is not."""
        try:
            self(*words)
        except Refused as refused:
            return str(refused)
        return None

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        if self.process.wait(60):
            raise Failed("a copier did not end in order")


class Play:
    """One client's way through."""

    def __init__(self, stage, client, check):
        self.stage, self.client, self.programs = stage, client, []
        self.check = lambda holds, what: check(holds, f"{client}: {what}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for program in self.programs:
            program.kill()

    def program(self, *copy):
        program = Program(self.client, self.stage.bootstrap, *copy)
        self.programs.append(program)
        return program

    def producer(self, name, timeout_ms=LONG_MS):
        producer = self.program()
        producer("open", f"{RUN}-{self.client}-{name}", timeout_ms)
        return producer

    def topic(self, name, partitions=1):
        topic = f"{RUN}-{self.client}-{name}"
        self.stage.create(topic, partitions)
        return topic

    def sees(self, topic, isolation, wanted, what):
        """The client and librdkafka read just this."""
        end = wanted[-1] if wanted else "none"
        by_client = self.program()("read", topic, 0, isolation, end, QUIET_MS if not wanted else 30_000)
        by_other = by_librdkafka(self.stage.bootstrap, topic, 0, isolation)
        details = "" if by_client == by_other == wanted else f" ({by_client}; by librdkafka {by_other})"
        self.check(by_client == by_other == wanted, f"{isolation}: {what}{details}")


def by_librdkafka(bootstrap, topic, partition, isolation):
    """Everything that there is, to the end that this isolation has."""
    consumer = Consumer({
        "bootstrap.servers": bootstrap, "group.id": "none", "isolation.level": isolation, "enable.partition.eof": True,
        "auto.offset.reset": "earliest", "enable.auto.commit": False,
    })
    try:
        consumer.assign([TopicPartition(topic, partition, 0)])
        found = []
        while True:
            message = consumer.poll(20)
            if message is None:
                raise Failed(f"librdkafka does not come to the end of {topic}")
            if message.error():
                return found
            found.append(message.value().decode())
    finally:
        consumer.close()


def ends(play):
    """Committed, aborted, open."""
    topic = play.topic("ends")
    one, two = play.producer("one"), play.producer("two")
    for values, end in ((["a", "b"], "commit"), (["c", "d"], "abort"), (["e"], "commit")):
        one("begin")
        for value in values:
            one("send", topic, 0, value)
        one(end)
    play.sees(topic, "read_committed", ["a", "b", "e"], "what was committed, nothing of what was aborted")
    play.sees(topic, "read_uncommitted", ["a", "b", "c", "d", "e"], "everything")
    one("begin")
    one("send", topic, 0, "f")
    two("begin")
    two("send", topic, 0, "g")
    two("commit")
    play.sees(topic, "read_committed", ["a", "b", "e"], "what lies behind an open transaction is held back")
    play.sees(topic, "read_uncommitted", ["a", "b", "c", "d", "e", "f", "g"], "an open transaction holds nobody else back")
    one("commit")
    play.sees(topic, "read_committed", ["a", "b", "e", "f", "g"], "and comes when that ends")


def offsets(play):
    """Offsets belong to the transaction."""
    if play.client not in SENDS_OFFSETS:
        return
    topic, group = play.topic("offsets"), f"{RUN}-{play.client}-offsets"
    play.stage.produce(topic, 1, [str(n) for n in range(10)])
    producer = play.producer("offsets")
    for offset, end in ((3, "commit"), (5, "abort"), (7, "commit")):
        producer("begin")
        producer("offsets", group, topic, 0, offset)
        producer(end)
        # Apache Kafka may answer the end of a transaction before its marker is in the group's offsets.
        wanted = {3: 3, 5: 3, 7: 7}[offset]
        until(lambda wanted=wanted: play.stage.committed(group) == {f"{topic}:0": wanted}, lambda: str(play.stage.committed(group)))
        play.check(True, f"offset {offset} sent to a transaction, {end}: the group stands at {wanted}")
    if play.client in NAMES_THE_MEMBER:
        producer("begin")
        reason = producer.refusal("stale", group, topic, 0, 9)
        play.check(reason is not None, f"offsets of a member that the group does not know are refused: {reason}")
        producer("abort")
        play.check(play.stage.committed(group) == {f"{topic}:0": 7}, "and the group stands where it did")


def zombies(play):
    """A second producer with the same id."""
    topic = play.topic("zombies")
    old = play.producer("zombie")
    old("begin")
    old("send", topic, 0, "of-the-old-one")
    new = play.producer("zombie")
    new("begin")
    new("send", topic, 0, "of-the-new-one")
    if play.client in STRIKES_BACK:
        new("commit")
    reason = old.refusal("send", topic, 0, "too-late") or old.refusal("commit")
    play.check(reason is not None and any(word in reason for word in FENCED), f"the old one is fenced: {reason}")
    if play.client not in STRIKES_BACK:
        new("commit")
    play.sees(topic, "read_committed", ["of-the-new-one"], "its open transaction was aborted, the new one's counts")
    reasons = [new.refusal("begin"), new.refusal("send", topic, 0, "more"), new.refusal("commit")]
    play.check(not any(reasons), f"the new one goes on ({reasons if any(reasons) else 'no complaint'})")


def timeouts(play):
    """A transaction that nobody ends."""
    topic = play.topic("timeouts")
    slow = play.producer("slow", 2_000)
    slow("begin")
    slow("send", topic, 0, "never-committed")
    play.stage.produce(topic, 1, ["behind-it"])
    until(lambda: by_librdkafka(play.stage.bootstrap, topic, 0, "read_committed") == ["behind-it"], "the open transaction is not aborted")
    play.check(True, "a transaction that nobody ends is aborted when its time is up")
    reason = slow.refusal("commit")
    play.check(reason is not None, f"to commit it then is refused: {reason}")
    play.sees(topic, "read_committed", ["behind-it"], "and it stays aborted")


def copies(play):
    """Read-process-write by two members; one is killed in the middle."""
    source, target = play.topic("source", PARTITIONS), play.topic("target", PARTITIONS)
    group = f"{RUN}-{play.client}-copiers"
    values = [str(n) for n in range(RECORDS)]
    play.stage.produce(source, PARTITIONS, values[: RECORDS // 2])
    start = lambda number: play.program(source, target, group, f"{group}-{number}")  # noqa: E731
    copiers = [start(0), start(1)]
    copiers[0].line()
    play.stage.produce(source, PARTITIONS, values[RECORDS // 2 :])
    copiers[0].line()
    copiers.pop(0).kill()
    copiers.append(start(2))
    ends = play.stage.ends(source, PARTITIONS)
    until(lambda: play.stage.committed(group) == ends, lambda: f"copied to {play.stage.committed(group)} of {ends}{last_words(copiers)}", 90)
    for copier in copiers:
        copier.stop()
    # What the killed one had open holds the others' records back until its time is up.
    wanted = {p: values[p::PARTITIONS] for p in range(PARTITIONS)}
    found = lambda: {p: by_librdkafka(play.stage.bootstrap, target, p, "read_committed") for p in range(PARTITIONS)}  # noqa: E731
    until(lambda: sum(map(len, found().values())) >= RECORDS, lambda: f"{sum(map(len, found().values()))} of {RECORDS} records are copied", 60)
    play.check(found() == wanted, f"{RECORDS} records copied in transactions, a copier killed: each once, in order")


def last_words(copiers):
    ended = [copier for copier in copiers if copier.process.poll() is not None]
    return "".join(f"; a copier ended: {copier.last_words()}" for copier in ended)


def main():
    bootstrap, *words = [each for each in sys.argv[1:] if each != "--fanlog"]
    stage, failed = Stage(bootstrap), 0

    def check(holds, what):
        nonlocal failed
        failed += not holds
        print("ok" if holds else "failed", what, sep="\t", flush=True)

    for client in CLIENTS:
        for case in (ends, offsets, zombies, timeouts, copies):
            if not {client, case.__name__} >= set(words):
                continue
            try:
                with Play(stage, client, check) as play:
                    case(play)
            except (Failed, Refused, OSError, subprocess.SubprocessError) as error:
                check(False, f"{client}: {case.__name__}: {type(error).__name__}: {error}")
    sys.exit(1 if failed else 0)


main()
