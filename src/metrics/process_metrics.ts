/**
 * What every process reports about itself, and the page of a process that runs alone.
 *
 * - The lag of the event loop is how much later than planned a short timer fires.
 */
import { readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { projectRoot } from '../base/project_root.js'
import type { ProcessKind } from './families.js'
import type { Metrics } from './metrics.js'
import { mergePages } from './page_text.js'

const LOOK_EVERY_MS = 50
const PER_SECOND = 1_000
const MICROSECONDS = 1_000_000
const FDS = '/proc/self/fd'

export function reportProcess(metrics: Metrics): void {
  const version = ownVersion()
  metrics.readAll('causeway_build_info', () => [[1, version]])
  metrics.read('causeway_process_cpu_seconds_total', () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / MICROSECONDS
  })
  metrics.read('causeway_process_resident_memory_bytes', () => process.memoryUsage.rss())
  metrics.read('causeway_process_heap_bytes', () => process.memoryUsage().heapUsed)
  metrics.read('causeway_process_open_fds', openFiles)
  metrics.read('causeway_process_start_time_seconds', () => performance.timeOrigin / PER_SECOND)
  watchEventLoop(metrics)
}

export const ownVersion = (): string =>
  (JSON.parse(readFileSync(join(projectRoot(), 'package.json'), 'utf8')) as { version: string })
    .version

/** Null where the system does not tell. */
const openFiles = (): Promise<number | null> =>
  readdir(FDS).then(
    (found) => found.length,
    () => null,
  )

/** The timer keeps no process alive. */
function watchEventLoop(metrics: Metrics): void {
  const lag = metrics.histogram('causeway_event_loop_lag_seconds')
  let plannedAt = performance.now() + LOOK_EVERY_MS
  const timer = setInterval(() => {
    const now = performance.now()
    lag.observe(Math.max(0, now - plannedAt) / PER_SECOND)
    plannedAt = now + LOOK_EVERY_MS
  }, LOOK_EVERY_MS)
  timer.unref()
}

/** The page of a process without a supervisor: its samples name their process, as a stack's do. */
export const ownPage = async (process: ProcessKind, metrics: Metrics): Promise<string> =>
  mergePages(new Map([[process, await metrics.text()]]))
