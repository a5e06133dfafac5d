/**
 * Random faults in the trial cluster under load: `make cluster-chaos DURATION=60 SEED=1`; or some
 * faults in turns without load, to measure pauses: `make cluster-chaos FAULTS=kill-owner TIMES=5`.
 *
 * Clients of two partners, one in each shard, pay through both gateways while processes are killed
 * and paused, links are cut, clocks are set, shards and partners move, and the cluster is restored.
 * It exits with 1 unless nothing was lost or doubled, no client saw a contradiction, and the audits
 * of all shards and of their union are clean.
 */
import { randomInt } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemPause } from '../../src/base/clock.js'
import { programOptions } from '../../src/process/program_options.js'
import { FILES } from '../../src/base/subjects.js'
import { freePort } from '../../src/supervisor/ports.js'
import { prepareCrashPoints } from '../crash/crash_points.js'
import { createSeededRandom } from '../fuzz/seeded_random.js'
import { eventually } from '../support/eventually.js'
import type { Key } from '../support/operators.js'
import type { Partner } from '../support/partner.js'
import { noPostgres } from '../support/postgres_server.js'
import { receiverOf } from '../support/receiver.js'
import { alternating, aTrialCluster, SHARDS } from '../support/trial_cluster.js'
import { everyOutcome, startPayers } from '../workload/payers.js'
import { prepareClockSteps } from './clock_steps.js'
import type { CheckedClient } from '../workload/checked_client.js'
import { startEventReader } from './event_reader.js'
import { chosen, everyFault, type Fault, type FaultContext } from './faults.js'
import { checkCluster } from './final_checks.js'
import { createGate } from './gate.js'
import { createIntents, startHistory, type History } from './histories.js'
import { createPosts, deadEndpointOf } from './posts.js'
import { createPacketFilter, enterNamespaces, leaveNamespaces } from './packet_filter.js'
import { createProxies, type Partitions } from './partitions.js'
import { inSeconds, createFaultTable } from './fault_table.js'
import { startNonceReplays } from './nonce_replays.js'
import { startRacedCalls } from '../workload/raced_calls.js'
import { startReadProbe } from './read_probe.js'
import { restoreCluster } from './restore.js'

const values = programOptions(
  'cluster-chaos',
  'Injects faults into the trial cluster under load.',
  {
    duration: { value: 'SECONDS', about: 'duration of the load', kind: 'number', fallback: 60 },
    seed: { value: 'N', about: 'repeats a run', kind: 'number' },
    faults: { value: 'LIST', about: 'only these faults, e.g. kill-owner,move' },
    times: { value: 'N', about: 'each fault so often in turns, without load', kind: 'number' },
  },
)
const faults = values.faults === undefined ? everyFault() : chosen(values.faults.split(','))
const times = values.times ?? 0
const isCalm = times > 0
const isolation = await enterNamespaces()
const seconds = values.duration
const seed = values.seed ?? randomInt(1_000_000_000)

const CLIENTS = isCalm ? 0 : 3
const PAYERS = isCalm ? 0 : 4
const CALM_MAX_MS = 3_000
const SERVED_WITHIN_MS = 60_000
const TIMEOUT_MS = 5_000
const LINES_SHOWN = 20
/** Only the last part of a run restores the cluster, and it begins with a try of it. */
const RESTORES_SHARE = 0.3
/** The log line of the cluster when a shard has a new owner. */
const TAKE_OVER = /^processor-\d serves books_\d$/
/** A fault that does not apply after that has had an effect. */
const SAID_FROM_MS = 1_000
const print = (line: string): void => console.log(line)

if (noPostgres !== false) {
  print(noPostgres)
  process.exit(1)
}
print(
  isCalm
    ? `cluster chaos, each fault ${times} times without load`
    : `cluster chaos, ${seconds} s. To repeat: make cluster-chaos DURATION=${seconds} SEED=${seed}`,
)
const partitions = await createPartitions()
print(`partitions: ${partitions.means}`)
const dataDir = mkdtempSync(join(tmpdir(), 'causeway-cluster-'))
const hooked = mkdtempSync(join(tmpdir(), 'causeway-hooks-'))
const points = prepareCrashPoints(join(hooked, 'points'))
const clocks = prepareClockSteps(join(hooked, 'clocks'))
const hooks = [process.env['NODE_OPTIONS'] ?? '', points.nodeOptions, clocks.nodeOptions]
process.env['NODE_OPTIONS'] = hooks.join(' ')
const lines: string[] = []
const gate = createGate()
const cluster = await aTrialCluster({
  dataDir,
  // The same after a restore.
  settings: { HTTP_PORT: String(await freePort('127.0.0.1')) },
  onLine: (line) => void lines.push(line),
  onRefused: (why) => {
    print(why)
    process.exitCode = 1
  },
  timeoutMs: TIMEOUT_MS,
  ...{ route: partitions.route, within: partitions.within },
})
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.once(name, () => void cluster.stop().then(() => process.exit(1)))
}
process.once('disconnect', () => void cluster.stop().then(() => process.exit(1)))
process.channel?.unref()
await cluster.start()
const gateways = cluster.ofRole('gateway')
const connectionsOf = (key: Partial<Key>): readonly Partner[] =>
  cluster.connectionsOf(key).map((connection) => gate.around(connection))
const second = await cluster.createPartner('second', SHARDS[1])
const tenants = await Promise.all(
  Object.entries({ demo: {}, second }).map(async ([name, key], index) => {
    const connections = connectionsOf(key)
    const receiver = await receiverOf(connections[0]!)
    const random = (payer: number) => randomOf(100 + index * 10 + payer)
    const payers = startPayers(PAYERS, everyOutcome(alternating(connections), random))
    return { name, connections, receiver, payers }
  }),
)
const posts = createPosts(tenants.map(({ receiver }) => receiver))
const deadEndpoints = await Promise.all(
  tenants.map(({ connections }) => deadEndpointOf(connections[0]!)),
)
const histories = tenants.flatMap(({ name, connections }, tenant) =>
  Array.from({ length: CLIENTS }, (_, client) =>
    startHistory(`${name} ${client}`, connections, randomOf(tenant * CLIENTS + client + 1)),
  ),
)
const probed = tenants.flatMap((tenant) =>
  gateways.map((gateway) => `${tenant.name} at ${gateway.name}`),
)
const readProbes = await Promise.all(
  tenants.flatMap(({ connections }) => connections.map((connection) => startReadProbe(connection))),
)
const eventReaders = tenants.map(({ name, connections }, tenant) =>
  startEventReader(name, connections, randomOf(200 + tenant)),
)
const others: readonly CheckedClient[] = isCalm
  ? []
  : tenants.flatMap(({ name, connections }, tenant) => [
      startRacedCalls(
        `races of ${name}`,
        connections.map((connection, index) => [connection, gateways[index]?.address ?? '']),
      ),
      startNonceReplays(
        `nonces of ${name}`,
        connections[0]!,
        gateways.map(({ address }) => address),
        randomOf(210 + tenant),
        gate.pass,
      ),
    ])
/** The histories of partners that have moved. */
const movedHistories: History[] = []
/** What must not happen. */
const violations: string[] = []
const table = await injectFaults()
print('the load ends')
for (const probe of readProbes) probe.stop()
await report()

/** Replaces the cluster by itself at an earlier moment. */
async function restore(lose: () => Promise<unknown>): Promise<boolean> {
  return restoreCluster({ cluster, dataDir, shards: SHARDS, gate, lose })
}

function randomOf(index: number) {
  return createSeededRandom(seed, index)
}

/** By the packet filter where that is possible. */
async function createPartitions(): Promise<Partitions> {
  if (!isolation.isIsolated) {
    print(`no packet filter, so packets are held and never dropped: ${isolation.why}`)
    return createProxies()
  }
  return createPacketFilter().catch((error: unknown) => {
    print(`the packet filter failed: ${(error as Error).message}`)
    return leaveNamespaces()
  })
}

/** Begins to call as a new partner with some payments, once both gateways know it. */
async function startClient(name: string, shard: string, payments = 0): Promise<History> {
  const connections = connectionsOf(await cluster.createPartner(name, shard))
  for (const connection of connections) {
    await eventually(`a gateway knows ${name}`, async () => {
      const answer = await connection.request('GET', '/v1/balances').catch(() => undefined)
      return answer?.status === 200
    })
  }
  await createIntents(alternating(connections), payments)
  const history = startHistory(name, connections, randomOf(1_000 + movedHistories.length))
  movedHistories.push(history)
  return history
}

async function injectFaults() {
  const random = randomOf(0)
  const operatorToken = readFileSync(join(dataDir, FILES.operatorToken), 'utf8').trim()
  const context: FaultContext = {
    get cluster() {
      return cluster.trial
    },
    ...{ partitions, random, operatorToken, points, clocks, violations },
    ...{ startClient, restore },
  }
  const caused = createFaultTable()
  let last: Fault | undefined
  const until = performance.now() + seconds * 1_000
  // The partners of a restored shard do not move any more.
  const withoutRestores = faults.filter(({ kind }) => kind !== 'restore')
  const dueRestores = faults.filter(({ kind }) => kind === 'restore')
  const restoresFrom = withoutRestores.length === 0 ? 0 : until - seconds * 1_000 * RESTORES_SHARE
  const nextFault = (turn: number, now: number): Fault => {
    if (isCalm) return faults[turn % faults.length]!
    if (now < restoresFrom) return random.pick(withoutRestores)
    return dueRestores.shift() ?? random.pick(faults)
  }
  for (let turn = 0; isCalm ? turn < times * faults.length : performance.now() < until; turn++) {
    await systemPause(isCalm ? CALM_MAX_MS : random.int(CALM_MAX_MS))
    if (last !== undefined) caused.posted(last, posts.takeRepeated())
    const before = performance.now()
    const fault = nextFault(turn, before)
    if (!(await fault.cause(context))) {
      if (performance.now() - before <= SAID_FROM_MS || (await isServed(before, fault))) continue
      break
    }
    if (!(await isServed(before, fault))) break
    const after = performance.now()
    const pause = Math.max(...readProbes.map((probe) => probe.longestPause(before, after)))
    caused.add(fault, pause)
    last = fault
    print(`  ${inSeconds(after - before)} s, pause ${inSeconds(pause)} s  ${fault.name}`)
  }
  return caused
}

/** False means that the run goes on with its final checks. */
async function isServed(since: number, { name }: Fault): Promise<boolean> {
  try {
    await untilServed(since)
    return true
  } catch (error) {
    const what = `${name}: ${(error as Error).message}`
    violations.push(what)
    print(`  ${what}`)
    return false
  }
}

/** Waits until each client has a success after the fault and the cluster is complete again. */
async function untilServed(since: number): Promise<void> {
  const caused = performance.now()
  const unserved = (): readonly string[] =>
    probed.filter((_, index) => readProbes[index]?.isServedSince(caused) !== true)
  await eventually(
    'all clients are served',
    () => histories.every((each) => each.lastSuccess() > since) && unserved().length === 0,
    SERVED_WITHIN_MS,
  ).catch((error: unknown) => {
    throw new Error(`${(error as Error).message}, of the reads not ${unserved().join(', ')}`)
  })
  await eventually(
    'every shard has an owner and every process runs',
    () => {
      const members = cluster.trial.members()
      const served = new Set(members.map(({ shard }) => shard))
      return members.every(({ pid }) => pid > 0) && SHARDS.every((shard) => served.has(shard))
    },
    SERVED_WITHIN_MS,
  )
  await eventually(
    'PostgreSQL is synchronous',
    () => cluster.trial.postgres.isSynchronous(),
    SERVED_WITHIN_MS,
  )
}

async function report(): Promise<void> {
  const load = {
    tenants,
    histories: [...histories, ...movedHistories],
    readers: eventReaders,
    others,
  }
  for (const remove of deadEndpoints) await remove()
  const checks = await checkCluster(load, { url: cluster.trial.postgres.url, dataDir })
  const takeOvers = lines.filter((line) => TAKE_OVER.test(line)).length
  await Promise.all(tenants.map(({ receiver }) => receiver.close()))
  await cluster.close()
  partitions.close()
  rmSync(hooked, { recursive: true })

  for (const line of table.lines(takeOvers)) print(line)
  const pauses = histories.flatMap((history) => history.pauses).sort((one, other) => one - other)
  print(
    `pauses of at least 0.5 s seen by clients: ${pauses.length}, median ` +
      `${inSeconds(pauses[Math.floor(pauses.length / 2)]).trim()} s, worst ` +
      `${inSeconds(pauses.at(-1)).trim()} s`,
  )
  print(`histories: ${[...eventReaders, ...others].map((each) => each.checked()).join(', ')}`)
  const afterwards = posts.takeRepeated()
  const { events, posts: posted } = posts.total()
  print(
    `webhooks: ${posted} posts of ${events} events to healthy endpoints, ${afterwards} of them ` +
      'again after the last fault',
  )
  const { shards, union, acknowledged, lost, doubled, gaps } = checks
  for (const { shard, clean, report: text } of shards) {
    print(`${shard}: ${clean ? (text.trim().split('\n').at(-1) ?? '') : text}`)
  }
  const { violations: seen } = checks
  const found = [
    ...violations,
    ...seen,
    ...union,
    ...gaps.map((tenant) => `events of ${tenant} have gaps`),
  ]
  for (const kind of [lost, doubled, found])
    for (const line of kind.slice(0, LINES_SHOWN)) print(`  ${line}`)
  print(`faults with an unexpected effect: ${violations.length}`)
  print(`union of ${shards.length} shards: ${union.length} faults`)
  print(
    `${acknowledged.length} acknowledged, ${lost.length} lost, ${doubled.length} doubled, ` +
      `${seen.length} contradictions seen by clients, ${gaps.length} gaps of events`,
  )
  const isFaultless = checks.isFaultless && violations.length === 0
  if (isFaultless && (isCalm || acknowledged.length > 0))
    rmSync(dataDir, { recursive: true, force: true })
  else {
    process.exitCode = 1
    if (existsSync(dataDir)) print(`the data is in ${dataDir}`)
  }
}
