/**
 * Writers of one shard and of two at once on one PostgreSQL server, each a process of its own.
 *
 * - Two writers on servers of their own are the control: they share only the machine, so their
 *   ratio is the most that it can give.
 * - With a core for each writer, which it shares with its session of the server, a writer alone has
 *   what each of two has, as on machines of their own. With all cores for all, a writer alone and
 *   its session run on two cores, so two writers cannot have twice as much on two.
 * - The order of the sides is reversed after each round, each on empty schemas after a checkpoint.
 *   The result is the ratio of neighbors.
 * - A window begins when all writers are warm and ends when the first has used up its batches, so
 *   that all of them write all the time.
 * - Shards of one server share its WAL: one fsync can make commits of both durable, which the
 *   figure `WAL syncs a commit` shows.
 */
import { execFileSync, fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../../src/base/project_root.js'
import type { Database } from '../../src/store/database.js'
import { connectToPrimary, parseStoreUrl } from '../../src/store/postgres/connection.js'
import { startPostgres, type TestServer } from '../support/postgres_server.js'
import { CREATES } from './create_batches.js'
import { median } from './machine.js'
import type { Tools } from './measured_window.js'
import { usageBetween, usageNow } from './process_usage.js'
import { finding, type Finding, type Part, type Section } from './result.js'
import type { CommitTimes } from './shard_writer.js'
import { end } from './stacks.js'

export interface ShardSettings {
  readonly pairs: number
  /** Of each writer, measured. */
  readonly batches: number
}

export interface Played {
  readonly side: Side
  readonly createsPerSecond: number
  /** From one commit to the next of a writer. */
  readonly commitMs: number
  /** Undefined: the server does not tell. */
  readonly walSyncsACommit: number | undefined
  readonly coresUsed: Readonly<Record<'writers' | 'server' | 'elsewhere', number>>
}

interface Server {
  readonly server: TestServer
  readonly connection: Database
}

/** A writer and where it commits. */
interface Writer extends Server {
  readonly shard: string
}

/** Of each writer of a side, its server. */
const SIDES = {
  'one writer': [0],
  'two writers': [0, 0],
  'two servers': [0, 1],
} as const satisfies Record<string, readonly number[]>
export type Side = keyof typeof SIDES
const SIDE_NAMES = Object.keys(SIDES) as readonly Side[]
const SERVERS = 2
/** With the defaults, commits of two writers wait for the writing of data pages. */
const TUNED = {
  shared_buffers: '1GB',
  wal_buffers: '64MB',
  min_wal_size: '2GB',
  max_wal_size: '8GB',
}
const WARM_UP_SHARE = 0.25
const SHOW = `SELECT current_setting('fsync') AS fsync,
  current_setting('server_version') AS version`
const LAYOUTS = [
  { cores: 'a core for each writer', name: 'own_core', hasOwnCore: true },
  { cores: 'all cores for all', name: 'all_cores', hasOwnCore: false },
] as const
type Layout = (typeof LAYOUTS)[number]
/** In both layouts, though two cores cannot give it in the second one (the control). */
const TARGET = { atLeast: 1.9 }

export async function measureShards(
  { folder, machine, progress }: Pick<Tools, 'folder' | 'machine' | 'progress'>,
  { pairs, batches }: ShardSettings,
): Promise<Part> {
  mkdirSync(folder, { recursive: true })
  const teardowns: (() => unknown)[] = []
  const teardown = (run: () => unknown): void => void teardowns.unshift(run)
  try {
    const servers: Server[] = []
    for (let n = 1; n <= SERVERS; n += 1) {
      const server = await startPostgres({ teardown }, TUNED, folder)
      const connection = await connectToPrimary(parseStoreUrl(server.url), 'public', 'load')
      teardown(() => connection.close())
      await connection.exec('SET client_min_messages = error')
      servers.push({ server, connection })
    }
    const sections: Section[] = []
    for (const layout of LAYOUTS) {
      const played: Played[] = []
      for (let round = 1; round <= pairs; round += 1) {
        for (const side of round % 2 === 1 ? SIDE_NAMES : SIDE_NAMES.toReversed()) {
          const what = `${layout.cores}: ${side} ${round}`
          progress(`${what}: preparing`)
          const name = `${layout.name}_${side.replace(' ', '_')}_${round}`
          const writers = SIDES[side].map((at, index): Writer => ({
            ...serverAt(servers, at),
            shard: `${name}_${index + 1}`,
          }))
          const result = await play({ side, writers, folder, batches, layout })
          progress(`${what}: ${textOf(result)}`)
          played.push(result)
        }
      }
      const title = `commits of ${CREATES} creates, ${layout.cores}`
      sections.push({ title, windows: [], findings: shardFindings(played) })
    }
    const { connection } = serverAt(servers, 0)
    const [shown] = await connection.all<{ fsync: string; version: string }>(SHOW)
    const { fsync = '', version = '' } = shown ?? {}
    const voidBecause = [
      ...(fsync === 'on' ? [] : [`fsync of the server is ${fsync}`]),
      ...(machine.fileSystem === 'tmpfs' ? ['the data is not on a disk'] : []),
    ]
    return { sections, voidBecause, settings: { store: `PostgreSQL ${version}, fsync ${fsync}` } }
  } finally {
    for (const run of teardowns) await run()
  }
}

function serverAt(servers: readonly Server[], index: number): Server {
  const server = servers[index]
  if (server === undefined) throw new Error(`there is no server ${index}`)
  return server
}

interface Play {
  readonly side: Side
  readonly writers: readonly Writer[]
  readonly folder: string
  readonly batches: number
  readonly layout: Layout
}

/** @throws when what was committed is not what is stored */
async function play({ side, writers: plan, folder, batches, layout }: Play): Promise<Played> {
  const warmUp = Math.ceil(batches * WARM_UP_SHARE)
  const servers = [...new Map(plan.map((each) => [each.server, each])).values()]
  const writers = plan.map(({ server, shard }) => {
    const given = { url: server.url, shard, folder: join(folder, shard) }
    mkdirSync(given.folder)
    const flags = { ...given, 'warm-up': warmUp, batches }
    return forkWriter(Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, `${value}`]))
  })
  try {
    await Promise.all(writers.map(said))
    for (const { connection } of servers) await connection.exec('CHECKPOINT')
    if (layout.hasOwnCore) {
      for (const [index, writer] of plan.entries()) {
        runOnCore(index, [writers[index]?.pid, await sessionOf(writer)])
      }
    }
    const processOf = (name: string, index: number): string => `${name} ${index + 1}`
    const watched = [
      ...writers.map(({ pid = 0 }, index) => ({ name: processOf('writer', index), pid })),
      ...servers.map(({ server }, index) => ({
        ...{ name: processOf('server', index), pid: server.pid(), hasChildren: true },
      })),
    ]
    const syncsBefore = await walSyncs(servers)
    const reports = writers.map(said)
    for (const report of reports) report.catch(() => undefined) // `Promise.all` rejects
    const [opened, openedAt] = [usageNow(watched), performance.timeOrigin + performance.now()]
    for (const writer of writers) writer.send('begin')
    await Promise.race(reports)
    const { processes, elsewhereCpuMs } = usageBetween(opened, usageNow(watched))
    const watchedMs = performance.timeOrigin + performance.now() - openedAt
    const times = (await Promise.all(reports)) as readonly CommitTimes[]
    const syncs = (await walSyncs(servers)) - syncsBefore
    for (const writer of writers) writer.send('end')
    await Promise.all(writers.map((writer) => once(writer, 'exit')))
    for (const writer of plan) await checkStored(writer, (warmUp + batches) * CREATES)

    const closedAt = Math.min(...times.map((each) => each.at(-1) ?? openedAt))
    const commits = times.flat().filter((at) => at <= closedAt).length
    const cores = (name: string, of: readonly unknown[]): number =>
      of
        .map((_, index) => processes[processOf(name, index)])
        .reduce((sum, used) => sum + (used?.mainCpuMs ?? 0) + (used?.otherCpuMs ?? 0), 0) /
      watchedMs
    return {
      side,
      createsPerSecond: (1_000 * commits * CREATES) / (closedAt - openedAt),
      commitMs: (plan.length * (closedAt - openedAt)) / commits,
      walSyncsACommit: Number.isNaN(syncs) ? undefined : syncs / times.flat().length,
      coresUsed: {
        writers: cores('writer', writers),
        server: cores('server', servers),
        elsewhere: elsewhereCpuMs / watchedMs,
      },
    }
  } finally {
    await Promise.all(writers.map(end))
  }
}

function forkWriter(flags: readonly string[]): ChildProcess {
  const main = join(projectRoot(), '.build/test/load/shard_writer.js')
  return fork(main, flags, { execArgv: ['--enable-source-maps', '--expose-gc'] })
}

async function sessionOf({ connection, shard }: Writer): Promise<number | undefined> {
  const [row] = await connection.all<{ session: number }>(`SELECT session FROM ${shard}.owner`)
  return row?.session
}

/** Of the cores that this process may use, the one with this index. */
function runOnCore(index: number, pids: readonly (number | undefined)[]): void {
  const allowed = coresOf(readFileSync('/proc/self/status', 'utf8'))
  const core = String(allowed[index % allowed.length])
  for (const pid of pids) execFileSync('taskset', ['-acp', core, String(pid)], { stdio: 'ignore' })
}

/** @param status as in /proc/self/status, whose list is of numbers and ranges: `0-1,4` */
export function coresOf(status: string): readonly number[] {
  const [, list = '0'] = /^Cpus_allowed_list:\s*(\S+)$/m.exec(status) ?? []
  return list.split(',').flatMap((part) => {
    const [first = 0, last = first] = part.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_, index) => first + index)
  })
}

/** The next message. @throws when the writer ends first */
async function said(writer: ChildProcess): Promise<unknown> {
  const ended = new AbortController()
  const onExit = (): void => ended.abort(new Error('a writer ended'))
  writer.once('exit', onExit)
  try {
    const [message] = (await once(writer, 'message', { signal: ended.signal })) as unknown[]
    return message
  } finally {
    writer.off('exit', onExit)
  }
}

/** NaN where a server has no such figure: newer ones count them elsewhere. */
async function walSyncs(servers: readonly Server[]): Promise<number> {
  let syncs = 0
  for (const { connection } of servers) {
    const [row] = await connection.all<{ syncs: string | null }>(
      `SELECT to_jsonb(pg_stat_wal) ->> 'wal_sync' AS syncs FROM pg_stat_wal`,
    )
    syncs += Number(row?.syncs ?? Number.NaN)
  }
  return syncs
}

/** Removes the shard, too. */
async function checkStored({ connection, shard }: Writer, creates: number): Promise<void> {
  const [row] = await connection.all<{ n: number }>(`SELECT count(*) AS n FROM ${shard}.intents`)
  await connection.exec(`DROP SCHEMA ${shard} CASCADE`)
  // The first batch is the demo partner.
  if (row?.n !== creates - CREATES)
    throw new Error(`${shard} holds ${row?.n} of ${creates} creates`)
}

const whole = (value: number): string => Math.round(value).toLocaleString('en-US')

function textOf({ createsPerSecond, commitMs, walSyncsACommit, coresUsed }: Played): string {
  const { writers, server, elsewhere } = coresUsed
  return (
    `${whole(createsPerSecond)} creates/s, ${commitMs.toFixed(2)} ms a commit, ` +
    `${walSyncsACommit?.toFixed(2) ?? 'unknown'} WAL syncs a commit, cores used: ` +
    `writers ${writers.toFixed(2)}, server ${server.toFixed(2)}, elsewhere ${elsewhere.toFixed(2)}`
  )
}

export function shardFindings(played: readonly Played[]): Finding[] {
  const of = (side: Side): readonly Played[] => played.filter((one) => one.side === side)
  const sideFindings = (side: Side): Finding[] => {
    const value = (name: string, figure: (one: Played) => number, unit: string): Finding =>
      finding(`${side}, ${name}`, median(of(side).map(figure)), unit)
    return [
      value('creates', ({ createsPerSecond }) => createsPerSecond, '/s'),
      value('a commit', ({ commitMs }) => commitMs, 'ms'),
      value('WAL syncs a commit', ({ walSyncsACommit = Number.NaN }) => walSyncsACommit, ''),
      value('cores used by writers', ({ coresUsed }) => coresUsed.writers, ''),
      value('cores used by the server', ({ coresUsed }) => coresUsed.server, ''),
      value('cores used elsewhere', ({ coresUsed }) => coresUsed.elsewhere, ''),
    ]
  }
  const ratioFindings = (side: Side, target?: typeof TARGET): Finding[] => {
    const ratios = of('one writer').map(
      (one, round) => (of(side)[round]?.createsPerSecond ?? Number.NaN) / one.createsPerSecond,
    )
    const name = `${side} / one writer`
    return [
      ...ratios.map((ratio, round) => finding(`${name}, pair ${round + 1}`, ratio, '×')),
      finding(name, median(ratios), '×', target),
      finding(`${name}, least of ${ratios.length}`, Math.min(...ratios), '×'),
      finding(`${name}, greatest of ${ratios.length}`, Math.max(...ratios), '×'),
    ]
  }
  return [
    ...SIDE_NAMES.flatMap(sideFindings),
    ...ratioFindings('two writers', TARGET),
    ...ratioFindings('two servers'),
  ]
}
