/**
 * CPU time, memory and open files of processes, read from /proc.
 *
 * - Linux counts in ticks of 10 ms, which is exact enough over windows of seconds.
 * - A process's main thread, which runs its JavaScript, is reported apart from its other threads.
 */
import { readdirSync, readFileSync } from 'node:fs'

export interface Watched {
  readonly name: string
  readonly pid: number
}

export interface Usage {
  readonly mainCpuMs: number
  readonly otherCpuMs: number
  readonly rssMiB: number
}

export type UsageSnapshot = ReturnType<typeof usageNow>
export type Resources = ReturnType<typeof resourcesNow>

const byName = <T>(watched: readonly Watched[], of: (one: Watched) => T) =>
  Object.fromEntries(watched.map((one) => [one.name, of(one)])) as Readonly<Record<string, T>>

/** USER_HZ is 100 on every Linux that Node runs on. */
const TICK_MS = 10

export function usageNow(watched: readonly Watched[]) {
  return {
    processes: byName(watched, usageOf),
    /** Of all cores, the time that the host took away included. */
    machineCpuMs: machineCpuMs(readFileSync('/proc/stat', 'utf8')),
  }
}

/** Memory and open files, sockets included. @param at milliseconds since the load began */
export function resourcesNow(watched: readonly Watched[], at: number) {
  const files = ({ name, pid }: Watched): number =>
    reading(name, pid, () => readdirSync(`/proc/${pid}/fd`).length)
  const rssMiB = byName(watched, (one) => usageOf(one).rssMiB)
  return { at, rssMiB, openFiles: byName(watched, files) }
}

/** Memory is that of the end; elsewhere are other programs, the kernel's own work and the host. */
export function usageBetween(before: UsageSnapshot, after: UsageSnapshot) {
  const processes: Record<string, Usage> = {}
  let watchedMs = 0
  for (const [name, now] of Object.entries(after.processes)) {
    const then = before.processes[name]
    const mainCpuMs = now.mainCpuMs - (then?.mainCpuMs ?? 0)
    const otherCpuMs = Math.max(0, now.otherCpuMs - (then?.otherCpuMs ?? 0))
    processes[name] = { mainCpuMs, otherCpuMs, rssMiB: now.rssMiB }
    watchedMs += mainCpuMs + otherCpuMs
  }
  const machineMs = after.machineCpuMs - before.machineCpuMs
  return { processes, elsewhereCpuMs: Math.max(0, machineMs - watchedMs) }
}

function usageOf({ name, pid }: Watched): Usage {
  const read = (file: string): string =>
    reading(name, pid, () => readFileSync(`/proc/${pid}/${file}`, 'utf8'))
  const mainCpuMs = taskCpuMs(read(`task/${pid}/stat`))
  return {
    mainCpuMs,
    otherCpuMs: taskCpuMs(read('stat')) - mainCpuMs,
    rssMiB: Number(/^VmRSS:\s+([0-9]+) kB$/m.exec(read('status'))?.[1] ?? 0) / 1_024,
  }
}

function reading<T>(name: string, pid: number, read: () => T): T {
  try {
    return read()
  } catch (cause) {
    throw new Error(`the ${name} (process ${pid}) has exited`, { cause })
  }
}

/** utime and stime. Fields count from the last bracket: the name before it may hold anything. */
export function taskCpuMs(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}

/** The first line without idle, iowait and what is counted twice (guests). */
export function machineCpuMs(stat: string): number {
  const fields = stat.slice(0, stat.indexOf('\n')).split(/ +/).slice(1).map(Number)
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = fields
  return (user + nice + system + irq + softirq + steal) * TICK_MS
}
