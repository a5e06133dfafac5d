/**
 * What a screening service is asked about a payment, and what it has said.
 *
 * - A verdict counts only for the question that the command would ask now: its id covers the key
 *   and the content.
 * - The account number is decrypted for the question; it goes into no row, log or event.
 */
import { environmentOf, partsOfTenant, type TenantId } from '../../base/ids.js'
import { CORRIDORS } from '../../qr/corridor.js'
import type { CreatePayout__Output as CreatePayout } from '../../../protos/types/causeway/v1/CreatePayout.js'
import type { IntentContext, Scanned } from '../../../actors/intent/context.js'
import type { CommandContext, ScreenRequest, Verdict } from '../cycle/command.js'
import type { BeneficiaryRow } from './beneficiaries.js'
import { accountOfIntent, beneficiaryAccountField, openedFor } from './rail_instructions.js'

/** `not_configured`: there is no service. `not_asked`: there is one, not asked about this. */
export type Screened = Verdict | 'not_configured' | 'not_asked'

export function verdictOn({ screening }: CommandContext, idOf: () => string): Screened {
  if (screening === undefined) return 'not_configured'
  return screening !== null && screening.id === idOf() ? screening.verdict : 'not_asked'
}

/** Keyed, because it covers account numbers. */
export const screeningId = (
  { vault }: Pick<CommandContext, 'vault'>,
  parts: readonly string[],
): string => vault.digest(['screening', ...parts].join('\n'))

export function questionOnPayout(
  { vault }: CommandContext,
  id: string,
  tenant: TenantId,
  { amount, currency, reference }: CreatePayout,
  beneficiary: BeneficiaryRow,
): ScreenRequest {
  const field = beneficiaryAccountField(beneficiary.id)
  return {
    ...asked(id, tenant),
    ...{ purpose: 'payout', amount, currency, reference },
    payee: {
      name: beneficiary.name,
      country: beneficiary.destination_country,
      scheme: 'bank_account',
      bank_code: beneficiary.bank_code,
      account_number: openedFor(beneficiary.id, () =>
        vault.openAccount(beneficiary.sealed_account, field),
      ),
    },
  }
}

export function questionOnIntent(
  ctx: CommandContext,
  id: string,
  context: IntentContext,
  { quote, merchant, destination }: Scanned,
): ScreenRequest {
  const { scheme, country } = CORRIDORS[context.corridor]
  return {
    ...asked(id, context.tenant),
    ...{ purpose: 'qr_payment', amount: quote.localMinor, currency: quote.currency },
    ...{ payment_intent_id: context.id, partner_user_id: context.userId },
    payee: {
      ...{ name: merchant.name, country, scheme, bank_code: destination.bankCode },
      account_number: accountOfIntent(ctx, context),
    },
  }
}

const asked = (id: string, tenant: TenantId): ScreenRequest => ({
  id,
  environment: environmentOf(tenant),
  partner_id: partsOfTenant(tenant).partner,
})
