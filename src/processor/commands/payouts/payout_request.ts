/** The input of a payout in the form in which it is stored and compared. */
import type { CreatePayout__Output as CreatePayout } from '../../../../protos/types/causeway/v1/CreatePayout.js'
import type { Vault } from '../../keys/vault.js'

/** Requests that differ only in surrounding blanks are the same. */
export function trimmed(given: CreatePayout): CreatePayout {
  const { beneficiary: inline, ...request } = given
  const reference = given.reference.trim()
  if (!inline) return { ...request, reference }
  const beneficiary = { ...inline, name: inline.name.trim(), bank_code: inline.bank_code.trim() }
  return { ...request, reference, beneficiary }
}

/**
 * The parts by which two requests are compared: the validated body, trimmed and with its defaults.
 * A member added by a later version must be omitted while absent: null would change the hash of
 * requests whose keys are bound already.
 */
export function hashedParts(request: CreatePayout): Parameters<Vault['hashRequest']>[0] {
  const { amount, currency, reference, metadata } = request
  const inline = request.beneficiary
  return {
    amount,
    currency,
    reference,
    metadata,
    description: request.description ?? null,
    beneficiary_id: request.beneficiary_id ?? null,
    beneficiary: inline
      ? {
          type: inline.type,
          name: inline.name,
          destination_country: inline.destination_country,
          currency: inline.currency,
          account_number: inline.account_number,
          bank_code: inline.bank_code,
        }
      : null,
  }
}
