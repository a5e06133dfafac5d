/**
 * CPU time of a process's threads beside the main one, by what they do.
 *
 * Owns: telling them apart. Does not own: the main thread's time (usage).
 *
 * - Node 20 names none of them. Those of libuv's pool, where SQLite runs, read and write files;
 *   the engine's, which collect and compile, move some bytes at most.
 * - The thread that takes a profile's samples is named by the engine.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { taskCpuMs, type Watched } from '../measurement/usage.js'

export const FILES = 'SQLite and files'
export const ENGINES = 'collector and compiler'
export const SAMPLES = 'samples'
export type ThreadKind = typeof FILES | typeof ENGINES | typeof SAMPLES
/** CPU milliseconds since the threads began. */
export type ThreadTimes = Readonly<Record<ThreadKind, number>>

const SAMPLER = /^v8:Prof/
const FEW_BYTES = 1_024

export function threadTimes({ pid }: Watched): ThreadTimes {
  const times: Record<ThreadKind, number> = { [FILES]: 0, [ENGINES]: 0, [SAMPLES]: 0 }
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    if (task === String(pid)) continue
    const read = (file: string): string => readFileSync(`/proc/${pid}/task/${task}/${file}`, 'utf8')
    times[kindOf(read('comm'), read('io'))] += taskCpuMs(read('stat'))
  }
  return times
}

export function kindOf(name: string, io: string): ThreadKind {
  if (SAMPLER.test(name)) return SAMPLES
  const bytes = [...io.matchAll(/^[rw]char: ([0-9]+)$/gm)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  )
  return bytes > FEW_BYTES ? FILES : ENGINES
}
