/**
 * The rules of the sandbox bank: the outcome of an instruction, by account number and hint.
 *
 * Pure: time and random bytes are arguments. Does not own: storing entries and refusing late
 * ones (adapter), when a step is due (adapter/cycle).
 *
 * - Only `execute` moves money out, and only from `pending`, so at most once.
 * - `refused` and `returned` are final.
 * - A silent outcome has no report id: only a query reveals it.
 * - Production instructions are always paid; account numbers and hints do not change their outcome.
 *
 * Payouts to account numbers that start with 999000, by their last four digits:
 *   0001, 0002, 0003  refused: account_closed, account_not_found, name_mismatch
 *   0005              executed, then returned
 *   0006              executed silently
 *   0007              refused silently
 *   0008              pending forever
 * QR payments, by the suffix of the hint:
 *   +fail             refused
 *   +slow             ten times slower, at least five seconds
 *   +unknown          executed silently
 * QR payments to an account that ends with 999000009: executed, and a recall is refused.
 */
import { assert } from '../../base/assert.js'
import { plus, SECOND } from '../../base/clock.js'
import type { Due, Entry } from '../adapter/entry.js'
import * as changes from '../adapter/entry_changes.js'
import type { DecisionContext, Rules } from '../adapter/rules.js'
import type { Instruction, RailRefusal, SimulatedOutcome } from '../rail.js'

export interface BankContext extends DecisionContext {
  /** Time that a payment or a recall takes. */
  readonly delayMs: number
}

const TEST_ACCOUNT = '999000'
/** Promised within three seconds of the execution; the margin is for a busy machine. */
const RETURNED_AFTER_MS = SECOND
const SLOW_FACTOR = 10
const SLOW_AT_LEAST_MS = 5 * SECOND

interface Behavior {
  readonly refusal?: RailRefusal
  /** Decided at once and not reported. */
  readonly silent?: true
  readonly delayMs?: (usual: number) => number
  readonly stuck?: true
}

const BY_ACCOUNT: Readonly<Record<string, Behavior>> = {
  '0001': { refusal: 'account_closed' },
  '0002': { refusal: 'account_not_found' },
  '0003': { refusal: 'name_mismatch' },
  '0006': { silent: true },
  '0007': { silent: true, refusal: 'rejected' },
  '0008': { stuck: true },
}
const RETURNED = '0005'

const BY_HINT: Readonly<Record<string, Behavior>> = {
  '+fail': { refusal: 'rejected' },
  '+slow': { delayMs: (usual) => Math.max(usual * SLOW_FACTOR, SLOW_AT_LEAST_MS) },
  '+unknown': { silent: true },
}

function behaviorOf({ environment, purpose, destination, hint }: Instruction): Behavior {
  if (environment === 'production') return {}
  if (purpose === 'qr_payment') return BY_HINT[/\+[a-z]+$/.exec(hint)?.[0] ?? ''] ?? {}
  if (!destination.account.startsWith(TEST_ACCOUNT)) return {}
  return BY_ACCOUNT[destination.account.slice(-4)] ?? {}
}

/** @param delayMs time that a payment or a recall takes */
export function sandboxRules(delayMs: number): Rules {
  const at = (context: DecisionContext): BankContext => ({ ...context, delayMs })
  return {
    receive: (entry, instruction, context) => receive(entry, instruction, at(context)),
    carryOut: (entry, context) => carryOut(entry, at(context)),
    recall: (entry, _, context) => (refusesRecall(entry) ? 'refused' : recall(entry, at(context))),
    learn: (entry) => entry,
    simulate: (entry, outcome, context) => simulate(entry, outcome, at(context)),
    committed: () => undefined,
  }
}

/** A new instruction. */
function receive(entry: Entry, instruction: Instruction, bankContext: BankContext): Entry {
  const { now, delayMs } = bankContext
  const behavior = behaviorOf(instruction)
  if (behavior.stuck) return entry

  const refusal = behavior.refusal ?? null
  const due: Due = {
    at: plus(now, behavior.delayMs?.(delayMs) ?? delayMs),
    step: refusal === null ? 'execute' : 'refuse',
  }
  const planned = { ...entry, refusal, due }
  if (behavior.silent) return { ...carryOut(planned, bankContext), reportId: null }
  return due.at <= now ? carryOut(planned, bankContext) : planned
}

/** Takes the due step. */
export function carryOut(entry: Entry, bankContext: BankContext): Entry {
  switch (entry.due?.step) {
    case 'execute':
      return execute(entry, bankContext)
    case 'refuse':
      return refuse(entry, bankContext)
    case 'return':
      return returnFunds(entry, bankContext)
    case undefined:
      return entry
  }
}

/** Forces an outcome. An impossible outcome, or a production entry, changes nothing. */
export function simulate(entry: Entry, outcome: SimulatedOutcome, bankContext: BankContext): Entry {
  if (entry.environment === 'production') return entry
  switch (outcome) {
    case 'completed':
      return entry.state === 'pending' ? execute(entry, bankContext) : entry
    case 'failed':
      if (entry.state !== 'pending') return entry
      return refuse({ ...entry, refusal: 'rejected' }, bankContext)
    case 'reversed':
      if (entry.state === 'pending') return returnFunds(execute(entry, bankContext), bankContext)
      return entry.state === 'executed' ? returnFunds(entry, bankContext) : entry
  }
}

const KEEPS_MONEY = '999000009'

/** Whether the recipient's bank refuses to return the money. */
export const refusesRecall = ({ environment, purpose, account, state }: Entry): boolean =>
  state !== 'executed' ||
  (environment !== 'production' && purpose === 'qr_payment' && account.endsWith(KEEPS_MONEY))

/** Schedules the return of an executed instruction; a second recall changes nothing. */
export function recall(entry: Entry, { now, delayMs }: BankContext): Entry {
  if (entry.state !== 'executed' || entry.due !== null) return entry
  return { ...entry, due: { at: plus(now, delayMs), step: 'return' } }
}

function execute(entry: Entry, bankContext: BankContext): Entry {
  assert(entry.state === 'pending', 'only a pending instruction is executed')
  const { now, random } = bankContext
  const transactionId = `sbx_${random.bytes(12).toString('hex')}`
  const executed = changes.execute(entry, transactionId, bankContext)
  if (!returnsByItself(entry)) return executed
  return { ...executed, due: { at: plus(now, RETURNED_AFTER_MS), step: 'return' } }
}

const returnsByItself = ({ environment, purpose, account }: Entry): boolean =>
  environment !== 'production' &&
  purpose === 'payout' &&
  account.startsWith(TEST_ACCOUNT) &&
  account.endsWith(RETURNED)

/** With the reason that was planned. */
const refuse = (entry: Entry, bankContext: BankContext): Entry =>
  changes.refuse(entry, entry.refusal ?? 'rejected', bankContext)

const { returnFunds } = changes
