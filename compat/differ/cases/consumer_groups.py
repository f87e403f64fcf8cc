"""Consumer groups of the new protocol (KIP-848): heartbeats, what a member is told, fencing, conversion, and what an administrator sees."""

import time

from cases.groups import Group
from session import STRANGE_ID

REBALANCE_MS = 30000
# Between two assignments of a group at least a second goes by (group.consumer.assignment.interval.ms).
ASSIGNMENT_INTERVAL_S = 1.1
# The epoch of a new group once its first member has joined.
FIRST = 2


class ConsumerGroup(Group):
    """A group, and members that choose their ids."""

    def fields(self, member, epoch):
        return {
            "GroupId": self.name, "MemberId": member, "MemberEpoch": epoch, "InstanceId": None, "RackId": None, "RebalanceTimeoutMs": -1,
            "SubscribedTopicNames": None, "SubscribedTopicRegex": None, "ServerAssignor": None, "TopicPartitions": None,
        }

    def beat_raw(self, version, note, member, epoch, on="a", **rest):
        return self.side.ask("ConsumerGroupHeartbeat", version, note, on=on, **(self.fields(member, epoch) | rest))

    def enter(self, version, note, member, topics, on="a", **rest):
        fields = {"RebalanceTimeoutMs": REBALANCE_MS, "SubscribedTopicNames": topics, "TopicPartitions": []}
        return self.beat_raw(version, note, member, 0, on=on, **(fields | rest))

    def owning(self, *topics):
        return [{"TopicId": self.side.ids[name], "Partitions": list(parts)} for name, parts in topics]

    def seen(self, note, version=1, **rest):
        return self.side.ask("ConsumerGroupDescribe", version, note, on="admin", GroupIds=[self.name], IncludeAuthorizedOperations=False, **rest)


def topic_of(side, name, partitions=1):
    """A topic whose id has its number from the beginning: answers name it by its id."""
    full = side.topic(name, partitions=partitions)
    side.rules.learn(side.ids[full])
    return full


def pause():
    time.sleep(ASSIGNMENT_INTERVAL_S)


def heartbeat_refusals(side):
    topic = topic_of(side, "t")
    for version in side.apis["ConsumerGroupHeartbeat"].versions():
        group = ConsumerGroup(side, f"g-{version}")
        say = lambda note, member="m", epoch=0, **rest: group.beat_raw(version, note, member, epoch, **rest)
        full = {"RebalanceTimeoutMs": REBALANCE_MS, "SubscribedTopicNames": [topic], "TopicPartitions": []}
        say("empty group id", **(full | {"GroupId": ""}))
        say("empty member id, later", "", 1)
        say("empty member id, leaving", "", -1)
        say("empty instance id", **(full | {"InstanceId": ""}))
        say("empty rack", **(full | {"RackId": ""}))
        say("no rebalance time-out", **(full | {"RebalanceTimeoutMs": -1}))
        say("negative rebalance time-out", **(full | {"RebalanceTimeoutMs": -2}))
        say("no partitions", **(full | {"TopicPartitions": None}))
        say("partitions owned", **(full | {"TopicPartitions": [{"TopicId": STRANGE_ID, "Partitions": [0]}]}))
        say("no subscription", **(full | {"SubscribedTopicNames": None}))
        say("unknown assignor", **(full | {"ServerAssignor": "sticky"}))
        say("empty assignor", **(full | {"ServerAssignor": ""}))
        say("epoch -3", epoch=-3)
        say("static leave without a name", epoch=-2)
        say("unknown group", epoch=1)
        say("unknown group, leaving", epoch=-1)
        say("unknown group, leaving for a while", epoch=-2, InstanceId="i")
        if version >= 1:
            say("empty member id, joining", "", **full)
            say("no expression", **(full | {"SubscribedTopicNames": None, "SubscribedTopicRegex": "("}))
            say("a back reference", **(full | {"SubscribedTopicNames": None, "SubscribedTopicRegex": "(a)\\1"}))
        group.seen("nothing came of it")


def one_consumer(side):
    topic = topic_of(side, "t", partitions=3)
    for version in side.apis["ConsumerGroupHeartbeat"].versions():
        group = ConsumerGroup(side, f"g-{version}")
        group.enter(version, "joins", "m", [topic])
        group.seen("joined")
        group.beat_raw(version, "alive", "m", FIRST)
        group.beat_raw(version, "alive, owning", "m", FIRST, TopicPartitions=group.owning((topic, [0, 1, 2])))
        group.beat_raw(
            version, "says everything", "m", FIRST, RebalanceTimeoutMs=REBALANCE_MS, SubscribedTopicNames=[topic],
            TopicPartitions=group.owning((topic, [0, 1, 2])),
        )
        group.beat_raw(version, "an epoch too high", "m", FIRST + 1)
        group.beat_raw(version, "an epoch too low", "m", FIRST - 1)
        group.beat_raw(version, "of another member", "n", FIRST)
        group.beat_raw(version, "leaving, of another member", "n", -1)
        group.beat_raw(version, "a name that nobody has", "m", FIRST, InstanceId="i")
        group.enter(version, "joins again", "m", [topic])
        group.seen("joined again")
        group.beat_raw(version, "leaves", "m", -1)
        group.beat_raw(version, "after that", "m", FIRST)
        group.beat_raw(version, "leaves again", "m", -1)
        group.seen("empty")
        group.describe("as a classic group")
        group.enter(version, "reads nothing", "m", [])
        group.seen("reads nothing")
        side.ask("DeleteGroups", 2, "with a member", GroupsNames=[group.name])
        group.beat_raw(version, "leaves", "m", -1)
        side.ask("DeleteGroups", 2, "empty", GroupsNames=[group.name])
        group.seen("deleted")


def two_consumers(side):
    topic, other = topic_of(side, "t", partitions=4), topic_of(side, "u", partitions=1)
    group = ConsumerGroup(side, "g")
    group.enter(1, "a joins", "a", [topic])
    pause()
    group.enter(1, "b joins", "b", [topic], on="b")
    group.seen("both")
    a = group.beat_raw(1, "a is told to give up", "a", FIRST)
    group.seen("a gives up")
    group.beat_raw(1, "b waits", "b", FIRST + 1, on="b")
    group.beat_raw(1, "a still owns everything", "a", FIRST, TopicPartitions=group.owning((topic, [0, 1, 2, 3])))
    kept = next((each["Partitions"] for each in (a.get("Assignment") or {"TopicPartitions": []})["TopicPartitions"]), [])
    given = [each for each in range(4) if each not in kept]
    group.beat_raw(1, "a has given up", "a", FIRST, TopicPartitions=group.owning((topic, kept)))
    group.seen("given up")
    group.beat_raw(1, "b gets them", "b", FIRST + 1, on="b")
    group.seen("settled")
    group.beat_raw(1, "a, an epoch late, says what it owns", "a", FIRST, TopicPartitions=group.owning((topic, kept)))
    group.beat_raw(1, "a, an epoch late, owns too much", "a", FIRST, TopicPartitions=group.owning((topic, kept + given)))
    group.beat_raw(1, "a, an epoch late, says nothing", "a", FIRST)
    pause()
    group.beat_raw(1, "b reads another one too", "b", FIRST + 1, on="b", SubscribedTopicNames=[topic, other])
    group.seen("uneven")
    pause()
    group.beat_raw(1, "b reads only the other", "b", FIRST + 2, on="b", SubscribedTopicNames=[other])
    group.seen("apart")
    group.beat_raw(1, "b leaves", "b", -1, on="b")
    group.seen("one left")
    pause()
    group.beat_raw(1, "a takes over", "a", FIRST + 1)
    group.seen("one has all")


def at_once(side):
    """Two members within one assignment interval: who is assigned, and when."""
    topic = topic_of(side, "t", partitions=2)
    group = ConsumerGroup(side, "g")
    group.enter(1, "joins", "c", [topic])
    group.beat_raw(1, "leaves", "c", -1)
    group.enter(1, "a joins", "a", [topic])
    group.seen("a alone")
    group.enter(1, "b joins", "b", [topic], on="b")
    group.seen("at once")
    pause()
    group.beat_raw(1, "a later", "a", FIRST + 2)
    group.beat_raw(1, "b later", "b", FIRST + 2, on="b")
    group.seen("later")


def assignors(side):
    topic, other = topic_of(side, "t", partitions=3), topic_of(side, "u", partitions=3)
    # Which of two topics moves is left to the order of their ids.
    for name, topics in (("range", [topic, other]), ("uniform", [topic])):
        group = ConsumerGroup(side, f"g-{name}")
        group.enter(1, f"{name}, a", "a", topics, ServerAssignor=name)
        pause()
        group.enter(1, f"{name}, b", "b", topics, on="b", ServerAssignor=name)
        group.seen(f"{name}, both")
    group = ConsumerGroup(side, "votes")
    group.enter(1, "votes for range", "a", [topic], ServerAssignor="range")
    group.seen("range")
    pause()
    group.enter(1, "votes for uniform", "b", [topic], on="b", ServerAssignor="uniform")
    group.seen("a draw")
    group.beat_raw(1, "changes its mind", "a", FIRST, ServerAssignor="uniform")
    group.seen("uniform")


def static_consumers(side):
    topic = topic_of(side, "t", partitions=2)
    group = ConsumerGroup(side, "g")
    group.enter(1, "joins", "m", [topic], InstanceId="i")
    group.enter(1, "another process while it lives", "n", [topic], on="b", InstanceId="i")
    group.enter(1, "the same process again", "m", [topic], InstanceId="i")
    group.beat_raw(1, "alive", "m", FIRST, InstanceId="i")
    group.beat_raw(1, "alive without its name", "m", FIRST)
    group.beat_raw(1, "another id under the name", "n", FIRST, on="b", InstanceId="i")
    group.beat_raw(1, "a name that nobody has", "m", FIRST, InstanceId="j")
    group.beat_raw(1, "another id leaves under the name", "n", -2, on="b", InstanceId="i")
    group.beat_raw(1, "leaves for a while", "m", -2, InstanceId="i")
    group.seen("away")
    group.beat_raw(1, "the old one beats while away", "m", FIRST, InstanceId="i")
    group.enter(1, "comes back under another id", "n", [topic], on="b", InstanceId="i")
    group.seen("back")
    group.beat_raw(1, "the old one again", "m", FIRST, InstanceId="i")
    group.beat_raw(1, "the old one again, nameless", "m", FIRST)
    group.beat_raw(1, "goes for good", "n", -1, on="b", InstanceId="i")
    group.seen("gone")


def expressions(side):
    topic = topic_of(side, "ta", partitions=1)
    group = ConsumerGroup(side, "g")
    pattern = side.topic_name("t[a-b]")
    group.enter(1, "joins by an expression and a name", "m", [topic], SubscribedTopicRegex=pattern)
    # Kafka resolves an expression behind the answer, and raises the epoch once more when it has.
    pause()
    side.quietly("ConsumerGroupHeartbeat", 1, **group.fields("m", FIRST))
    epoch = side.quietly("ConsumerGroupDescribe", 1, GroupIds=[group.name], IncludeAuthorizedOperations=False)["Groups"][0]["GroupEpoch"]
    group.seen("joined")
    pause()
    group.beat_raw(1, "an empty one", "m", epoch, SubscribedTopicRegex="")
    group.seen("names only")
    internal = ConsumerGroup(side, "internal")
    epoch = internal.enter(1, "internal topics", "m", [], SubscribedTopicRegex="__consumer_offset.")["MemberEpoch"]
    pause()
    for _ in range(2):
        epoch = side.quietly("ConsumerGroupHeartbeat", 1, **internal.fields("m", epoch))["MemberEpoch"]
    internal.seen("internal topics")


def consumer_offsets(side):
    topic = topic_of(side, "t", partitions=2)
    group = ConsumerGroup(side, "g")
    group.commit(9, "nobody yet, an epoch", topic, generation=FIRST, member="m")
    group.enter(1, "joins", "m", [topic])
    for version in side.apis["OffsetCommit"].versions():
        group.commit(version, "of its epoch", topic, generation=FIRST, member="m")
        group.commit(version, "an epoch too high", topic, generation=FIRST + 1, member="m")
        group.commit(version, "an epoch too low", topic, generation=FIRST - 1, member="m")
        group.commit(version, "another member", topic, generation=FIRST, member="n")
        group.commit(version, "from outside", topic)
    pause()
    group.beat_raw(1, "reads it still, and says so", "m", FIRST, SubscribedTopicNames=[topic, topic + "x"])
    group.seen("a higher epoch")
    group.commit(9, "of the epoch before", topic, generation=FIRST, member="m", offset=7)
    group.commit(9, "of the present epoch", topic, generation=FIRST + 1, member="m", offset=8)
    for version in range(8, 11):
        for note, identity in {
            "nobody": {}, "its epoch": {"MemberId": "m", "MemberEpoch": FIRST + 1}, "too low": {"MemberId": "m", "MemberEpoch": FIRST},
            "too high": {"MemberId": "m", "MemberEpoch": FIRST + 2}, "another": {"MemberId": "n", "MemberEpoch": FIRST + 1},
            "no name": {"MemberId": None, "MemberEpoch": FIRST + 1}, "no epoch": {"MemberId": "m", "MemberEpoch": -1},
        }.items():
            group.committed(version, note, (topic, [0, 1]), identity=identity)
    delete = lambda note, name: side.ask(
        "OffsetDelete", 0, note, on="admin", GroupId=group.name, Topics=[{"Name": name, "Partitions": [{"PartitionIndex": 0}]}]
    )
    delete("read", topic)
    group.beat_raw(1, "leaves", "m", -1)
    group.commit(9, "from outside, empty", topic)
    delete("read no more", topic)


def kinds(side):
    topic = topic_of(side, "t")
    consumer, classic, offsets = (ConsumerGroup(side, name) for name in ("consumer", "classic", "offsets"))
    consumer.enter(1, "a consumer", "m", [topic])
    join = classic.join(5, "a classic one", kind="connect")
    offsets.commit(9, "offsets only", topic)
    classic.enter(1, "a consumer to another kind of classic group", "m", [topic])
    consumer.join(5, "another kind of classic member", kind="connect")
    consumer.describe("as a classic group", version=6)
    consumer.describe("as a classic group", version=5)
    for version in side.apis["ConsumerGroupDescribe"].versions():
        for operations in (False, True):
            ask = lambda note, *names: side.ask("ConsumerGroupDescribe", version, note, on="admin", GroupIds=list(names), IncludeAuthorizedOperations=operations)
            ask("a consumer group", consumer.name)
            ask("a classic one", classic.name)
            ask("unknown", consumer.name + "x")
            ask("empty name", "")
            ask("nothing")
            ask("several", consumer.name, classic.name, consumer.name)
    for version in side.apis["ListGroups"].versions():
        side.ask("ListGroups", version, "everything")
        if version >= 5:
            for types in (["consumer"], ["Consumer"], ["classic"], ["consumer", "classic"], ["share"]):
                side.ask("ListGroups", version, f"types {types}", TypesFilter=types)
        if version >= 4:
            for states in (["Stable"], ["Assigning"], ["reconciling"], ["Empty"]):
                side.ask("ListGroups", version, f"states {states}", StatesFilter=states)
    offsets.enter(1, "takes over what has offsets only", "m", [topic])
    offsets.seen("taken over")
    classic.leave(3, "the classic member leaves", join["MemberId"])
    classic.enter(1, "takes over an empty one", "m", [topic])
    classic.seen("taken over")
    classic.beat_raw(1, "leaves", "m", -1)
    classic.join(5, "a classic member takes the empty one over", kind="connect")
    classic.describe("classic again")


def subscription(topic, owned=()):
    names = lambda each: len(each).to_bytes(2, "big") + each.encode()
    out = (1).to_bytes(2, "big") + (1).to_bytes(4, "big") + names(topic) + b"\xff\xff\xff\xff"
    out += (1 if owned else 0).to_bytes(4, "big")
    if owned:
        out += names(topic) + len(owned).to_bytes(4, "big") + b"".join(each.to_bytes(4, "big") for each in owned)
    return out


def assignment(topic, partitions):
    out = (1).to_bytes(2, "big") + (1).to_bytes(4, "big") + len(topic).to_bytes(2, "big") + topic.encode()
    return out + len(partitions).to_bytes(4, "big") + b"".join(each.to_bytes(4, "big") for each in partitions) + b"\xff\xff\xff\xff"


def conversion(side):
    topic = topic_of(side, "t", partitions=2)
    group = ConsumerGroup(side, "g")
    join = group.join(9, "a classic member", metadata=subscription(topic), on="c")
    member, generation = join["MemberId"], join["GenerationId"]
    side.ask(
        "SyncGroup", 5, "assigns itself", on="c", GroupId=group.name, GenerationId=generation, MemberId=member, GroupInstanceId=None,
        ProtocolType="consumer", ProtocolName="range", Assignments=[{"MemberId": member, "Assignment": assignment(topic, [0, 1])}],
    )
    group.describe("classic")
    group.enter(1, "a consumer joins", "m", [topic])
    group.seen("converted")
    group.describe("as a classic group")
    group.beat(4, "the classic member is told", generation, member, on="c")
    group.sync(5, "syncs before it joins", generation, member, on="c")
    again = group.join(9, "joins again, owning nothing", member=member, metadata=subscription(topic), on="c")
    group.seen("joined again")
    group.sync(5, "of the old generation", generation, member, on="c")
    group.sync(5, "of another protocol", again["GenerationId"], member, on="c", protocol="sticky")
    group.sync(5, "syncs", again["GenerationId"], member, on="c")
    group.beat(4, "beats", again["GenerationId"], member, on="c")
    group.beat(4, "beats as a stranger", again["GenerationId"], "n", on="c")
    group.beat(4, "a consumer beats as a classic member", 2, "m")
    group.beat_raw(1, "the consumer gets its part", "m", again["GenerationId"])
    group.seen("settled")
    group.commit(8, "the classic member commits", topic, generation=again["GenerationId"], member=member, on="c")
    group.commit(8, "of the old generation", topic, generation=generation, member=member, on="c")
    group.leave(3, "a consumer leaves as a classic member", "m")
    group.leave(3, "a stranger leaves", "n")
    group.beat_raw(1, "the consumer leaves", "m", -1)
    group.seen("classic again")
    group.describe("classic again")
    group.beat(4, "the classic member is told again", again["GenerationId"], member, on="c")


CASES = [
    heartbeat_refusals, one_consumer, two_consumers, at_once, assignors, static_consumers, expressions, consumer_offsets, kinds, conversion,
]
