"""Share groups (KIP-932): members, sessions, what is delivered and what becomes of it, offsets, and what an administrator sees."""

import time

from session import STRANGE_ID

GAP, ACCEPT, RELEASE, REJECT, RENEW = range(5)
WHOLE, STRICT = 0, 1
# A lock as short as both are allowed to give.
LOCK_MS = 1000
EVERYTHING = 1 << 20


class ShareGroup:
    """One share group that reads from the beginning, and its members, each with a session and a connection of its own."""

    def __init__(self, side, name, **settings):
        self.side = side
        self.name = side.group(name)
        self.epochs = {}
        wanted = {"share_auto_offset_reset": "earliest"} | settings
        entries = [{"Name": key.replace("_", "."), "Value": str(value), "ConfigOperation": 0} for key, value in wanted.items()]
        resource = {"ResourceType": 32, "ResourceName": self.name, "Configs": entries}
        side.quietly("IncrementalAlterConfigs", 1, Resources=[resource], ValidateOnly=False)

    def beat(self, note, member, epoch, topics=None, on="a", version=1, **rest):
        fields = {"GroupId": self.name, "MemberId": member, "MemberEpoch": epoch, "SubscribedTopicNames": topics}
        return self.side.ask("ShareGroupHeartbeat", version, note, on=on, **(fields | rest))

    def enter(self, member, topic, partitions=1, on="a"):
        """Joins quietly, until all partitions are assigned; Kafka makes their states first. The member's epoch."""
        wanted = {"GroupId": self.name, "MemberId": member}

        def is_assigned():
            nonlocal epoch
            answer = self.side.quietly("ShareGroupHeartbeat", 1, on=on, MemberEpoch=0, SubscribedTopicNames=[topic], **wanted)
            epoch = answer["MemberEpoch"]
            assigned = (answer["Assignment"] or {}).get("TopicPartitions", [])
            return sum(len(each["Partitions"]) for each in assigned) == partitions

        epoch = 0
        self.side.until(f"{member} is assigned", is_assigned)
        return epoch

    def fetch(self, note, member, topic=None, partitions=(0,), acks=None, epoch=None, on="a", version=2, forget=(), **rest):
        """A ShareFetch of the member's session; `topic` is named where it is new to it, `acks` are (partition, first, last, types)."""
        version_2 = {"ShareAcquireMode": WHOLE, "IsRenewAck": False} if version >= 2 else {}
        fields = {
            "GroupId": self.name, "MemberId": member, "ShareSessionEpoch": self.next_epoch(member, epoch), "MaxWaitMs": 100, "MinBytes": 1,
            "MaxBytes": EVERYTHING, "MaxRecords": 500, "BatchSize": 500, "Topics": self.topics(topic, partitions, acks or []),
            "ForgottenTopicsData": list(forget),
        }
        return self.side.ask("ShareFetch", version, note, on=on, **(fields | version_2 | rest))

    def acknowledge(self, note, member, topic, *acks, epoch=None, on="a", version=2, renew=False):
        fields = {
            "GroupId": self.name, "MemberId": member, "ShareSessionEpoch": self.next_epoch(member, epoch),
            "Topics": self.topics(topic, (), acks),
        }
        version_2 = {"IsRenewAck": renew} if version >= 2 else {}
        return self.side.ask("ShareAcknowledge", version, note, on=on, **(fields | version_2))

    def next_epoch(self, member, given):
        """A session counts its requests; who gives an epoch counts for itself."""
        if given is not None:
            if given == 0:
                self.epochs[member] = 1
            return given
        epoch = self.epochs.get(member, 0)
        self.epochs[member] = epoch + 1
        return epoch

    def topics(self, topic, partitions, acks):
        if topic is None:
            return []
        named = sorted(set(partitions) | {partition for partition, *_ in acks})
        listed = [
            {
                "PartitionIndex": index,
                "AcknowledgementBatches": [
                    {"FirstOffset": first, "LastOffset": last, "AcknowledgeTypes": list(types)}
                    for partition, first, last, types in acks
                    if partition == index
                ],
            }
            for index in named
        ]
        return [{"TopicId": topic if not isinstance(topic, str) else self.side.ids[topic], "Partitions": listed}]

    def offsets(self, note, topics, version=1):
        return self.side.ask("DescribeShareGroupOffsets", version, note, on="admin", Groups=[{"GroupId": self.name, "Topics": topics}])

    def seen(self, note):
        return self.side.ask(
            "ShareGroupDescribe", 1, note, on="admin", GroupIds=[self.name], IncludeAuthorizedOperations=False
        )


def topic_of(side, name, partitions=1, **configs):
    """A topic whose id has its number from the beginning: answers name it by its id."""
    full = side.topic(name, partitions=partitions, **configs)
    side.rules.learn(side.ids[full])
    return full


def filled(side, name="t", *sizes, partitions=1):
    """A topic with a batch of each size."""
    topic = topic_of(side, name, partitions)
    for size in sizes:
        side.produce(topic, side.batch([b"v%d" % number for number in range(size)]))
    return topic


def member_refusals(side):
    topic = topic_of(side, "t")
    group = ShareGroup(side, "g")
    say = lambda note, member="m", epoch=0, topics=(topic,), **rest: group.beat(note, member, epoch, topics and list(topics), **rest)
    say("empty group id", GroupId="")
    say("empty member id", "")
    say("empty rack", RackId="")
    say("no subscription", topics=None)
    say("an empty subscription", topics=())
    say("epoch -2", epoch=-2)
    say("unknown group", epoch=1)
    say("unknown group, leaving", epoch=-1)
    epoch = group.enter("m", topic)
    say("another's epoch", epoch=epoch + 7, topics=None)
    say("unknown member", "n", epoch, None)
    say("unknown member, leaving", "n", -1, None)
    say("lives", epoch=epoch, topics=None)
    group.seen("one member")
    say("leaves", epoch=-1, topics=None)
    say("leaves again", epoch=-1, topics=None)
    group.seen("none")
    side.ask("ListGroups", 5, "the group", on="admin", StatesFilter=[], TypesFilter=["share"])
    side.ask("ListGroups", 5, "consumer groups", on="admin", StatesFilter=[], TypesFilter=["consumer"])
    side.ask("DeleteGroups", 2, "the group", on="admin", GroupsNames=[group.name])
    side.ask("ShareGroupDescribe", 1, "gone", on="admin", GroupIds=[group.name], IncludeAuthorizedOperations=False)
    side.ask("ShareGroupDescribe", 1, "no name", on="admin", GroupIds=[""], IncludeAuthorizedOperations=False)
    side.ask("ShareGroupDescribe", 1, "none", on="admin", GroupIds=[], IncludeAuthorizedOperations=False)


def full_share_group(side):
    topic = topic_of(side, "t")
    group = ShareGroup(side, "g")
    for number in range(200):
        side.quietly(
            "ShareGroupHeartbeat", 1, on="a", GroupId=group.name, MemberId=f"m{number}", MemberEpoch=0, SubscribedTopicNames=[topic]
        )
    group.beat("one more than there may be", "m200", 0, [topic])


def share_sessions(side):
    topic = filled(side, "t", 10)
    group = ShareGroup(side, "g")
    group.enter("m", topic)
    fetch = lambda note, **rest: group.fetch(note, **({"member": "m", "topic": topic} | rest))
    fetch("no group", GroupId=None, epoch=0)
    fetch("no member", MemberId=None, epoch=0)
    fetch("an empty member", MemberId="", epoch=0)
    fetch("a member of 37 bytes", MemberId="m" * 37, epoch=0)
    fetch("no session, epoch 1", member="n", epoch=1)
    fetch("no session, epoch -1", member="n", epoch=-1)
    fetch("no session, epoch -2", member="n", epoch=-2)
    fetch("opened with acknowledgements", acks=[(0, 0, 0, [ACCEPT])], epoch=0)
    fetch("no such acquire mode", ShareAcquireMode=7, epoch=0)
    fetch("opened", epoch=0)
    fetch("epoch 5", epoch=5)
    fetch("epoch 0 again", epoch=0)
    fetch("nothing new", topic=None, epoch=1)
    fetch("a partition that is not there", partitions=(7,), epoch=2)
    fetch("a topic that is not there", topic=STRANGE_ID, epoch=3)
    fetch("forgotten", topic=None, epoch=4, forget=[
        {"TopicId": side.ids[topic], "Partitions": [7]}, {"TopicId": STRANGE_ID, "Partitions": [0]},
    ])
    fetch("nothing new again", topic=None, epoch=5)
    group.acknowledge("epoch 0", "m", topic, epoch=0)
    group.acknowledge("a wrong epoch", "m", topic, epoch=3)
    group.acknowledge("nothing", "m", topic, epoch=6)
    group.acknowledge("closed", "m", None, epoch=-1)
    group.acknowledge("closed again", "m", None, epoch=-1)
    fetch("after the end", epoch=7)
    fetch("opened once more: what was held came back", epoch=0)
    side.drop("a")
    side.until_settled()
    fetch("its connection ended: what was held came back", epoch=0, on="b")
    fetch("closed by a fetch", topic=None, epoch=-1, on="b")


def acknowledgements(side):
    topic = filled(side, "t", 10, 10, 5)
    for version in side.apis["ShareAcknowledge"].versions():
        group = ShareGroup(side, f"g-{version}")
        group.enter("m", topic)
        group.enter("n", topic)
        group.fetch("first", "m", topic, MaxRecords=15)
        group.fetch("rest", "n", topic, on="b")
        say = lambda note, *acks, **rest: group.acknowledge(note, "m", topic, *acks, version=version, **rest)
        say("some", (0, 0, 0, [ACCEPT]), (0, 2, 2, [ACCEPT]))
        say("again, passed by the start", (0, 0, 0, [ACCEPT]))
        say("again, behind the start", (0, 2, 2, [ACCEPT]))
        say("another's", (0, 20, 20, [ACCEPT]))
        say("own and another's", (0, 18, 21, [ACCEPT]))
        say("descending", (0, 5, 6, [ACCEPT]), (0, 3, 4, [ACCEPT]))
        say("the end before the beginning", (0, 6, 5, [ACCEPT]))
        say("too few types", (0, 5, 7, [ACCEPT, ACCEPT]))
        say("no types", (0, 5, 7, []))
        say("no such type", (0, 5, 5, [9]))
        say("a negative offset", (0, -5, -1, [ACCEPT]))
        say("beyond what was delivered", (0, 18, 40, [ACCEPT]))
        say("far beyond", (0, 100, 130, [ACCEPT]))
        say("a partition that is not there", (7, 0, 0, [ACCEPT]))
        say("a renewal without its mark", (0, 5, 5, [RENEW]))
        say("one of each", (0, 4, 7, [GAP, ACCEPT, RELEASE, REJECT]))
        say("all that is left", (0, 1, 1, [ACCEPT]), (0, 3, 3, [ACCEPT]), (0, 8, 19, [ACCEPT]))
        group.acknowledge("the other's", "n", topic, (0, 20, 24, [RELEASE]), on="b")
        group.fetch("what was released", "m", None)
        group.acknowledge("of them the last", "m", topic, (0, 24, 24, [ACCEPT]))
        group.fetch("with acknowledgements on the way", "m", topic, acks=[(0, 6, 6, [ACCEPT]), (0, 20, 23, [ACCEPT])])
        group.fetch("nothing", "m", None)


def deliveries(side):
    topic = filled(side, "t", 100, 100)
    for version in side.apis["ShareFetch"].versions():
        group = ShareGroup(side, f"g-{version}")
        group.enter("m", topic)
        answer = group.fetch("all", "m", topic, version=version)
        for turn in range(7):
            acquired = answer["Responses"][0]["Partitions"][0]["AcquiredRecords"] if answer["Responses"] else []
            releases = [(0, each["FirstOffset"], each["LastOffset"], [RELEASE]) for each in acquired]
            group.acknowledge(f"released, {turn}", "m", topic, *releases)
            answer = group.fetch(f"again, {turn}", "m", None, version=version)


def limits_of_records(side):
    topic = filled(side, "t", 10, 10, 10, 10)
    group = ShareGroup(side, "g")
    group.enter("m", topic)
    group.fetch("strictly three", "m", topic, MaxRecords=3, ShareAcquireMode=STRICT)
    group.fetch("strictly twelve", "m", None, MaxRecords=12, ShareAcquireMode=STRICT)
    group.fetch("about three", "m", None, MaxRecords=3)
    group.fetch("the rest, in ranges of five", "m", None, BatchSize=5)
    group.acknowledge("accepted here and there", "m", topic, (0, 0, 4, [ACCEPT]), (0, 8, 9, [ACCEPT]), (0, 20, 29, [ACCEPT]))
    group.acknowledge("released", "m", topic, (0, 5, 7, [RELEASE]), (0, 10, 19, [RELEASE]), (0, 30, 39, [RELEASE]))
    group.fetch("strictly five of what came back", "m", None, MaxRecords=5, ShareAcquireMode=STRICT)
    group.fetch("the rest of what came back", "m", None)
    group.fetch("none wanted", "m", None, MaxRecords=0)
    few = ShareGroup(side, "few", share_partition_max_record_locks=100)
    many = filled(side, "many", 60, 60, 60)
    few.enter("m", many)
    few.fetch("strictly as many as may be held", "m", many, ShareAcquireMode=STRICT)
    few.fetch("no more", "m", None)
    few.acknowledge("some", "m", many, (0, 0, 9, [ACCEPT]))
    few.fetch("room for ten", "m", None, ShareAcquireMode=STRICT)


def locks(side):
    topic = filled(side, "t", 4)
    group = ShareGroup(side, "g", share_record_lock_duration_ms=LOCK_MS, share_delivery_count_limit=2)
    group.enter("m", topic)
    group.fetch("held", "m", topic)
    group.fetch("a renewal that wants records", "m", topic, acks=[(0, 0, 0, [RENEW])], IsRenewAck=True, epoch=1)
    nothing = {"MaxBytes": 0, "MinBytes": 0, "MaxRecords": 0, "MaxWaitMs": 0}
    time.sleep(LOCK_MS / 2000)
    group.epochs["m"] = 1
    group.fetch("renewed", "m", topic, acks=[(0, 0, 0, [RENEW])], IsRenewAck=True, **nothing)
    group.acknowledge("renewed and accepted", "m", topic, (0, 1, 2, [RENEW, ACCEPT]), renew=True)
    time.sleep(LOCK_MS / 1000 * 0.7)
    group.fetch("the last had run out", "m", None)
    group.acknowledge("the first are still held", "m", topic, (0, 0, 1, [ACCEPT]))
    time.sleep(LOCK_MS / 1000 * 1.5)
    group.fetch("given up", "m", None)
    group.acknowledge("too late", "m", topic, (0, 3, 3, [ACCEPT]))
    fixed = ShareGroup(side, "fixed", share_renew_acknowledge_enable="false")
    fixed.enter("m", topic)
    fixed.fetch("held, for no longer", "m", topic)
    fixed.acknowledge("a renewal that is not enabled", "m", topic, (0, 0, 0, [RENEW]), renew=True)
    fixed.acknowledge("accepted all the same", "m", topic, (0, 0, 0, [ACCEPT]), renew=True)
    group.offsets("done with everything", [{"TopicName": topic, "Partitions": [0]}])


def share_offsets(side):
    topic = filled(side, "t", 10, partitions=2)
    group = ShareGroup(side, "g")
    wanted = [{"TopicName": topic, "Partitions": [0, 1]}]
    for version in side.apis["DescribeShareGroupOffsets"].versions():
        group.offsets("no such group", wanted, version)
        group.offsets("no such group, everything", None, version)
    group.enter("m", topic, 2)
    group.fetch("all", "m", topic, (0,))
    group.acknowledge("the first five", "m", topic, (0, 0, 4, [ACCEPT]))
    group.acknowledge("two more", "m", topic, (0, 6, 7, [ACCEPT]))
    for version in side.apis["DescribeShareGroupOffsets"].versions():
        group.offsets("how far", wanted, version)
    group.offsets("everything", None)
    group.offsets("a topic that is not there", [{"TopicName": side.topic_name("none"), "Partitions": [0]}])

    def alter(note, *places, **rest):
        topics = [{"TopicName": name, "Partitions": [{"PartitionIndex": index, "StartOffset": at}]} for name, index, at in places]
        side.ask("AlterShareGroupOffsets", 0, note, on="admin", **({"GroupId": group.name, "Topics": topics} | rest))

    def delete(note, *names, **rest):
        fields = {"GroupId": group.name, "Topics": [{"TopicName": name} for name in names]}
        side.ask("DeleteShareGroupOffsets", 0, note, on="admin", **(fields | rest))

    alter("moved under a member", (topic, 0, 3))
    delete("deleted under a member", topic)
    group.acknowledge("closed", "m", None, epoch=-1)
    group.beat("leaves", "m", -1)
    alter("moved", (topic, 0, 3))
    group.offsets("moved", wanted)
    alter("a partition that is not there", (topic, 7, 3))
    alter("a topic that is not there", (side.topic_name("none"), 0, 3))
    alter("nothing")
    alter("beyond the end", (topic, 1, 1000))
    group.offsets("beyond the end", wanted)
    alter("without a name", (topic, 0, 1), GroupId="")
    group.enter("m", topic, 2)
    group.epochs = {}
    group.fetch("from there", "m", topic, (0,))
    group.acknowledge("closed again", "m", None, epoch=-1)
    group.beat("leaves again", "m", -1)
    delete("a topic that is not there", side.topic_name("none"))
    delete("nothing")
    delete("the topic", topic)
    delete("the topic again", topic)
    group.offsets("forgotten", None)
    other = ShareGroup(side, "other")
    alter("a group that is not there is made", (topic, 0, 3), GroupId=other.name)
    other.seen("made")
    side.ask("DeleteGroups", 2, "made for its offsets", on="admin", GroupsNames=[other.name])
    other.offsets("gone with it", None)


def kinds_of_groups(side):
    topic = topic_of(side, "t")
    group = ShareGroup(side, "g")
    group.enter("m", topic)
    side.ask("DescribeGroups", 6, "a share group", on="admin", Groups=[group.name])
    side.ask("ConsumerGroupDescribe", 1, "a share group", on="admin", GroupIds=[group.name], IncludeAuthorizedOperations=False)
    side.ask(
        "ConsumerGroupHeartbeat", 1, "into a share group", on="b", GroupId=group.name, MemberId="n", MemberEpoch=0, InstanceId=None, RackId=None,
        RebalanceTimeoutMs=30000, SubscribedTopicNames=[topic], SubscribedTopicRegex=None, ServerAssignor=None, TopicPartitions=[],
    )
    side.ask("DeleteGroups", 2, "with a member", on="admin", GroupsNames=[group.name])
    classic = side.group("classic")
    side.quietly(
        "OffsetCommit", 7, GroupId=classic, GenerationIdOrMemberEpoch=-1, MemberId="", GroupInstanceId=None,
        Topics=[{"Name": topic, "Partitions": [{"PartitionIndex": 0, "CommittedOffset": 1, "CommittedLeaderEpoch": -1, "CommittedMetadata": ""}]}],
    )
    side.ask(
        "ShareGroupHeartbeat", 1, "into a classic group", on="c", GroupId=classic, MemberId="m", MemberEpoch=0, SubscribedTopicNames=[topic]
    )
    side.ask("ShareGroupDescribe", 1, "a classic group", on="admin", GroupIds=[classic], IncludeAuthorizedOperations=False)


CASES = [
    member_refusals, full_share_group, share_sessions, acknowledgements, deliveries, limits_of_records, locks, share_offsets, kinds_of_groups,
]
