/*
 * What every JavaScript program here shares: arguments, records and lines, as `../python/conversation.py` describes them.
 */
'use strict'

const { setTimeout: sleep } = require('node:timers/promises')

const KEYS = 40
// Records that are sent together.
const PIECE = 20
// Apache Kafka answers a change of its metadata before the broker that is asked next has seen it.
const EVENTUALLY_MS = 10_000

function argumentsOf (words) {
  const [command, ...rest] = words
  const found = { command, firstId: 0, plan: '', paceMs: 0, commitEvery: 100 }
  for (let at = 0; at < rest.length; at += 2) {
    const name = rest[at].replace(/^--/, '').replace(/-(.)/g, (_, letter) => letter.toUpperCase())
    found[name] = rest[at + 1]
  }
  for (const name of ['partitions', 'records', 'firstId', 'paceMs', 'commitEvery']) {
    found[name] = found[name] === undefined ? undefined : Number(found[name])
  }
  return found
}

/** A run of records sent with one codec and one kind of acknowledgement. */
function * legsOf (args) {
  let first = args.firstId
  for (const part of args.plan.split(',')) {
    const [codec, acks, count] = part.split(':')
    yield { codec, acks, first, count: Number(count), batch: `${codec}/${acks}` }
    first += Number(count)
  }
}

/** The records of a leg, in pieces; all of a key go to one partition, in order. */
function * piecesOf (leg, partitions) {
  for (let at = 0; at < leg.count; at += PIECE) {
    const piece = []
    for (let id = leg.first + at; id < leg.first + Math.min(at + PIECE, leg.count); id++) {
      const padding = 'abcdefghij'.repeat(20).slice(0, 50 + (id % 150))
      const key = id % KEYS
      piece.push({
        id,
        partition: key % partitions,
        key: `key-${key}`,
        value: `${id}:${padding}`,
        headers: { id: String(id), batch: leg.batch }
      })
    }
    yield piece
  }
}

/** Tells of a piece whose records lie one behind the other from `bases` on, by partition; null where nothing was told. */
function tellAcked (piece, bases) {
  const next = new Map(bases)
  for (const { id, partition } of piece) {
    const offset = bases === null ? -1 : next.get(partition)
    if (bases !== null) {
      next.set(partition, offset + 1)
    }
    tell('acked', id, partition, offset)
  }
}

function tell (...fields) {
  process.stdout.write(fields.join('\t') + '\n')
}

function tellRecord (partition, offset, key, value, headers) {
  const named = Object.entries(headers).map(([name, text]) => `${name}=${text}`)
  tell('got', partition, offset, key, value, named.join(','))
}

/** `offsets`: partition -> the next offset to read. */
function tellCommit (offsets) {
  const sorted = [...offsets].sort(([left], [right]) => left - right)
  tell('committed', sorted.map(([partition, offset]) => `${partition}=${offset}`).join(','))
}

function check (holds, what) {
  if (!holds) {
    throw new Error(`check failed: ${what}`)
  }
  tell('ok', what)
}

async function checkSoon (holds, what) {
  const deadline = Date.now() + EVENTUALLY_MS
  while (!(await holds()) && Date.now() < deadline) {
    await sleep(100)
  }
  check(await holds(), what)
}

/**
 * Commits at intervals too: none of these clients lets a member commit while its partitions are taken from it, so that what a member has
 * read and not committed comes again after every rebalance.
 */
function commitOften (commit) {
  return setInterval(commit, 200)
}

/** Resolved once the runner asks for a clean end. */
function stopAsked () {
  return new Promise(resolve => {
    process.once('SIGTERM', resolve)
    process.once('SIGINT', resolve)
  })
}

/** Runs the command that the arguments name. */
function main (commands) {
  const args = argumentsOf(process.argv.slice(2))
  commands[args.command](args).then(
    () => process.exit(0),
    error => {
      console.error(error)
      process.exit(1)
    }
  )
}

module.exports = { argumentsOf, check, checkSoon, commitOften, legsOf, main, piecesOf, sleep, stopAsked, tell, tellAcked, tellCommit, tellRecord }
