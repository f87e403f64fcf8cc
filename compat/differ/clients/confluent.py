"""confluent-kafka (librdkafka): what its Admin, Producer and Consumer see. A script of `../real_clients.py`."""

import confluent_kafka
from confluent_kafka import (
    Consumer, ConsumerGroupState, ConsumerGroupTopicPartitions, ElectionType, IsolationLevel, Producer, TopicCollection, TopicPartition,
)
from confluent_kafka.admin import (
    AclBindingFilter, AclOperation, AclPermissionType, AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource,
    NewPartitions, NewTopic, OffsetSpec, ResourcePatternType, ResourceType,
)

from steps import WAIT_SECONDS, Script, options

CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]
SPECS = {
    "earliest": OffsetSpec.earliest(),
    "latest": OffsetSpec.latest(),
    "greatest time": OffsetSpec.max_timestamp(),
}


def outcome(future):
    """What a future holds; an error stays one and is no end."""
    try:
        return future.result(WAIT_SECONDS)
    except Exception as error:
        return error


def outcomes(futures):
    return {each: outcome(future) for each, future in futures.items()}


def main():
    version = f"{confluent_kafka.__version__}, librdkafka {confluent_kafka.libversion()[0]}"
    script = Script("confluent-kafka", version, options())
    admin = AdminClient({"bootstrap.servers": script.bootstrap, "client.id": "real"})
    t = script.name("t")
    topics(script, admin, t)
    settings(script, admin, t)
    produced(script, t)
    consumed(script, admin, t)
    groups(script, admin, t)
    records_deleted(script, admin, t)
    not_there_yet(script, admin)
    removed(script, admin, t)


def topics(script, admin, t):
    def create(what, topic, **more):
        script.call(f"create topic: {what}", lambda: outcomes(admin.create_topics([topic], operation_timeout=20, **more)))

    create("two partitions", NewTopic(t, 2, 1, config={"retention.ms": "604800001"}))
    create("once more", NewTopic(t, 2, 1))
    create("only tried", NewTopic(script.name("tried"), 3, 1), validate_only=True)
    create("defaults", NewTopic(script.name("defaults"), -1, -1))
    create("replicas assigned", NewTopic(script.name("assigned"), 2, replica_assignment=[[1], [1]]))
    create("no such broker assigned", NewTopic(script.name("assigned-9"), 1, replica_assignment=[[9]]))
    create("no partitions", NewTopic(script.name("zero"), 0, 1))
    create("three replicas", NewTopic(script.name("three"), 1, 3))
    create("a name with a space", NewTopic("a b", 1, 1))
    create("the name ..", NewTopic("..", 1, 1))
    create("a name too long", NewTopic("x" * 250, 1, 1))
    create("an unknown setting", NewTopic(script.name("odd"), 1, 1, config={"no.such": "1"}))
    create("a setting out of range", NewTopic(script.name("odd"), 1, 1, config={"retention.ms": "-2"}))
    create("a setting that is no number", NewTopic(script.name("odd"), 1, 1, config={"segment.bytes": "many"}))
    create("compacted", NewTopic(script.name("compacted"), 1, 1, config={"cleanup.policy": "compact"}))
    create("small messages", NewTopic(script.name("small"), 1, 1, config={"max.message.bytes": "1000"}))
    create("time of append", NewTopic(script.name("append"), 1, 1, config={"message.timestamp.type": "LogAppendTime"}))
    for more in ("both", "gone"):
        create(f"{more}", NewTopic(script.name(more), 1, 1))
    script.until(lambda: script.name("gone") in admin.list_topics(timeout=10).topics)

    script.call("metadata of a topic", lambda: admin.list_topics(t, timeout=20))
    script.call("the controller", lambda: admin.list_topics(t, timeout=20).controller_id)
    wanted = [t, script.name("compacted"), script.name("nobody")]
    for has_operations in (False, True):
        script.call(
            f"describe topics{', with operations' * has_operations}",
            lambda: outcomes(admin.describe_topics(TopicCollection(wanted), include_authorized_operations=has_operations)),
        )
        script.call(
            f"describe cluster{', with operations' * has_operations}",
            lambda: outcome(admin.describe_cluster(include_authorized_operations=has_operations)),
        )
    for what, name, count, tried in [
        ("four", t, 4, False), ("only tried", t, 9, True), ("four again", t, 4, False), ("fewer", t, 1, False),
        ("of an unknown topic", script.name("nobody"), 4, False),
    ]:
        script.call(
            f"create partitions: {what}",
            lambda: outcomes(admin.create_partitions([NewPartitions(name, count)], validate_only=tried)),
        )
    script.call(
        "create partitions: assigned to no broker",
        lambda: outcomes(admin.create_partitions([NewPartitions(t, 5, replica_assignment=[[7]])])),
    )
    script.until(lambda: len(admin.list_topics(t, timeout=10).topics[t].partitions) == 4)
    wanted = TopicCollection([t])
    script.call("describe topics: four partitions", lambda: outcomes(admin.describe_topics(wanted)))


def settings(script, admin, t):
    def describe(what, kind, name):
        resource = ConfigResource(kind, name)
        script.call(f"describe configs: {what}", lambda: outcomes(admin.describe_configs([resource])))

    describe("topic", ResourceType.TOPIC, t)
    describe("broker", ResourceType.BROKER, "1")
    describe("unknown topic", ResourceType.TOPIC, script.name("nobody"))
    describe("topic with an odd name", ResourceType.TOPIC, "a b")
    describe("unknown broker", ResourceType.BROKER, "9")
    describe("broker that is no number", ResourceType.BROKER, "one")

    def alter(what, kind, name, *changes):
        entries = [ConfigEntry(each, value, incremental_operation=operation) for each, value, operation in changes]
        resource = ConfigResource(kind, name, incremental_configs=entries)
        script.call(f"incremental alter: {what}", lambda: outcomes(admin.incremental_alter_configs([resource])))

    op, topic, broker = AlterConfigOpType, ResourceType.TOPIC, ResourceType.BROKER
    alter("set", topic, t, ("max.message.bytes", "2000000", op.SET), ("segment.ms", "3600000", op.SET))
    alter("append", topic, t, ("cleanup.policy", "compact", op.APPEND))
    alter("subtract", topic, t, ("cleanup.policy", "compact", op.SUBTRACT))
    alter("append to what is no list", topic, t, ("retention.ms", "1", op.APPEND))
    alter("delete", topic, t, ("segment.ms", None, op.DELETE))
    alter("delete what is not set", topic, t, ("segment.bytes", None, op.DELETE))
    alter("an unknown setting", topic, t, ("no.such", "1", op.SET))
    alter("a setting out of range", topic, t, ("min.cleanable.dirty.ratio", "2", op.SET))
    alter("one good, one bad", topic, t, ("segment.ms", "7200000", op.SET), ("retention.ms", "soon", op.SET))
    alter("an unknown topic", topic, script.name("nobody"), ("retention.ms", "1", op.SET))
    alter("broker: read only", broker, "1", ("broker.id", "2", op.SET))
    alter("unknown broker", broker, "9", ("log.retention.ms", "1000000", op.SET))
    value = lambda name, setting: current(admin, name)[setting].value  # noqa: E731
    script.until(lambda: current(admin, t)["segment.ms"].is_default and value(t, "cleanup.policy") == "delete")
    describe("topic after changes", ResourceType.TOPIC, t)
    whole = ConfigResource(topic, script.name("both"), set_config={"retention.ms": "604800002"})
    script.call("alter configs: the old way", lambda: outcomes(admin.alter_configs([whole])))
    script.until(lambda: value(script.name("both"), "retention.ms") == "604800002")
    describe("topic, set the old way", ResourceType.TOPIC, script.name("both"))


def current(admin, topic):
    resource = ConfigResource(ResourceType.TOPIC, topic)
    return admin.describe_configs([resource])[resource].result(WAIT_SECONDS)


def produced(script, t):
    def send(what, topic, partition=0, value=b"value", key=b"key", headers=None, timestamp=None, **more):
        seen = []
        producer = Producer(
            {"bootstrap.servers": script.bootstrap, "client.id": "real", "message.timeout.ms": 15000, "allow.auto.create.topics": False,
             "topic.metadata.propagation.max.ms": 2000, **more}
        )

        def send_one():
            producer.produce(
                topic, value, key, partition, headers=headers or [],
                timestamp=script.past if timestamp is None else timestamp,
                on_delivery=lambda error, message: seen.append(error or report(message)),
            )
            left = producer.flush(20)
            return {"left": left, "told": seen}

        script.call(f"produce: {what}", send_one)

    for at, codec in enumerate(CODECS):
        send(f"compression {codec}", t, at % 4, value=b"v" * 200, **{"compression.type": codec})
    for acks in ("0", "1", "all"):
        send(f"acks {acks}", t, 0, acks=acks)
    send("idempotent", t, 1, headers=[("h", b"1"), ("h", None)], **{"enable.idempotence": True})
    send("null value", t, 1, value=None)
    send("null key", t, 1, key=None)
    send("no such partition", t, 17)
    send("no such topic", script.name("nobody"))
    send("an invalid name", "a b")
    send("too large", script.name("small"), value=b"x" * 2000)
    send("keyless, compacted", script.name("compacted"), key=None)
    send("time of append", script.name("append"))
    send("three hours ahead", t, timestamp=script.past + 27 * 3600 * 1000)


def report(message):
    return {
        "partition": message.partition(), "offset": message.offset(), "timestamp": message.timestamp(), "latency": message.latency() is not None,
        "leader_epoch": message.leader_epoch(),
    }


def consumer(script, group, **more):
    return Consumer(
        {"bootstrap.servers": script.bootstrap, "client.id": "real", "group.id": script.name(group), "enable.auto.commit": False,
         "auto.offset.reset": "earliest", "session.timeout.ms": 6000, "allow.auto.create.topics": False, "enable.partition.eof": True, **more}
    )


def seen(message):
    if message is None:
        return None
    if message.error():
        return message.error()
    names = ("topic", "partition", "offset", "timestamp", "key", "value", "headers", "leader_epoch")
    return {name: getattr(message, name)() for name in names}


def consumed(script, admin, t):
    partitions = [TopicPartition(t, each) for each in range(4)]
    for level in IsolationLevel:
        for name, spec in SPECS.items():
            asked = {each: spec for each in partitions}
            script.call(f"list offsets: {name}, {level.name}", lambda: outcomes(admin.list_offsets(asked, isolation_level=level)))
    for what, topic, partition in [("unknown partition", t, 17), ("unknown topic", script.name("nobody"), 0)]:
        asked = {TopicPartition(topic, partition): OffsetSpec.latest()}
        script.call(f"list offsets: {what}", lambda: outcomes(admin.list_offsets(asked, request_timeout=3)))
    asked = {TopicPartition(t, 0): OffsetSpec.for_timestamp(script.past)}
    script.call("list offsets: by time", lambda: outcomes(admin.list_offsets(asked)))

    reader = consumer(script, "reader", **{"auto.offset.reset": "error"})
    for each in partitions:
        script.call(f"watermarks of {each.partition}", lambda: reader.get_watermark_offsets(each, timeout=20))
    script.call("watermarks of an unknown partition", lambda: reader.get_watermark_offsets(TopicPartition(t, 17), timeout=5))
    for what, at in [("yesterday", script.past), ("later", script.past + 40 * 3600 * 1000), ("long ago", 0)]:
        script.call(f"offsets for times: {what}", lambda: reader.offsets_for_times([TopicPartition(t, 0, at)], timeout=20))
    script.call("committed: nothing", lambda: reader.committed(partitions, timeout=20))
    for each in partitions + [TopicPartition(script.name("append"), 0)]:
        reader.assign([TopicPartition(each.topic, each.partition, 0)])
        script.call(f"read {each.topic} {each.partition}", lambda: read_to_the_end(reader))
    reader.assign([TopicPartition(t, 0, 1000)])
    script.call("read beyond the end", lambda: reader.poll(10), seen)
    reader.assign([TopicPartition(script.name("nobody"), 0, 0)])
    script.call("read an unknown topic", lambda: reader.poll(10), seen)
    reader.close()


def read_to_the_end(reader):
    found = []
    while True:
        message = reader.poll(15)
        found.append(seen(message))
        if message is None or message.error():
            return found


def groups(script, admin, t):
    group = script.name("group")
    first = consumer(script, "group")
    script.call("commit of a stranger", lambda: first.commit(offsets=[TopicPartition(t, 3, 1, "note")], asynchronous=False))
    first.subscribe([t])
    script.until(lambda: bool(first.poll(0.3)) or len(first.assignment()) == 4)
    script.call("assignment", lambda: sorted(each.partition for each in first.assignment()))
    script.call("commit", lambda: first.commit(offsets=[TopicPartition(t, 0, 2, "a note"), TopicPartition(t, 1, 0)], asynchronous=False))
    script.call("commit of an unknown partition", lambda: first.commit(offsets=[TopicPartition(t, 17, 1)], asynchronous=False))
    script.call("committed", lambda: first.committed([TopicPartition(t, each) for each in range(4)], timeout=20))
    describe = lambda what, name: script.call(  # noqa: E731
        f"describe group: {what}",
        lambda: outcomes(admin.describe_consumer_groups([name], include_authorized_operations=True)),
    )
    describe("with a member", group)
    describe("unknown", script.name("nobody"))
    describe("empty name", "")

    def listed(what, **more):
        see = lambda found: {"groups": [each for each in found.valid if each.group_id.startswith(script.name(""))], "errors": found.errors}  # noqa: E731
        script.call(f"list groups: {what}", lambda: admin.list_consumer_groups(**more).result(WAIT_SECONDS), see)

    listed("all")
    listed("stable", states={ConsumerGroupState.STABLE})
    listed("dead", states={ConsumerGroupState.DEAD})

    def offsets(what, name, partitions):
        asked = ConsumerGroupTopicPartitions(name, partitions)
        script.call(f"group offsets: {what}", lambda: outcomes(admin.list_consumer_group_offsets([asked])))

    def alter(what, name, partition, offset):
        asked = ConsumerGroupTopicPartitions(name, [TopicPartition(t, partition, offset)])
        script.call(f"alter group offsets: {what}", lambda: outcomes(admin.alter_consumer_group_offsets([asked])))

    offsets("all", group, None)
    offsets("some", group, [TopicPartition(t, 0), TopicPartition(t, 2), TopicPartition(script.name("nobody"), 0)])
    offsets("unknown group", script.name("nobody"), None)
    alter("with members", group, 0, 1)
    script.call("delete group: with members", lambda: outcomes(admin.delete_consumer_groups([group])))
    static_members(script, t)
    first.close()
    describe("empty", group)
    alter("empty", group, 0, 1)
    alter("unknown partition", group, 17, 1)
    alter("unknown group", script.name("new-group"), 0, 3)
    offsets("altered", group, None)
    offsets("of a new group", script.name("new-group"), None)
    for what, name in [("empty", group), ("again", group), ("empty name", "")]:
        script.call(f"delete group: {what}", lambda: outcomes(admin.delete_consumer_groups([name])))
    describe("deleted", group)


def static_members(script, t):
    """Two processes with one instance id: the older is fenced."""
    older, newer = (consumer(script, "static", **{"group.instance.id": "instance"}) for _ in range(2))
    older.subscribe([t])
    script.until(lambda: bool(older.poll(0.3)) or len(older.assignment()) == 4)
    newer.subscribe([t])
    script.until(lambda: bool(newer.poll(0.3)) or len(newer.assignment()) == 4)
    script.call("commit of a fenced member", lambda: older.commit(offsets=[TopicPartition(t, 0, 1)], asynchronous=False))
    script.call("commit of the one that fenced it", lambda: newer.commit(offsets=[TopicPartition(t, 0, 1)], asynchronous=False))
    newer.close()
    older.close()


def records_deleted(script, admin, t):
    for what, topic, partition, offset in [
        ("two", t, 0, 2), ("up to the end", t, 1, -1), ("beyond the end", t, 2, 1000), ("unknown partition", t, 17, 1),
        ("unknown topic", script.name("nobody"), 0, 1), ("below the start", t, 0, 1),
    ]:
        asked = [TopicPartition(topic, partition, offset)]
        script.call(f"delete records: {what}", lambda: outcomes(admin.delete_records(asked, request_timeout=5)))
    asked = {TopicPartition(t, each): OffsetSpec.earliest() for each in range(4)}
    script.call("list offsets: after a deletion", lambda: outcomes(admin.list_offsets(asked)))
    reader = consumer(script, "late", **{"auto.offset.reset": "error"})
    reader.assign([TopicPartition(t, 0, 0)])
    script.call("read what was deleted", lambda: reader.poll(10), seen)
    reader.close()


def not_there_yet(script, admin):
    anything = AclBindingFilter(
        ResourceType.ANY, None, ResourcePatternType.ANY, None, None, AclOperation.ANY, AclPermissionType.ANY
    )
    script.call("describe ACLs", lambda: outcome(admin.describe_acls(anything)))
    script.call("describe SCRAM users", lambda: outcome(admin.describe_user_scram_credentials()))


def removed(script, admin, t):
    for kind in ElectionType:
        script.call(
            f"elect leaders: {kind.name}",
            lambda: outcome(admin.elect_leaders(kind, [TopicPartition(t, 0), TopicPartition(t, 17), TopicPartition(script.name("nobody"), 0)])),
        )
    for what, names in [
        ("one", [script.name("gone")]), ("unknown", [script.name("nobody")]), ("one known, one not", [script.name("both"), "a b"]),
    ]:
        script.call(f"delete topics: {what}", lambda: outcomes(admin.delete_topics(names, operation_timeout=20)))
    script.until(lambda: script.name("gone") not in admin.list_topics(timeout=10).topics)
    script.call("describe topics: deleted", lambda: outcomes(admin.describe_topics(TopicCollection([script.name("gone")]))))


if __name__ == "__main__":
    main()
