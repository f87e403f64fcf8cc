"""Members of groups as processes, and what they say.

Each is a program of one client (`member_confluent.py`, Java's `watch`, franz-go's `watch`) with the same options, and ends in order
on SIGTERM: it commits, leaves, ends. Its lines, split by tabs, AT in nanoseconds of the clock that all of them share:

    assigned   AT TOPIC:PARTITION[,...]      what it owns from now on, beside what it had
    revoked    AT TOPIC:PARTITION[,...]      what it gives back, after its last commit
    lost       AT TOPIC:PARTITION[,...]      what it learns to be somebody else's
    got        AT TOPIC:PARTITION OFFSET VALUE
    committed  AT TOPIC:PARTITION=OFFSET[,...]
    refused    AT REASON                     a commit
    error      AT REASON                     what ended it
"""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

PATIENCE_S = 45
"""How long anything may take that has to happen: a session that runs out, a rebalance, a slow machine."""

PROGRAMS = {
    "confluent": lambda: [sys.executable, str(Path(__file__).with_name("member_confluent.py"))],
    "java": lambda: [
        "java", "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", os.environ["JAVA_CLIENT_CLASS_PATH"],
        "fanlog.Client", "watch",
    ],
    "franz-go": lambda: [str(Path(os.environ["GO_CLIENTS"]) / "franz"), "watch"],
}


@dataclass(frozen=True)
class Line:
    """What a member said."""

    member: str
    at: int
    word: str
    fields: tuple


class Failed(Exception):
    """A check that does not hold."""


def until(holds, what, patience_s=PATIENCE_S):
    """Waits until `holds()` is true, and returns it."""
    deadline = time.monotonic() + patience_s
    while True:
        found = holds()
        if found:
            return found
        if time.monotonic() > deadline:
            raise Failed(f"not within {patience_s} s: {what() if callable(what) else what}")
        time.sleep(0.05)


class Cast:
    """All members of a scenario and what they said, in the order in which it was heard. Those that are left end with it."""

    def __init__(self, bootstrap, group):
        self.bootstrap, self.group = bootstrap, group
        self.lines = []
        self.lock = threading.Lock()
        self.members = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for member in self.members:
            member.end()

    def start(self, client, name, protocol, **options):
        member = Member(self, client, name, protocol, options)
        self.members.append(member)
        return member

    def hear(self, line):
        with self.lock:
            self.lines.append(line)

    def heard(self):
        with self.lock:
            return list(self.lines)

    def owned(self, member):
        """What a member owns, by its own word."""
        owned = set()
        for line in self.heard():
            if line.member != member.name:
                continue
            if line.word == "assigned":
                owned |= partitions(line)
            elif line.word in ("revoked", "lost"):
                owned -= partitions(line)
        return owned

    def values(self):
        """Every value that anybody was given, with repeats."""
        return [line.fields[2] for line in self.heard() if line.word == "got"]

    def wait_for_owners(self, members, count):
        """Waits until these members own so many partitions between them, each at least one."""
        def holds():
            owned = [self.owned(member) for member in members]
            return all(owned) and sum(map(len, owned)) == count

        def what():
            owned = {member.name: sorted(self.owned(member)) for member in members}
            words = [member.last_words() for member in members if member.process.poll() is not None]
            return f"{count} partitions among {len(members)} members; now {owned} {words}"

        until(holds, what)

    def wait_for_values(self, values, patience_s=PATIENCE_S):
        """Waits until each of these values was delivered."""
        wanted = set(values)
        missing = lambda: sorted(wanted - set(self.values()))  # noqa: E731
        until(lambda: not missing(), lambda: f"{len(missing())} of {len(wanted)} records never came, such as {missing()[:5]}", patience_s)


class Member:
    """One process."""

    def __init__(self, cast, client, name, protocol, options):
        self.cast, self.name, self.ended_at = cast, name, None
        command = PROGRAMS[client]()
        options = {"bootstrap": cast.bootstrap, "group": cast.group, "protocol": protocol, "commit_every": 20} | options
        for option, value in options.items():
            command += [f"--{option.replace('_', '-')}", str(value)]
        self.complaints = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.complaints, text=True)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            # A line without its end is the last of a process that was killed while it wrote it.
            if line.endswith("\n"):
                word, at, *fields = line.rstrip("\n").split("\t")
                self.cast.hear(Line(self.name, int(at), word, tuple(fields)))

    def last_words(self):
        self.complaints.seek(0)
        return f"{self.name}: {self.complaints.read()[-600:]}"

    def stop(self):
        """Asks it to leave, and waits for its end."""
        self.process.send_signal(signal.SIGTERM)
        self.wait()

    def wait(self):
        try:
            status = self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            raise Failed(f"{self.name} does not end; {self.last_words()}") from None
        self.reader.join(10)
        # Java reports the signal as 143 where its hooks ran in order.
        if status not in (0, 143):
            raise Failed(f"{self.name} ended with {status}; {self.last_words()}")
        self.ended_at = time.time_ns()

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.reader.join(10)
        self.ended_at = time.time_ns()

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def error(self):
        """What ended it, if something did."""
        errors = [line for line in self.cast.heard() if line.member == self.name and line.word == "error"]
        return errors[0].fields[0] if errors else None


def partitions(line):
    return set(line.fields[0].split(",")) - {""}
