"""Fetch: data, limits, errors, and sessions."""

from session import NO_ID, STRANGE_ID

BIG = 1 << 20


def part(offset=0, partition=0, limit=BIG, **rest):
    return {"Partition": partition, "FetchOffset": offset, "PartitionMaxBytes": limit} | rest


class Fetching:
    """Fetch in one version."""

    def __init__(self, side, version):
        self.side, self.version = side, version

    def topic(self, name, *parts, **rest):
        return {"Topic": name, "TopicId": self.side.ids.get(name, STRANGE_ID), "Partitions": list(parts)} | rest

    def ask(self, note, *topics, on="main", **fields):
        fields = {"MaxWaitMs": 0, "MinBytes": 0, "MaxBytes": BIG, "Topics": list(topics)} | fields
        return self.side.ask("Fetch", self.version, note, on=on, **fields)


def each_version(side):
    for version in side.apis["Fetch"].versions():
        yield Fetching(side, version)


def fetch(side):
    full, other = side.topic("full", 2), side.topic("other")
    for at, values in enumerate(([b"a"], [b"b", b"c"], [b"d" * 300])):
        side.produce(full, side.batch(values, at))
    side.produce(full, side.batch([b"second partition"]), 1)
    side.produce(other, side.batch([b"other"]))
    empty = side.topic("empty")
    for to in each_version(side):
        for offset in range(-1, 7):
            to.ask(f"offset {offset}", to.topic(full, part(offset)))
        to.ask("empty topic", to.topic(empty, part()))
        to.ask("empty topic, offset 1", to.topic(empty, part(1)))
        to.ask("two partitions", to.topic(full, part(0), part(0, 1)))
        to.ask("two topics", to.topic(other, part()), to.topic(full, part(2)))
        to.ask("topic twice", to.topic(other, part()), to.topic(other, part()))
        to.ask("partition twice", to.topic(full, part(0), part(2)))
        to.ask("unknown partition", to.topic(full, part(0, 2)))
        to.ask("known and unknown partition", to.topic(full, part(0, 2), part(3)))
        to.ask("negative partition", to.topic(full, part(0, -1)))
        to.ask("unknown topic", to.topic(side.topic_name("never"), part()))
        to.ask("known and unknown topic", to.topic(side.topic_name("never"), part()), to.topic(other, part()))
        to.ask("no partitions", to.topic(full))
        to.ask("nothing")
        to.ask("zero id", {"Topic": "", "TopicId": NO_ID, "Partitions": [part()]})
        to.ask("read committed", to.topic(full, part(0)), IsolationLevel=1)
        to.ask("isolation level 2", to.topic(full, part(0)), IsolationLevel=2)
        to.ask("rack", to.topic(full, part(3)), RackId="r1")
        to.ask("waits for nothing", to.topic(empty, part()), MaxWaitMs=100, MinBytes=1)
        limits(to, full)
        epochs(to, full)
        replicas(to, full)


def limits(to, full):
    for limit in (0, 1, 60, 150, 200, 100000, -1):
        to.ask(f"partition limit {limit}", to.topic(full, part(0, limit=limit)))
        to.ask(f"limit {limit}", to.topic(full, part(0)), MaxBytes=limit)
    to.ask("limit 150 of two", to.topic(full, part(0), part(0, 1)), MaxBytes=150)
    to.ask("partition limit 1 of two", to.topic(full, part(0, limit=1), part(0, 1, limit=1)))
    to.ask("limit 1 of two", to.topic(full, part(4), part(0, 1)), MaxBytes=1)
    to.ask("enough at once", to.topic(full, part(0)), MinBytes=10, MaxWaitMs=20000)
    to.ask("an error ends the wait", to.topic(full, part(0, 9)), MinBytes=10, MaxWaitMs=20000)
    to.ask("out of range ends the wait", to.topic(full, part(99)), MinBytes=10, MaxWaitMs=20000)


def epochs(to, full):
    now = to.side.leader_epoch(full)
    to.ask("this epoch", to.topic(full, part(3, CurrentLeaderEpoch=now)))
    to.ask("a later epoch", to.topic(full, part(3, CurrentLeaderEpoch=now + 1)))
    to.ask("last fetched: this epoch", to.topic(full, part(3, LastFetchedEpoch=now)))
    to.ask("last fetched: a later epoch", to.topic(full, part(3, LastFetchedEpoch=now + 1)))
    to.ask("last fetched behind the end", to.topic(full, part(9, LastFetchedEpoch=now)))


def replicas(to, full):
    fields = {"ReplicaId": 1, "ReplicaState": {"ReplicaId": 1, "ReplicaEpoch": -1}}
    to.ask("as a replica that is the leader", to.topic(full, part(0)), **fields)
    fields = {"ReplicaId": 9, "ReplicaState": {"ReplicaId": 9, "ReplicaEpoch": -1}}
    to.ask("as a stranger", to.topic(full, part(0)), **fields)
    fields = {"ReplicaId": -2, "ReplicaState": {"ReplicaId": -2, "ReplicaEpoch": -1}}
    to.ask("as a debugger", to.topic(full, part(0)), **fields)


def sessions(side):
    for to in each_version(side):
        if to.version < 7:
            continue
        one, two = side.topic(f"one-{to.version}", 2), side.topic(f"two-{to.version}")
        for topic in (one, two):
            side.produce(topic, side.batch([b"x"]))
        full = to.ask("full", to.topic(one, part(), part(0, 1)), to.topic(two, part()), SessionEpoch=0)
        session = full["SessionId"]
        next_epoch = iter(range(1, 100))
        more = lambda note, *topics, **fields: to.ask(
            note, *topics, **({"SessionId": session, "SessionEpoch": next(next_epoch)} | fields)
        )
        more("nothing new, data again")
        more("moves on", to.topic(one, part(1)), to.topic(two, part(1)))
        more("nothing new")
        side.produce(two, side.batch([b"y"]))
        more("one has news")
        more("moves on in two", to.topic(two, part(2)))
        more("out of range", to.topic(two, part(50)))
        more("still out of range")
        more("back in range", to.topic(two, part(2)))
        more("unknown partition", to.topic(one, part(0, 5)))
        more("still unknown")
        unknown = {"Topic": side.topic_name("never"), "TopicId": STRANGE_ID, "Partitions": [part()]}
        more("unknown topic", unknown)
        more("still unknown topic")
        forget = lambda topic, *indexes: {"Topic": topic, "TopicId": side.ids.get(topic, STRANGE_ID), "Partitions": list(indexes)}
        more("forget the unknown", ForgottenTopicsData=[forget(side.topic_name("never"), 0), forget(one, 5)])
        more("forget what is not there", ForgottenTopicsData=[forget(one, 7)])
        side.produce(two, side.batch([b"z"]))
        more("forgotten and asked for", to.topic(two, part(2)), ForgottenTopicsData=[forget(two, 0)])
        more("forget", ForgottenTopicsData=[forget(two, 0)])
        more("without it")
        broken_sessions(side, to, one, session)


def broken_sessions(side, to, one, session):
    to.ask("epoch too high", SessionId=session, SessionEpoch=90)
    to.ask("epoch too low", SessionId=session, SessionEpoch=1)
    to.ask("unknown session", SessionId=session + 1, SessionEpoch=1)
    to.ask("unknown session, full", to.topic(one, part()), SessionId=session + 1, SessionEpoch=0)
    to.ask("session 0, epoch 1", to.topic(one, part()), SessionId=0, SessionEpoch=1)
    to.ask("session 0, final", to.topic(one, part()), SessionId=0, SessionEpoch=-1)
    to.ask("negative session", to.topic(one, part()), SessionId=-5, SessionEpoch=1)
    to.ask("closed", SessionId=session, SessionEpoch=-1)
    to.ask("after the close", SessionId=session, SessionEpoch=2)
    to.ask("closed again", SessionId=session, SessionEpoch=-1)
    again = to.ask("new", to.topic(one, part()), SessionEpoch=0)["SessionId"]
    to.ask("replaced", to.topic(one, part(1)), SessionId=again, SessionEpoch=0)
    to.ask("the replaced one", SessionId=again, SessionEpoch=1)
    to.ask("full without partitions", SessionEpoch=0)
    to.ask("only an unknown topic", to.topic(side.topic_name("never"), part()), SessionEpoch=0)


def sessions_and_deleted_topics(side):
    for to in each_version(side):
        if to.version < 7:
            continue
        kept, gone = side.topic(f"kept-{to.version}"), side.topic(f"gone-{to.version}")
        session = to.ask("full", to.topic(kept, part()), to.topic(gone, part()), SessionEpoch=0)["SessionId"]
        side.quietly("DeleteTopics", 5, TopicNames=[gone], TimeoutMs=15000)
        side.wait_until_gone(gone)
        to.ask("deleted", SessionId=session, SessionEpoch=1)
        side.topic(f"gone-{to.version}")
        to.ask("made again", SessionId=session, SessionEpoch=2)
        to.ask("asked for by its new id", to.topic(gone, part()), SessionId=session, SessionEpoch=3)
        to.ask("nothing new", SessionId=session, SessionEpoch=4)


def waiting(side):
    """A fetch that waits is answered by what comes."""
    topic = side.topic("t")
    for to in each_version(side):
        at = side.end_offset(topic)
        wanted = {"MaxWaitMs": 20000, "MinBytes": 1, "MaxBytes": BIG, "Topics": [to.topic(topic, part(at))]}
        started = side.start("Fetch", to.version, "until a record comes", **wanted)
        side.produce(topic, side.batch([b"x"]))
        side.finish(started)
    gone = side.topic("gone")
    for to in each_version(side):
        wanted = {"MaxWaitMs": 20000, "MinBytes": 1, "MaxBytes": BIG, "Topics": [to.topic(gone, part(0))]}
        started = side.start("Fetch", to.version, "until the topic is deleted", **wanted)
        side.quietly("Metadata", 12, Topics=[])
        side.quietly("DeleteTopics", 5, TopicNames=[gone], TimeoutMs=15000)
        side.finish(started)
        side.wait_until_gone(gone)
        side.topic("gone")


CASES = [fetch, sessions, sessions_and_deleted_topics, waiting]
