/**
 * CPU time, memory and open files of processes, read from /proc.
 *
 * - Linux counts in ticks of 10 ms, which is sufficient for windows of seconds.
 * - A process's main thread, which runs its JavaScript, is reported apart from its other threads.
 * - A server of several processes, such as PostgreSQL, counts as one. Its shared memory is counted
 *   once: the largest part that one process has touched.
 */
import { readdirSync, readFileSync } from 'node:fs'

export interface Watched {
  readonly name: string
  readonly pid: number
  /** Its child processes are counted with it, as its other threads. */
  readonly hasChildren?: boolean
}

export type Usage = ReturnType<typeof usageOf>
export type UsageSnapshot = ReturnType<typeof usageNow>
export type Resources = ReturnType<typeof resourcesNow>

/** USER_HZ is 100 on every Linux that Node runs on. */
const TICK_MS = 10

const byName = <T>(watched: readonly Watched[], of: (one: Watched) => T) =>
  Object.fromEntries(watched.map((one) => [one.name, of(one)])) as Readonly<Record<string, T>>

export function usageNow(watched: readonly Watched[]) {
  return {
    processes: byName(watched, usageOf),
    /** CPU of all cores, including time stolen by the host. */
    machineCpuMs: machineCpuMs(readFileSync('/proc/stat', 'utf8')),
  }
}

/** Memory and open files, sockets included. @param at milliseconds since the load began */
export function resourcesNow(watched: readonly Watched[], at: number) {
  const used = byName(watched, usageOf)
  const each = (of: (one: Usage) => number) => byName(watched, ({ name }) => of(used[name]!))
  return { at, rssMiB: each(({ rssMiB }) => rssMiB), openFiles: each((one) => one.openFiles) }
}

/** Memory at the end; `elsewhere` is the CPU time of other programs, the kernel and the host. */
export function usageBetween(before: UsageSnapshot, after: UsageSnapshot) {
  const processes: Record<string, Usage> = {}
  let watchedMs = 0
  for (const [name, now] of Object.entries(after.processes)) {
    const then = before.processes[name]
    const mainCpuMs = now.mainCpuMs - (then?.mainCpuMs ?? 0)
    const otherCpuMs = Math.max(0, now.otherCpuMs - (then?.otherCpuMs ?? 0))
    processes[name] = { ...now, mainCpuMs, otherCpuMs }
    watchedMs += mainCpuMs + otherCpuMs
  }
  const machineMs = after.machineCpuMs - before.machineCpuMs
  return { processes, elsewhereCpuMs: Math.max(0, machineMs - watchedMs) }
}

function usageOf({ name, pid, hasChildren = false }: Watched) {
  const own = existing(pid)
  if (own === undefined) throw new Error(`the ${name} (process ${pid}) has exited`)
  // A child that ends during the read is omitted; its CPU time counts as that of an ended child.
  const all = [own, ...(hasChildren ? childrenOf(pid) : [])]
  const sum = (of: (process: NonNullable<typeof own>) => number): number =>
    all.reduce((total, process) => total + of(process), 0)
  return {
    mainCpuMs: own.mainCpuMs,
    otherCpuMs: sum(({ cpuMs }) => cpuMs) - own.mainCpuMs + (hasChildren ? own.endedCpuMs : 0),
    rssMiB: sum(({ ownMiB }) => ownMiB) + Math.max(...all.map(({ sharedMiB }) => sharedMiB)),
    openFiles: sum(({ openFiles }) => openFiles),
  }
}

const childrenOf = (pid: number) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .split(' ')
    .filter(Boolean)
    .flatMap((child) => existing(Number(child)) ?? [])

const EXITED: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ESRCH'])

/** Undefined means that it has exited. */
function existing(pid: number) {
  const read = (file: string): string => readFileSync(`/proc/${pid}/${file}`, 'utf8')
  try {
    const [stat, status] = [read('stat'), read('status')]
    const mib = (name: string): number =>
      Number(new RegExp(`^${name}:\\s+([0-9]+) kB$`, 'm').exec(status)?.[1] ?? 0) / 1_024
    return {
      mainCpuMs: taskCpuMs(read(`task/${pid}/stat`)),
      cpuMs: taskCpuMs(stat),
      endedCpuMs: taskCpuMs(stat, 'ended children'),
      /** Files that are mapped count as shared. */
      ...{ ownMiB: mib('RssAnon'), sharedMiB: mib('RssFile') + mib('RssShmem') },
      openFiles: readdirSync(`/proc/${pid}/fd`).length,
    }
  } catch (error) {
    if (EXITED.has((error as NodeJS.ErrnoException).code)) return undefined
    throw error
  }
}

/** utime and stime, or cutime and cstime. */
export function taskCpuMs(stat: string, of: 'itself' | 'ended children' = 'itself'): number {
  // Fields count from the last bracket, as the name before it may contain any character.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const first = of === 'itself' ? 11 : 13
  return (Number(fields[first]) + Number(fields[first + 1])) * TICK_MS
}

/** The first line without idle, iowait and guest time, which is counted twice. */
export function machineCpuMs(stat: string): number {
  const fields = stat.slice(0, stat.indexOf('\n')).split(/ +/).slice(1).map(Number)
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = fields
  return (user + nice + system + irq + softirq + steal) * TICK_MS
}
