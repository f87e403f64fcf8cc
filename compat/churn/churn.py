"""A group of the new protocol (KIP-848) whose members join, leave, are killed and are frozen at random, while some of them only read.

usage: churn.py BOOTSTRAP DIR MEMBERS PARTITIONS SECONDS SEED

Each member is a process of its own (member.py) that writes down what it was told; a producer writes to every partition all the time.
Once all that was written is read and committed, checker.py judges the histories. The last line is the outcome in a few words.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from confluent_kafka.admin import AdminClient, NewTopic

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "raw")]

from checker import EXAMPLES_MAX, History, Limits, check, measures  # noqa: E402
from group import Group  # noqa: E402

GROUP, TOPIC = "churned", "churn"
# Between two records of a partition.
WRITE_SECONDS = 0.25
# How often the group is described.
LOOK_SECONDS = 0.3
# A member is let be for so long after something was done to it, so that it is heard of between two mishaps.
REST_SECONDS = 3
DRAIN_SECONDS = 60


class Slot:
    """A place in the group: one process after the other."""

    def __init__(self, number, is_stable):
        self.number, self.is_stable = number, is_stable
        self.lives, self.process, self.name, self.is_frozen = 0, None, None, False
        self.due = 0.0


class Churn:
    def __init__(self, bootstrap, folder, members, partitions, seed):
        self.bootstrap, self.folder, self.partitions = bootstrap, Path(folder), partitions
        self.random = random.Random(seed)
        self.events, self.limits = [], Limits()
        stable = max(members * 8 // 30, 2)
        self.slots = [Slot(number, number < stable) for number in range(members)]
        self.group, self.ghosts, self.looked_at = Group(bootstrap, GROUP, TOPIC), [], 0
        self.log = open(self.folder / "members.log", "ab")
        self.producer = None
        # Events come so that a member is disturbed every twenty seconds or so.
        self.between = 20 / (members - stable)

    def write(self, kind, **fields):
        fields.setdefault("t", time.monotonic())
        self.events.append({"k": kind, **fields})

    def start(self):
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        admin.create_topics([NewTopic(TOPIC, self.partitions, 1)])[TOPIC].result(30)
        settings = {"consumer.session.timeout.ms": self.limits.session, "consumer.heartbeat.interval.ms": self.limits.heartbeat}
        self.group.configure({name: str(int(seconds * 1000)) for name, seconds in settings.items()})
        for slot in self.slots:
            self.spawn(slot)
        deadline = time.monotonic() + 60
        while not self.look() or time.monotonic() < deadline - 60 + 5:
            assert time.monotonic() < deadline, f"the group does not come to rest: {self.events[-1]}"
            time.sleep(LOOK_SECONDS)
        command = [sys.executable, HERE / "producer.py", self.bootstrap, TOPIC, str(self.partitions), self.folder / "acks.jsonl", str(WRITE_SECONDS)]
        self.producer = subprocess.Popen(command, stdout=self.log, stderr=self.log, start_new_session=True)
        time.sleep(2)

    def spawn(self, slot):
        slot.lives += 1
        slot.name = f"m{slot.number}.{slot.lives}"
        self.write("spawn", n=slot.name, stable=slot.is_stable)
        command = [sys.executable, HERE / "member.py", self.bootstrap, GROUP, TOPIC, self.folder / f"{slot.name}.jsonl", str(self.random.random())[2:12]]
        slot.process = subprocess.Popen(command, stdout=self.log, stderr=self.log, start_new_session=True)
        slot.due = time.monotonic() + REST_SECONDS + 1

    def look(self):
        """Whether everybody is there, and has all that it shall."""
        state, epoch, members = self.group.describe()
        self.write("group", state=state, epoch=epoch, members=members)
        self.looked_at = time.monotonic()
        return state == "Stable" and len(members) == len(self.slots)

    def run(self, seconds):
        self.write("begin")
        end, next_at = time.monotonic() + seconds, time.monotonic()
        while time.monotonic() < end:
            now = time.monotonic()
            if now >= next_at:
                self.disturb(now)
                next_at = now + self.random.uniform(0.4, 1.6) * self.between
            for slot in self.slots:
                if slot.is_frozen and now >= slot.due:
                    self.thaw(slot)
            self.speak_for_ghosts(now)
            if now - self.looked_at > LOOK_SECONDS:
                self.look()
            self.check_alive()
            time.sleep(0.02)

    def check_alive(self):
        assert self.producer.poll() is None, "the producer has ended; see members.log"
        for slot in self.slots:
            if slot.process is not None:
                assert slot.process.poll() is None, f"{slot.name} has ended by itself; see members.log"

    def disturb(self, now):
        free = [slot for slot in self.slots if not slot.is_stable and not slot.is_frozen and now >= slot.due]
        if not free:
            return
        slot = self.random.choice(free)
        if slot.process is None:
            return self.spawn(slot)
        self.random.choices([self.leave, self.kill, self.freeze], [3, 3, 4])[0](slot)

    def leave(self, slot):
        self.write("leave", n=slot.name)
        slot.process.send_signal(signal.SIGTERM)
        slot.process.wait(30)
        self.gone(slot)

    def kill(self, slot):
        self.write("kill", n=slot.name)
        slot.process.kill()
        slot.process.wait()
        self.gone(slot)

    def gone(self, slot):
        self.ghosts.append((time.monotonic() + self.limits.session + 2.5, slot.name, None))
        slot.process, slot.is_frozen = None, False
        slot.due = time.monotonic() + self.random.uniform(0.2, 8)

    def freeze(self, slot):
        """For so long that it may or may not be put out."""
        self.write("freeze", n=slot.name)
        slot.process.send_signal(signal.SIGSTOP)
        slot.is_frozen = True
        slot.due = time.monotonic() + self.random.uniform(0.5, 15)
        self.ghosts.append((time.monotonic() + self.limits.session + 2.5, slot.name, slot))

    def thaw(self, slot):
        self.write("thaw", n=slot.name)
        slot.process.send_signal(signal.SIGCONT)
        slot.is_frozen, slot.due = False, time.monotonic() + REST_SECONDS
        self.ghosts = [ghost for ghost in self.ghosts if ghost[2] is not slot]

    def speak_for_ghosts(self, now):
        """Commits in the name of who must be out by now, and of nobody."""
        due = [ghost for ghost in self.ghosts if ghost[0] <= now]
        self.ghosts = [ghost for ghost in self.ghosts if ghost[0] > now]
        for _, name, _ in due:
            member, epoch = last_words(self.folder / f"{name}.jsonl")
            if member:
                partition = self.random.randrange(self.partitions)
                self.write("ghost", who=name, c=self.group.commit(member, epoch, partition))
                self.write("ghost", who=None, c=self.group.commit("", -1, partition))

    def finish(self):
        self.write("end")
        for slot in self.slots:
            if slot.is_frozen:
                self.thaw(slot)
        self.producer.terminate()
        assert self.producer.wait(60) == 0, "the producer failed; see members.log"
        acks = read(self.folder / "acks.jsonl")
        ends = {partition: 0 for partition in range(self.partitions)}
        for ack in acks:
            ends[ack["p"]] = max(ends[ack["p"]], ack["o"] + 1)
        deadline = time.monotonic() + DRAIN_SECONDS
        while lag := {part: end - self.group.committed(part) for part, end in ends.items() if end != self.group.committed(part)}:
            if time.monotonic() > deadline:
                self.write("undrained", lag=lag)
                break
            time.sleep(0.5)
        for slot in self.slots:
            if slot.process is not None:
                slot.process.send_signal(signal.SIGTERM)
        for slot in self.slots:
            if slot.process is not None:
                assert slot.process.wait(30) == 0, f"{slot.name} ended with {slot.process.returncode}"
                slot.process = None
        return acks

    def stop(self):
        for process in [slot.process for slot in self.slots] + [self.producer]:
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()
        with open(self.folder / "runner.jsonl", "w", encoding="utf-8") as file:
            file.writelines(json.dumps(event) + "\n" for event in self.events)


def read(path):
    """The events of one file. A last line that was cut off is left out."""
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.endswith("\n")]


def last_words(path):
    """The member id and epoch that a process had last."""
    named = [event for event in read(path) if event.get("m") and event.get("e", -1) > 0]
    return (named[-1]["m"], named[-1]["e"]) if named else (None, None)


def judge(folder):
    members = {path.stem: read(path) for path in sorted(folder.glob("m*.jsonl"))}
    history = History(members, read(folder / "runner.jsonl"), read(folder / "acks.jsonl"))
    violations, counts = check(history), {}
    for violation in violations:
        counts[violation.kind] = counts.get(violation.kind, 0) + 1
        if counts[violation.kind] <= EXAMPLES_MAX:
            print(f"    {violation.kind}: {violation.what}")
    return counts, measures(history)


def say(counts, found):
    """The row of the results: rounds, sent, acknowledged, polled, verdict."""
    mishaps = found["left"] + found["killed"] + found["frozen"]
    verdict = "holds" if not counts else ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
    words = (
        f"{verdict}: {found['left']} left, {found['killed']} were killed, {found['frozen']} frozen, of whom {found['put_out']} were put out; "
        f"{found['tenures']} times a partition got an owner; without one alive for at most {found['unowned_silent']:.1f} s after somebody fell silent "
        f"(session {Limits().session:.0f} s), {found['unowned_orderly']:.1f} s otherwise; of those that stay, a record waited at most "
        f"{found['stable_wait']:.2f} s; {found['commits']} commits answered, {found['refused']} refused, and {found['ghosts']} in the name of who was out"
    )
    return f"outcome|{mishaps}|{found['acked']}|{found['acked']}|{found['read']}|{words}"


def main():
    bootstrap, folder = sys.argv[1], Path(sys.argv[2])
    if sys.argv[3:] == ["--judge"]:
        print(say(*judge(folder)))
        return
    members, partitions, seconds, seed = map(int, sys.argv[3:7])
    os.makedirs(folder, exist_ok=True)
    churn = Churn(bootstrap, folder, members, partitions, seed)
    try:
        churn.start()
        churn.run(seconds)
        churn.finish()
    finally:
        churn.stop()
    counts, found = judge(folder)
    print(say(counts, found))
    sys.exit(1 if counts else 0)


main()
