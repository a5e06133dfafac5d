/**
 * The rail of both shards, which no restore sets back: what it has accepted and executed.
 *
 * Does not own: the orphan executions that it proves (orphan_checks), inquiries (processor).
 *
 * - It executes an id once, at once or later, or refuses it. Messages to it can be late or lost.
 * - An intention is what a partner wants to pay once: its key. No intention is executed twice.
 */
import { instant } from '../../../src/base/clock.js'
import { MINUTE, SECOND } from '../../../src/base/clock.js'
import type { EffectId, Environment } from '../../../src/base/ids.js'
import type { Instruction, RailInstruction, RailReport } from '../../../src/rails/rail.js'
import type { OrphanExecution__Output as Line } from '../../../protos/types/causeway/operator/v1/OrphanExecution.js'
import type { SeededRandom } from '../../fuzz/seeded_random.js'
import type { Scheduler } from '../scheduler.js'

export interface RailEntry {
  readonly instruction: Instruction
  /** The shard that sent it. */
  readonly shard: string
  readonly state: 'accepted' | 'executed' | 'refused'
  readonly at: number
  /** When it is executed. Null if nothing more happens. */
  readonly dueAt: number | null
}

export interface SharedRail {
  readonly entries: ReadonlyMap<string, RailEntry>
  isUp(): boolean
  /** Instructions and inquiries of a shard, each a step of its own. */
  send(sent: readonly RailInstruction[], shard: string, onReport: OnReport): void
  /** Time has passed. */
  passed(): void
  /** These shards have no owner any more: what is on the way from them arrives or is lost. */
  cutOff(shards: readonly string[]): void
  /** It executes all that it has accepted, and is up from now on. */
  finish(): void
}

export interface SharedRailOptions {
  readonly random: SeededRandom
  readonly scheduler: Scheduler
  readonly now: () => number
  readonly count: (what: string) => void
  /** An instruction is accepted, executed or refused. */
  readonly onChange: () => void
  readonly onViolation: (violation: Error) => void
}

type OnReport = (report: RailReport) => void
interface Message {
  readonly sent: RailInstruction
  readonly shard: string
  readonly onReport: OnReport
}

const DELAYS_MS = [2 * SECOND, 30 * SECOND, 11 * MINUTE] as const
const LOST_ONCE_IN = 10
const ACCEPTED_ONCE_IN = 3
const REFUSED_ONCE_IN = 8
const DOWN_ONCE_IN = 300
const UP_ONCE_IN = 60

/** The key of the payment, by the id that simulated books give it. */
export const intentionOf = (id: string): string => id.replace(/^pout_/, '').replace(/@.*$/, '')
/** @param epoch that of the decision */
export const payoutIdOf = (key: string, epoch: number): string =>
  `pout_${key.replaceAll(' ', '_')}@${epoch}`

export function createSharedRail(options: SharedRailOptions): SharedRail {
  const { random, scheduler, now, count, onChange, onViolation } = options
  const entries = new Map<string, RailEntry>()
  /** Those that are executed, by intention. */
  const paid = new Map<string, string>()
  const onTheWay: Message[] = []
  let isDown = false

  const change = (entry: RailEntry): void => {
    const { id } = entry.instruction
    entries.set(id, entry)
    count(`rail: ${entry.state}`)
    if (entry.state === 'executed') {
      const other = paid.get(intentionOf(id))
      if (other !== undefined)
        onViolation(new Error(`${intentionOf(id)} was paid as ${other} and as ${id}`))
      paid.set(intentionOf(id), id)
    }
    onChange()
  }
  const take = (instruction: Instruction, shard: string): void => {
    if (entries.has(instruction.id)) return
    const entry = { instruction, shard, at: now(), dueAt: null }
    if (random.once(REFUSED_ONCE_IN)) return change({ ...entry, state: 'refused' })
    if (random.once(ACCEPTED_ONCE_IN))
      return change({ ...entry, state: 'accepted', dueAt: now() + random.pick(DELAYS_MS) })
    change({ ...entry, state: 'executed' })
  }
  const arrive = ({ sent, shard, onReport }: Message): void => {
    if (sent.kind === 'instruct') take(sent.instruction, shard)
    else if (sent.kind === 'query') onReport(reportOf(sent.id, entries.get(sent.id)))
  }
  const next = (): Promise<void> => {
    const message = onTheWay.shift()
    if (message !== undefined) arrive(message)
    return Promise.resolve()
  }
  const execute = (entry: RailEntry): void =>
    change({ ...entry, state: 'executed', at: now(), dueAt: null })

  return {
    entries,
    isUp: () => !isDown,
    send: (sent, shard, onReport) => {
      for (const each of sent) {
        if (isDown || random.once(LOST_ONCE_IN)) continue
        onTheWay.push({ sent: each, shard, onReport })
        void scheduler.inOrder('answer', next)
      }
    },
    passed: () => {
      isDown = isDown ? !random.once(UP_ONCE_IN) : random.once(DOWN_ONCE_IN)
      for (const entry of entries.values())
        if (entry.dueAt !== null && entry.dueAt <= now()) execute(entry)
    },
    cutOff: (shards) => {
      for (const message of onTheWay.splice(0))
        if (!shards.includes(message.shard)) onTheWay.push(message)
        else if (random.once(2)) arrive(message)
    },
    finish: () => {
      isDown = false
      for (const entry of entries.values()) if (entry.dueAt !== null) execute(entry)
    },
  }
}

function reportOf(id: EffectId, entry: RailEntry | undefined): RailReport {
  const about = { id, reportId: null }
  if (entry === undefined) return { ...about, status: 'not_found' }
  if (entry.state === 'accepted') return { ...about, status: 'accepted' }
  if (entry.state === 'refused') return { ...about, status: 'refused', refusal: 'rejected' }
  const { amount, currency, destination } = entry.instruction
  const transactionId = transactionOf(entry)
  const execution = { transactionId, amount, currency, destinationAccount: destination.account }
  return { ...about, ...execution, status: 'executed' }
}

const transactionOf = ({ instruction }: RailEntry): string => `at rail ${instruction.id}`

/** As an operator reads it in the rail's statement. */
export const lineOf = (entry: RailEntry): Line => ({
  instruction_id: entry.instruction.id,
  environment: entry.instruction.environment satisfies Environment,
  purpose: entry.instruction.purpose,
  destination_account: entry.instruction.destination.account,
  amount: entry.instruction.amount.toString(),
  currency: entry.instruction.currency,
  reference: entry.instruction.reference,
  transaction_id: entry.state === 'executed' ? transactionOf(entry) : '',
  executed_at: String(instant(entry.at)),
  state: entry.state,
})
