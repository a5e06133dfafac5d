/**
 * Looks at the processes again and again while a load runs.
 *
 * Owns: the series of CPU, memory, open files, commits and deliveries. Does not own: single looks
 * (usage, counters, receiver).
 *
 * - A look costs each process about a millisecond, once in `everyMs`; all sides of a comparison
 *   are looked at alike.
 * - A look that fails ends the load: a process that is gone has no place in a series.
 */
import { performance } from 'node:perf_hooks'
import { countersOf, type Counters } from '../system_under_test/counters.js'
import type { Arrivals } from '../system_under_test/webhook_receivers.js'
import { openHandles, usageBetween, usageNow, type Moment, type Watched } from './usage.js'

/** Since the sample before. */
export interface Sample {
  /** Milliseconds since the load began. */
  readonly at: number
  /** By process: shares of one core. */
  readonly cpu: Readonly<Record<string, number>>
  readonly rssMiB: Readonly<Record<string, number>>
  readonly handles: Readonly<Record<string, number>>
  readonly commands: number
  readonly commits: number
  /** Commands that wait to be decided, at this moment. */
  readonly waiting: number
  /** Of webhooks; undefined where nobody receives any. */
  readonly arrivals: Arrivals | undefined
}

export interface SamplerOptions {
  readonly everyMs: number
  readonly watched: readonly Watched[]
  readonly opsUrl: string
  readonly arrivals: (() => Promise<Arrivals>) | undefined
}

export interface Sampler {
  readonly start: () => void
  /** Rejects when a look has failed. */
  stop(): Promise<readonly Sample[]>
}

interface Look {
  readonly at: number
  readonly moment: Moment
  readonly handles: Readonly<Record<string, number>>
  readonly counters: Counters
  readonly arrivals: Arrivals | undefined
}

export function createSampler(options: SamplerOptions): Sampler {
  const { everyMs, watched, opsUrl } = options
  const samples: Sample[] = []
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<unknown> = Promise.resolve()

  const look = async (startedAt: number): Promise<Look> => ({
    at: performance.now() - startedAt,
    moment: usageNow(watched),
    handles: Object.fromEntries(watched.map((one) => [one.name, openHandles(one)])),
    counters: await countersOf(opsUrl),
    arrivals: await options.arrivals?.(),
  })

  return {
    start: () => {
      const startedAt = performance.now()
      let before: Look | undefined
      const lookAgain = async (): Promise<void> => {
        const after = await look(startedAt)
        if (before !== undefined) samples.push(sampleBetween(before, after))
        before = after
      }
      const next = (): void => {
        looking = looking.then(lookAgain)
        looking.catch(() => clearInterval(timer))
      }
      next()
      timer = setInterval(next, everyMs)
    },
    stop: async () => {
      clearInterval(timer)
      await looking
      return samples
    },
  }
}

function sampleBetween(before: Look, after: Look): Sample {
  const { processes } = usageBetween(before.moment, after.moment)
  const elapsed = after.at - before.at
  const perProcess = (of: (name: string) => number): Record<string, number> =>
    Object.fromEntries(Object.keys(processes).map((name) => [name, of(name)]))
  return {
    at: after.at,
    cpu: perProcess((name) => {
      const { mainThreadCpuMs = 0, otherThreadsCpuMs = 0 } = processes[name] ?? {}
      return (mainThreadCpuMs + otherThreadsCpuMs) / elapsed
    }),
    rssMiB: perProcess((name) => processes[name]?.rssMiB ?? 0),
    handles: after.handles,
    commands: after.counters.commands - before.counters.commands,
    commits: after.counters.commits - before.counters.commits,
    waiting: after.counters.waiting,
    arrivals: after.arrivals,
  }
}
