"""The offset-commit race during a rebalance, with real clients.

    race.py BOOTSTRAP

A slow consumer commits 5 records, takes a batch of 20 and stalls in the middle of it. It loses its partition. The new owner
must start at the last commit, 5. Then the old owner wakes up, goes on with its batch and commits 20: late, so the broker must
refuse it, and the committed offset must still be 5. The new owner goes on to the end. No effect may be missing.

The stall comes in two ways: `frozen` (SIGSTOP: the heartbeats stop, the session runs out, the client does not know) and
`slow` (the heartbeats go on, but it does not poll, so it misses the rebalance).
"""

import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "raw"))

from wire import OFFSET_FETCH, Connection, array, batch, create_topic, delete_topic, i32, list_offset, produce, string  # noqa: E402

RECORDS = 40
TIMEOUT = 60


class Member:
    """A member's process and the lines it prints."""

    def __init__(self, race, name, *options):
        command = [
            sys.executable, str(Path(__file__).with_name("member.py")), "--client", race.client, "--name", name,
            "--bootstrap", race.bootstrap, "--topic", race.topic, "--group", race.group, "--effects", race.effects,
            "--end", str(RECORDS), *options,
        ]
        self.name = name
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line.split())
        self.lines.put(["gone"])

    def expect(self, word):
        """The rest of the next line, which must start with `word`."""
        line = self.lines.get(timeout=TIMEOUT)
        if line[0] != word:
            raise AssertionError(f"{self.name}: {' '.join(line)!r}, expected {word!r}")
        return line[1:]

    def go_on(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def signal(self, number):
        self.process.send_signal(number)

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


class Race:
    def __init__(self, bootstrap, client, way, effects):
        self.bootstrap, self.client, self.way, self.effects = bootstrap, client, way, effects
        self.topic = f"race-{uuid.uuid4()}"
        self.group = f"race-{uuid.uuid4()}"

    def committed(self):
        with Connection(self.bootstrap) as connection:
            body = string(self.group) + array([string(self.topic) + array([i32(0)])])
            answer = connection.ask(OFFSET_FETCH, 1, body)
            topics = answer.array(
                lambda: (
                    answer.string(),
                    answer.array(lambda: (answer.i32(), answer.i64(), answer.string(), answer.i16())),
                )
            )
        return topics[0][1][0][1]

    def prepare(self):
        with Connection(self.bootstrap) as connection:
            assert create_topic(connection, self.topic) == 0
            deadline = time.monotonic() + TIMEOUT
            while list_offset(connection, self.topic, 0, -1)[0] and time.monotonic() < deadline:
                time.sleep(0.05)
            for number in range(RECORDS):
                error, offset = produce(connection, self.topic, 0, batch([b"%d" % number], int(time.time() * 1000)))
                assert (error, offset) == (0, number), f"produce: error {error}, offset {offset}"

    def run(self):
        """The reason with which the late commit was refused."""
        self.prepare()
        old = Member(self, "old", "--commit-first", "--stall-after", "10")
        new = None
        try:
            assert old.expect("start") == ["0"]
            assert old.expect("commit") == ["OK"], "the first commit"
            old.expect("stalled")
            if self.way == "frozen":
                old.signal(signal.SIGSTOP)
            new = Member(self, "new", "--stall-after", "3")
            start = new.expect("start")
            assert start == ["5"], f"the new owner starts at {start}, the last commit is 5"
            new.expect("stalled")
            if self.way == "frozen":
                old.signal(signal.SIGCONT)
            old.go_on()
            (reason,) = old.expect("commit")
            assert reason != "OK", "GRP-2: the late commit of the old owner was accepted"
            assert self.committed() == 5, f"GRP-2: the late commit moved the offset to {self.committed()}"
            new.go_on()
            assert new.expect("commit") == ["OK"], "the new owner's commit"
            new.expect("end")
            assert self.committed() == RECORDS, f"committed {self.committed()} at the end"
        finally:
            old.end()
            if new:
                new.end()
        self.check_effects()
        with Connection(self.bootstrap) as connection:
            delete_topic(connection, self.topic)
        return reason

    def check_effects(self):
        with open(self.effects) as lines:
            effects = [line.split() for line in lines]
        skipped = set(range(RECORDS)) - {int(offset) for _, offset in effects}
        assert not skipped, f"effects skipped: {sorted(skipped)}"
        by_new = [int(offset) for name, offset in effects if name == "new"]
        assert by_new == list(range(5, RECORDS)), f"the new owner processed {by_new}"


def main():
    failed = 0
    for client in ("confluent-kafka", "kafka-python"):
        for way in ("frozen", "slow"):
            name = f"{client}, {way} owner"
            with tempfile.NamedTemporaryFile(suffix=".effects") as effects:
                try:
                    reason = Race(sys.argv[1], client, way, effects.name).run()
                    print(f"ok\t{name}: the late commit was refused ({reason}), no effect was skipped", flush=True)
                except (AssertionError, queue.Empty) as error:
                    failed += 1
                    print(f"failed\t{name}\t{type(error).__name__}: {error}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
