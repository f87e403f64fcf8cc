/*
 * @platformatic/kafka: producer, consumer, admin. It wants a newer Node than many systems have; the runner brings one.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Admin, Consumer, ListOffsetTimestamps, Producer, stringDeserializers, stringSerializers } from '@platformatic/kafka'

const require = createRequire(import.meta.url)
const { check, checkSoon, commitOften, legsOf, main, piecesOf, sleep, stopAsked, tell, tellAcked, tellCommit, tellRecord } = require('./conversation.js')

const ACKS = { 0: 0, 1: 1, all: -1, idempotent: -1 }
const TOPIC = 2
const SET = 0

function common (args) {
  return { clientId: 'compat', bootstrapBrokers: [args.bootstrap], retries: 60, retryDelay: 250, metadataMaxAge: 1000 }
}

async function version () {
  // Its own package.json is not among what it exports.
  const file = new URL('node_modules/@platformatic/kafka/package.json', import.meta.url)
  tell('client', '@platformatic/kafka', JSON.parse(readFileSync(file)).version)
}

async function withAdmin (args, use) {
  const admin = new Admin(common(args))
  try {
    await use(admin)
  } finally {
    await admin.close()
  }
}

async function partitionsOf (admin, topic) {
  const { topics } = await admin.metadata({ topics: [topic], forceUpdate: true })
  return topics.get(topic).partitionsCount
}

async function create (args) {
  await withAdmin(args, async admin => {
    const made = await admin.createTopics({
      topics: [args.topic], partitions: args.partitions, replicas: 1, configs: [{ name: 'retention.ms', value: '86400000' }]
    })
    check(made[0].name === args.topic, 'create topic')
  })
}

async function produce (args) {
  for (const leg of legsOf(args)) {
    const producer = new Producer({
      ...common(args), serializers: stringSerializers, idempotent: leg.acks === 'idempotent', acks: ACKS[leg.acks], compression: leg.codec
    })
    const partitions = await partitionsOf(producer, args.topic)
    for (const piece of piecesOf(leg, partitions)) {
      const { offsets } = await producer.send({ messages: piece.map(({ id, ...message }) => ({ topic: args.topic, ...message })) })
      const bases = leg.acks === '0' ? null : offsets.map(({ partition, offset }) => [partition, Number(offset)])
      tellAcked(piece, bases)
      await sleep(args.paceMs * piece.length)
    }
    await producer.close()
  }
}

async function consume (args) {
  const consumer = new Consumer({
    ...common(args), groupId: args.group, deserializers: stringDeserializers, sessionTimeout: 6000, rebalanceTimeout: 10000, heartbeatInterval: 1000
  })
  const processed = new Map()
  let sinceCommit = 0
  let isStopped = false

  async function commit () {
    const offsets = new Map(processed)
    if (offsets.size === 0) {
      return
    }
    const wanted = [...offsets].map(([partition, { offset, leaderEpoch }]) => ({ topic: args.topic, partition, offset, leaderEpoch }))
    try {
      await consumer.commit({ offsets: wanted })
    } catch (error) {
      tell('refused', error.code ?? error.name)
      return
    }
    tellCommit(new Map([...offsets].map(([partition, { offset }]) => [partition, Number(offset)])))
    for (const [partition, place] of offsets) {
      if (processed.get(partition) === place) {
        processed.delete(partition)
      }
    }
  }

  // What it keeps it reads on where it was; what it lost is somebody else's to commit.
  consumer.on('consumer:group:join', ({ assignments }) => {
    const kept = new Set((assignments ?? []).filter(({ topic }) => topic === args.topic).flatMap(({ partitions }) => partitions))
    for (const partition of processed.keys()) {
      if (!kept.has(partition)) {
        processed.delete(partition)
      }
    }
  })
  const stream = await consumer.consume({
    autocommit: false, topics: [args.topic], mode: 'committed', fallbackMode: 'earliest', maxWaitTime: 200
  })
  const committing = commitOften(commit)
  stopAsked().then(() => {
    clearInterval(committing)
    isStopped = true
    // Ends the loop below also where no record comes.
    stream.push(null)
  })
  for await (const message of stream) {
    if (isStopped) {
      break
    }
    tellRecord(message.partition, message.offset, message.key, message.value, Object.fromEntries(message.headers))
    processed.set(message.partition, { offset: message.offset + 1n, leaderEpoch: -1 })
    sinceCommit += 1
    if (sinceCommit >= args.commitEvery) {
      sinceCommit = 0
      await commit()
    }
  }
  await commit()
  await consumer.close(true)
}

async function administer (args) {
  await withAdmin(args, async admin => {
    const topic = { resourceType: TOPIC, resourceName: args.topic }
    const setting = async name => {
      const [{ configs }] = await admin.describeConfigs({ resources: [topic] })
      return configs.find(entry => entry.name === name)?.value
    }
    check(await setting('retention.ms') === '86400000', 'describe configs: the value set at creation')
    check(await setting('cleanup.policy') && await setting('max.message.bytes'), "describe configs: Kafka's other settings")
    await admin.incrementalAlterConfigs({
      resources: [{ ...topic, configs: [{ name: 'max.message.bytes', configOperation: SET, value: '2000000' }] }]
    })
    await checkSoon(async () => await setting('max.message.bytes') === '2000000', 'alter configs')

    const offsetsAt = async timestamp => {
      const partitions = Array.from({ length: args.partitions }, (_, partitionIndex) => ({ partitionIndex, timestamp }))
      const [found] = await admin.listOffsets({ topics: [{ name: args.topic, partitions }] })
      return new Map(found.partitions.map(({ partitionIndex, offset }) => [partitionIndex, Number(offset)]))
    }
    const ends = await offsetsAt(ListOffsetTimestamps.LATEST)
    check([...ends.values()].reduce((sum, end) => sum + end, 0) === args.records, `list offsets: ${args.records} records`)
    const group = (await admin.describeGroups({ groups: [args.group] })).get(args.group)
    check(group.state === 'Empty' && group.members.size === 0, 'describe group: empty')
    const listed = async () => (await admin.listGroups()).has(args.group)
    check(await listed(), 'list groups')
    const [{ topics: [{ partitions }] }] = await admin.listConsumerGroupOffsets({ groups: [args.group] })
    const committed = new Map(partitions.map(({ partitionIndex, committedOffset }) => [partitionIndex, Number(committedOffset)]))
    check([...ends].every(([partition, end]) => (committed.get(partition) ?? 0) === end), 'group offsets: committed to the end')

    const [busiest, end] = [...ends].reduce((left, right) => (right[1] > left[1] ? right : left))
    const upto = Math.floor(end / 2)
    await admin.deleteRecords({ topics: [{ name: args.topic, partitions: [{ partition: busiest, offset: BigInt(upto) }] }] })
    check((await offsetsAt(ListOffsetTimestamps.EARLIEST)).get(busiest) === upto, 'delete records: the start moved')
    await admin.createPartitions({ topics: [{ name: args.topic, count: args.partitions + 2, assignments: null }] })
    await checkSoon(async () => await partitionsOf(admin, args.topic) === args.partitions + 2, 'create partitions')
    await admin.deleteGroups({ groups: [args.group] })
    check(!await listed(), 'delete group')
    await admin.deleteTopics({ topics: [args.topic] })
    await checkSoon(async () => !(await admin.listTopics()).includes(args.topic), 'delete topic')
  })
}

main({ version, create, produce, consume, admin: administer })
