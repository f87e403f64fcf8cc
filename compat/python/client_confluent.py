"""confluent-kafka (librdkafka): producer, consumer of either protocol (`GROUP_PROTOCOL`), AdminClient."""

import os

import confluent_kafka
from confluent_kafka import (
    Consumer, ConsumerGroupTopicPartitions, KafkaException, Producer, TopicCollection, TopicPartition,
)
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    ResourceType,
)

from conversation import (
    StopFlag, arguments, check, check_soon, headers_of, key_of, legs_of, tell, tell_commit, tell_record, value_of,
)

TIMEOUT = 20


def version(_):
    tell("client", "confluent-kafka", f"{confluent_kafka.__version__} (librdkafka {confluent_kafka.libversion()[0]})")


def create(args):
    admin = AdminClient({"bootstrap.servers": args.bootstrap})
    topic = NewTopic(args.topic, args.partitions, 1, config={"retention.ms": "86400000"})
    admin.create_topics([topic], operation_timeout=TIMEOUT)[args.topic].result(TIMEOUT)
    check(True, "create topic")


def produce(args):
    for leg in legs_of(args):
        produce_leg(args, leg)


def produce_leg(args, leg):
    settings = {
        "bootstrap.servers": args.bootstrap,
        "compression.type": leg.codec,
        "linger.ms": 5,
        "partitioner": "murmur2_random",
    }
    if leg.acks == "idempotent":
        settings["enable.idempotence"] = True
    else:
        settings["acks"] = leg.acks
    producer = Producer(settings)
    failed = []

    def delivered(record_id):
        def report(error, message):
            if error:
                failed.append(f"{record_id}: {error}")
            else:
                offset = message.offset() if leg.acks != "0" else -1
                tell("acked", record_id, message.partition(), offset)

        return report

    for record_id in leg.ids:
        producer.produce(
            args.topic,
            key=key_of(record_id),
            value=value_of(record_id),
            headers=headers_of(record_id, leg),
            on_delivery=delivered(record_id),
        )
        producer.poll(args.pace_ms / 1000)
    left = producer.flush(60)
    if failed or left:
        raise SystemExit(f"{leg.batch}: {left} not delivered, errors {failed[:3]}")


def consume(args):
    stop = StopFlag()
    # Of the new protocol the broker sets the times and assigns.
    of_protocol = {"group.protocol": "consumer"} if os.environ.get("GROUP_PROTOCOL") == "consumer" else {
        "session.timeout.ms": 6000,
        "heartbeat.interval.ms": 1000,
        "partition.assignment.strategy": "range",
    }
    consumer = Consumer(
        {
            "bootstrap.servers": args.bootstrap,
            "group.id": args.group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        } | of_protocol
    )
    processed = {}

    def commit():
        if not processed:
            return
        offsets = [TopicPartition(args.topic, p, o) for p, o in processed.items()]
        try:
            for result in consumer.commit(offsets=offsets, asynchronous=False):
                if result.error:
                    raise KafkaException(result.error)
            tell_commit(processed)
        except KafkaException as error:
            tell("refused", error.args[0].name())
            return
        processed.clear()

    def revoked(_, partitions):
        commit()
        processed.clear()

    def lost(_, partitions):
        processed.clear()

    consumer.subscribe([args.topic], on_revoke=revoked, on_lost=lost)
    since_commit = 0
    while not stop.is_set:
        message = consumer.poll(0.2)
        if message is None:
            continue
        if message.error():
            if message.error().fatal():
                raise KafkaException(message.error())
            continue
        tell_record(message.partition(), message.offset(), message.key(), message.value(), message.headers())
        processed[message.partition()] = message.offset() + 1
        since_commit += 1
        if since_commit >= args.commit_every:
            commit()
            since_commit = 0
    commit()
    consumer.close()


def admin(args):
    client = AdminClient({"bootstrap.servers": args.bootstrap})
    resource = ConfigResource(ResourceType.TOPIC, args.topic)
    configs = client.describe_configs([resource])[resource].result(TIMEOUT)
    check(configs["retention.ms"].value == "86400000", "describe configs: the value set at creation")
    check("cleanup.policy" in configs and "max.message.bytes" in configs, "describe configs: Kafka's other settings")

    change = ConfigResource(
        ResourceType.TOPIC,
        args.topic,
        incremental_configs=[
            ConfigEntry("max.message.bytes", "2000000", incremental_operation=AlterConfigOpType.SET)
        ],
    )
    client.incremental_alter_configs([change])[change].result(TIMEOUT)
    check_soon(
        lambda: client.describe_configs([resource])[resource].result(TIMEOUT)["max.message.bytes"].value == "2000000",
        "incremental alter configs",
    )

    ends = list_offsets(client, args, OffsetSpec.latest())
    check(sum(ends.values()) == args.records, f"list offsets: {args.records} records")
    group = client.describe_consumer_groups([args.group])[args.group].result(TIMEOUT)
    check(group.state.name == "EMPTY" and not group.members, "describe group: empty")
    groups = client.list_consumer_groups().result(TIMEOUT)
    check(args.group in [g.group_id for g in groups.valid], "list groups")
    wanted = ConsumerGroupTopicPartitions(args.group, [TopicPartition(args.topic, p) for p in ends])
    committed = client.list_consumer_group_offsets([wanted])[args.group].result(TIMEOUT)
    check(
        {tp.partition: max(tp.offset, 0) for tp in committed.topic_partitions} == ends,
        "group offsets: committed to the end",
    )

    busiest = max(ends, key=ends.get)
    upto = ends[busiest] // 2
    client.delete_records([TopicPartition(args.topic, busiest, upto)])
    check_soon(
        lambda: list_offsets(client, args, OffsetSpec.earliest())[busiest] == upto, "delete records: the start moved"
    )

    client.create_partitions([NewPartitions(args.topic, args.partitions + 2)])[args.topic].result(TIMEOUT)
    wanted = TopicCollection([args.topic])
    check_soon(
        lambda: len(client.describe_topics(wanted)[args.topic].result(TIMEOUT).partitions) == args.partitions + 2,
        "create partitions",
    )
    client.delete_consumer_groups([args.group])[args.group].result(TIMEOUT)
    groups = client.list_consumer_groups().result(TIMEOUT)
    check(args.group not in [g.group_id for g in groups.valid], "delete group")
    client.delete_topics([args.topic], operation_timeout=TIMEOUT)[args.topic].result(TIMEOUT)
    check_soon(lambda: args.topic not in client.list_topics(timeout=TIMEOUT).topics, "delete topic")


def list_offsets(client, args, spec):
    wanted = {TopicPartition(args.topic, p): spec for p in range(args.partitions)}
    return {tp.partition: f.result(TIMEOUT).offset for tp, f in client.list_offsets(wanted).items()}


if __name__ == "__main__":
    args = arguments()
    globals()[args.command](args)
