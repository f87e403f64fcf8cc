"""Groups: joining, assigning, beating, leaving, offsets, and what an administrator sees."""

from session import NO_ID, STRANGE_ID

SESSION_MS = 6000  # the least that both allow
LONG_MS = 30000


class Group:
    """One group, as members and administrators see it, each with a connection of its own."""

    def __init__(self, side, name):
        self.side = side
        self.name = side.group(name)

    def joining(self, version, note, member="", on="a", instance=None, protocols=("range",), kind="consumer", **rest):
        metadata = rest.pop("metadata", on.encode())
        wanted = {
            "GroupId": self.name, "SessionTimeoutMs": SESSION_MS, "RebalanceTimeoutMs": LONG_MS, "MemberId": member,
            "GroupInstanceId": instance if version >= 5 else None, "ProtocolType": kind,
            "Protocols": [{"Name": each, "Metadata": metadata} for each in protocols],
        }
        return self.side.start("JoinGroup", version, note, on=on, **(wanted | rest))

    def join(self, version, note, **rest):
        """Joins, going the way by the member id that the broker gives where it must."""
        answer = self.side.finish(self.joining(version, note, **rest))
        if isinstance(answer, dict) and answer["ErrorCode"] == 79:
            rest["member"] = answer["MemberId"]
            answer = self.side.finish(self.joining(version, note + ", with the id", **rest))
        return answer

    def syncing(self, version, note, generation, member, assignments=(), on="a", instance=None, kind="consumer", protocol="range"):
        wanted = {
            "GroupId": self.name, "GenerationId": generation, "MemberId": member,
            "GroupInstanceId": instance if version >= 3 else None, "ProtocolType": kind, "ProtocolName": protocol,
            "Assignments": [{"MemberId": each, "Assignment": b"for " + str(place).encode()} for place, each in enumerate(assignments)],
        }
        return self.side.start("SyncGroup", version, note, on=on, **wanted)

    def sync(self, version, note, *args, **rest):
        return self.side.finish(self.syncing(version, note, *args, **rest))

    def beat(self, version, note, generation, member, on="a", instance=None):
        instance = instance if version >= 3 else None
        return self.side.ask(
            "Heartbeat", version, note, on=on, GroupId=self.name, GenerationId=generation, MemberId=member, GroupInstanceId=instance
        )

    def leave(self, version, note, *members, on="a"):
        """Members are ids, or pairs of id and instance."""
        pairs = [each if isinstance(each, tuple) else (each, None) for each in members]
        listed = [{"MemberId": member, "GroupInstanceId": instance} for member, instance in pairs]
        fields = {"Members": listed} if version >= 3 else {"MemberId": pairs[0][0] if pairs else ""}
        return self.side.ask("LeaveGroup", version, note, on=on, GroupId=self.name, **fields)

    def describe(self, note, version=6):
        return self.side.ask("DescribeGroups", version, note, on="admin", Groups=[self.name])

    def commit(self, version, note, topic, partition=0, offset=1, generation=-1, member="", on="a", **rest):
        metadata = rest.pop("metadata", "m")
        partition = {"PartitionIndex": partition, "CommittedOffset": offset, "CommittedMetadata": metadata} | rest.pop("part", {})
        topics = [{"Name": topic, "TopicId": self.side.ids.get(topic, rest.pop("id", STRANGE_ID)), "Partitions": [partition]}]
        fields = {"GroupId": self.name, "GenerationIdOrMemberEpoch": generation, "MemberId": member, "Topics": topics} | rest
        if version < 7:
            fields.pop("GroupInstanceId", None)
        return self.side.ask("OffsetCommit", version, note, on=on, **fields)

    def committed(self, version, note, *topics, group=None, **rest):
        """Topics are pairs of name and partitions; none means all."""
        name = self.name if group is None else group
        plain = [{"Name": each, "PartitionIndexes": list(parts)} for each, parts in topics]
        full = [{"Name": each, "TopicId": self.side.ids.get(each, STRANGE_ID), "PartitionIndexes": list(parts)} for each, parts in topics]
        if rest.pop("everything", False):
            plain = full = None
        fields = {"GroupId": name, "Topics": plain, "Groups": [{"GroupId": name, "Topics": full} | rest.pop("identity", {})]}
        return self.side.ask("OffsetFetch", version, note, on="admin", **(fields | rest))


def one_member(side):
    for version in side.apis["JoinGroup"].versions():
        group = Group(side, f"g-{version}")
        join = group.join(version, "first")
        member, generation = join["MemberId"], join["GenerationId"]
        group.describe("not assigned yet")
        group.beat(4, "before the sync", generation, member)
        group.sync(min(version, 5), "leader", generation, member, [member])
        group.describe("stable")
        group.sync(min(version, 5), "again", generation, member)
        again = group.join(version, "the leader again", member=member)
        group.sync(min(version, 5), "the leader again", again["GenerationId"], member, [member])
        group.beat(4, "now", again["GenerationId"], member)
        group.leave(3, "leaves", member)
        group.describe("empty")
        group.beat(4, "after leaving", again["GenerationId"], member)
        group.leave(3, "leaves again", member)


def bad_joins(side):
    for version in side.apis["JoinGroup"].versions():
        group = Group(side, f"g-{version}")
        ask = lambda note, **rest: side.finish(group.joining(version, note, **rest))
        ask("session too short", SessionTimeoutMs=1)
        ask("session too long", SessionTimeoutMs=100_000_000)
        ask("session of 0", SessionTimeoutMs=0)
        ask("negative session", SessionTimeoutMs=-1)
        ask("unknown member", member="no-such-member")
        ask("empty group", GroupId="")
        ask("no protocols", protocols=())
        ask("empty type", kind="")
        ask("neither", protocols=(), kind="")
        ask("unknown member of an unknown group", member="no-such-member", GroupId=group.name + "x")
        if version >= 5:
            for place, instance in enumerate(("i", "a b", "", "i" * 250)):
                own = {"GroupId": f"{group.name}-{place}", "instance": instance}
                ask(f"static: {instance[:3]!r} of {len(instance)}", **own)
                ask(f"static, unknown member: {instance[:3]!r}", member="no-such-member", **own)
        join = group.join(version, "good")
        member, generation = join["MemberId"], join["GenerationId"]
        group.sync(0, "good", generation, member, [member])
        ask("another type", kind="connect", on="b")
        ask("no common protocol", protocols=("sticky",), on="b")
        ask("an unknown member now", member="no-such-member", on="b")
        ask("empty type now", kind="", on="b")
        ask("no protocols now", protocols=(), on="b")
        ask("the member with another type", member=member, kind="connect")
        ask("the member with another protocol", member=member, protocols=("sticky",))
        group.describe("afterwards", 4)


def protocols(side):
    for version in side.apis["JoinGroup"].versions():
        group = Group(side, f"g-{version}")
        first = group.join(version, "first", protocols=("b", "a"))
        group.sync(0, "first", first["GenerationId"], first["MemberId"], [first["MemberId"]])
        second = start_second(group, version, protocols=("c", "a", "b"))
        side.until("the rebalance has begun", lambda: state(side, group) == "PreparingRebalance")
        group.beat(0, "a rebalance", first["GenerationId"], first["MemberId"])
        third = side.finish(group.joining(version, "first again", member=first["MemberId"], protocols=("b", "a")))
        joined = side.finish(second)
        if joined["ErrorCode"] == 0 and third["ErrorCode"] == 0:
            leader = third["Leader"] == first["MemberId"]
            side.note("JoinGroup", version, "the first still leads", leader)


def start_second(group, version, on="b", **rest):
    """A second member that waits for the rebalance; its id is asked for first."""
    pending = group.joining(version, "second", on=on, **rest)
    if version >= 4 and not rest.get("instance"):
        answer = group.side.finish(pending)
        pending = group.joining(version, "second, with the id", on=on, member=answer["MemberId"], **rest)
    return pending


def two_members(side):
    for version in side.apis["JoinGroup"].versions():
        sync = min(version, 5)
        group = Group(side, f"g-{version}")
        first = group.join(version, "first")
        one = first["MemberId"]
        group.sync(sync, "first", first["GenerationId"], one, [one])
        waiting = start_second(group, version)
        side.until("the rebalance has begun", lambda: state(side, group) == "PreparingRebalance")
        group.describe("preparing")
        group.beat(4, "preparing", first["GenerationId"], one)
        group.sync(sync, "preparing", first["GenerationId"], one)
        again = side.finish(group.joining(version, "first again", member=one))
        second = side.finish(waiting)
        two, generation = second["MemberId"], again["GenerationId"]
        group.describe("completing")
        group.beat(4, "completing", generation, two, on="b")
        parked = group.syncing(sync, "follower waits", generation, two, on="b")
        group.sync(sync, "leader", generation, one, [one, two])
        side.finish(parked)
        group.describe("stable")
        group.sync(sync, "follower again", generation, two, on="b")
        group.sync(sync, "old generation", generation - 1, two, on="b")
        group.sync(sync, "later generation", generation + 1, two, on="b")
        group.sync(sync, "unknown member", generation, "no-such-member", on="b")
        for beat in side.apis["Heartbeat"].versions():
            group.beat(beat, "good", generation, two, on="b")
            group.beat(beat, "old generation", generation - 1, two, on="b")
            group.beat(beat, "later generation", generation + 1, two, on="b")
            group.beat(beat, "unknown member", generation, "no-such-member", on="b")
            group.beat(beat, "empty member", generation, "", on="b")
        if version >= 5:
            group.sync(5, "another type", generation, two, on="b", kind="connect")
            group.sync(5, "another protocol", generation, two, on="b", protocol="sticky")
            group.sync(5, "no type and no protocol", generation, two, on="b", kind=None, protocol=None)
        rejoin = side.finish(group.joining(version, "follower with the same", member=two, on="b"))
        side.note("JoinGroup", version, "the same generation", rejoin["GenerationId"] == generation)
        group.leave(min(version, 5), "the follower leaves", two, on="b")
        side.until("the rebalance has begun", lambda: state(side, group) == "PreparingRebalance")
        alone = side.finish(group.joining(version, "alone", member=one))
        group.sync(sync, "alone", alone["GenerationId"], one, [one])
        group.describe("one left")


def state(side, group):
    return side.quietly("DescribeGroups", 0, Groups=[group.name])["Groups"][0]["GroupState"]


def assignments(side):
    """What the leader may hand out."""
    for version in side.apis["SyncGroup"].versions():
        group = Group(side, f"g-{version}")
        join = group.join(5, "first")
        member, generation = join["MemberId"], join["GenerationId"]
        group.sync(version, "for strangers only", generation, member, ["no-such-member"])
        again = group.join(5, "again", member=member)
        group.sync(version, "for nobody", again["GenerationId"], member)
        group.describe("assigned nothing")


def unknown_groups(side):
    known = Group(side, "known")
    for group in (Group(side, "never"), known):
        if group is known:
            group.commit(2, "from outside", side.topic("t"))
        for version in side.apis["Heartbeat"].versions():
            group.beat(version, group.name[-14:-9], 1, "m")
        for version in side.apis["SyncGroup"].versions():
            group.sync(version, group.name[-14:-9], 1, "m", ["m"])
        for version in side.apis["LeaveGroup"].versions():
            group.leave(version, group.name[-14:-9], "m")
            group.leave(version, "nobody", *([] if version >= 3 else [""]))
    for api, versions in (("Heartbeat", range(0, 5)), ("SyncGroup", range(0, 6)), ("LeaveGroup", range(0, 6))):
        for version in versions:
            fields = {"GroupId": "", "MemberId": "m"} if api != "LeaveGroup" or version < 3 else {"GroupId": "", "Members": [{"MemberId": "m"}]}
            side.ask(api, version, "empty group", **fields)


def leaving(side):
    for version in side.apis["LeaveGroup"].versions():
        group = Group(side, f"g-{version}")
        join = group.join(5, "first")
        member = join["MemberId"]
        group.leave(version, "a stranger", "no-such-member")
        group.leave(version, "an empty id", "")
        if version >= 3:
            group.leave(version, "a stranger's instance", ("", "no-such-instance"))
            group.leave(version, "an instance that it has not", (member, "no-such-instance"))
            group.leave(version, "two, one of them a stranger", "no-such-member", member)
        else:
            group.leave(version, "good", member)
        group.describe("afterwards")
        pending = side.finish(group.joining(5, "a pending id"))
        group.leave(version, "the pending id", pending["MemberId"])
        side.finish(group.joining(5, "the pending id that left", member=pending["MemberId"]))


def static_members(side):
    for version in (5, 6, 7, 8, 9):
        group = Group(side, f"g-{version}")
        first = group.join(version, "first", instance="one")
        one, generation = first["MemberId"], first["GenerationId"]
        group.sync(5, "first", generation, one, [one], instance="one")
        group.describe("one")
        back = side.finish(group.joining(version, "comes back", instance="one", on="b", metadata=b"a"))
        new = back["MemberId"]
        side.note("JoinGroup", version, "the same generation", back["GenerationId"] == generation)
        group.describe("came back")
        group.sync(5, "comes back", back["GenerationId"], new, [new], on="b", instance="one")
        for beat in (3, 4):
            group.beat(beat, "the old id", generation, one, instance="one")
            group.beat(beat, "the new id", generation, new, on="b", instance="one")
            group.beat(beat, "the new id, another instance", generation, new, on="b", instance="two")
            group.beat(beat, "the new id, no instance", generation, new, on="b")
        group.sync(5, "the old id", generation, one, instance="one")
        side.finish(group.joining(version, "the old id joins", instance="one", member=one))
        topic = side.topic(f"t-{version}")
        group.commit(9, "the old id", topic, generation=generation, member=one, GroupInstanceId="one")
        group.commit(9, "the new id", topic, generation=generation, member=new, GroupInstanceId="one")
        group.commit(9, "the new id, another instance", topic, generation=generation, member=new, GroupInstanceId="two")
        group.leave(5, "the old id", (one, "one"))
        group.leave(5, "by the instance", ("", "one"))
        group.describe("left")


def static_member_with_new_metadata(side):
    for version in (5, 9):
        group = Group(side, f"g-{version}")
        first = group.join(version, "first", instance="one", metadata=b"old")
        group.sync(5, "first", first["GenerationId"], first["MemberId"], [first["MemberId"]], instance="one")
        back = side.finish(group.joining(version, "with other metadata", instance="one", on="b", metadata=b"new"))
        group.describe("afterwards")
        side.note("JoinGroup", version, "generations on", back["GenerationId"] - first["GenerationId"])
        other = side.finish(group.joining(version, "with another protocol", instance="one", on="c", protocols=("sticky",)))
        side.note("JoinGroup", version, "generations on", other["GenerationId"] - first["GenerationId"])


def timeouts(side):
    """A member that falls silent is gone after its session, a member that does not join again after the rebalance."""
    group = Group(side, "silent")
    join = group.join(5, "first")
    group.sync(3, "first", join["GenerationId"], join["MemberId"], [join["MemberId"]])
    side.until("the member is gone", lambda: state(side, group) == "Empty")
    group.beat(4, "too late", join["GenerationId"], join["MemberId"])
    group.describe("empty")
    group = Group(side, "slow")
    first = group.join(5, "first", RebalanceTimeoutMs=1500)
    group.sync(3, "first", first["GenerationId"], first["MemberId"], [first["MemberId"]])
    waiting = start_second(group, 5, RebalanceTimeoutMs=1500)
    second = side.finish(waiting)
    side.note("JoinGroup", 5, "members after the time-out", len(second["Members"]))
    group.beat(4, "the slow one", first["GenerationId"], first["MemberId"])
    group.describe("after the time-out")


def commits(side):
    topic = side.topic("t", 3)
    for version in side.apis["OffsetCommit"].versions():
        group = Group(side, f"g-{version}")
        commit = lambda note, *args, **rest: group.commit(version, note, *(args or (topic,)), **rest)
        commit("from outside")
        commit("another partition", topic, 2, 5, metadata="")
        commit("null metadata", topic, 1, 7, metadata=None)
        commit("long metadata", topic, 0, 8, metadata="m" * 4096)
        commit("too long metadata", topic, 0, 9, metadata="m" * 4097)
        commit("negative offset", topic, 0, -1)
        commit("offset -2", topic, 0, -2)
        commit("backwards", topic, 2, 3)
        commit("unknown partition", topic, 9)
        commit("negative partition", topic, -1)
        commit("unknown topic", side.topic_name("never"))
        commit("generation without a member", generation=3)
        commit("a member without a generation", member="m")
        commit("a member", member="m", generation=3)
        commit("a leader epoch", topic, 0, 4, part={"CommittedLeaderEpoch": side.leader_epoch(topic)})
        commit("retention", topic, 0, 4, RetentionTimeMs=1000)
        commit("empty group", GroupId="")
        commit("nothing", Topics=[])
        commit("no partitions", Topics=[{"Name": topic, "TopicId": side.ids[topic], "Partitions": []}])
        if version >= 10:
            commit("unknown id", Topics=[{"TopicId": STRANGE_ID, "Partitions": [{"PartitionIndex": 0, "CommittedOffset": 1, "CommittedMetadata": ""}]}])
            commit("zero id", Topics=[{"TopicId": NO_ID, "Partitions": [{"PartitionIndex": 0, "CommittedOffset": 1, "CommittedMetadata": ""}]}])
        if version >= 7:
            commit("an instance from outside", GroupInstanceId="i")
        look_at_commits(side, group, topic)
        join = group.join(5, "a member joins")
        member, generation = join["MemberId"], join["GenerationId"]
        commit("before the sync", generation=generation, member=member)
        group.sync(3, "a member", generation, member, [member])
        commit("as a member", generation=generation, member=member)
        commit("old generation", generation=generation - 1, member=member)
        commit("later generation", generation=generation + 1, member=member)
        commit("a stranger", generation=generation, member="no-such-member")
        commit("from outside a group with members")
        commit("from outside with a generation", generation=generation)
        group.leave(3, "leaves", member)
        commit("after leaving", generation=generation, member=member)
        commit("from outside again")


def look_at_commits(side, group, topic):
    never = side.topic_name("never")
    for version in side.apis["OffsetFetch"].versions():
        look = lambda note, *topics, **rest: group.committed(version, note, *topics, **rest)
        look("all three", (topic, [0, 1, 2]))
        look("unknown partition", (topic, [9, -1]))
        look("unknown topic", (never, [0]))
        look("no topics")
        look("no partitions", (topic, []))
        look("topic twice", (topic, [0]), (topic, [1]))
        if version >= 2:
            look("everything", everything=True)
        look("another group", (topic, [0]), group=group.name + "x")
        if version >= 2:
            look("everything of another group", everything=True, group=group.name + "x")
        look("empty group", (topic, [0]), group="")
        if version >= 7:
            look("stable only", (topic, [0, 1]), RequireStable=True)
        if version >= 8:
            full = [{"Name": topic, "TopicId": side.ids[topic], "PartitionIndexes": [0]}]
            two = [{"GroupId": group.name, "Topics": full}, {"GroupId": group.name + "x", "Topics": full}]
            look("two groups", Groups=two)
            look("no groups", Groups=[])
            look("a group twice", Groups=two[:1] * 2)
        if version >= 9:
            look("as a member", (topic, [0]), identity={"MemberId": "m", "MemberEpoch": 1})
            look("with an epoch only", (topic, [0]), identity={"MemberEpoch": 1})
        if version >= 10:
            zero = [{"TopicId": NO_ID, "PartitionIndexes": [0]}]
            look("zero id", Groups=[{"GroupId": group.name, "Topics": zero}])


def offsets_of_a_deleted_topic(side):
    topic = side.topic("t")
    group = Group(side, "g")
    group.commit(2, "from outside", topic)
    side.quietly("DeleteTopics", 5, TopicNames=[topic], TimeoutMs=15000)
    side.wait_until_gone(topic)
    side.until(
        "the offset is gone",
        lambda: not side.quietly("OffsetFetch", 2, GroupId=group.name, Topics=None)["Topics"],
    )
    group.committed(5, "gone", (topic, [0]))


def offset_delete(side):
    topic, other = side.topic("t", 2), side.topic("other")
    group = Group(side, "g")

    def ask(note, *topics, name=group.name):
        wanted = [{"Name": each, "Partitions": [{"PartitionIndex": index} for index in parts]} for each, parts in topics]
        side.ask("OffsetDelete", 0, note, GroupId=name, Topics=wanted)
        group.committed(5, f"after: {note}", everything=True)

    ask("unknown group", (topic, [0]))
    group.commit(2, "one", topic, 0, 5)
    group.commit(2, "two", topic, 1, 6)
    group.commit(2, "three", other, 0, 7)
    ask("empty group id", (topic, [0]), name="")
    ask("unknown partition", (topic, [9]))
    ask("unknown topic", (side.topic_name("never"), [0]))
    ask("nothing")
    ask("no partitions", (topic, []))
    ask("one", (topic, [0]))
    ask("again", (topic, [0]))
    subscription = bytes.fromhex("0000") + (1).to_bytes(4, "big") + len(topic).to_bytes(2, "big") + topic.encode() + b"\xff\xff\xff\xff"
    join = group.join(5, "subscribed", metadata=subscription)
    group.sync(3, "subscribed", join["GenerationId"], join["MemberId"], [join["MemberId"]])
    ask("subscribed to it", (topic, [1]))
    ask("one subscribed, one not", (topic, [1]), (other, [0]))
    group.leave(3, "leaves", join["MemberId"])
    ask("the group is empty", (topic, [1]))


def describe_groups(side):
    group = Group(side, "g")
    join = group.join(5, "first")
    group.sync(3, "first", join["GenerationId"], join["MemberId"], [join["MemberId"]])
    offsets_only = Group(side, "offsets")
    offsets_only.commit(2, "from outside", side.topic("t"))
    for version in side.apis["DescribeGroups"].versions():
        for operations in (False, True):
            side.ask("DescribeGroups", version, f"operations {operations}", Groups=[group.name], IncludeAuthorizedOperations=operations)
        side.ask("DescribeGroups", version, "offsets only", Groups=[offsets_only.name])
        side.ask("DescribeGroups", version, "unknown", Groups=[group.name + "x"])
        side.ask("DescribeGroups", version, "empty name", Groups=[""])
        side.ask("DescribeGroups", version, "nothing", Groups=[])
        side.ask("DescribeGroups", version, "two and a stranger", Groups=[group.name, group.name + "x", offsets_only.name])
        side.ask("DescribeGroups", version, "twice", Groups=[group.name, group.name])
    for version in side.apis["ListGroups"].versions():
        side.ask("ListGroups", version, "everything")
        for states in (["Stable"], ["Empty"], ["stable"], ["Dead"], ["Stable", "Empty"], ["nonsense"], [""]):
            side.ask("ListGroups", version, f"states {states}", StatesFilter=states if version >= 4 else [])
        for types in (["classic"], ["Classic"], ["consumer"], ["share"], ["nonsense"], [""]):
            side.ask("ListGroups", version, f"types {types}", TypesFilter=types if version >= 5 else [])
        if version >= 5:
            side.ask("ListGroups", version, "both", StatesFilter=["Empty"], TypesFilter=["classic"])


def delete_groups(side):
    for version in side.apis["DeleteGroups"].versions():
        busy, empty, offsets = (Group(side, f"{name}-{version}") for name in ("busy", "empty", "offsets"))
        join = busy.join(5, "busy")
        busy.sync(3, "busy", join["GenerationId"], join["MemberId"], [join["MemberId"]])
        gone = empty.join(5, "leaves")
        empty.sync(3, "leaves", gone["GenerationId"], gone["MemberId"], [gone["MemberId"]])
        empty.leave(3, "leaves", gone["MemberId"])
        offsets.commit(2, "from outside", side.topic(f"t-{version}"))
        ask = lambda note, *names: side.ask("DeleteGroups", version, note, GroupsNames=list(names))
        ask("nothing")
        ask("unknown", busy.name + "x")
        ask("empty name", "")
        ask("one with members", busy.name)
        ask("three", busy.name, empty.name, offsets.name)
        ask("again", empty.name)
        ask("twice", busy.name, busy.name)
        empty.describe("deleted")
        offsets.committed(5, "deleted", everything=True)


CASES = [
    one_member, bad_joins, protocols, two_members, assignments, unknown_groups, leaving, static_members,
    static_member_with_new_metadata, timeouts, commits, offsets_of_a_deleted_topic, offset_delete, describe_groups, delete_groups,
]
