/** What operators name when they take money out of a prefund without a payment. */
import { hash } from 'node:crypto'
import { currencyOf } from '../../../money/currency.js'
import { money, parsePositiveInt64, type Money } from '../../../money/money.js'
import { isEvidence } from '../../changes/operator_log.js'

export interface WithdrawalRequest {
  readonly currency: string
  /** Minor units. */
  readonly amount: string
  readonly idempotencyKey: string
  /** Where it can be looked up. */
  readonly evidence: string
}

/** The amount. Null means that the request is not valid. */
export function fundsIn(request: WithdrawalRequest): Money | null {
  const currency = currencyOf(request.currency)
  const amount = parsePositiveInt64(request.amount)
  if (request.idempotencyKey === '' || !isEvidence(request.evidence)) return null
  return currency === undefined || amount === undefined ? null : money(currency, amount)
}

/** @param deposit of a correction */
export const hashOf = (
  { currency, amount, evidence }: WithdrawalRequest,
  deposit: string | null,
): string => hash('sha256', JSON.stringify([deposit, currency, amount, evidence]), 'base64url')
