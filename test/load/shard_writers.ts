/**
 * Writers of one shard and of two at once on one PostgreSQL server, each a process of its own.
 *
 * - The sides alternate: one, two, two, one and so on, each on empty schemas after a checkpoint.
 *   The result is the ratio of neighbors.
 * - A window begins when all writers are warm and ends when the first has used up its batches, so
 *   that all of them write all the time.
 * - Both shards share the server's WAL: one fsync can make commits of both durable, which the
 *   figure `WAL syncs a commit` shows. Shards on servers of their own would not share it.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../../src/base/project_root.js'
import type { Database } from '../../src/store/database.js'
import { connectToPrimary, parseStoreUrl } from '../../src/store/postgres/connection.js'
import { startPostgres, type TestServer } from '../support/postgres_server.js'
import { CREATES } from './create_batches.js'
import { median } from './machine.js'
import type { Tools } from './measured_window.js'
import { usageBetween, usageNow, type Usage } from './process_usage.js'
import { finding, type Finding, type Part } from './result.js'
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

type World = Readonly<{ server: TestServer; connection: Database; folder: string }>

const SIDES = ['one writer', 'two writers'] as const
export type Side = (typeof SIDES)[number]
const WRITERS: Readonly<Record<Side, number>> = { 'one writer': 1, 'two writers': 2 }
const WARM_UP_SHARE = 0.25
const SHOW = `SELECT current_setting('fsync') AS fsync,
  current_setting('server_version') AS version`
const TARGET = { atLeast: 1.9 }

export async function measureShards(
  { folder, machine, progress }: Pick<Tools, 'folder' | 'machine' | 'progress'>,
  { pairs, batches }: ShardSettings,
): Promise<Part> {
  mkdirSync(folder, { recursive: true })
  const teardowns: (() => unknown)[] = []
  const teardown = (run: () => unknown): void => void teardowns.unshift(run)
  try {
    const server = await startPostgres({ teardown }, {}, folder)
    const connection = await connectToPrimary(parseStoreUrl(server.url), 'public', 'load')
    teardown(() => connection.close())
    await connection.exec('SET client_min_messages = error')
    const world = { server, connection, folder }
    const played: Played[] = []
    for (let pair = 1; pair <= pairs; pair += 1) {
      for (const side of pair % 2 === 1 ? SIDES : SIDES.toReversed()) {
        progress(`${side} ${pair}: preparing`)
        const result = await play(world, side, `pair_${pair}`, batches)
        progress(`${side} ${pair}: ${textOf(result)}`)
        played.push(result)
      }
    }
    const [shown] = await connection.all<{ fsync: string; version: string }>(SHOW)
    const { fsync = '', version = '' } = shown ?? {}
    const voidBecause = [
      ...(fsync === 'on' ? [] : [`fsync of the server is ${fsync}`]),
      ...(machine.fileSystem === 'tmpfs' ? ['the data is not on a disk'] : []),
    ]
    const title = `commits of ${CREATES} creates by writers of one shard and of two`
    const sections = [{ title, windows: [], findings: shardFindings(played) }]
    return { sections, voidBecause, settings: { store: `PostgreSQL ${version}, fsync ${fsync}` } }
  } finally {
    for (const run of teardowns) await run()
  }
}

/** @throws when what was committed is not what is stored */
async function play(
  { server, connection, folder }: World,
  side: Side,
  name: string,
  batches: number,
): Promise<Played> {
  const shards = Array.from({ length: WRITERS[side] }, (_, index) => `${name}_${index + 1}`)
  const warmUp = Math.ceil(batches * WARM_UP_SHARE)
  const writers = shards.map((shard) => {
    const given = { url: server.url, shard, folder: join(folder, `${shard}_${WRITERS[side]}`) }
    mkdirSync(given.folder)
    const flags = { ...given, 'warm-up': warmUp, batches }
    return forkWriter(Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, `${value}`]))
  })
  try {
    await Promise.all(writers.map(said))
    await connection.exec('CHECKPOINT')
    const watched = [
      ...writers.map(({ pid = 0 }, index) => ({ name: `writer ${index + 1}`, pid })),
      { name: 'server', pid: server.pid(), hasChildren: true },
    ]
    const syncsBefore = await walSyncs(connection)
    const reports = writers.map(said)
    for (const report of reports) report.catch(() => undefined) // `Promise.all` rejects
    const [opened, openedAt] = [usageNow(watched), performance.timeOrigin + performance.now()]
    for (const writer of writers) writer.send('begin')
    await Promise.race(reports)
    const { processes, elsewhereCpuMs } = usageBetween(opened, usageNow(watched))
    const watchedMs = performance.timeOrigin + performance.now() - openedAt
    const times = (await Promise.all(reports)) as readonly CommitTimes[]
    const syncs = (await walSyncs(connection)) - syncsBefore
    for (const writer of writers) writer.send('end')
    await Promise.all(writers.map((writer) => once(writer, 'exit')))
    for (const shard of shards) await checkStored(connection, shard, (warmUp + batches) * CREATES)

    const closedAt = Math.min(...times.map((each) => each.at(-1) ?? openedAt))
    const commits = times.flat().filter((at) => at <= closedAt).length
    const cores = (of: Usage | undefined): number =>
      ((of?.mainCpuMs ?? 0) + (of?.otherCpuMs ?? 0)) / watchedMs
    const ofWriters = shards.map((_, index) => cores(processes[`writer ${index + 1}`]))
    return {
      side,
      createsPerSecond: (1_000 * commits * CREATES) / (closedAt - openedAt),
      commitMs: (shards.length * (closedAt - openedAt)) / commits,
      walSyncsACommit: Number.isNaN(syncs) ? undefined : syncs / times.flat().length,
      coresUsed: {
        writers: ofWriters.reduce((sum, one) => sum + one, 0),
        server: cores(processes['server']),
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

/** NaN where the server has no such figure: newer ones count them elsewhere. */
async function walSyncs(connection: Database): Promise<number> {
  const [row] = await connection.all<{ syncs: string | null }>(
    `SELECT to_jsonb(pg_stat_wal) ->> 'wal_sync' AS syncs FROM pg_stat_wal`,
  )
  return Number(row?.syncs ?? Number.NaN)
}

/** Removes the shard, too. */
async function checkStored(connection: Database, shard: string, creates: number): Promise<void> {
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
  const [ones, twos] = [of('one writer'), of('two writers')]
  const ratios = ones.map(
    (one, pair) => (twos[pair]?.createsPerSecond ?? Number.NaN) / one.createsPerSecond,
  )
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
  return [
    ...SIDES.flatMap(sideFindings),
    ...ratios.map((ratio, pair) => finding(`two / one, pair ${pair + 1}`, ratio, '×')),
    finding('two / one', median(ratios), '×', TARGET),
    finding(`two / one, least of ${ratios.length}`, Math.min(...ratios), '×'),
    finding(`two / one, greatest of ${ratios.length}`, Math.max(...ratios), '×'),
  ]
}
