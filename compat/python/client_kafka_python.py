"""kafka-python 3: KafkaProducer, KafkaConsumer, KafkaAdminClient."""

import time

import kafka
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import ConfigResource, NewPartitions, NewTopic
from kafka.errors import KafkaError
from kafka.structs import OffsetAndMetadata

from conversation import (
    StopFlag, arguments, check, check_soon, headers_of, key_of, legs_of, tell, tell_commit, tell_record, value_of,
)


def version(_):
    tell("client", "kafka-python", kafka.__version__)


def create(args):
    admin = KafkaAdminClient(bootstrap_servers=args.bootstrap)
    admin.create_topics([NewTopic(args.topic, args.partitions, 1, topic_configs={"retention.ms": "86400000"})])
    check(True, "create topic")
    admin.close()


def produce(args):
    for leg in legs_of(args):
        produce_leg(args, leg)


def produce_leg(args, leg):
    acks = "all" if leg.acks in ("all", "idempotent") else int(leg.acks)
    producer = KafkaProducer(
        bootstrap_servers=args.bootstrap,
        acks=acks,
        enable_idempotence=leg.acks == "idempotent",
        compression_type=None if leg.codec == "none" else leg.codec,
        linger_ms=5,
    )
    sent = []
    for record_id in leg.ids:
        future = producer.send(
            args.topic,
            key=key_of(record_id).encode(),
            value=value_of(record_id).encode(),
            headers=headers_of(record_id, leg),
        )
        sent.append((record_id, future))
        if args.pace_ms:
            time.sleep(args.pace_ms / 1000)
    producer.flush(timeout=60)
    for record_id, future in sent:
        metadata = future.get(timeout=60)
        tell("acked", record_id, metadata.partition, metadata.offset if leg.acks != "0" else -1)
    producer.close()


def consume(args):
    stop = StopFlag()
    consumer = KafkaConsumer(
        bootstrap_servers=args.bootstrap,
        group_id=args.group,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        session_timeout_ms=6000,
        heartbeat_interval_ms=1000,
        max_poll_records=50,
    )
    processed = {}

    def commit():
        if not processed:
            return
        offsets = {TopicPartition(args.topic, p): OffsetAndMetadata(o, "", -1) for p, o in processed.items()}
        try:
            consumer.commit(offsets)
        except KafkaError as error:
            tell("refused", type(error).__name__)
            return
        tell_commit(processed)
        processed.clear()

    # No commit from a rebalance listener: a blocking call is refused there. This client keeps the position of a partition
    # that it is given again, so what is processed there stays to be committed; what went to others is theirs.
    consumer.subscribe([args.topic])
    since_commit = 0
    while not stop.is_set:
        polled = consumer.poll(timeout_ms=200)
        owned = {partition.partition for partition in consumer.assignment()}
        for partition in set(processed) - owned:
            del processed[partition]
        for records in polled.values():
            for record in records:
                tell_record(record.partition, record.offset, record.key, record.value, record.headers)
                processed[record.partition] = record.offset + 1
                since_commit += 1
        if since_commit >= args.commit_every:
            commit()
            since_commit = 0
    commit()
    consumer.close()


def admin(args):
    client = KafkaAdminClient(bootstrap_servers=args.bootstrap)
    configs = topic_configs(client, args)
    check(configs.get("retention.ms") == "86400000", "describe configs: the value set at creation")
    check("cleanup.policy" in configs and "max.message.bytes" in configs, "describe configs: Kafka's other settings")
    client.alter_configs([ConfigResource("TOPIC", args.topic, {"max.message.bytes": "2000000"})])
    check_soon(lambda: topic_configs(client, args).get("max.message.bytes") == "2000000", "alter configs")

    consumer = KafkaConsumer(bootstrap_servers=args.bootstrap)
    partitions = [TopicPartition(args.topic, p) for p in range(args.partitions)]
    ends = consumer.end_offsets(partitions)
    check(sum(ends.values()) == args.records, f"list offsets: {args.records} records")
    group = client.describe_groups([args.group])[args.group]
    check(group["group_state"] == "Empty" and not group["members"], "describe group: empty")
    check(args.group in [g["group_id"] for g in client.list_groups()], "list groups")
    committed = client.list_group_offsets([args.group])[args.group]
    check(
        {tp: committed[tp].offset if tp in committed else 0 for tp in partitions} == ends,
        "group offsets: committed to the end",
    )

    busiest = max(ends, key=ends.get)
    upto = ends[busiest] // 2
    client.delete_records({busiest: upto})
    check(consumer.beginning_offsets([busiest])[busiest] == upto, "delete records: the start moved")
    client.create_partitions({args.topic: NewPartitions(args.partitions + 2)})
    check_soon(
        lambda: len(client.describe_topics([args.topic])[0]["partitions"]) == args.partitions + 2,
        "create partitions",
    )
    client.delete_groups([args.group])
    check(args.group not in [g["group_id"] for g in client.list_groups()], "delete group")
    client.delete_topics([args.topic])
    check_soon(lambda: args.topic not in client.list_topics(), "delete topic")
    consumer.close()
    client.close()


def topic_configs(client, args):
    described = client.describe_configs([ConfigResource("TOPIC", args.topic)], config_filter="all")
    return flatten(described)


def flatten(described):
    """The answer nests resource type -> name -> setting -> what is known about it."""
    found = {}

    def walk(node):
        for name, entry in node.items():
            if isinstance(entry, dict) and "value" in entry:
                found[name] = entry["value"]
            elif isinstance(entry, dict):
                walk(entry)

    walk(described)
    return found


if __name__ == "__main__":
    args = arguments()
    globals()[args.command](args)
