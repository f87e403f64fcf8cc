"""kafka-python: what its admin client, producer and consumer see. A script of `../real_clients.py`."""

import kafka
from kafka import IsolationLevel, KafkaAdminClient, KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.admin import ACLFilter, AlterConfigOp, ConfigResource, MemberToRemove, NewTopic, OffsetSpec
from kafka.admin import ACLOperation, ACLPermissionType, ResourcePatternFilter, ACLResourcePatternType, ResourceType

from steps import Script, options

SPECS = [OffsetSpec.EARLIEST, OffsetSpec.LATEST, OffsetSpec.MAX_TIMESTAMP, OffsetSpec.EARLIEST_LOCAL, OffsetSpec.LATEST_TIERED]


def main():
    script = Script("kafka-python", kafka.__version__, options())
    admin = KafkaAdminClient(bootstrap_servers=script.bootstrap, client_id="real")
    t = script.name("t")
    cluster(script, admin)
    topics(script, admin, t)
    settings(script, admin, t)
    produced(script, admin, t)
    consumed(script, admin, t)
    groups(script, admin, t)
    removed(script, admin, t)
    admin.close()


def cluster(script, admin):
    script.call("describe cluster", admin.describe_cluster)
    script.call("describe quorum", admin.describe_metadata_quorum)
    script.call("describe features", admin.describe_features)
    script.call("list reassignments", admin.list_partition_reassignments)
    anything = ACLFilter(
        None, "*", ACLOperation.ANY, ACLPermissionType.ANY,
        ResourcePatternFilter(ResourceType.ANY, None, ACLResourcePatternType.ANY),
    )
    script.call("describe ACLs", lambda: admin.describe_acls(anything))
    script.call("describe SCRAM users", admin.describe_user_scram_credentials)
    script.call("list transactions", lambda: transactional_ids(admin.list_transactions()))


def in_order(listed):
    return {kind: sorted(names) for kind, names in listed.items()}


def transactional_ids(listed):
    """By broker, in order: brokers list them in none. What became of each is asked case by case, on the wire."""
    name = lambda each: each["transactional_id"] if isinstance(each, dict) else each.transactional_id
    return {node: sorted(name(each) for each in transactions) for node, transactions in listed.items()}


def topics(script, admin, t):
    def create(what, topic, **more):
        script.call(f"create topic: {what}", lambda: admin.create_topics([topic], raise_errors=False, **more))

    create("two partitions", NewTopic(t, 2, 1, topic_configs={"retention.ms": "604800001"}))
    create("once more", NewTopic(t, 2, 1))
    create("only tried", NewTopic(script.name("tried"), 3, 1), validate_only=True)
    create("defaults", NewTopic(script.name("defaults")))
    create("replicas assigned", NewTopic(script.name("assigned"), replica_assignments={0: [1], 1: [1]}))
    create("assigned with a gap", NewTopic(script.name("gap"), replica_assignments={0: [1], 2: [1]}))
    create("three replicas", NewTopic(script.name("three"), 1, 3))
    create("a name with a slash", NewTopic("a/b", 1, 1))
    create("a setting out of range", NewTopic(script.name("odd"), 1, 1, topic_configs={"retention.ms": "-2"}))
    create("an unknown setting", NewTopic(script.name("odd"), 1, 1, topic_configs={"no.such": "1"}))
    create("small messages", NewTopic(script.name("small"), 1, 1, topic_configs={"max.message.bytes": "1000"}))
    create("compacted", NewTopic(script.name("compacted"), 1, 1, topic_configs={"cleanup.policy": "compact"}))
    create("gone", NewTopic(script.name("gone"), 1, 1))
    script.until(lambda: script.name("gone") in admin.list_topics())
    script.call("describe topics", lambda: admin.describe_topics([t, script.name("compacted")]))
    script.call("describe an unknown topic", lambda: admin.describe_topics([script.name("nobody")]))
    script.call("describe topic partitions", lambda: admin.describe_topic_partitions([t, script.name("compacted")]))
    script.call("one partition at a time", lambda: admin.describe_topic_partitions([t], response_partition_limit=1))
    script.call("partitions of an unknown topic", lambda: admin.describe_topic_partitions([script.name("nobody")]))
    for what, name, count, tried in [
        ("four", t, 4, False), ("only tried", t, 9, True), ("fewer", t, 1, False), ("unknown topic", script.name("nobody"), 4, False),
    ]:
        script.call(
            f"create partitions: {what}",
            lambda: admin.create_partitions({name: count}, validate_only=tried, raise_errors=False),
        )
    script.until(lambda: len(admin.describe_topics([t])[0]["partitions"]) == 4)


def settings(script, admin, t):
    def describe(what, kind, name, **more):
        script.call(f"describe configs: {what}", lambda: admin.describe_configs([ConfigResource(kind, name)], **more))

    everything = {"config_filter": "all", "include_synonyms": True}
    describe("topic", "TOPIC", t, **everything)
    describe("topic, what is not a default", "TOPIC", t)
    describe("broker", "BROKER", "1", **everything)
    describe("unknown topic", "TOPIC", script.name("nobody"))
    describe("group", "GROUP", script.name("group"), **everything)
    describe("client metrics", "CLIENT_METRICS", script.name("metrics"), **everything)
    script.call("list config resources", lambda: in_order(admin.list_config_resources(["BROKER", "GROUP"])))

    def alter(what, kind, name, configs, **more):
        script.call(f"alter configs: {what}", lambda: admin.alter_configs([ConfigResource(kind, name, configs)], **more))

    alter("set", "TOPIC", t, {"max.message.bytes": "2000000"})
    alter("append", "TOPIC", t, {"cleanup.policy": (AlterConfigOp.APPEND, "compact")})
    alter("subtract", "TOPIC", t, {"cleanup.policy": (AlterConfigOp.SUBTRACT, "compact")})
    alter("only tried", "TOPIC", t, {"retention.ms": "1000000"}, validate_only=True)
    alter("only tried, out of range", "TOPIC", t, {"retention.ms": "-2"}, validate_only=True)
    alter("no number", "TOPIC", t, {"segment.bytes": "many"})
    alter("unknown setting", "TOPIC", t, {"no.such": "1"}, raise_on_unknown=False)
    alter("unknown topic", "TOPIC", script.name("nobody"), {"retention.ms": "1"}, raise_on_unknown=False)
    alter("the old way", "TOPIC", script.name("compacted"), {"cleanup.policy": "compact", "segment.ms": "3600000"}, incremental=False)
    reset = [ConfigResource("TOPIC", t, ["max.message.bytes"])]
    script.call("reset configs", lambda: admin.reset_configs(reset))
    changed = lambda name: admin.describe_configs([ConfigResource("TOPIC", name)])["topic"][name]  # noqa: E731
    script.until(lambda: "max.message.bytes" not in changed(t) and "segment.ms" in changed(script.name("compacted")))
    describe("topic afterwards", "TOPIC", t)
    describe("compacted topic afterwards", "TOPIC", script.name("compacted"))


def produced(script, admin, t):
    def send(what, topic, partition=0, value=b"value", key=b"key", headers=(), timestamp=None, **more):
        producer = KafkaProducer(
            bootstrap_servers=script.bootstrap, client_id="real", **{"request_timeout_ms": 8000, "max_block_ms": 3000, **more}
        )
        at = script.past if timestamp is None else timestamp
        script.call(
            f"produce: {what}",
            lambda: producer.send(topic, value, key, list(headers), partition, at).get(20),
            lambda record: {name: field for name, field in record._asdict().items() if name != "checksum"},
        )
        producer.close(5)

    for at, codec in enumerate([None, "gzip", "snappy", "lz4", "zstd"]):
        send(f"compression {codec}", t, at % 4, b"v" * 200, compression_type=codec, enable_idempotence=False)
    for acks in (0, 1, "all"):
        send(f"acks {acks}", t, acks=acks, enable_idempotence=False)
    send("idempotent", t, 1, headers=[("h", b"1"), ("h", b"")], enable_idempotence=True)
    send("null value", t, 1, None, enable_idempotence=False)
    send("too large", script.name("small"), 0, b"x" * 2000, retries=0, enable_idempotence=False)
    send("keyless, compacted", script.name("compacted"), 0, key=None, retries=0, enable_idempotence=False)
    send("three hours ahead", t, timestamp=script.past + 27 * 3600 * 1000, retries=0, enable_idempotence=False)
    script.call("describe producers", lambda: admin.describe_producers([TopicPartition(t, 1)]))
    script.call("describe producers: unknown partition", lambda: admin.describe_producers([TopicPartition(t, 17)], broker_id=1))

    def leaves_out_sizes(found):
        return [{k: v for k, v in each.items() if k not in ("topics", "total_bytes", "usable_bytes")} for each in found[0]["log_dirs"]]

    script.call("describe log dirs", lambda: admin.describe_log_dirs([t]), leaves_out_sizes)


def consumer(script, group, **more):
    return KafkaConsumer(
        bootstrap_servers=script.bootstrap, client_id="real", group_id=group and script.name(group), enable_auto_commit=False,
        auto_offset_reset="earliest", session_timeout_ms=6000, heartbeat_interval_ms=1000, **more,
    )


def consumed(script, admin, t):
    partitions = [TopicPartition(t, each) for each in range(4)]
    for level in IsolationLevel:
        for spec in SPECS:
            asked = {each: spec for each in partitions}
            script.call(f"list offsets: {spec.name}, {level.name}", lambda: admin.list_partition_offsets(asked, level))
    for what, at in [("yesterday", script.past), ("later", script.past + 40 * 3600 * 1000)]:
        script.call(f"list offsets: {what}", lambda: admin.list_partition_offsets({partitions[0]: at}))
    script.call("list offsets: unknown partition", lambda: admin.list_partition_offsets({TopicPartition(t, 17): -1}, timeout_ms=3000))
    reader = consumer(script, None)
    reader.assign(partitions)
    script.call("beginnings", lambda: reader.beginning_offsets(partitions))
    script.call("ends", lambda: reader.end_offsets(partitions))
    script.call("offsets for times", lambda: reader.offsets_for_times({each: script.past for each in partitions}))
    script.call("partitions of a topic", lambda: reader.partitions_for_topic(t))
    for each in partitions:
        reader.assign([each])
        reader.seek(each, 0)
        end = reader.end_offsets([each])[each]
        script.call(f"read {each.partition}", lambda: read_to(reader, each, end))
        script.call(f"the high watermark of {each.partition}", lambda: reader.highwater(each))
    reader.close()
    strict = KafkaConsumer(bootstrap_servers=script.bootstrap, client_id="real", auto_offset_reset="none", enable_auto_commit=False)
    strict.assign([partitions[0]])
    strict.seek(partitions[0], 1000)
    script.call("read beyond the end", lambda: strict.poll(5000))
    strict.close()


def read_to(reader, partition, end):
    found = []
    while reader.position(partition) < end:
        for records in reader.poll(5000).values():
            found += records
    return found


def groups(script, admin, t):
    group, unknown = script.name("group"), script.name("nobody")
    stranger = consumer(script, "group")
    stranger.assign([TopicPartition(t, 3)])
    noted = lambda offset: OffsetAndMetadata(offset, "a note", -1)  # noqa: E731
    script.call("commit of a stranger", lambda: stranger.commit({TopicPartition(t, 3): noted(1)}))
    stranger.close()
    member = consumer(script, "group", group_instance_id="instance")
    member.subscribe([t])
    script.until(lambda: bool(member.poll(300)) or len(member.assignment()) == 4)
    script.call("assignment", member.assignment)
    script.call("commit", lambda: member.commit({TopicPartition(t, 0): noted(2), TopicPartition(t, 1): noted(0)}))
    script.call("commit of an unknown partition", lambda: member.commit({TopicPartition(t, 17): noted(0)}))
    script.call("committed", lambda: [member.committed(TopicPartition(t, each), metadata=True) for each in range(4)])
    script.call("describe group: with a member", lambda: admin.describe_groups([group], include_authorized_operations=True))
    script.call("describe group: unknown", lambda: admin.describe_groups([unknown]))
    own = lambda found: [each for each in found if each["group_id"].startswith(script.name(""))]  # noqa: E731
    for what, states in [("all", None), ("stable", ["Stable"]), ("empty", ["Empty"])]:
        script.call(f"list groups: {what}", lambda: admin.list_groups(states_filter=states), own)
    offsets = lambda what, name: script.call(f"group offsets: {what}", lambda: admin.list_group_offsets({name: None}))  # noqa: E731
    alter = lambda what, name, partition: script.call(  # noqa: E731
        f"alter group offsets: {what}", lambda: admin.alter_group_offsets(name, {TopicPartition(t, partition): noted(1)})
    )
    drop = lambda what, name: script.call(  # noqa: E731
        f"delete group offsets: {what}", lambda: admin.delete_group_offsets(name, [TopicPartition(t, 0), TopicPartition(t, 2)])
    )
    offsets("all", group)
    offsets("unknown", unknown)
    alter("with members", group, 0)
    drop("with members", group)
    drop("unknown group", unknown)
    script.call("delete groups: with members", lambda: admin.delete_groups([group, unknown]))
    for what, instance in [("a stranger", "other"), ("the member", "instance")]:
        script.call(f"remove from group: {what}", lambda: admin.remove_group_members(group, [MemberToRemove(group_instance_id=instance)]))
    script.call("commit of one that was removed", lambda: member.commit({TopicPartition(t, 0): noted(3)}))
    member.close()
    script.call("describe group: empty", lambda: admin.describe_groups([group]))
    alter("empty", group, 0)
    alter("unknown partition", group, 17)
    offsets("altered", group)
    drop("empty", group)
    offsets("deleted", group)
    script.call("reset group offsets", lambda: admin.reset_group_offsets(group, {TopicPartition(t, 0): OffsetSpec.LATEST}))
    script.call("delete groups", lambda: admin.delete_groups([group]))
    script.call("delete groups: again", lambda: admin.delete_groups([group]))


def removed(script, admin, t):
    for what, topic, partition, offset in [
        ("two", t, 0, 2), ("up to the end", t, 1, -1), ("beyond the end", t, 2, 1000),
    ]:
        script.call(f"delete records: {what}", lambda: admin.delete_records({TopicPartition(topic, partition): offset}, timeout_ms=4000))
    script.call("starts afterwards", lambda: admin.list_partition_offsets({TopicPartition(t, each): OffsetSpec.EARLIEST for each in range(4)}))
    for kind in (0, 1):
        script.call(f"elect leaders: kind {kind}", lambda: admin.elect_leaders(kind, {t: [0, 17]}, raise_errors=False))
    script.call("delete topics", lambda: admin.delete_topics([script.name("gone"), script.name("nobody")], raise_errors=False))
    script.until(lambda: script.name("gone") not in admin.list_topics())
    script.call("describe a deleted topic", lambda: admin.describe_topics([script.name("gone")]))


if __name__ == "__main__":
    main()
