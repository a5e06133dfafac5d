/**
 * Runs the jobs of a queue, several at once, and more while cores are idle: tests often wait for
 * timers and processes, all of them at the same time.
 */
import { cpus, freemem } from 'node:os'
import type { Job, JobQueue } from './jobs.js'

export interface RunJobsOptions {
  /** Jobs that run at once whatever the machine does. */
  readonly atLeast: number
  readonly atMost: number
  /** Looked at once an interval. */
  readonly isMachineIdle: () => boolean
  /** Milliseconds. Default: a second. */
  readonly intervalMs?: number
}

export async function runJobs(
  queue: JobQueue,
  run: (job: Job) => Promise<void>,
  { atLeast, atMost, isMachineIdle, intervalMs = 1_000 }: RunJobsOptions,
): Promise<void> {
  const running = new Set<Promise<void>>()
  const startNext = (): boolean => {
    const job = queue.take()
    if (job === undefined) return false
    const ended = run(job).finally(() => {
      queue.ended(job)
      running.delete(ended)
    })
    running.add(ended)
    return true
  }
  const watch = setInterval(() => {
    if (isMachineIdle() && running.size >= atLeast && running.size < atMost) startNext()
  }, intervalMs)
  const fill = (): void => {
    while (running.size < atLeast && startNext()) continue
  }
  fill()
  while (running.size > 0) {
    await Promise.race(running)
    fill()
  }
  clearInterval(watch)
}

const IDLE_SHARE = 0.25
/** A job with its processes takes less than half of it. */
const FREE_BYTES = 2 * 1024 ** 3

/** @returns whether a quarter of the time of the cores was idle since the last call */
export function createIdleWatch(readCores = cpus, readFreeBytes = freemem): () => boolean {
  let before = timesOf(readCores())
  return () => {
    const now = timesOf(readCores())
    const share = (now.idle - before.idle) / (now.all - before.all)
    before = now
    return share >= IDLE_SHARE && readFreeBytes() >= FREE_BYTES
  }
}

/** Milliseconds of all cores. */
function timesOf(cores: ReturnType<typeof cpus>): { idle: number; all: number } {
  const sum = (values: readonly number[]): number => values.reduce((one, other) => one + other, 0)
  return {
    idle: sum(cores.map(({ times }) => times.idle)),
    all: sum(cores.flatMap(({ times }) => Object.values(times))),
  }
}
