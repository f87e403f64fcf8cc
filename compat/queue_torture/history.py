"""What all processes of a run wrote down, put together for the checker: what each queue gave to whom, and what was said of it.

Times are milliseconds since 1970 by a clock that only goes on (clock.py). The broker's own words are to the millisecond: when it gave a
message is when the lock ends, less the lock.
"""

from bisect import bisect_left
from collections import defaultdict, namedtuple
from dataclasses import dataclass, field

# What takes a message out of its holder's hands.
ENDS = ("ack", "nack", "reject", "release")
REFUSED, UNSURE = "lock-lost", "unavailable"

# A record of the topic, as the last reader found it. `due` as its headers say.
Record = namedtuple("Record", "partition offset timestamp number due is_so key kind")
# A dead letter, as the last reader found it.
Dead = namedtuple("Dead", "number is_so said")


@dataclass(frozen=True)
class Rules:
    """Of a queue, as it was made."""

    name: str
    topic: str
    is_keyed: bool
    attempts_max: int
    lock_ms: int
    # How long a message rests at least after a lock that ran out.
    rest_ms: int
    # The kind of message that its filter passes over.
    unwanted: str


class Say:
    """One thing that was said of one delivery."""

    __slots__ = ("what", "sent", "heard", "lost", "result", "time", "reason", "lock", "delay")

    def __init__(self, what, sent, reason=None, lock=None, delay=None):
        self.what, self.sent, self.reason, self.lock, self.delay = what, sent, reason, lock, delay
        self.heard = self.result = self.time = None
        self.lost = 0

    @property
    def is_refused(self):
        """Surely nothing came of it."""
        return self.result == REFUSED and not self.lost

    @property
    def is_taken(self):
        """Surely it counts."""
        return self.result not in (None, REFUSED, UNSURE)


class Delivery:
    """A message given to a consumer once."""

    __slots__ = ("consumer", "place", "attempt", "given", "until", "asked", "got", "number", "says")

    def __init__(self, consumer, place, attempt, given, until, asked, got, number):
        self.consumer, self.place, self.attempt, self.given, self.until = consumer, place, attempt, given, until
        self.asked, self.got, self.number, self.says = asked, got, number, []

    def __str__(self):
        said = "; ".join(f"{say.what} {say.sent:.0f}-{say.heard or 0:.0f} {say.result} x{say.lost}" for say in self.says)
        return f"{self.place[0]}@{self.place[1]} attempt {self.attempt} to {self.consumer} at {self.given} until {self.until} ({said})"

    def locked_until(self):
        """Until when the lock lasted at least, as the broker said."""
        return max([self.until, *(say.time for say in self.says if say.what == "extend" and say.result == "held")])

    def locked_at_most(self):
        """Until when it may have lasted."""
        unsure = (say for say in self.says if say.what == "extend" and not say.is_refused)
        return max([self.until, *(say.time or (say.heard or float("inf")) + say.lock for say in unsure)])

    def ends(self):
        return [say for say in self.says if say.what in ENDS]

    def own_end(self, without=None):
        """Before this nobody else may have it, as far as its holder goes."""
        return min([self.locked_until(), *(say.sent for say in self.ends() if say is not without and not say.is_refused)])

    def fails_from(self):
        """Before this it has not failed nor was given back; never, if it was surely done with."""
        if any(say.is_taken and (say.what == "ack" or say.result in ("dead-letter", "given-up")) for say in self.ends()):
            return float("inf")
        given_back = (say.sent for say in self.ends() if say.what in ("nack", "release") and not say.is_refused)
        return min([self.locked_until(), *given_back])


class Spans:
    """Stretches of time, and whether any of them touches another."""

    def __init__(self, spans):
        self.starts = sorted(start for start, _ in spans)
        self.ends = sorted(end for _, end in spans)

    def touching(self, since, until):
        """How many begin before `until` and end after `since`."""
        return bisect_left(self.starts, until) - bisect_left(self.ends, since)


class Queue:
    """What one queue did: its deliveries by message and by key, in the order in which they were given."""

    def __init__(self, rules, dead, status):
        self.rules, self.dead, self.status = rules, dead, status
        self.by_place = defaultdict(list)
        # Of each consumer, what it asked for and got no answer to: from when to when, and the lock.
        self.lost_asks = defaultdict(list)
        self.hidden = None

    def add(self, consumer, events, ended_at):
        asks, given, says = {}, {}, {}
        for event in events:
            kind, number = event["k"], event["n"]
            if kind == "ask":
                asks[number] = event
            elif kind == "lost":
                ask = asks.pop(number)
                self.lost_asks[consumer].append((ask["t"], event["t"], ask["l"]))
            elif kind == "got":
                ask = asks.pop(number)
                for index, (partition, offset, attempt, until, value) in enumerate(event["m"]):
                    one = Delivery(consumer, (partition, offset), attempt, until - ask["l"], until, ask["t"], event["t"], value)
                    given[number, index] = one
                    self.by_place[one.place].append(one)
            elif kind == "say":
                says[number] = [Say(event["w"], event["t"], event.get("r"), event["l"], event["d"]) for _ in event["m"]]
                for place, say in zip(event["m"], says[number]):
                    given[tuple(place)].says.append(say)
            elif kind == "heard":
                answers = event["a"] * len(says[number]) if len(event["a"]) == 1 else event["a"]
                for say, (result, time) in zip(says.pop(number), answers):
                    say.heard, say.result, say.time, say.lost = event["t"], result, time, event["x"]
        self.lost_asks[consumer].extend((ask["t"], ended_at, ask["l"]) for ask in asks.values())

    def close(self):
        for deliveries in self.by_place.values():
            deliveries.sort(key=lambda delivery: delivery.given)
        self.hidden = Spans([(start, end) for asks in self.lost_asks.values() for start, end, _ in asks])


@dataclass
class History:
    queues: list
    # By place.
    records: dict
    # What was acknowledged to producers: number, place, when it is due at the earliest by what its producer meant.
    published: list
    # Power cuts: from when to when.
    cuts: list = field(default_factory=list)
    # How many messages producers were to publish.
    sent: int = 0
    # How far the machine's clocks have come apart.
    drift_ms: float = 0.0

    def __post_init__(self):
        self.cut_spans = Spans(self.cuts)
        self.meant = {place: due for _, place, due in self.published}
        for queue in self.queues:
            queue.close()

    def is_cut_between(self, since, until):
        return bool(self.cuts) and self.cut_spans.touching(since, until) > 0
