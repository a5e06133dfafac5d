/**
 * Instructions, queries and recalls for the rail, built from an entity's context.
 *
 * - The account number is decrypted only here. It goes to the rail and into no row, log or event.
 * - The instruction's id is the entity's id: sent again, it is the same instruction.
 * - The rail executed a payment that an orphan execution is matched to under the orphan's id, so
 *   inquiries and recalls name that one.
 * - Everything about an instruction goes to the rail of its payment (changes/payment_rail). Until a
 *   rail has reported an orphan execution, every rail is asked about it and none recalls it: the
 *   next repetition of the recall goes to the one that has.
 */
import { assert } from '../../base/assert.js'
import { CORRIDORS } from '../../qr/corridor.js'
import type { RailInstruction, Routed, Traced } from '../../rails/rail.js'
import type { IntentContext } from '../../../actors/intent/context.js'
import type { PayoutContext } from '../../../actors/payout/context.js'
import type { CommandContext } from '../cycle/command.js'
import { environmentOf, type EffectId } from '../../base/ids.js'
import { CorruptRow } from '../../base/corrupt_row.js'
import { railOf, routeOf } from './payment_rail.js'

export const intentAccountField = (intentId: string): string => `intents.account.${intentId}`
export const beneficiaryAccountField = (id: string): string => `beneficiaries.sealed_account.${id}`

/** @throws CorruptRow when the account number cannot be decrypted */
export function accountOfIntent(
  { vault }: Pick<CommandContext, 'vault'>,
  { id, scanned }: IntentContext,
): string {
  const sealed = scanned?.destination.sealedAccount ?? ''
  return openedFor(id, () => vault.openAccount(sealed, intentAccountField(id)))
}

/** @throws CorruptRow when the account number cannot be decrypted */
export function accountOfPayout(
  { vault }: Pick<CommandContext, 'vault'>,
  { id, beneficiary }: PayoutContext,
): string {
  const field = beneficiaryAccountField(beneficiary.id)
  return openedFor(id, () => vault.openAccount(beneficiary.sealedAccount, field))
}

export function openedFor(entity: string, open: () => string): string {
  try {
    return open()
  } catch {
    throw new CorruptRow(entity, 'its account number cannot be decrypted')
  }
}

type Instruct = Extract<RailInstruction, { kind: 'instruct' }>

/** @param account the destination's account number in plain text */
export function instructIntent(
  context: IntentContext,
  account: string,
  traced: Traced = {},
): Instruct {
  const { scanned, confirmation, corridor } = context
  assert(scanned !== undefined && confirmation !== undefined, 'an instruction has a confirmation')
  const { destination, quote, merchant } = scanned
  const { scheme, country } = CORRIDORS[corridor]
  return {
    kind: 'instruct',
    instruction: {
      id: context.id,
      environment: environmentOf(context.tenant),
      ...{ ...routedBy(context), ...traced },
      purpose: 'qr_payment',
      amount: BigInt(quote.localMinor),
      currency: quote.currency,
      destination: {
        scheme,
        country,
        bankCode: destination.bankCode,
        account,
        accountType: destination.accountType,
        reference1: destination.reference1,
        reference2: destination.reference2,
        name: merchant.name,
      },
      reference: context.id,
      notAfter: confirmation.notAfter,
      hint: sandboxHint(context.tenant, /\+[a-z]+$/.exec(context.userId)?.[0] ?? ''),
    },
  }
}

/** @param account the beneficiary's account number in plain text */
export function instructPayout(
  context: PayoutContext,
  account: string,
  traced: Traced = {},
): Instruct {
  const { beneficiary } = context
  return {
    kind: 'instruct',
    instruction: {
      id: context.id,
      environment: environmentOf(context.tenant),
      ...{ ...routedBy(context), ...traced },
      purpose: 'payout',
      amount: BigInt(context.recipientAmount),
      currency: context.currency,
      destination: {
        scheme: 'bank_account',
        country: beneficiary.country,
        bankCode: beneficiary.bankCode,
        account,
        accountType: '',
        reference1: '',
        reference2: '',
        name: beneficiary.name,
      },
      reference: context.reference,
      notAfter: null,
      hint: sandboxHint(context.tenant, context.reference),
    },
  }
}

export function sendQuery(ctx: CommandContext, context: IntentContext | PayoutContext): void {
  const environment = environmentOf(context.tenant)
  const query = {
    ...({ kind: 'query', id: idAtRail(ctx, context), environment } as const),
    ...{ ...routedBy(context), ...tracedBy(ctx) },
  }
  if (!isUnlocated(ctx, context)) return ctx.batch.addInstruction(railOf(context), query)
  for (const { name } of ctx.rules.rails.entries) {
    ctx.batch.addInstruction(name, { ...query, rail: name })
  }
}

export function sendRecall(ctx: CommandContext, context: IntentContext): void {
  if (isUnlocated(ctx, context)) return sendQuery(ctx, context)
  const environment = environmentOf(context.tenant)
  const about = { id: idAtRail(ctx, context), reason: 'refund', environment }
  ctx.batch.addInstruction(railOf(context), {
    ...{ kind: 'recall', ...about, ...routedBy(context), ...tracedBy(ctx) },
  })
}

/** The id of the instruction that the rail has executed, or that was submitted to it. */
const idAtRail = ({ memory }: CommandContext, { id }: IntentContext | PayoutContext): EffectId =>
  (memory.orphans.matchedTo(id)?.instruction ?? id) as EffectId

/** Whether any of several rails can have the orphan execution that paid it. */
const isUnlocated = (
  { memory, rules }: CommandContext,
  { id }: IntentContext | PayoutContext,
): boolean => rules.rails.entries.length > 1 && memory.orphans.matchedTo(id)?.rail === null

const routedBy = (context: IntentContext | PayoutContext): Routed => ({
  route: routeOf(context),
  rail: railOf(context),
})

/** What an instruction of this command tells of its trace. */
export const tracedBy = ({ origin }: Pick<CommandContext, 'origin'>): Traced =>
  origin.traceparent === undefined ? {} : { traceparent: origin.traceparent }

/** The hint by which a sandbox partner forces an outcome; empty in production. */
const sandboxHint = (tenant: IntentContext['tenant'], hint: string): string =>
  environmentOf(tenant) === 'sandbox' ? hint : ''
