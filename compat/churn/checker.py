"""Whether the histories of a group's members keep the promises of the new protocol (KIP-848) while members come and go.

Times are seconds of this machine's monotonic clock, which all processes share. A *tenure* is one process's hold of a partition, from the
call that gives it to the one that takes it; of who was killed or frozen it lasts, for the coordinator, until the session can be over.

| violation | means |
|---|---|
| two-owners | GRP-1: a partition was given to one while another held it |
| read-unowned | GRP-1: somebody read what it did not hold |
| late-commit | GRP-2: a commit was taken that was sent after the partition had been given to another |
| ghost | GRP-2: a commit in the name of who was out, or of nobody, was taken |
| commit-lost | GRP-3: who got a partition did not begin where the last answered commit stood |
| skipped | within a tenure the records read are not one after the other, or not those that were written |
| unowned | nobody alive held a partition for longer than the session time-out |
| late-read | a record lay unread for too long, though somebody alive held the partition |
| lost | a member was put out of the group that had neither been killed nor frozen |
| interrupted | a member that stays gave a partition up and got it back, with nothing between |
| refused | a commit of a member that stays was refused while it held the partition |
| in-the-group | the coordinator kept a member for longer than the session time-out after it had been heard last |
| unread, undrained | at the end, a record was read by nobody, or the group does not stand at the end |
| untested | the history is too thin to show anything |
"""

import bisect
from collections import defaultdict, namedtuple
from dataclasses import dataclass, field

Violation = namedtuple("Violation", "kind what")

EXAMPLES_MAX = 5


@dataclass(frozen=True)
class Limits:
    session: float = 6.0
    heartbeat: float = 1.0
    # For a member to hear of what is free there are two heartbeats, its own and that of who gives up; a second is the machine's.
    handover: float = 3.0
    # A rebalance that stops everybody would last until who is frozen is out: for a session. Half of that is none.
    read: float = 3.0


@dataclass
class Tenure:
    process: str
    partition: int
    start: float
    epoch: int
    end: float = float("inf")
    how: str = "holds"
    end_epoch: int = -1
    reads: list = field(default_factory=list)


Commit = namedtuple("Commit", "process partition offset sent answered verdict code")


class History:
    """What all processes saw. `members`: events by process; `runner`: what was done to them; `acks`: what the producer was told."""

    def __init__(self, members, runner, acks, limits=Limits()):
        self.limits, self.runner = limits, runner
        self.tenures, self.commits, self.odd = [], [], []
        self.ids = {}
        self.stable = {event["n"] for event in runner if event["k"] == "spawn" and event["stable"]}
        self.killed = {event["n"]: event["t"] for event in runner if event["k"] == "kill"}
        self.samples = [event for event in runner if event["k"] == "group"]
        self.ghosts = [event for event in runner if event["k"] == "ghost"]
        self.frozen = self._frozen()
        for process, events in members.items():
            self._add(process, events)
        self.acks = defaultdict(dict)
        for ack in acks:
            self.acks[ack["p"]][ack["o"]] = ack["t"]
            if ack["o"] != ack["v"]:
                self.odd.append(f"number {ack['v']} was written at {ack['p']}@{ack['o']}")
        self.by_partition = defaultdict(list)
        for tenure in sorted(self.tenures, key=lambda tenure: tenure.start):
            self.by_partition[tenure.partition].append(tenure)
        times = {event["k"]: event["t"] for event in runner if event["k"] in ("begin", "end")}
        self.begin, self.end = times.get("begin", 0.0), times.get("end", float("inf"))

    def _frozen(self):
        """By process: from when to when it was frozen; without an end where it did not come back."""
        found = defaultdict(list)
        for event in self.runner:
            if event["k"] == "freeze":
                found[event["n"]].append([event["t"], float("inf")])
            elif event["k"] in ("thaw", "kill") and found[event["n"]]:
                last = found[event["n"]][-1]
                last[1] = min(last[1], event["t"])
        return found

    def _add(self, process, events):
        held, asked = {}, {}
        for event in events:
            kind = event["k"]
            if event.get("m"):
                self.ids[event["m"]] = process
            if kind == "assign":
                for partition in event["p"]:
                    held[partition] = Tenure(process, partition, event["t"], event["e"])
                    self.tenures.append(held[partition])
            elif kind in ("revoke", "lost"):
                for partition in event["p"]:
                    tenure = held.pop(partition, None)
                    if tenure is not None:
                        tenure.end, tenure.how, tenure.end_epoch = event["t"], kind, event["e"]
            elif kind == "read":
                tenure = held.get(event["p"])
                if tenure is None:
                    self.odd.append((process, event))
                else:
                    tenure.reads.append((event["t"], event["o"], event["v"]))
            elif kind == "commit":
                asked = {partition: Commit(process, partition, offset, event["t"], None, "open", None) for partition, offset in event["o"]}
                self.commits.extend(asked.values())
            elif kind == "committed":
                before = asked[event["p"]]
                answered = before._replace(answered=event["t"], verdict=event["v"], code=event["c"])
                # The last of them, but for the few of the same request.
                at = len(self.commits) - 1 - self.commits[::-1].index(before)
                self.commits[at] = answered
            elif kind == "left":
                self._close(held, event["t"], "left")
        if process in self.killed:
            self._close(held, self.killed[process], "killed")

    def _close(self, held, time, how):
        for tenure in held.values():
            tenure.end, tenure.how = time, how
        held.clear()

    def silences(self, tenure):
        """When a process fell silent during a tenure for so long that the coordinator may have put it out."""
        long = self.limits.session - self.limits.heartbeat - 1
        times = [start for start, end in self.frozen[tenure.process] if end - start >= long and start < tenure.end and end > tenure.start]
        return times + ([tenure.end] if tenure.how == "killed" else [])

    def protected_until(self, tenure):
        """Until when nobody else may get the partition, whatever the coordinator has heard."""
        silences = self.silences(tenure) if tenure.how in ("lost", "killed", "left", "holds") else []
        if not silences:
            return tenure.end
        # The last heartbeat before may be an interval old; a second is the machine's.
        over = max(min(silences), tenure.start) + self.limits.session - self.limits.heartbeat - 1
        return over if tenure.how == "killed" else min(over, tenure.end)

    def live_until(self, tenure):
        """Until when somebody alive held the partition."""
        silences = self.silences(tenure) if tenure.how in ("lost", "killed") else []
        return max(min([tenure.end, *silences]), tenure.start)


def check(history):
    checks = (
        check_owners, check_reads, check_commits, check_ghosts, check_starts, check_unowned, check_late_reads, check_lost,
        check_interrupted, check_refused, check_sessions, check_end, check_tested,
    )
    return [violation for one in checks for violation in one(history)]


def check_owners(history):
    for partition, tenures in history.by_partition.items():
        for at, tenure in enumerate(tenures):
            for before in tenures[:at]:
                if before.process != tenure.process and history.protected_until(before) > tenure.start:
                    yield Violation("two-owners", f"partition {partition}: {say(before)}, and {say(tenure)}")


def check_reads(history):
    for odd in history.odd:
        yield Violation("skipped" if isinstance(odd, str) else "read-unowned", str(odd))
    for tenure in history.tenures:
        offsets = [offset for _, offset, _ in tenure.reads]
        if any(offset != value for _, offset, value in tenure.reads) or offsets != list(range(offsets[0] if offsets else 0, (offsets[0] if offsets else 0) + len(offsets))):
            yield Violation("skipped", f"{say(tenure)} read {offsets}")


def check_commits(history):
    """One who was put out, and does not know it yet, must not move what the next one stands on."""
    for commit in history.commits:
        if commit.verdict != "ok":
            continue
        own, others = None, []
        for tenure in history.by_partition[commit.partition]:
            if tenure.start > commit.sent:
                break
            if tenure.process == commit.process:
                own, others = tenure, []
            else:
                others.append(tenure)
        if own is None or others:
            yield Violation("late-commit", f"{commit}, though {[say(other) for other in others]}")


def check_ghosts(history):
    for ghost in history.ghosts:
        if ghost["c"] == 0:
            yield Violation("ghost", str(ghost))


def check_starts(history):
    commits = defaultdict(list)
    for commit in history.commits:
        commits[commit.partition].append(commit)
    for tenure in history.tenures:
        if not tenure.reads:
            continue
        first_at, first, _ = tenure.reads[0]
        known = [commit for commit in commits[tenure.partition] if commit.verdict != "refused" and commit.sent < first_at]
        answered = [commit for commit in known if commit.verdict == "ok" and commit.answered <= tenure.start]
        last = max(answered, key=lambda commit: commit.sent, default=None)
        # What was under way, or never answered, may count or not.
        open_ = [commit for commit in known if commit not in answered and (last is None or commit.sent >= last.sent)]
        wanted = {last.offset if last else 0, *(commit.offset for commit in open_)}
        if first not in wanted:
            yield Violation("commit-lost", f"{say(tenure)} began at {first}; committed: {sorted(wanted)}")


Gap = namedtuple("Gap", "partition start end mishap is_silent")


def gaps(history):
    """When nobody alive held a partition; after whom, and whether that one or who was to have it next had fallen silent."""
    for partition, tenures in history.by_partition.items():
        covered, is_silent = history.begin, False
        for tenure in tenures:
            if covered < tenure.start <= history.end:
                yield gap(history, partition, covered, tenure.start, is_silent)
            live = history.live_until(tenure)
            if live >= covered:
                covered, is_silent = live, bool(history.silences(tenure))
        if covered < history.end:
            yield gap(history, partition, covered, history.end, is_silent)


def gap(history, partition, start, end, is_silent):
    mishap = last_mishap(history, partition, start, end)
    return Gap(partition, start, end, start if mishap is None else mishap, is_silent or mishap is not None)


def last_mishap(history, partition, start, end):
    """Who was to have the partition may fall silent too, before it has it: a session begins anew then."""
    found = None
    for sample in samples_between(history, start, end):
        for member, _, assigned, target in sample["members"]:
            process = history.ids.get(member)
            if process is None or partition not in assigned + target:
                continue
            silences = [span for span in history.frozen[process] if span[1] > start]
            silences += [[history.killed[process], float("inf")]] if process in history.killed else []
            for since, _ in silences:
                if since <= end:
                    found = max(start if found is None else found, since)
    return found


def samples_between(history, start, end):
    times = [sample["t"] for sample in history.samples]
    return history.samples[bisect.bisect_left(times, start):bisect.bisect_right(times, end)]


def check_unowned(history):
    for each in gaps(history):
        waits_for = history.limits.session if each.is_silent else 0
        if each.end - each.mishap > waits_for + history.limits.handover:
            yield Violation("unowned", str(each))


def waits(history, tenure):
    """How long each record of a tenure lay unread, times in which the process was frozen left out."""
    frozen = history.frozen[tenure.process]
    acks = history.acks[tenure.partition]
    since, offset = tenure.start, None
    for at, offset, _ in tenure.reads:
        began = max(since, acks.get(offset, at))
        yield at - began - frozen_between(frozen, began, at), at
        since = at
    end = min(history.live_until(tenure), history.end)
    if offset is not None and offset + 1 in acks:
        began = max(since, acks[offset + 1])
        if began < end:
            yield end - began - frozen_between(frozen, began, end), end


def frozen_between(frozen, start, end):
    return sum(max(min(end, until) - max(start, since), 0) for since, until in frozen)


def check_late_reads(history):
    for tenure in history.tenures:
        for wait, at in waits(history, tenure):
            if wait > history.limits.read:
                yield Violation("late-read", f"{say(tenure)}: {wait:.2f} s until {at:.2f}")


def check_lost(history):
    for tenure in history.tenures:
        if tenure.how == "lost" and not history.silences(tenure):
            yield Violation("lost", say(tenure))


def check_interrupted(history):
    """A target that takes a partition away has a later epoch than the one it was held in, and one that gives it back a later one still."""
    for tenures in history.by_partition.values():
        for before, after in zip(tenures, tenures[1:]):
            is_same = before.process == after.process and before.process in history.stable
            if is_same and after.epoch < before.end_epoch + 2:
                yield Violation("interrupted", f"{say(before)} in epoch {before.end_epoch}, and {say(after)} in {after.epoch}")


def check_refused(history):
    for commit in history.commits:
        if commit.verdict == "refused" and commit.process in history.stable:
            held = [tenure for tenure in history.by_partition[commit.partition] if tenure.process == commit.process]
            if any(tenure.start <= commit.sent and commit.answered < tenure.end for tenure in held):
                yield Violation("refused", str(commit))


def check_sessions(history):
    """Who is silent for longer than a session must be out, which a sample a heartbeat later shows."""
    latest = history.limits.session + history.limits.heartbeat
    for sample in history.samples:
        for member, *_ in sample["members"]:
            process = history.ids.get(member)
            if process is None:
                continue
            spans = [*history.frozen[process], [history.killed.get(process, float("inf")), float("inf")]]
            if any(start + latest < sample["t"] < end for start, end in spans):
                yield Violation("in-the-group", f"{process} is in the group at {sample['t']:.2f}; it fell silent: {spans}")


def check_end(history):
    read = defaultdict(set)
    for tenure in history.tenures:
        read[tenure.partition].update(offset for _, offset, _ in tenure.reads)
    for partition, acks in history.acks.items():
        missing = sorted(set(acks) - read[partition])
        if missing:
            yield Violation("unread", f"partition {partition}: {missing[:10]}")
    for event in history.runner:
        if event["k"] == "undrained":
            yield Violation("undrained", str(event))


def check_tested(history):
    kinds = {event["k"] for event in history.runner}
    for kind in ("kill", "freeze", "thaw", "leave", "ghost", "group", "begin", "end"):
        if kind not in kinds:
            yield Violation("untested", f"no {kind}")
    if not any(tenure.how == "lost" for tenure in history.tenures):
        yield Violation("untested", "nobody was put out")
    for process in sorted(history.stable):
        if not any(tenure.process == process and tenure.reads for tenure in history.tenures):
            yield Violation("untested", f"{process} has read nothing")


def say(tenure):
    return f"{tenure.process} has {tenure.partition} from {tenure.start:.2f} to {tenure.end:.2f} ({tenure.how})"


def measures(history):
    """What the run came to, in words and numbers."""
    found = list(gaps(history))
    silent = [each.end - each.mishap for each in found if each.is_silent]
    orderly = [each.end - each.start for each in found if not each.is_silent]
    stable = [tenure for tenure in history.tenures if tenure.process in history.stable]
    stable_waits = [wait for tenure in stable for wait, _ in waits(history, tenure)]
    kinds = [event["k"] for event in history.runner]
    return {
        "left": kinds.count("leave"), "killed": kinds.count("kill"), "frozen": kinds.count("freeze"),
        "put_out": len({(tenure.process, tenure.end) for tenure in history.tenures if tenure.how == "lost"}),
        "tenures": len(history.tenures),
        "unowned_silent": max(silent, default=0.0), "unowned_orderly": max(orderly, default=0.0),
        "stable_wait": max(stable_waits, default=0.0),
        "stable_kept": sum(1 for tenure in stable if tenure.how == "holds" or tenure.how == "left"),
        "read": sum(len(tenure.reads) for tenure in history.tenures),
        "acked": sum(len(acks) for acks in history.acks.values()),
        "commits": sum(1 for commit in history.commits if commit.verdict == "ok"),
        "refused": sum(1 for commit in history.commits if commit.verdict == "refused"),
        "ghosts": len(history.ghosts),
    }

