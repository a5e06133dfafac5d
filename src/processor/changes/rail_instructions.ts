/**
 * Instructions, queries and recalls for the rail, built from an entity's context.
 *
 * - The account number is decrypted only here. It goes to the rail and into no row, log or event.
 * - The instruction's id is the entity's id: sent again, it is the same instruction.
 */
import { assert } from '../../base/assert.js'
import { CORRIDORS, type CorridorFacts } from '../../qr/corridor.js'
import type { RailDestination, RailInstruction } from '../../rails/rail.js'
import type { IntentContext } from '../../../actors/intent/context.js'
import type { PayoutContext } from '../../../actors/payout/context.js'
import type { CommandContext } from '../cycle/command.js'
import { environmentOf } from '../../base/ids.js'
import { CorruptRow } from '../../base/corrupt_row.js'

export const intentAccountPlace = (intentId: string): string => `intents.account.${intentId}`
export const beneficiaryAccountPlace = (id: string): string => `beneficiaries.sealed_account.${id}`

/** @throws CorruptRow when the account number cannot be decrypted */
export function accountOfIntent(
  { vault }: Pick<CommandContext, 'vault'>,
  { id, scanned }: IntentContext,
): string {
  const sealed = scanned?.destination.sealedAccount ?? ''
  return openedFor(id, () => vault.openAccount(sealed, intentAccountPlace(id)))
}

/** @throws CorruptRow when the account number cannot be decrypted */
export function accountOfPayout(
  { vault }: Pick<CommandContext, 'vault'>,
  { id, beneficiary }: PayoutContext,
): string {
  const place = beneficiaryAccountPlace(beneficiary.id)
  return openedFor(id, () => vault.openAccount(beneficiary.sealedAccount, place))
}

export function openedFor(entity: string, open: () => string): string {
  try {
    return open()
  } catch {
    throw new CorruptRow(entity, 'its account number cannot be decrypted')
  }
}

/** @param account the destination's account number in plain text */
export function instructIntent(
  context: IntentContext,
  account: string,
): Extract<RailInstruction, { kind: 'instruct' }> {
  const { scanned, confirmation, corridor } = context
  assert(scanned !== undefined && confirmation !== undefined, 'an instruction has a confirmation')
  const { destination, quote, merchant } = scanned
  return {
    kind: 'instruct',
    instruction: {
      id: context.id,
      environment: environmentOf(context.tenant),
      purpose: 'qr_payment',
      amount: BigInt(quote.localMinor),
      currency: quote.currency,
      destination: qrDestination(CORRIDORS[corridor], {
        bankCode: destination.bankCode,
        account,
        accountType: destination.accountType,
        reference1: destination.reference1,
        reference2: destination.reference2,
        name: merchant.name,
      }),
      reference: context.id,
      notAfter: confirmation.notAfter,
      hint: sandboxHint(context.tenant, /\+[a-z]+$/.exec(context.userId)?.[0] ?? ''),
    },
  }
}

/** Exhaustive: a scheme of corridors without a destination at the rail does not compile. */
function qrDestination(
  { scheme, country }: CorridorFacts,
  payee: Omit<RailDestination, 'scheme' | 'country'>,
): RailDestination {
  switch (scheme) {
    case 'promptpay':
    case 'vietqr':
      return { scheme, country, ...payee }
  }
}

/** @param account the beneficiary's account number in plain text */
export function instructPayout(
  context: PayoutContext,
  account: string,
): Extract<RailInstruction, { kind: 'instruct' }> {
  const { beneficiary } = context
  return {
    kind: 'instruct',
    instruction: {
      id: context.id,
      environment: environmentOf(context.tenant),
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

export const queryOf = ({ id, tenant }: IntentContext | PayoutContext): RailInstruction => ({
  kind: 'query',
  id,
  environment: environmentOf(tenant),
})

export const recallOf = ({ id, tenant }: IntentContext): RailInstruction => ({
  kind: 'recall',
  id,
  reason: 'refund',
  environment: environmentOf(tenant),
})

/** The hint by which a sandbox partner forces an outcome; empty in production. */
const sandboxHint = (tenant: IntentContext['tenant'], hint: string): string =>
  environmentOf(tenant) === 'sandbox' ? hint : ''
