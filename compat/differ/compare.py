"""Two transcripts side by side: what is equal, what differs, and which differences are expected."""

import collections
import fnmatch


class Difference:
    def __init__(self, case, answer, path, ours, theirs):
        self.case, self.api, self.version, self.note = case, answer.api, answer.version, answer.note
        self.path, self.ours, self.theirs = path, ours, theirs

    def line(self):
        note = f" ({self.note})" if self.note else ""
        return f"{self.case}: {self.api} v{self.version}{note}: {self.path}: Fanlog {self.ours!r}, Kafka {self.theirs!r}"


class Expected:
    """A difference that is meant. Each part is a pattern, `*` for anything; values are compared as Python writes them.
    One that comes and goes with the timing is there `sometimes`; any other must be met in every whole run."""

    def __init__(self, name, reason, api="*", case="*", note="*", path="*", ours="*", theirs="*", sometimes=False):
        self.name, self.reason, self.sometimes = name, reason, sometimes
        self.parts = {"api": api, "case": case, "note": note, "path": path, "ours": ours, "theirs": theirs}
        self.count = 0

    def covers(self, difference):
        return all(
            fnmatch.fnmatchcase(value if isinstance(value, str) else repr(value), pattern)
            for name, pattern in self.parts.items()
            for value in [getattr(difference, name)]
        )


class Tally:
    """The outcome per API. A version counts as asked where both brokers answered it."""

    def __init__(self):
        self.answers = collections.Counter()
        self.equal_answers = collections.Counter()
        self.fields = collections.Counter()
        self.cases = collections.defaultdict(set)
        self.versions = collections.defaultdict(set)
        self.explained = collections.defaultdict(list)
        self.unexplained = []

    def add(self, case, ours, theirs, expected):
        for left, right in zip(ours, theirs):
            api = left.api
            self.answers[api] += 1
            self.cases[api].add(case)
            if isinstance(left.value, dict | list) and isinstance(right.value, dict | list):
                self.versions[api].add(left.version)
            found, count = differences(case, left, right)
            self.fields[api] += count
            self.equal_answers[api] += not found
            for difference in found:
                self.explain(difference, expected)

    def explain(self, difference, expected):
        for each in expected:
            if each.covers(difference):
                each.count += 1
                self.explained[each.name].append(difference)
                return
        self.unexplained.append(difference)


def differences(case, left, right):
    """The fields in which two answers differ, and how many were compared."""
    found = []
    count = walk(left.value, right.value, "", lambda path, ours, theirs: found.append((path, ours, theirs)))
    return [Difference(case, left, *each) for each in found], count


def walk(ours, theirs, path, differ):
    if isinstance(ours, dict) and isinstance(theirs, dict):
        names = list(ours) + [name for name in theirs if name not in ours]
        return sum(walk(ours.get(name, ABSENT), theirs.get(name, ABSENT), f"{path}.{name}".lstrip("."), differ) for name in names)
    if isinstance(ours, list) and isinstance(theirs, list) and all(isinstance(each, dict) for each in ours + theirs):
        return walk_elements(ours, theirs, path, differ)
    if ours != theirs:
        differ(path or "the answer", ours, theirs)
    return 1


def walk_elements(ours, theirs, path, differ):
    """Elements side by side by what identifies them, where something does; otherwise by their place."""
    key = next((name for name in IDENTITIES if all(name in each for each in ours + theirs)), None)
    if key is None or any(len({each[key] for each in side}) < len(side) for side in (ours, theirs)):
        left, right = dict(enumerate(ours)), dict(enumerate(theirs))
        return sum(
            walk(left.get(place, ABSENT), right.get(place, ABSENT), f"{path}[{place}]", differ)
            for place in range(max(len(ours), len(theirs)))
        )
    left, right = ({each[key]: each for each in side} for side in (ours, theirs))
    order = list(left) + [name for name in right if name not in left]
    if list(left) != list(right) and set(left) == set(right):
        differ(f"{path} (order)", list(left), list(right))
    return sum(walk(left.get(name, ABSENT), right.get(name, ABSENT), f"{path}[{name}]", differ) for name in order)


# What identifies an element of an array, the best first.
IDENTITIES = ["Name", "ApiKey", "GroupId", "ResourceName", "TopicName", "PartitionIndex", "Index", "MemberId"]


class Absent:
    def __repr__(self):
        return "absent"


ABSENT = Absent()
