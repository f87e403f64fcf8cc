"""aiokafka: AIOKafkaProducer, AIOKafkaConsumer, AIOKafkaAdminClient."""

import asyncio

import aiokafka
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic, RecordsToDelete
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import KafkaError

from conversation import (
    StopFlag, arguments, check, check_soon_async, headers_of, key_of, legs_of, tell, tell_commit, tell_record, value_of,
)


async def version(_):
    tell("client", "aiokafka", aiokafka.__version__)


async def create(args):
    admin = AIOKafkaAdminClient(bootstrap_servers=args.bootstrap)
    await admin.start()
    topic = NewTopic(args.topic, args.partitions, 1, topic_configs={"retention.ms": "86400000"})
    answer = await admin.create_topics([topic])
    check(all(error[1] == 0 for error in answer.topic_errors), f"create topic: {answer.topic_errors}")
    await admin.close()


async def produce(args):
    for leg in legs_of(args):
        await produce_leg(args, leg)


async def produce_leg(args, leg):
    producer = AIOKafkaProducer(
        bootstrap_servers=args.bootstrap,
        acks="all" if leg.acks in ("all", "idempotent") else int(leg.acks),
        enable_idempotence=leg.acks == "idempotent",
        compression_type=None if leg.codec == "none" else leg.codec,
        linger_ms=5,
    )
    await producer.start()
    sent = []
    for record_id in leg.ids:
        future = await producer.send(
            args.topic,
            key=key_of(record_id).encode(),
            value=value_of(record_id).encode(),
            headers=headers_of(record_id, leg),
        )
        sent.append((record_id, future))
        if args.pace_ms:
            await asyncio.sleep(args.pace_ms / 1000)
    await producer.flush()
    for record_id, future in sent:
        metadata = await asyncio.wait_for(future, 60)
        if leg.acks == "0":
            tell("acked", record_id, -1, -1)
        else:
            tell("acked", record_id, metadata.partition, metadata.offset)
    await producer.stop()


class CommitOnRevoke(ConsumerRebalanceListener):
    """Commits what is processed before the partitions go to somebody else."""

    def __init__(self, commit, forget):
        self.commit = commit
        self.forget = forget

    async def on_partitions_revoked(self, revoked):
        await self.commit()
        self.forget()

    async def on_partitions_assigned(self, assigned):
        pass


async def consume(args):
    stop = StopFlag()
    consumer = AIOKafkaConsumer(
        bootstrap_servers=args.bootstrap,
        group_id=args.group,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        session_timeout_ms=6000,
        heartbeat_interval_ms=1000,
    )
    processed = {}

    async def commit():
        if not processed:
            return
        committing = dict(processed)
        try:
            await consumer.commit({TopicPartition(args.topic, p): o for p, o in committing.items()})
        except KafkaError as error:
            tell("refused", type(error).__name__)
            return
        tell_commit(committing)
        processed.clear()

    consumer.subscribe([args.topic], listener=CommitOnRevoke(commit, processed.clear))
    await consumer.start()
    since_commit = 0
    while not stop.is_set:
        polled = await consumer.getmany(timeout_ms=200, max_records=50)
        for records in polled.values():
            for record in records:
                tell_record(record.partition, record.offset, record.key, record.value, record.headers)
                processed[record.partition] = record.offset + 1
                since_commit += 1
        if since_commit >= args.commit_every:
            await commit()
            since_commit = 0
    await commit()
    await consumer.stop()


async def admin(args):
    client = AIOKafkaAdminClient(bootstrap_servers=args.bootstrap)
    await client.start()
    configs = await topic_configs(client, args)
    check(configs.get("retention.ms") == "86400000", "describe configs: the value set at creation")
    check("cleanup.policy" in configs and "max.message.bytes" in configs, "describe configs: Kafka's other settings")
    change = ConfigResource(ConfigResourceType.TOPIC, args.topic, {"max.message.bytes": "2000000"})
    await client.alter_configs([change])

    async def is_altered():
        return (await topic_configs(client, args)).get("max.message.bytes") == "2000000"

    await check_soon_async(is_altered, "alter configs")
    configs = await topic_configs(client, args)
    check(configs.get("retention.ms") != "86400000", "alter configs: a full replacement drops what it does not name")

    consumer = AIOKafkaConsumer(bootstrap_servers=args.bootstrap)
    await consumer.start()
    partitions = [TopicPartition(args.topic, p) for p in range(args.partitions)]
    ends = await consumer.end_offsets(partitions)
    check(sum(ends.values()) == args.records, f"list offsets: {args.records} records")
    described = (await client.describe_consumer_groups([args.group]))[0].groups[0]
    check(described[2] == "Empty" and not described[5], "describe group: empty")
    check(args.group in [g[0] for g in await client.list_consumer_groups()], "list groups")
    committed = await client.list_consumer_group_offsets(args.group)
    check(
        {tp: committed[tp].offset if tp in committed else 0 for tp in partitions} == ends,
        "group offsets: committed to the end",
    )

    busiest = max(ends, key=ends.get)
    upto = ends[busiest] // 2
    await client.delete_records({busiest: RecordsToDelete(upto)})
    check((await consumer.beginning_offsets([busiest]))[busiest] == upto, "delete records: the start moved")
    await client.create_partitions({args.topic: NewPartitions(args.partitions + 2)})

    async def is_expanded():
        return len((await client.describe_topics([args.topic]))[0]["partitions"]) == args.partitions + 2

    async def is_gone():
        return args.topic not in await client.list_topics()

    await check_soon_async(is_expanded, "create partitions")
    await client.delete_topics([args.topic])
    await check_soon_async(is_gone, "delete topic")
    await consumer.stop()
    await client.close()


async def topic_configs(client, args):
    answer = await client.describe_configs([ConfigResource(ConfigResourceType.TOPIC, args.topic)])
    return {entry[0]: entry[1] for resource in answer[0].resources for entry in resource[4]}


if __name__ == "__main__":
    args = arguments()
    asyncio.run(globals()[args.command](args))
