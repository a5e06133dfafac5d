/**
 * What a line of the kit works with: the adapter's calls, instructions by behavior, the restart.
 */
import { status } from '@grpc/grpc-js'
import type { Instruction } from '../../../protos/types/causeway/rail/v1/Instruction.js'
import type { Clock } from '../../base/clock.js'
import { newId } from '../../base/ids.js'
import type { Random } from '../../base/random.js'
import { contentOf, type BehaviorName, type Behaviors, type PaidContent } from './behaviors.js'
import {
  createCheckLink,
  Violation,
  type CheckLink,
  type Deadline,
  type Reported,
} from './check_link.js'
import type { CallOptions, Probe, Summary } from './probe.js'

/** The line cannot be checked here. The message says why. */
export class Skipped extends Error {
  override name = 'Skipped'
}

/** An instruction of the kit: every member that a comparison needs. */
export type Sent = PaidContent & { readonly id: string; readonly shard?: string }

export interface LinkOptions extends CallOptions {
  /** Whether reports about this instruction stay unacknowledged. Default: none does. */
  readonly keeps?: (id: string) => boolean
}

export interface CheckContext {
  readonly probe: Probe
  readonly clock: Clock
  readonly patienceMs: number
  /** A new one of `patienceMs`. */
  readonly deadline: () => Deadline
  readonly finalityWindowMs: number
  readonly hasToken: boolean
  /** A name that no other run has. */
  readonly shardName: (name: string) => string
  /** A new instruction. @throws Skipped when the adapter has no such behavior */
  make(behavior: BehaviorName, change?: Partial<Instruction>): Sent
  /** Closed when the line ends. */
  open(options?: LinkOptions): CheckLink
  readonly canRestart: boolean
  /** Restarts the adapter and waits until it serves again. */
  restart(): Promise<void>
  /** The summary of all movements. @throws Skipped when the adapter has no such rpc */
  summary(options?: CallOptions): Promise<Summary>
  pause(ms: number): Promise<void>
}

export interface Run extends CheckContext {
  /** Closes the links that a line has opened. @returns the instructions that it made */
  endLine(): Promise<readonly Sent[]>
  /** Every report about this instruction, in order of arrival. */
  history(id: string): readonly Reported[]
}

/** After all movements of a run. */
export const END_OF_TIME = Date.UTC(2100, 0)

export interface RunOptions {
  readonly probe: Probe
  readonly clock: Clock
  readonly random: Random
  readonly patienceMs: number
  /** Gives a new one of `patienceMs`. */
  readonly deadline: () => Deadline
  readonly finalityWindowMs: number
  readonly hasToken: boolean
  readonly behaviors: Behaviors
  /** Ends when the adapter was started again. Absent if the lines with a restart are skipped. */
  readonly restart?: () => Promise<void>
}

const RETRY_MS = 50

export function createRun(options: RunOptions): Run {
  const { probe, clock, random, deadline, behaviors } = options
  const runName = random.bytes(4).toString('hex')
  const reports = new Map<string, Reported[]>()
  let made: Sent[] = []
  let links: CheckLink[] = []

  return {
    ...options,
    canRestart: options.restart !== undefined,
    shardName: (name) => `check_${runName}_${name}`,
    make,
    open,
    restart,
    summary,
    pause,
    endLine,
    history: (id) => reports.get(id) ?? [],
  }

  function make(behavior: BehaviorName, change: Partial<Instruction> = {}): Sent {
    const content = contentOf(behaviors, behavior)
    if (content === null) throw new Skipped(`the adapter has no behavior \`${behavior}\``)
    const kind = content.kind === 'qr_payment' ? 'intent' : 'payout'
    const id = newId<string>(kind, clock.now(), random)
    const sent = { ...content, id, ...change } as Sent
    reports.set(id, [])
    made.push(sent)
    return sent
  }

  function open({ keeps = () => false, ...callOptions }: LinkOptions = {}): CheckLink {
    const link = createCheckLink({
      call: probe.openLink(callOptions),
      deadline,
      keeps,
      isOfThisRun: (id) => reports.has(id),
      observe: (report) => reports.get(report.id)?.push(report),
    })
    links.push(link)
    return link
  }

  async function endLine(): Promise<readonly Sent[]> {
    await Promise.all(links.map((link) => link.close()))
    links = []
    const its = made
    made = []
    return its
  }

  async function restart(): Promise<void> {
    await options.restart?.()
    const { isOver } = deadline()
    while ((await probe.describe()).kind === 'fault') {
      if (isOver()) throw new Violation('it does not serve after its restart')
      await pause(RETRY_MS)
    }
  }

  async function summary(callOptions: CallOptions = {}): Promise<Summary> {
    const answer = await probe.summarize(0, END_OF_TIME, callOptions)
    if (answer.kind === 'answer') return answer.message
    if (answer.code === status.UNIMPLEMENTED) throw new Skipped('the adapter has no Summarize')
    throw new Violation(`Summarize failed: ${answer.text}`)
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** @throws Violation with what was seen */
export function demand(holds: boolean, seen: string): asserts holds {
  if (!holds) throw new Violation(seen)
}
