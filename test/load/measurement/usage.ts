/**
 * What processes use, read from /proc.
 *
 * Owns: CPU time, memory and open files at one moment, and the difference of two. Does not own:
 * which processes there are, when to look (sampler).
 *
 * - Linux counts in ticks of 10 ms; over windows of seconds that is exact enough.
 * - A process's main thread, where its JavaScript runs, is told apart from its other threads.
 */
import { readdirSync, readFileSync } from 'node:fs'

export interface Watched {
  readonly name: string
  readonly pid: number
}

export interface Moment {
  readonly processes: ReadonlyMap<string, ProcessMoment>
  /** All that the machine's cores did, the time that the host took away included. */
  readonly machineCpuMs: number
}

interface ProcessMoment {
  readonly mainThreadCpuMs: number
  readonly cpuMs: number
  readonly rssMiB: number
}

export interface Usage {
  readonly mainThreadCpuMs: number
  readonly otherThreadsCpuMs: number
  /** At the end. */
  readonly rssMiB: number
}

export interface Difference {
  readonly processes: Readonly<Record<string, Usage>>
  /** Used by nobody whom we watch: other programs, the kernel's own work, the host. */
  readonly elsewhereCpuMs: number
}

/** USER_HZ is 100 on every Linux that Node runs on. */
const TICK_MS = 10

export function usageNow(watched: readonly Watched[]): Moment {
  return {
    processes: new Map(watched.map((one) => [one.name, processNow(one)])),
    machineCpuMs: machineCpuMs(readFileSync('/proc/stat', 'utf8')),
  }
}

/** Files, sockets and all else a process has open. */
export const openHandles = ({ name, pid }: Watched): number =>
  reading(name, pid, () => readdirSync(`/proc/${pid}/fd`).length)

export function usageBetween(before: Moment, after: Moment): Difference {
  const processes: Record<string, Usage> = {}
  let ours = 0
  for (const [name, now] of after.processes) {
    const then = before.processes.get(name)
    if (then === undefined) continue
    const all = now.cpuMs - then.cpuMs
    const main = now.mainThreadCpuMs - then.mainThreadCpuMs
    processes[name] = {
      mainThreadCpuMs: main,
      otherThreadsCpuMs: Math.max(0, all - main),
      rssMiB: now.rssMiB,
    }
    ours += all
  }
  const machine = after.machineCpuMs - before.machineCpuMs
  return { processes, elsewhereCpuMs: Math.max(0, machine - ours) }
}

function processNow({ name, pid }: Watched): ProcessMoment {
  const read = (file: string): string =>
    reading(name, pid, () => readFileSync(`/proc/${pid}/${file}`, 'utf8'))
  return {
    mainThreadCpuMs: taskCpuMs(read(`task/${pid}/stat`)),
    cpuMs: taskCpuMs(read('stat')),
    rssMiB: Number(/^VmRSS:\s+([0-9]+) kB$/m.exec(read('status'))?.[1] ?? 0) / 1_024,
  }
}

function reading<T>(name: string, pid: number, read: () => T): T {
  try {
    return read()
  } catch (cause) {
    throw new Error(`the ${name} (process ${pid}) has ended`, { cause })
  }
}

/** utime and stime. Fields count from the last bracket: the name before it may hold anything. */
export function taskCpuMs(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}

/** All of the first line but idle, iowait and what is counted twice (guests). */
export function machineCpuMs(stat: string): number {
  const [user, nice, system, , , irq, softirq, steal] = stat
    .slice(0, stat.indexOf('\n'))
    .split(/ +/)
    .slice(1)
    .map(Number)
  const busy = [user, nice, system, irq, softirq, steal].reduce<number>(
    (sum, x) => sum + (x ?? 0),
    0,
  )
  return busy * TICK_MS
}
