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
 */
import { execFileSync, fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../../src/base/project_root.js'
import { connectToPrimary, parseStoreUrl } from '../../src/store/postgres/connection.js'
import { startPostgres } from '../support/postgres_server.js'
import { CREATES } from './create_batches.js'
import { median } from './machine.js'
import { alternate, type Tools } from './measured_window.js'
import { usageBetween, usageNow } from './process_usage.js'
import { finding, ratioFindings, type Finding, type Part, type Section } from './result.js'
import type { CommitTimes } from './shard_writer.js'
import { end } from './stacks.js'

export type Played = Awaited<ReturnType<typeof play>> & { readonly side: Side }
type Server = Awaited<ReturnType<typeof openServer>>
/** A writer's schema and its server. */
type ShardServer = Server & { readonly shard: string }

/** The servers of a side's writers, by index. */
const SIDES = {
  'one writer': [0],
  'two writers': [0, 0],
  'two servers': [0, 1],
} as const
export type Side = keyof typeof SIDES
const SIDE_NAMES = Object.keys(SIDES) as readonly Side[]
/** In both layouts, though two cores cannot give it in the second one (the control). */
const TARGET = { atLeast: 1.9 }
const LAYOUTS = { 'a core for each writer': true, 'all cores for all': false }
/** With the defaults, commits of two writers wait for the writing of data pages. */
const TUNED = {
  ...{ fsync: 'on', shared_buffers: '1GB', wal_buffers: '64MB' },
  ...{ min_wal_size: '2GB', max_wal_size: '8GB' },
}
const WARM_UP_SHARE = 0.25

type Teardown = Parameters<typeof startPostgres>[0]

/** @param batches of each writer, measured */
export async function measureShards(
  { folder, machine, progress }: Pick<Tools, 'folder' | 'machine' | 'progress'>,
  { pairs, batches }: { readonly pairs: number; readonly batches: number },
): Promise<Part> {
  mkdirSync(folder, { recursive: true })
  const teardowns: (() => unknown)[] = []
  const t: Teardown = { teardown: (run) => void teardowns.unshift(run) }
  try {
    const servers = [await openServer(t, folder), await openServer(t, folder)] as const
    const sections: Section[] = []
    for (const [layout, hasOwnCore] of Object.entries(LAYOUTS)) {
      const played = await alternate(SIDE_NAMES, [1, pairs], async (side, round) => {
        progress(`${layout}: ${side} ${round}: preparing`)
        const shardServers = SIDES[side].map((at, index): ShardServer => ({
          ...{ ...servers[at], shard: `shard_${index + 1}` },
        }))
        const one = { side, ...(await play(shardServers, folder, batches, hasOwnCore)) }
        const [rate, ms] = [Math.round(one.createsPerSecond), one.commitMs.toFixed(2)]
        progress(`${layout}: ${side} ${round}: ${rate} creates/s, ${ms} ms a commit`)
        return one
      })
      const title = `commits of ${CREATES} creates, ${layout}`
      sections.push({ title, windows: [], findings: shardFindings(played) })
    }
    const [shown] = await servers[0].connection.all<{ server_version: string }>(
      'SHOW server_version',
    )
    const voidBecause = machine.fileSystem === 'tmpfs' ? ['the data is not on a disk'] : []
    return { sections, voidBecause, settings: { store: `PostgreSQL ${shown?.server_version}` } }
  } finally {
    for (const run of teardowns) await run()
  }
}

async function openServer(t: Teardown, folder: string) {
  const server = await startPostgres(t, TUNED, folder)
  const connection = await connectToPrimary(parseStoreUrl(server.url), 'public', 'load')
  t.teardown(() => connection.close())
  await connection.exec('SET client_min_messages = error')
  return { ...server, connection }
}

/** @throws when what was committed is not what is stored */
async function play(
  shardServers: readonly ShardServer[],
  folder: string,
  batches: number,
  hasOwnCore: boolean,
) {
  const warmUp = Math.ceil(batches * WARM_UP_SHARE)
  const writers = shardServers.map(({ url, shard }) => {
    const flags = { url, shard, folder: mkdtempSync(join(folder, 'writer-')), batches }
    return forkWriter({ ...flags, 'warm-up': warmUp })
  })
  try {
    await Promise.all(writers.map(said))
    const servers = [...new Map(shardServers.map((server) => [server.url, server])).values()]
    for (const { connection } of servers) await connection.exec('CHECKPOINT')
    for (const [index, server] of hasOwnCore ? shardServers.entries() : []) {
      await runOnCore(index, writers[index]!, server)
    }
    const watched = [
      ...writers.map(({ pid = 0 }) => ({ name: `writer ${pid}`, pid })),
      ...servers.map(({ url, pid }) => ({ name: url, pid: pid(), hasChildren: true })),
    ]
    const reports = writers.map(said) as readonly Promise<CommitTimes>[]
    for (const report of reports) report.catch(() => undefined) // `Promise.all` rejects
    const [opened, openedAt] = [usageNow(watched), performance.timeOrigin + performance.now()]
    for (const writer of writers) writer.send('begin')
    await Promise.race(reports)
    const { processes, elsewhereCpuMs } = usageBetween(opened, usageNow(watched))
    const watchedMs = performance.timeOrigin + performance.now() - openedAt
    const times = await Promise.all(reports)
    await Promise.all(writers.map(end))
    for (const server of shardServers) await checkStored(server, (warmUp + batches) * CREATES)

    const closedAt = Math.min(...times.map((each) => each.at(-1) ?? openedAt))
    const commits = times.flat().filter((at) => at <= closedAt).length
    const cpuMs = Object.values(processes).map((used) => used.mainCpuMs + used.otherCpuMs)
    return {
      createsPerSecond: (1_000 * commits * CREATES) / (closedAt - openedAt),
      /** From one commit to the next of a writer. */
      commitMs: (shardServers.length * (closedAt - openedAt)) / commits,
      /** By the writers and their servers. */
      coresUsed: cpuMs.reduce((sum, ms) => sum + ms) / watchedMs,
      coresElsewhere: elsewhereCpuMs / watchedMs,
    }
  } finally {
    await Promise.all(writers.map(end))
  }
}

function forkWriter(flags: Readonly<Record<string, string | number>>): ChildProcess {
  const main = join(projectRoot(), '.build/test/load/shard_writer.js')
  const given = Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, String(value)])
  return fork(main, given, { execArgv: ['--expose-gc'] })
}

/** The next message. @throws when the writer ends first */
const said = (writer: ChildProcess): Promise<unknown> =>
  Promise.race([
    once(writer, 'message').then(([message]: unknown[]) => message),
    once(writer, 'exit').then(() => Promise.reject(new Error('a writer ended'))),
  ])

/** The writer and its session share one of the cores that this process may use. */
async function runOnCore(index: number, { pid }: ChildProcess, { connection, shard }: ShardServer) {
  const [owner] = await connection.all<{ session: number }>(`SELECT session FROM ${shard}.owner`)
  const allowed = coresOf(readFileSync('/proc/self/status', 'utf8'))
  const core = String(allowed[index % allowed.length])
  for (const each of [pid, owner?.session])
    execFileSync('taskset', ['-acp', core, String(each)], { stdio: 'ignore' })
}

/** @param status as in /proc/self/status, whose list is of numbers and ranges: `0-1,4` */
export function coresOf(status: string): readonly number[] {
  const [, list = '0'] = /^Cpus_allowed_list:\s*(\S+)$/m.exec(status) ?? []
  return list.split(',').flatMap((part) => {
    const [first = 0, last = first] = part.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_, index) => first + index)
  })
}

/** Removes the shard, too. */
async function checkStored({ connection, shard }: ShardServer, creates: number): Promise<void> {
  const [row] = await connection.all<{ n: number }>(`SELECT count(*) AS n FROM ${shard}.intents`)
  await connection.exec(`DROP SCHEMA ${shard} CASCADE`)
  // The first batch is the demo partner.
  if (row?.n === creates - CREATES) return
  throw new Error(`${shard} holds ${row?.n} of ${creates - CREATES} creates`)
}

export function shardFindings(played: readonly Played[]): Finding[] {
  const figures = (side: Side, of: (one: Played) => number): readonly number[] =>
    played.filter((one) => one.side === side).map(of)
  const rates = (side: Side) => figures(side, ({ createsPerSecond }) => createsPerSecond)
  const ratios = (side: Side): readonly number[] =>
    rates('one writer').map((rate, round) => (rates(side)[round] ?? Number.NaN) / rate)
  const typical = (side: Side, name: string, of: (one: Played) => number, unit = ''): Finding =>
    finding(`${side}, ${name}`, median(figures(side, of)), unit)
  return [
    ...SIDE_NAMES.flatMap((side) => [
      typical(side, 'creates', ({ createsPerSecond }) => createsPerSecond, '/s'),
      typical(side, 'a commit', ({ commitMs }) => commitMs, 'ms'),
      typical(side, 'cores used', ({ coresUsed }) => coresUsed),
      typical(side, 'cores used elsewhere', ({ coresElsewhere }) => coresElsewhere),
    ]),
    ...ratioFindings('two writers / one writer', ratios('two writers'), TARGET),
    ...ratioFindings('two servers / one writer', ratios('two servers')),
  ]
}
