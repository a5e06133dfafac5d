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
import { programOptions } from '../../src/base/program_options.js'
import { systemRandom } from '../../src/base/random.js'
import { FILES } from '../../src/base/subjects.js'
import { connect } from '../../src/client/index.js'
import { credentialsOf, readSandbox } from '../../src/operations/calls/sandbox.js'
import type { ClusterMember } from '../../src/supervisor/cluster/cluster_file.js'
import { createTrialCluster } from '../../src/supervisor/cluster/trial_cluster.js'
import { openDataFolder } from '../../src/supervisor/data_folder.js'
import { freePort } from '../../src/supervisor/ports.js'
import { prepareCrashPoints } from '../crash/crash_points.js'
import { openPaymentsOf, undeliveredOf } from '../workload/final_checks.js'
import { everyOutcome, startPayers } from '../workload/payers.js'
import { createSeededRandom } from '../fuzz/seeded_random.js'
import { requiringDocumented } from '../support/documented_answers.js'
import { eventually } from '../support/eventually.js'
import { operatorsOf, type Key } from '../support/operators.js'
import type { Partner } from '../support/partner.js'
import { patience } from '../support/patience.js'
import { noPostgres } from '../support/postgres_server.js'
import { receiverOf } from '../support/receiver.js'
import { environmentOf, fastClock } from '../support/supervised_stack.js'
import { prepareClockSteps } from './clock_steps.js'
import type { CheckedClient } from '../workload/checked_client.js'
import { startEventReader } from './event_reader.js'
import { chosen, everyFault, type FaultContext } from './faults.js'
import { createGate } from './gate.js'
import { startHistory, type History } from './histories.js'
import { createPacketFilter, enterNamespaces, leaveNamespaces } from './packet_filter.js'
import { createProxies, type Partitions } from './partitions.js'
import { inSeconds, createFaultTable } from './fault_table.js'
import { startNonceReplays } from './nonce_replays.js'
import { startRacedCalls } from '../workload/raced_calls.js'
import { startReadProbe } from './read_probe.js'
import { restoreCluster } from './restore.js'
import { auditShards } from './shard_audit.js'

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
const ENDED_WITHIN_MS = 150_000
const TIMEOUT_MS = 5_000
const LINES_SHOWN = 20
const SHARDS = ['books_1', 'books_2']
/** The log line of the cluster when a shard has a new owner. */
const TAKE_OVER = /^processor-\d serves books_\d$/
/** A fault that does not apply after that has had an effect. */
const SAID_FROM_MS = 1_000
const print = (line: string): void => console.log(line)
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

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
const data = await openDataFolder(dataDir)
const lines: string[] = []
const note = (line: string): void => void lines.push(line)
/** The same after a restore. */
const httpPort = String(await freePort('127.0.0.1'))
const gate = createGate()
let cluster = await createCluster({})
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.once(name, () => void cluster.stop().then(() => process.exit(1)))
}
process.once('disconnect', () => void cluster.stop().then(() => process.exit(1)))
process.channel?.unref()
await cluster.start()
const sandbox = readSandbox(data.file(FILES.sandbox))
const gateways = cluster.members().filter(({ role }) => role === 'gateway')
const second = await createSecondPartner()
const tenants = [
  { name: 'demo', connections: connectionsOf({}) },
  { name: 'second', connections: connectionsOf(second) },
]
const receivers = await Promise.all(tenants.map(({ connections: [one] }) => receiverOf(one!)))
const histories = tenants.flatMap(({ name, connections }, tenant) =>
  Array.from({ length: CLIENTS }, (_, client) =>
    startHistory(`${name} ${client}`, connections, randomOf(tenant * CLIENTS + client + 1)),
  ),
)
const payers = tenants.map(({ connections }, tenant) =>
  startPayers(
    PAYERS,
    everyOutcome(alternating(connections), (payer) => randomOf(100 + tenant * 10 + payer)),
  ),
)
const readProbes = await Promise.all(
  tenants.flatMap(({ connections }) => connections.map((connection) => startReadProbe(connection))),
)
const eventReaders = tenants.map(({ name, connections }, tenant) =>
  startEventReader(name, connections, randomOf(200 + tenant)),
)
const checkedClients: readonly CheckedClient[] = isCalm
  ? eventReaders
  : [
      ...eventReaders,
      ...tenants.flatMap(({ name, connections }, tenant) => [
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
      ]),
    ]
/** The histories of partners that have moved. */
const movedHistories: History[] = []
const violations: string[] = []
const table = await injectFaults()
print('the load ends')
for (const probe of readProbes) probe.stop()
await Promise.all([...histories, ...payers, ...checkedClients].map((client) => client.stop()))
await report()

function createCluster(settings: Readonly<Record<string, string>>) {
  return createTrialCluster({
    environment: environmentOf({
      ...{ HTTP_PORT: httpPort, OPS_PORT: '0', CONSOLE: 'off', DATA_DIR: dataDir },
      ...{ RAIL_DELAY_MS: '100', RATE_LIMIT: 'off', ...settings },
    }),
    data,
    clock: fastClock(),
    random: systemRandom(),
    terminal: { info: note, ready: note, error: note },
    onRefused: (why) => {
      print(why)
      process.exitCode = 1
    },
    route: partitions.route,
    within: partitions.within,
  })
}

/** Replaces the cluster by itself at an earlier moment. */
async function restore(lose: () => Promise<unknown>): Promise<boolean> {
  const start = async (settings: Record<string, string>) => {
    cluster = await createCluster(settings)
    await cluster.start()
    return cluster
  }
  const options = { cluster, dataDir, shards: SHARDS, gate, lose, start }
  return (await restoreCluster(options)) !== undefined
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

/** Creates the partner through the processor of the second shard. */
async function createSecondPartner(): Promise<Key> {
  const owner = cluster.members().find(({ shard }) => shard === SHARDS[1])
  if (owner === undefined) throw new Error('no processor serves the second shard')
  return createPartner('second', owner)
}

async function createPartner(name: string, { address }: ClusterMember): Promise<Key> {
  const operators = operatorsOf({ sandbox: { ...sandbox, grpc_address: address }, dataDir })
  return operators.createPartner(name).finally(() => operators.close())
}

/** Begins to call as a new partner, once both gateways know it. */
async function startClient(name: string, owner: ClusterMember): Promise<History> {
  const connections = connectionsOf(await createPartner(name, owner))
  for (const connection of connections) {
    await eventually(`a gateway knows ${name}`, async () => {
      const answer = await connection.request('GET', '/v1/balances').catch(() => undefined)
      return answer?.status === 200
    })
  }
  const history = startHistory(name, connections, randomOf(1_000 + movedHistories.length))
  movedHistories.push(history)
  return history
}

/** One to each gateway. */
function connectionsOf(key: Partial<Key>): readonly Partner[] {
  return gateways.map(({ address: baseUrl }) =>
    gate.around(
      requiringDocumented(
        connect(
          { ...credentialsOf(sandbox, 'Service'), ...key, baseUrl },
          { timeoutMs: TIMEOUT_MS },
        ),
      ),
    ),
  )
}

/** Each request goes to the next gateway. */
function alternating(connections: readonly Partner[]): Partner {
  const [first] = connections
  if (first === undefined) throw new Error('no gateway runs')
  let count = 0
  const next = (): Partner => connections[count++ % connections.length] ?? first
  return {
    ...first,
    request: (...given) => next().request(...given),
    session: (...given) => next().session(...given),
  }
}

async function injectFaults() {
  const random = randomOf(0)
  const operatorToken = readFileSync(data.file(FILES.operatorToken), 'utf8').trim()
  const context: FaultContext = {
    get cluster() {
      return cluster
    },
    ...{ partitions, random, operatorToken, points, clocks, violations },
    ...{ startClient, restore },
  }
  const caused = createFaultTable()
  const until = performance.now() + seconds * 1_000
  for (let turn = 0; isCalm ? turn < times * faults.length : performance.now() < until; turn++) {
    await sleep(isCalm ? CALM_MAX_MS : random.int(CALM_MAX_MS))
    const fault = isCalm ? faults[turn % faults.length]! : random.pick(faults)
    const before = performance.now()
    if (!(await fault.cause(context))) {
      if (performance.now() - before > SAID_FROM_MS) await untilServed(before)
      continue
    }
    await untilServed(before)
    const after = performance.now()
    const pause = Math.max(...readProbes.map((probe) => probe.longestPause(before, after)))
    caused.add(fault, pause)
    print(`  ${inSeconds(after - before)} s, pause ${inSeconds(pause)} s  ${fault.name}`)
  }
  return caused
}

/** Waits until each client has a success after the fault and the cluster is complete again. */
async function untilServed(since: number): Promise<void> {
  const caused = performance.now()
  const isServed = (history: History): boolean => history.lastSuccess() > since
  await eventually(
    'all clients are served',
    () => histories.every(isServed) && readProbes.every((probe) => probe.isServedSince(caused)),
    SERVED_WITHIN_MS,
  )
  await eventually(
    'every shard has an owner and every process runs',
    () => {
      const members = cluster.members()
      const served = new Set(members.map(({ shard }) => shard))
      return members.every(({ pid }) => pid > 0) && SHARDS.every((shard) => served.has(shard))
    },
    SERVED_WITHIN_MS,
  )
  await eventually(
    'PostgreSQL is synchronous',
    () => cluster.postgres.isSynchronous(),
    SERVED_WITHIN_MS,
  )
}

async function report(): Promise<void> {
  const deadline = patience(ENDED_WITHIN_MS)
  const lost: string[] = []
  for (const [index, { payments }] of payers.entries()) {
    const connections = tenants[index]?.connections ?? []
    lost.push(...(await openPaymentsOf(alternating(connections), payments, deadline)))
  }
  const clusterData = { url: cluster.postgres.url, dataDir }
  const { shards: before } = await auditShards(clusterData)
  for (const [index, { events }] of before.entries()) {
    lost.push(...(await undeliveredOf(receivers[index]!, events, deadline)))
  }
  await eventually('the shards are idle', () => sleep(CALM_MAX_MS).then(() => true))
  for (const reader of eventReaders) await reader.readToEnd()
  const { shards: audits, union } = await auditShards(clusterData)
  const stored = new Set(audits.flatMap(({ entities }) => entities))
  const acknowledged = [
    ...[...histories, ...movedHistories].flatMap((history) => history.acknowledged),
    ...payers.flatMap(({ payments }) => payments.map(({ id }) => id)),
  ]
  lost.push(...acknowledged.filter((id) => !stored.has(id)).map((id) => `${id} is in no shard`))
  const once = new Set<string>()
  const doubled = acknowledged.filter((id) => once.size === once.add(id).size)
  const clients = [...histories, ...movedHistories, ...checkedClients]
  violations.push(...clients.flatMap((client) => client.violations))
  const gaps = audits.flatMap((audit) => audit.gaps)
  const takeOvers = lines.filter((line) => TAKE_OVER.test(line)).length
  await Promise.all(receivers.map((receiver) => receiver.close()))
  await cluster.stop()
  partitions.close()
  await data.release()
  rmSync(hooked, { recursive: true })

  for (const line of table.lines(takeOvers)) print(line)
  const pauses = histories.flatMap((history) => history.pauses).sort((one, other) => one - other)
  print(
    `pauses of at least 0.5 s seen by clients: ${pauses.length}, median ` +
      `${inSeconds(pauses[Math.floor(pauses.length / 2)]).trim()} s, worst ` +
      `${inSeconds(pauses.at(-1)).trim()} s`,
  )
  print(`histories: ${checkedClients.map((client) => client.checked()).join(', ')}`)
  for (const { shard, clean, report: text } of audits) {
    print(`${shard}: ${clean ? (text.trim().split('\n').at(-1) ?? '') : text}`)
  }
  const found = [...violations, ...union, ...gaps.map((tenant) => `events of ${tenant} have gaps`)]
  for (const line of [...lost, ...doubled, ...found].slice(0, LINES_SHOWN)) print(`  ${line}`)
  print(`union of ${audits.length} shards: ${union.length} faults`)
  print(
    `${acknowledged.length} acknowledged, ${lost.length} lost, ${doubled.length} doubled, ` +
      `${violations.length} contradictions seen by clients, ${gaps.length} gaps of events`,
  )
  const clean = audits.every((audit) => audit.clean)
  const isFaultless = lost.length + doubled.length + found.length === 0 && clean
  if (isFaultless && (isCalm || acknowledged.length > 0))
    rmSync(dataDir, { recursive: true, force: true })
  else {
    process.exitCode = 1
    if (existsSync(dataDir)) print(`the data is in ${dataDir}`)
  }
}
