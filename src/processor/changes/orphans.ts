/**
 * Orphan executions in decisions: matching a payment to one, reports of the rail about one, and
 * staging one.
 *
 * Owns: the matching rule, the hold of a payment that matches, what its approval has to name, what
 * an operator may match, the effect of a report, the keyed digest of a destination, the view for
 * operators. Does not own: adding and resolving them (operators/orphan_add,
 * operators/orphan_resolve), what a held payment waits for (actors).
 *
 * - A payment matches when environment, kind, destination, amount, currency and reference are
 *   equal. A member missing from the rail's statement matches any value: one payment too many is
 *   held rather than one paid twice. References are equal as banks write them: without case, blanks
 *   and punctuation, and a long one may be cut or have more around it.
 * - It also matches by its reference alone, whatever the amount, when nothing but amount and
 *   currency differs: fees and routes may have changed since.
 * - A payment that a reviewer has decided on is not compared again.
 * - An approval says of each orphan that may have paid the payment that it did not. Such are the
 *   open ones that equal it, and the one that it is held for when another payment was matched to
 *   that: of several equal payments held for one orphan, the others may be retries.
 * - An instruction that the rail has accepted holds payments as an execution does, because the rail
 *   may execute it at any time. Once the rail has refused it, or returned its money, it holds no
 *   further payment and stays open for an operator.
 * - An orphan execution can have the id of a payment of these books that they did not submit, and
 *   the lost ones did. It is the execution of that payment, of no other one.
 * - No row holds the plain account number, only its keyed digest and its last four digits.
 */
import { instant, plus, toRfc3339 } from '../../base/clock.js'
import { environmentOf, type TenantId } from '../../base/ids.js'
import { toWire } from '../../money/money.js'
import {
  statementReference,
  type Execution,
  type Purpose,
  type RailReport,
} from '../../rails/rail.js'
import type { Hold } from '../../../actors/hold.js'
import type { IntentContext, Scanned } from '../../../actors/intent/context.js'
import type { PayoutContext } from '../../../actors/payout/context.js'
import type { EqualOrphans } from '../cycle/answer.js'
import type { CommandContext } from '../cycle/command.js'
import type { Vault } from '../keys/vault.js'
import { comparableReference, holdsPayments, type Orphan } from '../cache/orphan_index.js'
import { accountOfIntent, accountOfPayout } from './rail_instructions.js'

interface Payment {
  readonly tenant: TenantId
  readonly purpose: Purpose
  readonly currency: string
  readonly amount: bigint
  /** See `statementReference`. */
  readonly reference: string
  /** The destination's account number in plain text. */
  readonly account: () => string
}

/**
 * An open orphan execution that may be this payout. Undefined if there is none
 * or a reviewer has decided.
 *
 * @throws CorruptRow when the account number cannot be decrypted
 */
export function orphanOfPayout(ctx: CommandContext, context: PayoutContext): Orphan | undefined {
  if (ctx.memory.orphans.open === 0) return undefined
  if (context.orphan !== undefined || context.heldFor !== undefined) return undefined
  return ownExecution(ctx, context.id) ?? orphansEqualTo(ctx, paymentOfPayout(ctx, context))[0]
}

const paymentOfPayout = (ctx: CommandContext, context: PayoutContext): Payment => ({
  tenant: context.tenant,
  purpose: 'payout',
  currency: context.currency,
  amount: BigInt(context.recipientAmount),
  reference: context.reference,
  account: () => accountOfPayout(ctx, context),
})

/**
 * An open orphan execution that may be this scanned intent. Undefined if there is
 * none or a reviewer has decided.
 *
 * @throws CorruptRow when the account number cannot be decrypted
 */
export function orphanOfIntent(ctx: CommandContext, context: IntentContext): Orphan | undefined {
  if (ctx.memory.orphans.open === 0) return undefined
  if (context.scanned === undefined || context.heldFor !== undefined) return undefined
  return (
    ownExecution(ctx, context.id) ??
    orphansEqualTo(ctx, paymentOfIntent(ctx, context, context.scanned))[0]
  )
}

function paymentOfIntent(ctx: CommandContext, context: IntentContext, scanned: Scanned): Payment {
  const { id, tenant } = context
  const { quote, destination } = scanned
  const purpose = 'qr_payment'
  return {
    tenant,
    purpose,
    currency: quote.currency,
    amount: BigInt(quote.localMinor),
    reference: statementReference({ purpose, destination, reference: id }),
    account: () => accountOfIntent(ctx, context),
  }
}

/**
 * The orphan execution of a payment that these books have and did not submit. It ends by that: it
 * is not to fail, and to be matched to no other one.
 */
export function ownExecution(
  { memory: { orphans } }: Pick<CommandContext, 'memory'>,
  paymentId: string,
): Orphan | undefined {
  if (orphans.open === 0) return undefined
  const own = orphans.get(paymentId)
  return own?.status === 'open' && holdsPayments(own) ? own : undefined
}

/** The refusal to let a payment fail that its own orphan execution has paid. Null if it may. */
export function refusalOfFailure(ctx: CommandContext, paymentId: string): EqualOrphans | null {
  const own = ownExecution(ctx, paymentId)
  return own === undefined
    ? null
    : { ok: false, code: 'orphan_execution_equal', orphans: [own.instruction] }
}

/**
 * Whether this orphan execution can be that of the payout: equal but for its reference, which a
 * partner may change when it repeats a payout.
 *
 * @throws CorruptRow when the account number cannot be decrypted
 */
export const isExecutionOfPayout = (
  ctx: CommandContext,
  orphan: Orphan,
  context: PayoutContext,
): boolean => isExecutionOf(ctx, orphan, paymentOfPayout(ctx, context))

/** Likewise, of an intent. */
export const isExecutionOfIntent = (
  ctx: CommandContext,
  orphan: Orphan,
  context: IntentContext,
): boolean =>
  context.scanned !== undefined &&
  isExecutionOf(ctx, orphan, paymentOfIntent(ctx, context, context.scanned))

const isExecutionOf = ({ vault }: CommandContext, orphan: Orphan, payment: Payment): boolean =>
  isEqual(orphan.environment, environmentOf(payment.tenant)) &&
  isEqual(orphan.purpose, payment.purpose) &&
  orphan.currency === payment.currency &&
  orphan.amount === payment.amount &&
  isDestination(orphan, digestsOf(vault, payment.account()))

/**
 * The refusal of an approval of this payout that does not name each orphan execution that may have
 * paid it. Null if it may be submitted.
 *
 * @param otherThan those that the operator says did not pay it
 * @throws CorruptRow when the account number cannot be decrypted
 */
export const refusalBesidePayout = (
  ctx: CommandContext,
  context: PayoutContext,
  otherThan: readonly string[],
): EqualOrphans | null =>
  refusalBeside(
    ctx,
    paymentOfPayout(ctx, context),
    context.heldFor?.orphan ?? context.orphan,
    otherThan,
  )

/** Likewise, of a held intent. */
export const refusalBesideIntent = (
  ctx: CommandContext,
  context: IntentContext,
  otherThan: readonly string[],
): EqualOrphans | null => {
  const { scanned, heldFor } = context
  if (scanned === undefined) return null
  return refusalBeside(ctx, paymentOfIntent(ctx, context, scanned), heldFor?.orphan, otherThan)
}

/** @param held the orphan that it is held for */
function refusalBeside(
  ctx: CommandContext,
  payment: Payment,
  held: string | undefined,
  otherThan: readonly string[],
): EqualOrphans | null {
  const { orphans } = ctx.memory
  const known = held === undefined ? undefined : orphans.get(held)
  const mayHavePaid = known !== undefined && known.status !== 'resolved' && holdsPayments(known)
  const equal = new Set(mayHavePaid ? [known] : [])
  if (orphans.open > 0) for (const orphan of orphansEqualTo(ctx, payment)) equal.add(orphan)
  const unnamed = [...equal].filter(({ instruction }) => !otherThan.includes(instruction))
  if (unnamed.length === 0) return null
  return { ok: false, code: 'orphan_execution_equal', orphans: unnamed.map(inWords) }
}

const inWords = ({ instruction, matched_to: matched }: Orphan): string =>
  matched === null ? instruction : `${instruction} (matched to ${matched})`

/**
 * Open orphan executions that may be this payment; first those of its amount, and last those with a
 * longer or shorter reference.
 */
function orphansEqualTo({ memory, vault }: CommandContext, payment: Payment): readonly Orphan[] {
  const { tenant, purpose, currency, amount, reference } = payment
  const equal = memory.orphans.openOf(currency, amount)
  const named = reference === '' ? [] : memory.orphans.openNamed(reference)
  if (equal.length + named.length === 0) return NONE
  const environment = environmentOf(tenant)
  const digests = digestsOf(vault, payment.account())
  const own = comparableReference(reference)
  const found: Record<Likeness, Orphan[]> = { same: [], cut: [], different: [] }
  for (const orphan of new Set([...equal, ...named])) {
    const isAlike =
      isEqual(orphan.environment, environment) &&
      isEqual(orphan.purpose, purpose) &&
      isDestination(orphan, digests)
    if (isAlike) found[likenessOf(comparableReference(orphan.reference), own)].push(orphan)
  }
  return [...found.same, ...found.cut]
}

const NONE: readonly Orphan[] = []

/** Shorter references can differ only in a number at their end. */
const CUT_LENGTH_MIN = 16

type Likeness = 'same' | 'cut' | 'different'

/** Compares comparable references. One that is missing is that of any payment. */
function likenessOf(one: string, other: string): Likeness {
  if (one === '' || other === '' || one === other) return 'same'
  const [shorter, longer] = one.length < other.length ? [one, other] : [other, one]
  return shorter.length >= CUT_LENGTH_MIN && longer.includes(shorter) ? 'cut' : 'different'
}

const isEqual = (reported: string | null, wanted: string): boolean =>
  reported === null || reported === wanted

export const holdFor = ({ now, rules }: CommandContext, { instruction }: Orphan): Hold => ({
  orphan: instruction,
  until: plus(now, rules.reviewTtlMs),
})

/** Without blanks, hyphens and case, which differ between writings of an account number. */
const plainAccount = (account: string): string => account.replace(/[\s-]/g, '').toUpperCase()

const digestOf = (vault: Vault, plain: string): string =>
  vault.digest(`orphan destination ${plain}`)

/**
 * The digest of an account number of a statement. Null when it is masked, or a spreadsheet has made
 * a number of it: it says nothing.
 */
export function destinationDigest(vault: Vault, account: string): string | null {
  const plain = plainAccount(account)
  return /^\+?[A-Z0-9]+$/.test(plain) && !plain.includes('XX') ? digestOf(vault, plain) : null
}

/** The digests of this account in a statement; spreadsheets drop leading zeros. */
function digestsOf(vault: Vault, account: string): readonly string[] {
  const plain = plainAccount(account)
  return [...new Set([plain, plain.replace(/^0+/, '')])].map((each) => digestOf(vault, each))
}

const isDestination = ({ destination }: Orphan, digests: readonly string[]): boolean =>
  destination === null || digests.includes(destination)

export function stageOrphan({ memory, batch }: CommandContext, orphan: Orphan): void {
  memory.orphans.set(orphan)
  batch.stage('orphans', orphan.instruction, orphan)
}

/**
 * Applies a report of the rail about an orphan execution: a payment that these books do not have.
 *
 * @returns why the report contradicts what is known, null if it does not
 */
export function reportOrphan(
  ctx: CommandContext,
  orphan: Orphan,
  report: RailReport,
): string | null {
  const { state } = orphan
  switch (report.status) {
    case 'accepted':
      return null
    case 'not_found':
    case 'recall_refused':
      return 'unknown_instruction'
    case 'refused':
      if (state === 'refused') return null
      if (state !== 'accepted') return 'refused_after_execution'
      stageOrphan(ctx, { ...orphan, state: 'refused' })
      return null
    case 'executed':
      if (!isSame(ctx, orphan, report)) return 'execution_differs'
      if (state === 'refused') return 'executed_after_end'
      if (state !== 'accepted') return isKnown(orphan, report) ? null : 'executed_again'
      stageOrphan(ctx, { ...orphan, state: 'executed', transaction_id: report.transactionId })
      return orphan.status === 'open' ? null : 'executed_after_end'
    case 'returned':
      if (!isSame(ctx, orphan, report)) return 'return_differs'
      if (state === 'refused' || orphan.status !== 'open') return 'returned_after_end'
      if (state !== 'accepted' && !isKnown(orphan, report)) return 'returned_again'
      if (state === 'returned') return null
      stageOrphan(ctx, { ...orphan, state: 'returned', transaction_id: report.transactionId })
      return null
  }
}

const isKnown = ({ transaction_id }: Orphan, { transactionId }: Execution): boolean =>
  transaction_id === transactionId

function isSame({ vault }: CommandContext, orphan: Orphan, execution: Execution): boolean {
  const { amount, currency, destinationAccount } = execution
  if (orphan.amount !== amount || orphan.currency !== currency) return false
  return isDestination(orphan, digestsOf(vault, destinationAccount))
}

/** As operators see it. */
export function orphanView(orphan: Orphan): object {
  return {
    instruction_id: orphan.instruction,
    environment: orphan.environment,
    purpose: orphan.purpose,
    account_last4: orphan.account_last4,
    amount: toWire(orphan.amount),
    currency: orphan.currency,
    reference: orphan.reference,
    transaction_id: orphan.transaction_id,
    executed_at: toRfc3339(instant(orphan.executed_at)),
    status: orphan.status,
    matched_to: orphan.matched_to,
    resolved_at: orphan.resolved_at === null ? null : toRfc3339(instant(orphan.resolved_at)),
    state: orphan.state,
  }
}
