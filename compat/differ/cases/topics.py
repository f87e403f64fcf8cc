"""Topics: made, looked at, widened and deleted."""

from session import NO_ID, STRANGE_ID

BAD_NAMES = ["", ".", "..", "a b", "a/b", "ä", "x" * 249, "x" * 250, "a:b", "a_b.c-d"]


def metadata(side):
    one, two = side.topic("one"), side.topic("two", 3)
    never = side.topic_name("never")
    for version in side.apis["Metadata"].versions():
        ask = lambda note, topics, **fields: side.ask(
            "Metadata", version, note, **({"Topics": topics, "AllowAutoTopicCreation": False} | fields)
        )
        named = lambda *names: [{"Name": name} for name in names]
        ask("one", named(one))
        ask("two", named(one, two))
        ask("the same twice", named(one, one))
        if version >= 4:
            ask("unknown", named(never))
            ask("known and unknown", named(two, never))
        if version >= 1:
            ask("no topics", [])
        for name in BAD_NAMES:
            if version >= 4:
                ask(f"name {name[:3]!r} of {len(name)}", named(name))
        ask("operations of topics", named(one), IncludeTopicAuthorizedOperations=True)
        if version >= 4:
            ask("operations of an unknown topic", named(never), IncludeTopicAuthorizedOperations=True)
            ask("operations of a topic that cannot be", named(BAD_NAMES[-1]), IncludeTopicAuthorizedOperations=True)
        ask("operations of the cluster", named(one), IncludeClusterAuthorizedOperations=True)
        if version >= 10:
            ids = lambda *topic_ids: [{"TopicId": each, "Name": None} for each in topic_ids]
            ask("by id", ids(side.ids[one]))
            ask("by id, unknown", ids(STRANGE_ID))
            ask("by id, two", ids(side.ids[two], STRANGE_ID))
            ask("operations by id", ids(side.ids[two], STRANGE_ID), IncludeTopicAuthorizedOperations=True)
            ask("id and name", [{"TopicId": side.ids[one], "Name": one}])
            ask("id and name of another", [{"TopicId": side.ids[one], "Name": two}])
            ask("neither", [{"TopicId": NO_ID, "Name": None}])
            ask("by id, creation allowed", ids(STRANGE_ID), AllowAutoTopicCreation=True)
            ask("by id and by name", ids(side.ids[one]) + named(two))


def metadata_of_everything(side):
    topic = side.topic("one")
    for version in side.apis["Metadata"].versions():
        answer = side.quietly("Metadata", version, Topics=[] if version == 0 else None)
        names = [each["Name"] for each in answer["Topics"]]
        side.note("Metadata", version, "everything holds the topic", topic in names)
        internal = [(each["Name"], each.get("IsInternal")) for each in answer["Topics"] if each["Name"].startswith("__")]
        internal = [each for each in internal if each[0] != "__transaction_state"]
        side.note("Metadata", version, "internal topics", internal)


def metadata_creates(side):
    for version in side.apis["Metadata"].versions():
        name = side.topic_name(f"by-metadata-{version}")
        side.ask("Metadata", version, "not there yet", Topics=[{"Name": name}])
        side.wait_for_topic(name, 6)
        side.ask("Metadata", version, "made", Topics=[{"Name": name}])
    for name in BAD_NAMES[:6]:
        side.ask("Metadata", 12, f"bad name {name!r}", Topics=[{"Name": name}])
    side.ask("Metadata", 12, "our catalog", Topics=[{"Name": "__cluster_metadata"}], AllowAutoTopicCreation=False)


def create_topics(side):
    for version in side.apis["CreateTopics"].versions():
        made = side.topic_name(f"made-{version}")
        ask = lambda note, *topics, **fields: side.ask(
            "CreateTopics", version, note, Topics=[{"NumPartitions": 1, "ReplicationFactor": 1} | each for each in topics], **fields
        )
        new = lambda suffix="": side.topic_name(f"new{suffix}-{version}")
        ask("validate only", {"Name": made}, ValidateOnly=True)
        ask("made", {"Name": made, "NumPartitions": 2})
        ask("made again", {"Name": made})
        ask("validate one that exists", {"Name": made}, ValidateOnly=True)
        ask("nothing")
        for name in BAD_NAMES:
            ask(f"name {name[:3]!r} of {len(name)}", {"Name": name}, ValidateOnly=True)
        for count in (0, -2, 2**31 - 1):
            ask(f"{count} partitions", {"Name": new(), "NumPartitions": count}, ValidateOnly=True)
        for factor in (0, -2, 2, 32767):
            ask(f"factor {factor}", {"Name": new(), "ReplicationFactor": factor}, ValidateOnly=True)
        ask("defaults", {"Name": new("-defaults"), "NumPartitions": -1, "ReplicationFactor": -1})
        ask("twice", {"Name": new()}, {"Name": new()}, ValidateOnly=True)
        ask("good and bad", {"Name": new("-good")}, {"Name": "a b"}, {"Name": made})
        create_with_configs(ask, new)
        create_with_assignments(ask, new)
        if version == 7:
            ask("internal", {"Name": "__consumer_offsets"}, ValidateOnly=True)
            ask("cluster metadata", {"Name": "__cluster_metadata"}, ValidateOnly=True)
            ask("clash of . and _", {"Name": side.topic_name("clash.a")})
            ask("clash of _ and .", {"Name": side.topic_name("clash_a")})


def create_with_configs(ask, new):
    entry = lambda name, value: {"Name": name, "Value": value}
    for note, *entries in (
        ("unknown setting", entry("no.such", "1")),
        ("no number", entry("retention.ms", "soon")),
        ("too small", entry("segment.bytes", "1")),
        ("segments of 10 kB", entry("segment.bytes", "10000")),
        ("null value", entry("retention.ms", None)),
        ("empty value", entry("retention.ms", "")),
        ("spaces around", entry("retention.ms", " 5000 ")),
        ("no such policy", entry("cleanup.policy", "shred")),
        ("both policies", entry("cleanup.policy", "compact,delete")),
        ("no such codec", entry("compression.type", "rar")),
        ("no boolean", entry("preallocate", "perhaps")),
        ("a boolean in capitals", entry("preallocate", "FALSE")),
        ("twice", entry("retention.ms", "1000000"), entry("retention.ms", "2000000")),
        ("min above max", entry("min.compaction.lag.ms", "100"), entry("max.compaction.lag.ms", "10")),
        ("local above all", entry("local.retention.ms", "100"), entry("retention.ms", "10")),
    ):
        ask(f"config: {note}", {"Name": new(), "Configs": entries}, ValidateOnly=True)
    ask("config: made", {"Name": new("-config"), "Configs": [entry("retention.ms", "604800000"), entry("cleanup.policy", "compact")]})


def create_with_assignments(ask, new):
    def assigned(*partitions, count=-1, factor=-1):
        assignments = [{"PartitionIndex": index, "BrokerIds": brokers} for index, brokers in partitions]
        return {"Name": new(), "NumPartitions": count, "ReplicationFactor": factor, "Assignments": assignments}

    for note, topic in (
        ("two", assigned((0, [1]), (1, [1]))),
        ("with a count", assigned((0, [1]), count=1)),
        ("with a factor", assigned((0, [1]), factor=1)),
        ("a gap", assigned((0, [1]), (2, [1]))),
        ("not from 0", assigned((1, [1]))),
        ("unknown broker", assigned((0, [9]))),
        ("no broker", assigned((0, []))),
        ("a broker twice", assigned((0, [1, 1]))),
        ("a partition twice", assigned((0, [1]), (0, [1]))),
        ("negative broker", assigned((0, [-1]))),
        ("two factors", assigned((0, [1]), (1, []))),
    ):
        ask(f"assignment: {note}", topic, ValidateOnly=True)


def delete_topics(side):
    for version in side.apis["DeleteTopics"].versions():
        topic, other = side.topic(f"a-{version}"), side.topic(f"b-{version}")
        never = side.topic_name("never")

        def ask(note, *states):
            names = [each["Name"] for each in states if each.get("Name") is not None]
            side.ask("DeleteTopics", version, note, Topics=list(states), TopicNames=names, TimeoutMs=15000)

        named = lambda name: {"Name": name}
        ask("nothing")
        ask("unknown", named(never))
        ask("bad names", named(""), named("a b"))
        ask("twice", named(other), named(other))
        ask("known and unknown", named(topic), named(never))
        side.wait_until_gone(topic)
        ask("gone already", named(topic))
        if version >= 6:
            ident = lambda topic_id, name=None: {"TopicId": topic_id, "Name": name}
            ask("by unknown id", ident(STRANGE_ID))
            ask("by id and name", ident(side.ids[other], other))
            ask("neither", ident(NO_ID))
            ask("by id twice", ident(side.ids[other]), ident(side.ids[other]))
            ask("by id and by name", ident(side.ids[other]), named(other))
            third = side.topic("c")
            ask("by id", ident(side.ids[third]))
            side.wait_until_gone(third)


def recreated_topic(side):
    topic = side.topic("t")
    old = side.ids[topic]
    side.produce(topic, side.batch([b"old"]))
    side.ask("DeleteTopics", 6, Topics=[{"Name": topic}], TimeoutMs=15000)
    side.wait_until_gone(topic)
    side.topic("t")
    side.ask("Metadata", 12, "the old id", Topics=[{"TopicId": old, "Name": None}])
    side.ask("Metadata", 12, "the new id", Topics=[{"TopicId": side.ids[topic], "Name": None}])
    side.note("CreateTopics", 7, "another id", old != side.ids[topic])
    wanted = [{"PartitionIndex": 0, "Timestamp": stamp} for stamp in (-1,)]
    side.ask("ListOffsets", 8, "empty", ReplicaId=-1, Topics=[{"Name": topic, "Partitions": wanted}])


def create_partitions(side):
    for version in side.apis["CreatePartitions"].versions():
        topic = side.topic(f"t-{version}", 2)

        def ask(note, *topics, validate=True):
            filled = [{"Name": topic, "Assignments": None} | each for each in topics]
            side.ask("CreatePartitions", version, note, Topics=filled, TimeoutMs=15000, ValidateOnly=validate)

        for count in (3, 2, 1, 0, -1, 2**31 - 1):
            ask(f"{count} of 2", {"Count": count})
        ask("nothing")
        ask("unknown", {"Name": side.topic_name("never"), "Count": 3})
        ask("bad name", {"Name": "a b", "Count": 3})
        ask("empty name", {"Name": "", "Count": 3})
        ask("twice", {"Count": 3}, {"Count": 4})
        assigned = lambda *brokers: [{"BrokerIds": list(each)} for each in brokers]
        ask("assigned", {"Count": 3, "Assignments": assigned([1])})
        ask("too many assigned", {"Count": 3, "Assignments": assigned([1], [1])})
        ask("too few assigned", {"Count": 4, "Assignments": assigned([1])})
        ask("no assignments", {"Count": 3, "Assignments": []})
        ask("unknown broker", {"Count": 3, "Assignments": assigned([9])})
        ask("no broker", {"Count": 3, "Assignments": assigned([])})
        ask("broker twice", {"Count": 3, "Assignments": assigned([1, 1])})
        ask("made", {"Count": 4}, validate=False)
        side.wait_for_topic(topic, 4)
        side.ask("Metadata", 12, "four now", Topics=[{"Name": topic}])


def describe_topic_partitions(side):
    names = [side.topic(name, count) for name, count in (("a", 3), ("b", 1), ("c", 2))]
    never = side.topic_name("never")

    def ask(note, topics, limit=2000, cursor=None):
        wanted = [{"Name": name} for name in topics]
        return side.ask("DescribeTopicPartitions", 0, note, Topics=wanted, ResponsePartitionLimit=limit, Cursor=cursor)

    at = lambda name, partition: {"TopicName": name, "PartitionIndex": partition}
    ask("all three", names)
    ask("another order", names[::-1])
    ask("twice", [names[0], names[0]])
    ask("unknown", [never])
    ask("known and unknown", names + [never])
    for name in BAD_NAMES[:6]:
        ask(f"name {name!r}", [name])
    for limit in (1, 2, 3, 4, 5, 6, 0, -1, 100000):
        ask(f"limit {limit}", names, limit)
    ask("from b", names, cursor=at(names[1], 0))
    ask("from the middle of a", names, cursor=at(names[0], 1))
    ask("from the end of a", names, cursor=at(names[0], 3))
    ask("behind the end of a", names, cursor=at(names[0], 9))
    ask("from before", names, cursor=at("0", 0))
    ask("from behind", names, cursor=at("zzz", 0))
    ask("from one that does not exist", names, cursor=at(names[0] + "z", 1))
    ask("from a negative partition", names, cursor=at(names[0], -1))
    ask("from an empty name", names, cursor=at("", 0))
    ask("unknown at the limit", [names[0], never, names[1]], 3)
    ask("unknown behind the cursor", [never], cursor=at(names[0], 0))
    cursor, rounds = None, 0
    while rounds == 0 or cursor:
        answer = ask(f"page {rounds}", names, 2, cursor and at(cursor["TopicName"], cursor["PartitionIndex"]))
        cursor, rounds = answer["NextCursor"], rounds + 1
        if rounds > 9:
            break


CASES = [
    metadata, metadata_of_everything, metadata_creates, create_topics, delete_topics, recreated_topic, create_partitions,
    describe_topic_partitions,
]
