/*
 * @confluentinc/kafka-javascript: librdkafka under KafkaJS's interface.
 */
'use strict'

const { KafkaJS: { CompressionTypes, Kafka, logLevel } } = require('@confluentinc/kafka-javascript')
const { check, checkSoon, commitOften, legsOf, main, piecesOf, sleep, stopAsked, tell, tellCommit, tellRecord } = require('./conversation.js')

const CODECS = {
  none: CompressionTypes.None, gzip: CompressionTypes.GZIP, snappy: CompressionTypes.SNAPPY, lz4: CompressionTypes.LZ4, zstd: CompressionTypes.ZSTD
}
const ACKS = { 0: 0, 1: 1, all: -1, idempotent: -1 }

function kafkaOf (args) {
  return new Kafka({ kafkaJS: { clientId: 'compat', brokers: [args.bootstrap], logLevel: logLevel.NOTHING } })
}

async function version () {
  const { version } = require('@confluentinc/kafka-javascript/package.json')
  const { librdkafkaVersion } = require('@confluentinc/kafka-javascript')
  tell('client', '@confluentinc/kafka-javascript', `${version} (librdkafka ${librdkafkaVersion})`)
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

async function partitionsOf (admin, topic) {
  const [found] = await admin.fetchTopicMetadata({ topics: [topic] })
  return found.partitions.length
}

async function produce (args) {
  let partitions
  await withAdmin(args, async admin => {
    partitions = await partitionsOf(admin, args.topic)
  })
  for (const leg of legsOf(args)) {
    const producer = kafkaOf(args).producer({
      kafkaJS: { acks: ACKS[leg.acks], compression: CODECS[leg.codec], idempotent: leg.acks === 'idempotent' }, 'linger.ms': 5
    })
    await producer.connect()
    for (const piece of piecesOf(leg, partitions)) {
      // One call for each, so that each is told its offset; librdkafka makes batches of them.
      const answers = await Promise.all(piece.map(({ id, ...message }) => producer.send({ topic: args.topic, messages: [message] })))
      piece.forEach(({ id, partition }, at) => {
        tell('acked', id, partition, leg.acks === '0' ? -1 : answers[at][0].baseOffset)
      })
      await sleep(args.paceMs * piece.length)
    }
    await producer.disconnect()
  }
}

async function consume (args) {
  const processed = new Map()
  let sinceCommit = 0
  let isStopping = false
  const consumer = kafkaOf(args).consumer({
    kafkaJS: { groupId: args.group, fromBeginning: true, autoCommit: false, sessionTimeout: 6000, heartbeatInterval: 1000 },
    // What is not committed will come again, to whoever gets the partition.
    rebalance_cb: () => processed.clear()
  })

  async function commit () {
    const offsets = new Map(processed)
    if (offsets.size === 0) {
      return
    }
    const wanted = [...offsets].map(([partition, offset]) => ({ topic: args.topic, partition, offset: String(offset) }))
    try {
      await consumer.commitOffsets(wanted)
    } catch (error) {
      tell('refused', error.type ?? error.code ?? error.name)
      return
    }
    tellCommit(offsets)
    for (const [partition, offset] of offsets) {
      if (processed.get(partition) === offset) {
        processed.delete(partition)
      }
    }
  }

  await consumer.connect()
  await consumer.subscribe({ topic: args.topic })
  await consumer.run({
    eachMessage: async ({ partition, message }) => {
      if (isStopping) {
        return
      }
      const headers = Object.fromEntries(Object.entries(message.headers).map(([name, value]) => [name, [value].flat().join()]))
      tellRecord(partition, message.offset, message.key, message.value, headers)
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
  isStopping = true
  await commit()
  await consumer.disconnect()
}

async function administer (args) {
  await withAdmin(args, async admin => {
    const ends = await admin.fetchTopicOffsets(args.topic)
    const count = ends.reduce((sum, { high }) => sum + Number(high), 0)
    check(count === args.records, `list offsets: ${args.records} records`)
    const { groups: [group] } = await admin.describeGroups([args.group])
    check(group.members.length === 0, 'describe group: empty')
    const listed = async () => (await admin.listGroups()).groups.some(({ groupId }) => groupId === args.group)
    check(await listed(), 'list groups')
    const [{ partitions }] = await admin.fetchOffsets({ groupId: args.group, topics: [args.topic] })
    const committed = new Map(partitions.map(({ partition, offset }) => [partition, offset]))
    check(ends.every(({ partition, high }) => committed.get(partition) === high), 'group offsets: committed to the end')

    const busiest = ends.reduce((left, right) => (Number(right.high) > Number(left.high) ? right : left))
    const upto = Math.floor(Number(busiest.high) / 2)
    await admin.deleteTopicRecords({ topic: args.topic, partitions: [{ partition: busiest.partition, offset: String(upto) }] })
    const starts = await admin.fetchTopicOffsets(args.topic)
    check(Number(starts.find(({ partition }) => partition === busiest.partition).low) === upto, 'delete records: the start moved')
    await admin.deleteGroups([args.group])
    check(!await listed(), 'delete group')
    await admin.deleteTopics({ topics: [args.topic] })
    await checkSoon(async () => !(await admin.listTopics()).includes(args.topic), 'delete topic')
  })
}

main({ version, create, produce, consume, admin: administer })
