/**
 * Payouts in the simulated books, with the product's machine, commands and orphan executions.
 *
 * Owns: what a payout of a partner is, the rows of payouts and orphan executions, the context of a
 * command. Does not own: the numbers of its events and postings (books), the rail (rail).
 *
 * - Each change of its public state is an event and a posting of the simulated books. The postings
 *   and events of the product's plans are not stored.
 */
import { instant, plus, type Instant } from '../../../src/base/clock.js'
import type { PayoutId, TenantId } from '../../../src/base/ids.js'
import { payoutTransitions } from '../../../actors/payout/machine.js'
import { payoutContextIn, type PayoutContext } from '../../../actors/payout/context.js'
import { restored } from '../../../src/processor/cache/live_actor.js'
import type { Memory } from '../../../src/processor/cache/memory.js'
import { advancePayout, stagePayout } from '../../../src/processor/changes/advance_payout.js'
import { orphanOfPayout } from '../../../src/processor/changes/orphans.js'
import { answer, refuse, type Answer } from '../../../src/processor/cycle/answer.js'
import { createCommitBatch } from '../../../src/processor/cycle/commit_batch.js'
import type { Command, CommandContext } from '../../../src/processor/cycle/command.js'
import type { Needs } from '../../../src/processor/cycle/needs.js'
import type { Vault } from '../../../src/processor/keys/vault.js'
import { currencyOf } from '../../../src/money/currency.js'
import { SANDBOX_RAIL, type RailInstruction } from '../../../src/rails/rail.js'
import type { Row } from '../../../src/store/tables.js'
import { BY_TEST, RULES } from '../../support/world.js'
import type { Change } from './commits.js'
import { payoutIdOf } from './rail.js'
import type { KeyedCall } from './streams.js'

/** A payout as it is stored. Its state of the simulated books is a number that grows. */
export interface StoredPayout {
  readonly id: string
  readonly tenant: string
  readonly state: string
  readonly due_at: number | null
  readonly reference: string
  readonly beneficiary: string
  readonly context: string
  readonly partner: string
  readonly key: string
  readonly number: number
  readonly sequence: number
}

type Orphan = Row<'orphans'>
export type StoredOrphan = Omit<Orphan, 'amount'> & { readonly amount: number }

/** What a decision changes. */
export interface Effects {
  readonly changes: readonly Change[]
  readonly payouts: readonly StoredPayout[]
  readonly orphans: readonly StoredOrphan[]
  readonly instructions: readonly RailInstruction[]
}

export interface Outcome {
  readonly answer: Answer
  readonly effects: Effects
}

/** What a command is decided by, beside memory. */
export interface Moment {
  readonly now: Instant
  readonly epoch: number
  readonly recovery: Row<'recoveries'> | null
  readonly railUp: boolean
}

export interface Payments {
  load(payouts: readonly StoredPayout[]): void
  pay(call: KeyedCall, moment: Moment): Effects
  run(command: Command, moment: Moment): Outcome
  /** Those with something to do. */
  due(now: Instant): readonly string[]
}

export interface PaymentsOptions {
  /** Called once the books are loaded. */
  readonly memory: () => Memory
  /** The event and the posting of a new state. */
  readonly advance: (payout: Pick<StoredPayout, 'id' | 'partner' | 'key'>) => Change
}

export const NO_EFFECTS: Effects = { changes: [], payouts: [], orphans: [], instructions: [] }

/** What is sealed is plain here. */
export const PAYMENT_VAULT: Partial<Vault> = {
  digest: (text: string) => text,
  openAccount: (sealed: string) => sealed,
}
/** The product's plans find any money that they take. */
const PLENTY = { get: () => 1_000_000_000_000n, set: () => undefined } as never
const RANDOM = { bytes: (count: number) => Buffer.alloc(count), fraction: () => 0 }

/** Payments with equal terms: of one partner, and of several. */
const DIFFERENT = 3
const CENTS = 1_500
const MYR = currencyOf('MYR')!

const PAYEE: Row<'beneficiaries'> = {
  ...{ id: 'ben_1', tenant: '', type: 'bank_account', name: 'Payee', destination_country: 'MY' },
  ...{ currency: MYR, bank_code: 'BANK', account_last4: '6789', sealed_account: '' },
  ...{ status: 'active', created_at: 0, request_id: null },
}

export function createPayments({ memory: loaded, advance }: PaymentsOptions): Payments {
  const rows = new Map<string, StoredPayout>()
  let batches = 0
  // Numbers and balances are those of the simulated books.
  const own = { lastPosition: 0, lastPosting: 0, sequences: new Map(), balances: PLENTY }
  let seen: Memory | undefined
  const memory = (): Memory => (seen ??= Object.assign(Object.create(loaded()) as Memory, own))

  const rowOf = (id: string): StoredPayout | undefined => rows.get(id)
  const needs: Needs = {
    ...{ idempotency: nothing, usage: nothing, fxQuote: nothing, discrepancy: nothing },
    deposit: nothing,
    intent: (id) => memory().intents.fill(id, null),
    payout: (id) => {
      const row = rowOf(id)
      memory().payouts.fill(id, row === undefined ? null : restored(row, payoutContextIn))
    },
    beneficiary: (id) => memory().beneficiaries.fill(id, { ...PAYEE, id }),
  }

  const changedBy = (
    row: Row<'payouts'>,
    { partner, key }: Pick<StoredPayout, 'partner' | 'key'>,
  ): readonly [StoredPayout, readonly Change[]] => {
    const { id } = row
    const before = rowOf(id)
    const change = before?.state === row.state ? undefined : advance({ partner, key, id })
    const { state: number, sequence } = change?.row ?? {
      state: before!.number,
      sequence: before!.sequence,
    }
    const payout = { ...row, partner, key, number, sequence, context: JSON.stringify(row.context) }
    rows.set(id, payout)
    return [payout, change === undefined ? [] : [change]]
  }
  const run = (
    command: Command,
    { now, recovery, railUp }: Moment,
    created?: Pick<StoredPayout, 'partner' | 'key'>,
  ): Outcome => {
    memory().recovery = recovery
    if (recovery !== null && command.allowedInRecovery !== true)
      return { answer: refuse('recovery_active'), effects: NO_EFFECTS }
    // The second time it names what the rows of the first one name.
    for (let times = 0; times < 2; times++) command.needs(needs, memory())
    const batch = createCommitBatch((batches += 1))
    const context: CommandContext = {
      ...{ origin: BY_TEST, now, random: RANDOM, memory: memory(), batch, rules: RULES },
      vault: PAYMENT_VAULT as Vault,
      rails: { up: () => railUp, downForMs: () => 0 },
    }
    const given = command.decide(context)
    const { rows: staged } = batch.toCommit(now, null)
    const changed = [...(staged.payouts ?? [])].map((row) =>
      changedBy(row, created ?? rowOf(row.id)!),
    )
    return {
      answer: given,
      effects: {
        payouts: changed.map(([payout]) => payout),
        changes: changed.flatMap(([, changes]) => changes),
        orphans: [...(staged.orphans ?? [])].map((orphan) => ({
          ...orphan,
          amount: Number(orphan.amount),
        })),
        instructions: [...batch.instructions.values()].flat(),
      },
    }
  }
  return {
    load: (payouts) => {
      rows.clear()
      for (const row of payouts) rows.set(row.id, row)
    },
    pay: ({ partner, key }, moment) => {
      const terms = contextOf(partner, key, moment)
      return run(accept(terms), moment, { partner, key }).effects
    },
    run: (command, moment) => run(command, moment),
    due: (now) =>
      [...rows.values()].flatMap(({ id, due_at: at }) => (at !== null && at <= now ? [id] : [])),
  }
}

const nothing = (): void => undefined

/** As `create_payout`, whose checks and reservation are not simulated. */
const accept = (context: PayoutContext): Command => ({
  name: 'create_payout',
  needs: (needs) => needs.payout(context.id),
  decide: (ctx) => {
    const orphan = orphanOfPayout(ctx, context)
    const state = payoutTransitions.initial
    if (orphan === undefined) {
      const railUp = ctx.rails.up(SANDBOX_RAIL)
      advancePayout(ctx, { state, context }, { type: 'approve', at: ctx.now, railUp })
    } else {
      const dueAt = plus(ctx.now, RULES.reviewTtlMs)
      stagePayout(ctx, { state, context: { ...context, orphan: orphan.instruction, dueAt } })
    }
    return answer({})
  },
})

function contextOf(partner: string, key: string, { now, epoch }: Moment): PayoutContext {
  const kind = Number(/\d+$/.exec(key)?.[0] ?? 0) % DIFFERENT
  const amount = String(CENTS * (1 + kind))
  return {
    id: payoutIdOf(key, epoch) as PayoutId,
    tenant: `${partner}_sandbox` as TenantId,
    ...{ amount, recipientAmount: amount, total: amount, currency: MYR },
    fees: { platform: '0', rail: '0', sum: '0' },
    refundFeesOnReversal: false,
    reference: `invoice ${kind}`,
    metadata: {},
    beneficiary: {
      ...{ id: PAYEE.id as never, name: PAYEE.name, accountLast4: PAYEE.account_last4 },
      ...{ sealedAccount: `12345678${kind}`, bankCode: PAYEE.bank_code, country: 'MY' },
    },
    ...{ rail: SANDBOX_RAIL, createdAt: instant(now), dueAt: null },
  }
}
