/**
 * The calls to the bank: bounded in number and in time, one at a time for an instruction.
 *
 * - A call that fails, or is not answered in time, tells nothing. The entry's due step asks later.
 * - After `stop` no answer is taken: the entry's due step asks again after the next start.
 */
import { SECOND, type Clock, type Instant } from '../../base/clock.js'
import type { EffectId } from '../../base/ids.js'
import type { Logger } from '../../base/log.js'
import type { Instruction } from '../rail.js'
import type { Bank, BankOutcome, BankReceiver } from './bank.js'

const CALLS_MAX = 64
const ANSWERED_WITHIN_MS = 30 * SECOND

export type BankCall =
  | {
      readonly kind: 'submit'
      readonly instruction: Instruction
      readonly receivedAt: Instant
    }
  | { readonly kind: 'query'; readonly instruction: Instruction }
  | { readonly kind: 'recall'; readonly instruction: Instruction; readonly reason: string }

export interface BankCalls {
  call(call: BankCall): void
  /** When this process last sent the instruction to the bank. */
  submittedAt(id: EffectId): Instant | undefined
  /** The bank has told the end of this payment. */
  ended(id: EffectId): void
  stop(): void
}

export interface BankCallsOptions {
  readonly bank: Bank
  readonly clock: Clock
  readonly log: Logger
  /** Stores the bank's answer. */
  readonly learn: BankReceiver
}

export function createBankCalls({ bank, clock, log, learn }: BankCallsOptions): BankCalls {
  const waiting: BankCall[] = []
  const underWay = new Set<EffectId>()
  /** Only of payments whose end the bank has not told. */
  const submissions = new Map<EffectId, Instant>()
  let stopped = false

  return {
    call: (call) => {
      waiting.push(call)
      next()
    },
    submittedAt: (id) => submissions.get(id),
    ended: (id) => void submissions.delete(id),
    stop: () => {
      stopped = true
    },
  }

  function next(): void {
    while (underWay.size < CALLS_MAX && !stopped) {
      const call = waiting.shift()
      if (call === undefined) return
      const { id } = call.instruction
      // Its answer, or its due step, asks again.
      if (underWay.has(id)) continue
      underWay.add(id)
      void perform(call)
    }
  }

  async function perform(call: BankCall): Promise<void> {
    const { id } = call.instruction
    const askedAt = clock.now()
    if (call.kind === 'submit') submissions.set(id, askedAt)
    const outcome = await messageOf(call)
    // Before the answer is decided: it can lead to the next call.
    underWay.delete(id)
    next()
    if (outcome === undefined || stopped) return
    await learn(id, outcome.kind === 'not_found' ? { ...outcome, askedAt } : outcome)
  }

  async function messageOf(call: BankCall): Promise<BankOutcome | undefined> {
    try {
      return await inTime(answerOf(call))
    } catch (error) {
      const { id } = call.instruction
      log.warn({ instruction_id: id, call: call.kind, error }, 'the bank has not answered')
      return undefined
    }
  }

  function answerOf(call: BankCall): Promise<BankOutcome> {
    switch (call.kind) {
      case 'submit':
        return bank.submit(call.instruction, call.receivedAt)
      case 'query':
        return bank.query(call.instruction)
      case 'recall':
        return bank.recall(call.instruction, call.reason)
    }
  }
}

async function inTime<Answer>(answer: Promise<Answer>): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in time')), ANSWERED_WITHIN_MS)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}
