/**
 * The upgrade drill: under load of clients that repeat no request, every process is replaced, one
 * by one, as `make restart` does.
 *
 * Does not own: the stack or cluster that it drills (main.ts, the test).
 */
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Credentials } from '../../src/client/index.js'
import { RESTART_FILE, type RestartProgress } from '../../src/supervisor/rolling_restart.js'
import { startSteadyLoad, type Failure, type Window } from './load.js'

export interface DrillOptions {
  readonly dataDir: string
  /** The addresses of each tenant. */
  readonly tenants: readonly (readonly Credentials[])[]
  readonly perSecond: number
  readonly rounds: number
  /** Begins a rolling restart. */
  readonly restart: () => void | Promise<void>
}

export interface Replaced extends Window {
  readonly name: string
}

export interface DrillResult {
  /** In order of time. */
  readonly replaced: readonly Replaced[]
  readonly failures: readonly Failure[]
  readonly requests: number
}

const POLL_INTERVAL_MS = 10
/** Before and between the rounds. */
const QUIET_MS = 1_000

export async function upgradeDrill(options: DrillOptions): Promise<DrillResult> {
  const { tenants, perSecond, rounds } = options
  const load = await startSteadyLoad(tenants, perSecond)
  const startedAt = performance.now()
  const spans: { name: string; from: number; to: number }[] = []
  try {
    for (let round = 0; round < rounds; round++) {
      await sleep(QUIET_MS)
      spans.push(...(await followRestart(options)))
    }
    await sleep(QUIET_MS)
  } finally {
    await load.stop()
  }
  return {
    replaced: spans.map(({ name, from, to }) => ({ name, ...load.within(from, to) })),
    failures: load.failures,
    requests: load.within(startedAt, performance.now()).requests,
  }
}

/** When each process was replaced. @throws Error when the restart ends early */
async function followRestart({ dataDir, restart }: DrillOptions) {
  const file = join(dataDir, RESTART_FILE)
  const spans: { name: string; from: number; to: number }[] = []
  rmSync(file, { force: true })
  await restart()
  let from = performance.now()
  for (;;) {
    await sleep(POLL_INTERVAL_MS)
    const progress = progressIn(file)
    for (const { name } of progress?.replaced.slice(spans.length) ?? []) {
      const to = performance.now()
      spans.push({ name, from, to })
      from = to
    }
    if (progress?.state === 'failed') throw new Error(progress.reason)
    if (progress?.state === 'done') return spans
  }
}

/** Undefined means that it has not begun. */
function progressIn(file: string): RestartProgress | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as RestartProgress
  } catch {
    return undefined
  }
}

/** One line for each process. */
export function tableOf({ replaced }: DrillResult): readonly string[] {
  const names = [...new Set(replaced.map(({ name }) => name))]
  const rows = names.map((name) => {
    const own = replaced.filter((each) => each.name === name)
    const pauses = own.map(({ pauseMs }) => pauseMs).sort((one, other) => one - other)
    return [
      name,
      inMs(pauses[Math.floor(pauses.length / 2)]),
      inMs(pauses.at(-1)),
      inMs(Math.max(...own.map(({ slowestMs }) => slowestMs))),
      String(own.reduce((sum, { requests }) => sum + requests, 0)),
      String(own.reduce((sum, { failed }) => sum + failed, 0)),
      '0',
    ]
  })
  return [HEADS, ...rows].map((cells) => cells.map(padded).join('  '))
}

const HEADS = ['process', 'pause median', 'worst', 'slowest', 'requests', 'failed', 'repeated']
const WIDTHS = [12, 12, 9, 9, 8, 6, 8]
const padded = (cell: string, index: number): string =>
  index === 0 ? cell.padEnd(WIDTHS[0]!) : cell.padStart(WIDTHS[index]!)
const inMs = (ms = 0): string => `${Math.round(ms)} ms`
