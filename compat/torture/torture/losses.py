"""What a power cut may take of records whose promise does not hold across one, and what it may not.

Such records are those of `interval` and `os` topics, and on `sync` topics what was acknowledged with acks=1 and never seen.
A cut may take the end of a partition: never a hole, never a reorder. And what comes back at the offsets of the lost records
must do so under a higher leader epoch, so that clients can tell. Without a cut nothing may be lost.
"""

from collections import namedtuple

Violation = namedtuple("Violation", "kind what")

# How late a client may write down what it was told.
LAG_SECONDS = 5.0


class Known:
    """A record that somebody was told of: by an acknowledgement, or by reading it."""

    def __init__(self, partition, offset, value):
        self.place = (partition, offset)
        self.value = value
        # When it was written down first and last, and the epoch that readers saw.
        self.first = float("inf")
        self.last = float("-inf")
        self.epoch = None

    def see(self, time, epoch=None):
        self.first = min(self.first, time)
        self.last = max(self.last, time)
        self.epoch = self.epoch if epoch is None else epoch

    def __str__(self):
        return f"{self.value} at {self.place[0]}@{self.place[1]}"


def check_losses(histories):
    """Yields a violation for each record that is gone and should not be."""
    if not histories.ends:
        return
    known = all_known(histories)
    gone = [each for each in known if not is_there(histories, each)]
    farthest = farthest_survivors(histories, [each for each in known if is_there(histories, each)])
    for lost in gone:
        cut = first_cut_after(histories.cuts, lost.last - LAG_SECONDS)
        if cut is None:
            yield Violation("lost-without-cut", f"{lost} is gone, and the power did not fail since")
            continue
        behind = farthest.get((lost.place[0], cut))
        if behind and behind.place[1] > lost.place[1]:
            yield Violation("hole", f"{lost} is gone, and {behind} behind it survived the same power cut")
        yield from check_replacement(histories, lost)


def all_known(histories):
    known = {}

    def of(partition, offset, value):
        return known.setdefault((partition, offset, value), Known(partition, offset, value))

    for partition, offset, value, time in histories.soft_acks:
        if offset >= 0:
            of(partition, offset, value).see(time)
    if histories.is_weak:
        for poll in histories.polls:
            of(poll.partition, poll.offset, poll.value).see(poll.time, poll.epoch)
    return list(known.values())


def is_there(histories, record):
    return histories.final.get(record.place) == record.value


def farthest_survivors(histories, survivors):
    """For each partition and cut: of the records that were there for certain before the cut and still are, the last."""
    found = {}
    for record in survivors:
        for cut in histories.cuts:
            if record.first < cut[0]:
                key = (record.place[0], cut)
                found[key] = max(record, found.get(key, record), key=lambda each: each.place[1])
    return found


def first_cut_after(cuts, time):
    """The first power cut that can have taken a record that was there at this time."""
    return next((cut for cut in cuts if cut[1] >= time), None)


def check_replacement(histories, lost):
    """The epoch of what stands at a lost record's offset must be above the one that the lost record was written under."""
    value, epoch = histories.final.get(lost.place), histories.final_epochs.get(lost.place)
    if value is None or epoch is None:
        return
    # Where no reader saw it: it was sent after a reader had seen this epoch, hence written under this one or a higher one.
    at_least = histories.epoch_before(lost.place[0], histories.sent_at.get(lost.value)) if lost.epoch is None else lost.epoch
    if at_least is not None and epoch <= at_least:
        what = f"{lost} was written under epoch {at_least} or above; now {value} stands there under {epoch}"
        yield Violation("same-epoch", what)


def check_epochs(histories):
    """Epochs do not fall as offsets rise, and one offset has one value under one epoch."""
    values = {}
    for poll in histories.polls:
        if poll.epoch is None:
            continue
        key = (poll.partition, poll.offset, poll.epoch)
        first = values.setdefault(key, poll.value)
        if first != poll.value:
            where = f"{poll.partition}@{poll.offset} under epoch {poll.epoch}"
            yield Violation("two-values", f"{where} was {first}, then {poll.value} to {poll.file}")
    last = {}
    for (partition, offset), epoch in sorted(histories.final_epochs.items()):
        before = last.get(partition, epoch)
        if epoch < before:
            yield Violation("epoch-fell", f"{partition}@{offset} has epoch {epoch}; before it stands {before}")
        last[partition] = epoch
