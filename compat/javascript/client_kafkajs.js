/*
 * KafkaJS: producer, consumer, admin; snappy from its own plug-in. Its other codecs are programs that it does not bring.
 */
'use strict'

const { CompressionCodecs, CompressionTypes, ConfigResourceTypes, Kafka, logLevel } = require('kafkajs')
const SnappyCodec = require('kafkajs-snappy')
const { check, checkSoon, commitOften, legsOf, main, piecesOf, sleep, stopAsked, tell, tellAcked, tellCommit, tellRecord } = require('./conversation.js')

CompressionCodecs[CompressionTypes.Snappy] = SnappyCodec

const CODECS = { none: CompressionTypes.None, gzip: CompressionTypes.GZIP, snappy: CompressionTypes.Snappy }
const ACKS = { 0: 0, 1: 1, all: -1, idempotent: -1 }

function kafkaOf (args) {
  return new Kafka({
    clientId: 'compat',
    brokers: [args.bootstrap],
    logLevel: logLevel.NOTHING,
    retry: { initialRetryTime: 100, maxRetryTime: 1000, retries: 60 }
  })
}

async function version () {
  tell('client', 'KafkaJS', require('kafkajs/package.json').version)
}

async function withAdmin (args, use) {
  const admin = kafkaOf(args).admin()
  await admin.connect()
  try {
    await use(admin)
  } finally {
    await admin.disconnect()
  }
}

async function create (args) {
  await withAdmin(args, async admin => {
    const configEntries = [{ name: 'retention.ms', value: '86400000' }]
    const made = await admin.createTopics({
      topics: [{ topic: args.topic, numPartitions: args.partitions, replicationFactor: 1, configEntries }]
    })
    check(made, 'create topic')
  })
}

async function produce (args) {
  for (const leg of legsOf(args)) {
    const idempotent = leg.acks === 'idempotent'
    const producer = kafkaOf(args).producer({ idempotent, maxInFlightRequests: 1, allowAutoTopicCreation: false })
    await producer.connect()
    const partitions = await partitionsOf(args)
    for (const piece of piecesOf(leg, partitions)) {
      const answers = await producer.send({
        topic: args.topic,
        acks: ACKS[leg.acks],
        compression: CODECS[leg.codec],
        messages: piece.map(({ id, ...message }) => message)
      })
      const bases = answers.map(answer => [answer.partition, Number(answer.baseOffset)])
      tellAcked(piece, leg.acks === '0' ? null : bases)
      await sleep(args.paceMs * piece.length)
    }
    await producer.disconnect()
  }
}

async function partitionsOf (args) {
  let count
  await withAdmin(args, async admin => {
    const { topics } = await admin.fetchTopicMetadata({ topics: [args.topic] })
    count = topics[0].partitions.length
  })
  return count
}

async function consume (args) {
  const consumer = kafkaOf(args).consumer({
    groupId: args.group,
    sessionTimeout: 6000,
    rebalanceTimeout: 10000,
    heartbeatInterval: 1000,
    maxWaitTimeInMs: 200
  })
  const processed = new Map()
  let sinceCommit = 0
  let isStopping = false

  async function commit () {
    if (processed.size === 0) {
      return
    }
    const offsets = new Map(processed)
    const wanted = [...offsets].map(([partition, offset]) => ({ topic: args.topic, partition, offset: String(offset) }))
    try {
      await consumer.commitOffsets(wanted)
    } catch (error) {
      tell('refused', error.type ?? error.name)
      return
    }
    tellCommit(offsets)
    for (const [partition, offset] of offsets) {
      if (processed.get(partition) === offset) {
        processed.delete(partition)
      }
    }
  }

  // After a rebalance it reads on from what is committed: what is not, will come again.
  consumer.on(consumer.events.GROUP_JOIN, () => processed.clear())
  await consumer.connect()
  await consumer.subscribe({ topic: args.topic, fromBeginning: true })
  await consumer.run({
    autoCommit: false,
    eachMessage: async ({ partition, message }) => {
      if (isStopping) {
        return
      }
      tellRecord(partition, message.offset, message.key, message.value, message.headers)
      processed.set(partition, Number(message.offset) + 1)
      sinceCommit += 1
      if (sinceCommit >= args.commitEvery) {
        sinceCommit = 0
        await commit()
      }
    }
  })
  const committing = commitOften(commit)
  await stopAsked()
  clearInterval(committing)
  // Once it is stopped, it has no group to commit to.
  isStopping = true
  await commit()
  await consumer.disconnect()
}

async function administer (args) {
  await withAdmin(args, async admin => {
    const topic = { type: ConfigResourceTypes.TOPIC, name: args.topic }
    const setting = async name => {
      const { resources } = await admin.describeConfigs({ resources: [topic] })
      return resources[0].configEntries.find(entry => entry.configName === name)?.configValue
    }
    check(await setting('retention.ms') === '86400000', 'describe configs: the value set at creation')
    check(await setting('cleanup.policy') && await setting('max.message.bytes'), "describe configs: Kafka's other settings")
    // It has only the old AlterConfigs, which drops what it does not name.
    await admin.alterConfigs({ validateOnly: false, resources: [{ ...topic, configEntries: [{ name: 'max.message.bytes', value: '2000000' }] }] })
    await checkSoon(async () => await setting('max.message.bytes') === '2000000', 'alter configs')

    const ends = await admin.fetchTopicOffsets(args.topic)
    const count = ends.reduce((sum, { offset }) => sum + Number(offset), 0)
    check(count === args.records, `list offsets: ${args.records} records`)
    const { groups: [group] } = await admin.describeGroups([args.group])
    check(group.state === 'Empty' && group.members.length === 0, 'describe group: empty')
    const listed = async () => (await admin.listGroups()).groups.some(({ groupId }) => groupId === args.group)
    check(await listed(), 'list groups')
    const [{ partitions }] = await admin.fetchOffsets({ groupId: args.group, topics: [args.topic] })
    const committed = new Map(partitions.map(({ partition, offset }) => [partition, offset]))
    check(ends.every(({ partition, offset }) => committed.get(partition) === offset), 'group offsets: committed to the end')

    const busiest = ends.reduce((left, right) => (Number(right.offset) > Number(left.offset) ? right : left))
    const upto = Math.floor(Number(busiest.offset) / 2)
    await admin.deleteTopicRecords({ topic: args.topic, partitions: [{ partition: busiest.partition, offset: String(upto) }] })
    const starts = await admin.fetchTopicOffsets(args.topic)
    check(Number(starts.find(({ partition }) => partition === busiest.partition).low) === upto, 'delete records: the start moved')
    await admin.createPartitions({ topicPartitions: [{ topic: args.topic, count: args.partitions + 2 }] })
    await checkSoon(async () => {
      const { topics } = await admin.fetchTopicMetadata({ topics: [args.topic] })
      return topics[0].partitions.length === args.partitions + 2
    }, 'create partitions')
    await admin.deleteGroups([args.group])
    check(!await listed(), 'delete group')
    await admin.deleteTopics({ topics: [args.topic] })
    await checkSoon(async () => !(await admin.listTopics()).includes(args.topic), 'delete topic')
  })
}

main({ version, create, produce, consume, admin: administer })
