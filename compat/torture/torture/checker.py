"""Whether a set of histories keeps the promises of a durable log.

Each check yields violations; `check` runs them all. The checks know nothing of brokers, clients or faults, but for power cuts:
what acks=1 and topics of the classes `interval` and `os` promise does not hold across those (losses.py). acks=0 promises
nothing. Whatever was read on a `sync` topic holds across everything.

| violation | means |
|---|---|
| lost | acknowledged, at or below the highest offset that anyone polled, and polled by no one |
| unseen | acknowledged, and not there when the final reader read everything |
| changed | the value read at an offset is not the one acknowledged there, or its bytes were not those sent |
| two-values | one offset, two values: seen by two readers, or acknowledged to two senders |
| vanished | read by a consumer once, and not there at the end |
| duplicate | one value at two offsets, in spite of idempotence |
| skipped, went-back | a reader's offsets had a gap, or did not rise |
| disordered | a producer's values stand in another order than it sent them |
| phantom | a value that nobody sent, or whose sending failed for certain |
| fatal | an idempotent producer gave up: the broker no longer knew what it had acknowledged |
| stalled | a reader that stays, or a group, did not reach the end though all was quiet |
| lost-position | the broker did not know the position of a reader that had read up to there |
| commit-lost | a group went on from before a commit that had been answered |
| commit-invented | a group went on from an offset that it never tried to commit |
| lost-without-cut | of a record whose promise ends with the power: it is gone, and the power did not fail |
| hole | a power cut took a record and left one behind it that was there at the time |
| same-epoch | another record came back at a lost one's offset, not under a higher leader epoch |
| epoch-fell | a record has a lower leader epoch than one before it |
| acked-after-failed-sync | a partition whose sync had failed acknowledged something before the restart |
| untested | the history is too thin to show anything |
"""

import bisect
from collections import Counter, defaultdict, namedtuple

from .losses import Violation, check_epochs, check_losses

Poll = namedtuple("Poll", "file partition offset value time epoch")

# How many examples of one kind are printed; all are counted.
EXAMPLES_MAX = 5


class Histories:
    """The events of all files, by what they are. `is_weak`: of a topic whose promises end with the power."""

    def __init__(self, files, is_weak=False):
        self.is_weak = is_weak
        self.sends = {}        # value -> partition
        self.sent_at = {}      # value -> time
        self.acks = []         # (partition, offset, value, time): those that hold across power cuts
        self.soft_acks = []    # the same of those that do not
        self.failed = {}       # value -> is definite
        self.polls = []
        self.final = {}        # (partition, offset) -> value
        self.final_epochs = {} # (partition, offset) -> leader epoch
        self.ends = {}         # partition -> (low, high)
        self.bad = []          # events whose bytes were not those sent
        self.lost_positions = []
        self.fatal = []
        self.cuts = []         # (before, after): the power failed between these times
        self.files = files
        for name, events in files.items():
            self._add(name, events)
        self._epochs = self._epochs_by_time()

    def _add(self, name, events):
        start = events[0] if events else {"role": None}
        acks = self.soft_acks if self.is_weak or start.get("acks", "all") != "all" else self.acks
        for event in events:
            kind = event["k"]
            if kind == "send":
                self.sends[event["v"]] = event["p"]
                self.sent_at[event["v"]] = event["t"]
            elif kind == "ack":
                acks.append((event["p"], event["o"], event["v"], event["t"]))
            elif kind == "fail":
                self.failed[event["v"]] = event["definite"]
            elif kind == "poll":
                self._add_poll(name, start["role"], event)
            elif kind == "lost-position":
                self.lost_positions.append((name, event))
            elif kind == "fatal":
                self.fatal.append((name, event))
            elif kind == "end":
                self.ends[event["p"]] = (event["low"], event["high"])
            elif kind == "cut":
                self.cuts.append((event["t0"], event["t"]))

    def _add_poll(self, name, role, event):
        self.polls.append(Poll(name, event["p"], event["o"], event["v"], event["t"], event.get("e")))
        if event.get("bad"):
            self.bad.append((name, event))
        if role == "final":
            self.final[event["p"], event["o"]] = event["v"]
            if event.get("e") is not None:
                self.final_epochs[event["p"], event["o"]] = event["e"]

    def _epochs_by_time(self):
        """By partition: the times at which readers first saw each higher epoch, and those epochs."""
        found = defaultdict(lambda: ([], []))
        for poll in sorted(self.polls, key=lambda poll: poll.time):
            times, epochs = found[poll.partition]
            if poll.epoch is not None and (not epochs or poll.epoch > epochs[-1]):
                times.append(poll.time)
                epochs.append(poll.epoch)
        return found

    def epoch_before(self, partition, time):
        """The highest epoch that anyone had seen in this partition by then."""
        times, epochs = self._epochs[partition]
        index = bisect.bisect_left(times, time) if time is not None else 0
        return epochs[index - 1] if index else None

    def all_acks(self):
        return self.acks + self.soft_acks

    def may_lose(self):
        return self.is_weak and bool(self.cuts)


def check(files, is_sparse=False, is_weak=False):
    """All violations. `is_sparse`: offsets may have gaps, as with transactions or compaction."""
    histories = Histories(files, is_weak)
    checks = [
        check_tested, check_lost, check_unseen, check_changed, check_two_values, check_vanished, check_duplicates,
        check_order, check_phantoms, check_positions, check_commits, check_stalled, check_losses, check_epochs,
    ]
    violations = [violation for one in checks for violation in one(histories)]
    violations.extend(check_steps(histories, is_sparse))
    return violations


def check_tested(histories):
    if not histories.all_acks():
        yield Violation("untested", "nothing was acknowledged")
    if not histories.polls:
        yield Violation("untested", "nothing was polled")
    if not histories.ends:
        yield Violation("untested", "no final reader came to the end")
    for partition, (low, high) in histories.ends.items():
        read = sum(1 for at, _ in histories.final if at == partition)
        if high > low and not read:
            yield Violation("untested", f"the final reader read nothing of partition {partition}")


def check_lost(histories):
    highest, polled, values = {}, set(), set()
    for _, partition, offset, value, *_ in histories.polls:
        highest[partition] = max(offset, highest.get(partition, -1))
        polled.add((partition, offset))
        values.add((partition, value))
    for partition, offset, value, _ in histories.acks:
        is_known = offset >= 0 and offset <= highest.get(partition, -1)
        if is_known and (partition, offset) not in polled:
            yield Violation("lost", f"{value} acknowledged at {partition}@{offset}; polled by no one")
        if offset < 0 and (partition, value) not in values:
            yield Violation("lost", f"{value} acknowledged in partition {partition}; polled by no one")


def check_unseen(histories):
    if not histories.ends:
        return
    values = {(partition, value) for (partition, _), value in histories.final.items()}
    for partition, offset, value, _ in histories.acks:
        is_there = (partition, offset) in histories.final if offset >= 0 else (partition, value) in values
        if not is_there:
            high = histories.ends.get(partition, (0, 0))[1]
            yield Violation("unseen", f"{value} acknowledged at {partition}@{offset}; not in the log, which ends at {high}")


def check_changed(histories):
    acked = {(partition, offset): value for partition, offset, value, _ in histories.acks if offset >= 0}
    for name, partition, offset, value, *_ in histories.polls:
        promised = acked.get((partition, offset), value)
        if promised != value:
            yield Violation("changed", f"{partition}@{offset} was acknowledged to {promised}; {name} read {value}")
    for name, event in histories.bad:
        yield Violation("changed", f"{name} read other bytes than were sent as {event['v']} at {event['p']}@{event['o']}")


def check_two_values(histories):
    # Where a power cut may take what was read, the offset may come back: see check_epochs and check_losses.
    for name, partition, offset, value, first in repeated_places(histories.polls):
        if not histories.may_lose():
            yield Violation("two-values", f"{partition}@{offset} was {first}, then {value} to {name}")
    promised = {}
    for partition, offset, value, _ in histories.acks:
        first = promised.setdefault((partition, offset), value) if offset >= 0 else value
        if first != value:
            yield Violation("two-values", f"{partition}@{offset} was acknowledged to {first} and to {value}")


def repeated_places(polls):
    """Polls of another value than the first one read at that offset, with that first value."""
    seen = {}
    for name, partition, offset, value, *_ in polls:
        first = seen.setdefault((partition, offset), value)
        if first != value:
            yield name, partition, offset, value, first


def check_vanished(histories):
    if not histories.ends or histories.is_weak:
        return
    reported = set()
    for name, partition, offset, value, *_ in histories.polls:
        place = (partition, offset)
        if histories.final.get(place) != value and (place, value) not in reported:
            reported.add((place, value))
            now = histories.final.get(place, "nothing")
            yield Violation("vanished", f"{name} read {value} at {partition}@{offset}; there is {now} now")


def check_duplicates(histories):
    places = defaultdict(set)
    for partition, offset, value in lasting(histories):
        places[value].add((partition, offset))
    for value, found in places.items():
        if len(found) > 1:
            where = ", ".join(f"{partition}@{offset}" for partition, offset in sorted(found))
            yield Violation("duplicate", f"{value} stands at {where}")
    for value, count in Counter(value for _, _, value, _ in histories.all_acks()).items():
        if count > 1:
            yield Violation("duplicate", f"{value} was acknowledged {count} times")


def lasting(histories):
    """Everything read that must still stand where it was read."""
    if histories.may_lose():
        return [(*place, value) for place, value in histories.final.items()]
    return [(poll.partition, poll.offset, poll.value) for poll in histories.polls]


def check_order(histories):
    logs = defaultdict(dict)
    for partition, offset, value in lasting(histories):
        logs[partition][offset] = value
    for partition, offset, value, _ in histories.acks:
        if offset >= 0:
            logs[partition].setdefault(offset, value)
    for partition, log in logs.items():
        last = {}
        for offset in sorted(log):
            session, _, number = log[offset].rpartition(":")
            before = last.get(session, -1)
            if number.isdigit() and int(number) < before:
                what = f"{log[offset]} at {partition}@{offset} stands behind {session}:{before}"
                yield Violation("disordered", what)
            if number.isdigit():
                last[session] = max(before, int(number))


def check_phantoms(histories):
    for value, (partition, offset) in {poll.value: (poll.partition, poll.offset) for poll in histories.polls}.items():
        sent_to = histories.sends.get(value)
        if sent_to is None:
            yield Violation("phantom", f"{value!r} at {partition}@{offset} was never sent")
        elif sent_to != partition:
            yield Violation("phantom", f"{value} was sent to partition {sent_to} and stands at {partition}@{offset}")
        elif histories.failed.get(value):
            yield Violation("phantom", f"{value} at {partition}@{offset} had failed for certain")


def check_positions(histories):
    if histories.may_lose():
        return
    for name, event in histories.fatal:
        yield Violation("fatal", f"{name}: {event['e']}")
    for name, event in histories.lost_positions:
        yield Violation("lost-position", f"{name} at partition {event['p']}: {event['e']}")


def check_stalled(histories):
    positions = defaultdict(dict)
    for name, events in histories.files.items():
        start = events[0] if events else {"role": None}
        if start["role"] not in ("tail", "group"):
            continue
        reader = positions[f"group {start['group']}" if start["role"] == "group" else name]
        for event in events:
            if event["k"] == "poll":
                reader[event["p"]] = max(event["o"] + 1, reader.get(event["p"], 0))
            elif event["k"] == "lost-position" and histories.is_weak:
                reader.pop(event["p"], None)
    for name, reader in positions.items():
        for partition, (low, high) in histories.ends.items():
            at = reader.get(partition, low)
            if at < high:
                yield Violation("stalled", f"{name} stands at {partition}@{at}; the log ends at {high}")


def check_steps(histories, is_sparse):
    for name, events in histories.files.items():
        last = {}
        for event in events:
            if event["k"] == "assign":
                for partition in event["p"]:
                    last.pop(partition, None)
            elif event["k"] == "poll":
                partition, offset = event["p"], event["o"]
                before = last.get(partition, offset - 1)
                if offset <= before:
                    yield Violation("went-back", f"{name} read {partition}@{offset} after @{before}")
                elif offset > before + 1 and not is_sparse:
                    yield Violation("skipped", f"{name} read {partition}@{offset} right after @{before}")
                last[partition] = offset


def check_commits(histories):
    if histories.may_lose():
        return
    groups = defaultdict(lambda: ([], []))
    for name, events in histories.files.items():
        group = events[0].get("group") if events else None
        if group:
            collect_group(name, events, *groups[group])
    for group, (commits, starts) in groups.items():
        by_partition = defaultdict(list)
        for commit in commits:
            by_partition[commit["p"]].append(commit)
        for name, partition, assigned, polled, offset in starts:
            yield from check_start(group, name, partition, assigned, polled, offset, by_partition[partition])


def collect_group(name, events, commits, starts):
    """Adds one member's commits, and where it began to read after each assignment."""
    waiting = {}
    for event in events:
        if event["k"] == "commit":
            commits.append(event)
        elif event["k"] == "assign":
            waiting.update({partition: event["t"] for partition in event["p"]})
        elif event["k"] == "poll" and event["p"] in waiting:
            starts.append((name, event["p"], waiting.pop(event["p"]), event["t"], event["o"]))


def check_start(group, name, partition, assigned, polled, offset, commits):
    answered = [commit for commit in commits if commit["ok"] and commit["t"] < assigned]
    if answered:
        newest = max(answered, key=lambda commit: commit["t"])
        if offset < newest["o"]:
            what = f"group {group} had committed {partition}@{newest['o']}; {name} went on from @{offset}"
            yield Violation("commit-lost", what)
    tried = {commit["o"] for commit in commits if commit["t0"] <= polled}
    if offset != 0 and offset not in tried:
        yield Violation("commit-invented", f"group {group}: {name} began at {partition}@{offset}, which nobody committed")


def check_no_acks_between(files, partition, since, until):
    """After a failed sync: nothing more of this partition may be acknowledged until the restart."""
    histories = Histories(files)
    late = sum(1 for at, _, _, t in histories.all_acks() if at == partition and since < t < until)
    if late:
        yield Violation("acked-after-failed-sync", f"{late} acknowledgements in partition {partition} after its sync failed")


def summarize(violations):
    """Lines for people: counts, and some examples of each kind."""
    by_kind = defaultdict(list)
    for violation in violations:
        by_kind[violation.kind].append(violation.what)
    lines = []
    for kind, found in by_kind.items():
        lines.append(f"VIOLATION {kind}: {len(found)}")
        lines.extend(f"    {what}" for what in found[:EXAMPLES_MAX])
        if len(found) > EXAMPLES_MAX:
            lines.append(f"    ... and {len(found) - EXAMPLES_MAX} more")
    return lines
