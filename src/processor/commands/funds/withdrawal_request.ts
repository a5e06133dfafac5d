/** What operators name when they take money out of a prefund without a payment. */
import { hash } from 'node:crypto'
import { accepted, invalid, refused, type Outcome } from '../../../base/errors.js'
import { currencyOf } from '../../../money/currency.js'
import { money, parsePositiveInt64, type Money } from '../../../money/money.js'
import { INVALID_EVIDENCE, isEvidence } from '../../changes/operator_log.js'

export interface WithdrawalRequest {
  readonly currency: string
  /** Minor units. */
  readonly amount: string
  readonly idempotencyKey: string
  /** Where it can be looked up. */
  readonly evidence: string
}

/** The amount. */
export function fundsIn(request: WithdrawalRequest): Outcome<Money> {
  if (request.idempotencyKey === '') return NO_IDEMPOTENCY_KEY
  if (!isEvidence(request.evidence)) return INVALID_EVIDENCE
  const currency = currencyOf(request.currency)
  const amount = parsePositiveInt64(request.amount)
  if (currency === undefined || amount === undefined) return refused('invalid_request')
  return accepted(money(currency, amount))
}

export const NO_IDEMPOTENCY_KEY = invalid('/idempotency_key', 'must not be empty')

/** @param deposit of a correction */
export const hashOf = (
  { currency, amount, evidence }: WithdrawalRequest,
  deposit: string | null,
): string => hash('sha256', JSON.stringify([deposit, currency, amount, evidence]), 'base64url')
