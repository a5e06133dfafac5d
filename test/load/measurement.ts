/**
 * One window, measured: the load, what the processes used meanwhile, what was wrong.
 *
 * Owns: one side's turn. Does not own: whose turn it is (bench).
 *
 * Counters are read before and after the load, CPU and memory at the edges of its measured part, so
 * that reading them costs the measured part nothing.
 */
import type { Client, Note, Order, Outcome } from './client.js'
import { latencyMs, type LatencyMs } from './latency.js'
import type { Progress, Tally } from './load.js'
import { countersOf } from './read_back.js'
import { usageBetween, usageNow, type Moment, type Usage, type Watched } from './usage.js'

export type Side = 'ceiling' | 'creates'

export interface WindowResult {
  readonly side: Side
  /** From 1; 0 is the warm-up. */
  readonly repeat: number
  readonly seconds: number
  readonly ratePerSecond: number
  readonly latency: LatencyMs
  readonly requests: { readonly sent: number; readonly answered: number }
  readonly journeys: { readonly begun: number; readonly completed: number }
  readonly errors: Readonly<Record<string, number>>
  /** Commands in one commit on average; 0 at the ceiling, which commits nothing. */
  readonly perCommit: number
  /** CPU time of a completed journey, by process. */
  readonly cpuMicros: Readonly<Record<string, CpuMicros>>
  readonly rssMiB: Readonly<Record<string, number>>
  /** Of all cores' time: the share that nobody of ours used. */
  readonly elsewhere: number
}

export interface CpuMicros {
  /** The thread that runs the JavaScript. */
  readonly main: number
  readonly others: number
}

export interface Measurement {
  readonly result: WindowResult
  readonly outcome: Outcome
  /** In words; empty when every request was answered as it should. */
  readonly faults: readonly string[]
}

export interface Turn {
  readonly side: Side
  readonly repeat: number
  readonly order: Order
  readonly client: Client
  readonly watched: readonly Watched[]
  readonly cores: number
  readonly opsUrl: string
  readonly progress: (progress: Progress) => void
}

export async function measure(turn: Turn): Promise<Measurement> {
  const moments: Moment[] = []
  const note = (told: Note): void => {
    if (told.kind === 'opened' || told.kind === 'closed') moments.push(usageNow(turn.watched))
    if (told.kind === 'progress') turn.progress(told.progress)
  }
  const before = await countersOf(turn.opsUrl)
  const outcome = await turn.client.run(turn.order, note)
  const after = await countersOf(turn.opsUrl)

  const { tally } = outcome
  const commands = after.commands - before.commands
  const commits = after.commits - before.commits
  const faults = faultsOf(tally)
  if (turn.side === 'creates' && commands < tally.completed) {
    faults.push(`${tally.completed} acknowledged, ${commands} decided`)
  }
  const perCommit = turn.side === 'creates' && commits > 0 ? commands / commits : 0
  return { result: resultOf(turn, tally, moments, perCommit), outcome, faults }
}

function resultOf(
  { side, repeat, cores }: Turn,
  tally: Tally,
  [opened, closed]: readonly Moment[],
  perCommit: number,
): WindowResult {
  if (opened === undefined || closed === undefined) throw new Error('a window was not measured')
  const { processes, elsewhereCpuMs } = usageBetween(opened, closed)
  const { seconds, completedInWindow } = tally
  const micros = (milliseconds: number): number => (milliseconds * 1_000) / completedInWindow
  const perProcess = <T>(of: (usage: Usage) => T): Record<string, T> =>
    Object.fromEntries(Object.entries(processes).map(([name, usage]) => [name, of(usage)]))
  return {
    side,
    repeat,
    seconds,
    ratePerSecond: completedInWindow / seconds,
    latency: latencyMs(tally.latencies),
    requests: { sent: tally.sent, answered: tally.answered },
    journeys: { begun: tally.begun, completed: tally.completed },
    errors: tally.failed,
    perCommit,
    cpuMicros: perProcess((usage) => ({
      main: micros(usage.mainThreadCpuMs),
      others: micros(usage.otherThreadsCpuMs),
    })),
    rssMiB: perProcess((usage) => usage.rssMiB),
    elsewhere: elsewhereCpuMs / (seconds * 1_000 * cores),
  }
}

function faultsOf(tally: Tally): string[] {
  const faults = Object.entries(tally.failed).map(([code, count]) => `${count} × ${code}`)
  if (tally.sent !== tally.answered) faults.push(`${tally.sent} sent, ${tally.answered} answered`)
  if (tally.completedInWindow === 0) faults.push('nothing was measured')
  if (tally.overdue > 0) faults.push(`${tally.overdue} were due and could not be sent`)
  return faults
}
