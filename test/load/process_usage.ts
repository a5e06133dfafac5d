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
    /** Of all cores, including time stolen by the host. */
    machineCpuMs: machineCpuMs(readFileSync('/proc/stat', 'utf8')),
  }
}

/** Memory and open files, sockets included. @param at milliseconds since the load began */
export function resourcesNow(watched: readonly Watched[], at: number) {
  const files = (one: Watched): number =>
    reading(one, () => readdirSync(`/proc/${one.pid}/fd`).length) +
    childrenOf(one, (pid) => readdirSync(`/proc/${pid}/fd`).length).reduce(add, 0)
  const rssMiB = byName(watched, (one) => usageOf(one).rssMiB)
  return { at, rssMiB, openFiles: byName(watched, files) }
}

/** Memory at the end; `elsewhere` is the CPU time of other programs, the kernel and the host. */
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

function usageOf(one: Watched): Usage {
  const { pid } = one
  const read = (file: string): string =>
    reading(one, () => readFileSync(`/proc/${pid}/${file}`, 'utf8'))
  const mainCpuMs = taskCpuMs(read(`task/${pid}/stat`))
  const memory = memoryOf(read('status'))
  const stat = read('stat')
  const children = childrenOf(one, (child) => ({
    cpuMs: taskCpuMs(readFileSync(`/proc/${child}/stat`, 'utf8')),
    memory: memoryOf(readFileSync(`/proc/${child}/status`, 'utf8')),
  }))
  const ended = one.hasChildren ? endedChildrenCpuMs(stat) : 0
  const shared = Math.max(memory.sharedMiB, ...children.map((child) => child.memory.sharedMiB))
  const own = [memory, ...children.map((child) => child.memory)].map(({ ownMiB }) => ownMiB)
  return {
    mainCpuMs,
    otherCpuMs:
      taskCpuMs(stat) - mainCpuMs + ended + children.map(({ cpuMs }) => cpuMs).reduce(add, 0),
    rssMiB: shared + own.reduce(add, 0),
  }
}

const add = (sum: number, value: number): number => sum + value

/** A child that ends during the read is omitted; its CPU time counts as that of an ended child. */
function childrenOf<T>({ pid, hasChildren = false }: Watched, read: (child: number) => T): T[] {
  if (!hasChildren) return []
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')
  return children.filter(Boolean).flatMap((child) => {
    try {
      return [read(Number(child))]
    } catch {
      return []
    }
  })
}

/** Files that are mapped count as shared. */
function memoryOf(status: string): { readonly ownMiB: number; readonly sharedMiB: number } {
  const mib = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+([0-9]+) kB$`, 'm').exec(status)?.[1] ?? 0) / 1_024
  return { ownMiB: mib('RssAnon'), sharedMiB: mib('RssFile') + mib('RssShmem') }
}

function reading<T>({ name, pid }: Watched, read: () => T): T {
  try {
    return read()
  } catch (cause) {
    throw new Error(`the ${name} (process ${pid}) has exited`, { cause })
  }
}

/** utime and stime. */
export function taskCpuMs(stat: string): number {
  const fields = fieldsOf(stat)
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}

/** cutime and cstime: of children that have ended. */
function endedChildrenCpuMs(stat: string): number {
  const fields = fieldsOf(stat)
  return (Number(fields[13]) + Number(fields[14])) * TICK_MS
}

/** Fields count from the last bracket, as the name before it may contain any character. */
const fieldsOf = (stat: string): string[] => stat.slice(stat.lastIndexOf(')') + 2).split(' ')

/** The first line without idle, iowait and guest time, which is counted twice. */
export function machineCpuMs(stat: string): number {
  const fields = stat.slice(0, stat.indexOf('\n')).split(/ +/).slice(1).map(Number)
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = fields
  return (user + nice + system + irq + softirq + steal) * TICK_MS
}
