/** The processors of a simulation: one that crashes and restarts, or two over one set of books. */
import { plus, type Instant } from '../../src/base/clock.js'
import type { KeyId } from '../../src/base/ids.js'
import type { Answer } from '../../src/processor/cycle/answer.js'
import type { Command, Work } from '../../src/processor/cycle/command.js'
import type { CommittedEvent } from '../../src/processor/cycle/commit_batch.js'
import { createWebhookEndpoint } from '../../src/processor/commands/webhook_endpoints/webhook_endpoint_create.js'
import type { Memory } from '../../src/processor/cache/memory.js'
import type { Rail, RailInstruction } from '../../src/rails/rail.js'
import type { Progress, ProgressQueries } from '../../src/store/progress.js'
import type { StoredEvent } from '../../src/store/store.js'
import { BY_TEST, DEMO, type World } from '../support/world.js'
import type { Step } from './scheduler.js'

/** Output of the processors to the rail and the bus. */
export interface Output {
  readonly instructions: readonly RailInstruction[]
  readonly events: readonly CommittedEvent[]
}

/** What the partner's endpoint subscribes to. */
export const SUBSCRIBED: ReadonlySet<string> = new Set([
  'payout.created',
  'payout.completed',
  'payment_intent.captured',
])

export const subscribe = (): Command =>
  createWebhookEndpoint(DEMO, { url: 'https://partner.test', enabled_events: [...SUBSCRIBED] })

/** `isLate`: another processor has taken over since and may have answered before. */
export type OnAnswer = (answer: Answer, isLate: boolean) => void

/** The command of a call that arrives at this moment, by the clock of its processor. */
export type CommandAt = (now: Instant) => Command

/** What a call has besides its command. */
export interface CallOptions extends Partial<Pick<Work, 'queueKey' | 'signedBy' | 'origin'>> {
  /** Counts from its arrival. Absent means that it never expires. */
  readonly withinMs?: number
}

export interface Processors {
  readonly count: 1 | 2
  readonly clock: World['clock']
  /** A signing key of the partner. */
  keyId(): KeyId
  /** The memory of the owner, while it serves. */
  memories(): readonly Memory[]
  /** Calls without a response. */
  inFlight(): number
  /** A call that no processor serves is not answered. */
  submit(commandAt: CommandAt, onAnswer: OnAnswer, options?: CallOptions): void
  /** The pending steps. */
  waiting(): readonly Step[]
  /** Whether calls can be answered now. */
  isServing(): boolean
  /** Whether a former owner still serves. */
  isContested(): boolean
  /** @returns why a processor has begun to serve from the books. Null means that none has */
  release(index: number): Promise<string | null>
  /** Kills a processor. @returns as `release` */
  kill(): Promise<string | null>
  /** Since the last call. */
  takeOutput(): Output
  setRail(up: boolean): void
  openEvents(): Promise<readonly StoredEvent[]>
  /** `onDisk`: null when the database file has it. */
  marks(): {
    readonly books: ProgressQueries
    readonly onDisk: Progress | null
    /** Records of the processors outside of the books. */
    readonly highWater: Progress
  }
  /** A fault of a machine or of a link, or its end. @returns its name */
  disturb(): Promise<string>
  /** Faults end, and one processor serves. */
  settle(): Promise<void>
  /** Restarts the processor that serves. @returns its memory */
  restart(): Promise<Memory>
  readonly recovery: Recovering
}

/** Books that are set back to an earlier copy, and what follows. */
export interface Recovering {
  /** Whether the processor that serves, or served last, serves reads only. */
  isActive(): boolean
  /** Whether a processor refuses writes as it is in recovery mode. */
  isRefusing(): boolean
  /** Payments may still be held for these. What is not known counts as one. */
  openOrphans(): number
  /**
   * All processors end, an older copy takes the place of the books, and they start in recovery
   * mode. @returns whether the books are behind the high-water marks
   */
  restore(replace: () => Promise<void>): Promise<boolean>
  /**
   * The release is committed: a processor restarts above all that the lost books can have used.
   * @returns as `release`
   */
  released(): Promise<string | null>
  /** Asks the rail about open orphan executions that it has accepted. */
  inquire(rail: Pick<Rail, 'up' | 'send'>): void
}

/** The work of a call that arrives now. */
export function arrivedWork(
  commandAt: CommandAt,
  { queueKey = DEMO, signedBy = null, origin = BY_TEST, withinMs }: CallOptions,
  now: Instant,
): Omit<Work, 'reply'> {
  const deadline = withinMs === undefined ? null : plus(now, withinMs)
  return { queueKey, origin, signedBy, deadline, command: commandAt(now) }
}
