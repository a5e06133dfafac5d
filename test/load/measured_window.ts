/**
 * One measured window: the load, CPU and memory of the processes, and faults; and the order in
 * which sides take turns. CPU and memory are read at the start and the end of the measured part.
 */
import type { Client, Window } from './client/client.js'
import type { Address } from './client/http_socket.js'
import { createLatencies, latencyMs, type LatencyMs } from './client/latency.js'
import type { Sample, Summary } from './client/load.js'
import type { Machine } from './machine.js'
import * as usage from './process_usage.js'
import type { Arrivals } from './receivers.js'
import type { ScenarioName } from './scenarios/scenarios.js'
import type { Stacks } from './stacks.js'
import type { Subscription, SystemUnderTest } from './system_under_test.js'

/** The store of a stack; `postgres`: its own server. */
export type StoreKind = 'sqlite' | 'postgres'

/** The tools of every command. */
export interface Tools {
  /** For data; removed at the end. */
  readonly folder: string
  /** For results. */
  readonly out: string
  readonly machine: Machine
  readonly stacks: Stacks
  readonly client: Client
  readonly gateways: number
  /** The store of every stack that is started. */
  readonly store: StoreKind
  /** What the partner's endpoint subscribes to, unless the scenario is about webhooks. */
  readonly subscription: Subscription
  readonly progress: (step: string, sample?: SampleResult) => void
}

export interface WindowOptions
  extends
    Pick<Window, 'connections' | 'leadInMs' | 'measureMs'>,
    Partial<Pick<Window, 'phases' | 'patienceMs' | 'sampleMs'>> {
  readonly side: string
  /** From 1; 0 is the warm-up. */
  readonly repeat?: number
  readonly scenario: ScenarioName
  readonly onlyRead?: string
  /** By index; all by default. */
  readonly partners?: readonly number[]
  /** The exact number of journeys, instead of a duration. */
  readonly journeys?: number | undefined
  /** Payment journeys end with their last answer. */
  readonly withoutWebhooks?: boolean
  /** Every rejection and every delay of the schedule is a fault. */
  readonly strict?: boolean
  /** The ceiling instead of the stack; its journeys are not in the accounts. */
  readonly ceiling?: Address
  /** Watched in addition to those of the stack. */
  readonly alsoWatched?: readonly usage.Watched[]
}

/** No faults: every request was answered as expected. */
export type Measured = Awaited<ReturnType<typeof measureWindow>>
export type WindowResult = Measured['result']
export type SampleResult = ReturnType<typeof sampleResult>

const SAMPLE_MAX_MS = 1_000
const SAMPLES_MIN = 8
/** A signature is valid for five minutes, and a record takes some 300 bytes. */
const PRESIGNED_MS = 60_000
const PRESIGNED_MAX = 400_000
const FIRST_RATE = 5_000
/** The largest expected speed-up of a later window; above it the client signs while it sends. */
const MARGIN = 1.3
/** The highest rate so far, by scenario and side. */
const reached = new Map<string, number>()

/**
 * Each side once a round, as the machine's speed drifts; every other round begins with the last.
 *
 * @param rounds the first and the last; 0 is the warm-up
 */
export async function alternate<Side, Result>(
  sides: readonly Side[],
  [first, last]: readonly [number, number],
  play: (side: Side, round: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  for (let round = first; round <= last; round += 1) {
    const inOrder = round % 2 === 1 ? sides : sides.toReversed()
    for (const side of inOrder) results.push(await play(side, round))
  }
  return results
}

/** Without the warm-up. */
export const windowsOf = (measured: readonly Measured[]): WindowResult[] =>
  measured.map(({ result }) => result).filter(({ repeat }) => repeat > 0)

export async function measureWindow(
  { client, machine, progress }: Tools,
  { stack, receivers, partners, account }: SystemUnderTest,
  options: WindowOptions,
) {
  const { side, repeat = 1, scenario: name, ceiling, leadInMs, measureMs, onlyRead } = options
  const step = `${name}, ${side}${repeat === 0 ? ', warm-up' : ` ${repeat}`}`
  progress(`${step}: signing`)
  const itself = { name: 'client', pid: process.pid }
  const watched = [...stack.processes(), ...(options.alsoWatched ?? []), itself]
  const sampleMs =
    options.sampleMs ?? Math.min(SAMPLE_MAX_MS, Math.round((leadInMs + measureMs) / SAMPLES_MIN))
  const resources: usage.Resources[] = []
  const snapshots: usage.UsageSnapshot[] = []
  const samples: SampleResult[] = []
  const phases = (options.phases ?? []).map(({ ms }) => ({ ms, latencies: createLatencies() }))
  let arrivals: Promise<Arrivals> | undefined
  const edge = (): void => {
    snapshots.push(usage.usageNow(watched))
    arrivals = receivers.arrivals()
  }
  const { host, ops_url: opsUrl } = stack.sandbox
  const isChosen = (index: number): boolean => options.partners?.includes(index) ?? true
  const chosen = partners.filter((_, index) => isChosen(index))
  const awaitsWebhooks = ceiling === undefined && options.withoutWebhooks !== true
  const { connections, patienceMs } = options
  const key = `${name} ${side}`
  const order = {
    scenarios: chosen.map((partner) => ({ ...partner, name, host, awaitsWebhooks, onlyRead })),
    journeys: options.journeys ?? presigned(options, reached.get(key) ?? FIRST_RATE),
    continues: options.journeys === undefined,
    addresses: ceiling === undefined ? stack.addresses : [ceiling],
    ...{ connections, phases: options.phases, patienceMs, notices: receivers.notices },
    ...{ leadInMs, measureMs, sampleMs },
  }
  const before = await countersOf(opsUrl)
  const countedFrom = performance.now()
  const outcome = await client.run(order, {
    edge,
    sample: (sample) => {
      const result = sampleResult(sample, samples.at(-1)?.at ?? 0)
      samples.push(result)
      resources.push(usage.resourcesNow(watched, result.at))
      let endsAt = 0
      const phase = phases.find(({ ms }) => sample.at <= (endsAt += ms))
      phase?.latencies.add(sample.latenciesFromSent)
      progress(step, result)
    },
  })
  const after = await countersOf(opsUrl)
  const countedSeconds = (performance.now() - countedFrom) / 1_000
  const [opened, closed] = snapshots
  if (opened === undefined || closed === undefined) throw new Error('the window was not measured')
  const { processes, elsewhereCpuMs } = usage.usageBetween(opened, closed)
  const { seconds, completedInWindow, begun, completed, overdue, abandoned } = outcome.summary
  const ratePerSecond = completedInWindow / seconds
  reached.set(key, Math.max(reached.get(key) ?? 0, ratePerSecond))
  const micros = (ms: number): number => (ms * 1_000) / Math.max(1, completedInWindow)
  const byProcess = <T>(of: (one: usage.Usage) => T): Readonly<Record<string, T>> =>
    Object.fromEntries(Object.entries(processes).map(([process, one]) => [process, of(one)]))
  const result = {
    ...{ side, repeat, seconds, ratePerSecond, samples, resources },
    latency: latencyMs(outcome.summary.latencies),
    operations: Object.fromEntries(
      Object.entries(outcome.summary.operations).map(([name, one]) => [name, latencyMs(one)]),
    ) as Readonly<Record<string, LatencyMs>>,
    /** At a rate of its own, which an open loop has. */
    isOpenLoop: options.phases !== undefined,
    rejections: latencyMs(outcome.summary.rejections),
    /** From sent, of each phase of the schedule. */
    phases: phases.map(({ latencies }) => latencyMs(latencies)),
    journeys: { begun, completed, overdue, abandoned },
    errors: outcome.summary.failed,
    /** Commands in one commit on average; 0 where that is unknown. */
    perCommit:
      (after.commands - before.commands) / Math.max(1, after.commits - before.commits) || 0,
    /** Share of the events that an endpoint subscribes to; NaN where that is unknown. */
    subscribedShare: (after.subscribed - before.subscribed) / (after.events - before.events),
    /** What each shard carried, with the lead-in and the end of the load. */
    shards: (stack.shards ?? []).map((shard) => {
      const [from, to] = [before.of(shard.processor), after.of(shard.processor)]
      const commands = to.commands - from.commands
      const perCommit = commands / Math.max(1, to.commits - from.commits)
      return { ...shard, commandsPerSecond: commands / countedSeconds, perCommit }
    }),
    arrivals: ceiling === undefined ? await arrivals : undefined,
    /** CPU of a completed journey. `main` is the thread that runs the JavaScript. */
    cpuMicros: byProcess(({ mainCpuMs, otherCpuMs }) => ({
      ...{ main: micros(mainCpuMs), others: micros(otherCpuMs) },
    })),
    rssMiB: byProcess(({ rssMiB }) => rssMiB),
    /** Share of all cores' time that none of the watched processes used. */
    elsewhere: elsewhereCpuMs / (seconds * 1_000 * machine.cores),
  }
  if (ceiling === undefined) account(outcome)
  const faults = faultsOf(outcome.summary, { strict: options.strict, isWarmUp: repeat === 0 })
  return { result, faults: faults.map((fault) => `${step}: ${fault}`) }
}

function presigned(options: WindowOptions, rate: number): number {
  const { phases = [{ ms: Infinity, ratePerSecond: rate * MARGIN }] } = options
  let left = Math.min(options.leadInMs + options.measureMs, PRESIGNED_MS)
  let journeys = options.connections
  for (const { ms, ratePerSecond } of phases) {
    journeys += (Math.min(ms, left) * ratePerSecond) / 1_000
    left -= Math.min(ms, left)
  }
  return Math.ceil(Math.min(PRESIGNED_MAX, journeys))
}

function sampleResult(sample: Sample, before: number) {
  const { at, due, completed, failed, abandoned, clientDelayMs } = sample
  const { p50, p99, p999 } = latencyMs(sample.latencies)
  const perSecond = (count: number): number => (count * 1_000) / (at - before)
  return {
    /** Milliseconds since the load began, of which the lead-in is a part. */
    at,
    /** Due by the schedule; in a closed loop those that began. */
    offeredPerSecond: perSecond(due),
    perSecond: perSecond(completed),
    failedPerSecond: perSecond(failed),
    abandonedPerSecond: perSecond(abandoned),
    /** From due; the last one from sent. */
    ...{ p50, p99, p999 },
    p99FromSent: latencyMs(sample.latenciesFromSent).p99,
    clientDelayMs,
  }
}

/** The rate of a warm-up counts nowhere, so its journeys may all end after its window. */
export function faultsOf(
  summary: Summary,
  { strict = false, isWarmUp = false }: { strict?: boolean | undefined; isWarmUp?: boolean },
): string[] {
  const { begun, completed, failed, sent, answered, overdue } = summary
  const failures = Object.values(failed).reduce((sum, count) => sum + count, 0)
  const isLost = begun !== completed + failures
  const counted = isWarmUp ? completed : summary.completedInWindow
  return [
    ...(isLost ? [`${begun} journeys begun, ${completed} completed, ${failures} failed`] : []),
    ...(counted === 0 ? ['no journey was completed'] : []),
    ...(strict ? Object.entries(failed).map(([code, count]) => `${count} × ${code}`) : []),
    ...(strict && sent !== answered ? [`${sent} sent, ${answered} answered`] : []),
    ...(strict && overdue > 0 ? [`${overdue} were due and could not be sent`] : []),
  ]
}

/** The processors' counters; zero where a revision has none of that name. */
async function countersOf(opsUrl: string) {
  const text = await (await fetch(`${opsUrl}/metrics`)).text()
  const total = (name: string, label = '.*'): number => {
    const lines = text.matchAll(new RegExp(`^causeway_${name}_total(?:{${label}})? (\\S+)$`, 'gm'))
    return [...lines].reduce((sum, [, value]) => sum + Number(value), 0)
  }
  const committed = (label?: string) => ({
    commands: total('commands', label),
    commits: total('commits', label),
  })
  return {
    ...committed(),
    of: (process: string) => committed(`.*process="${process}".*`),
    events: total('events'),
    subscribed: total('events', '.*subscribed="yes".*'),
  }
}
