/** A valid payment and the operations of its lifecycle. */
import fc from 'fast-check'
import { tokenOf } from './generator.js'
import type { CorridorName } from './contract_rules.js'
import type { Model, ModelIntent } from './model.js'
import { executionOf } from './report_generators.js'
import type { MerchantCode } from './merchant_codes.js'
import { confirm, create, report, scan, type ModelOperation } from './operations.js'
import { amountFor, amounts, codeFor } from './scan_generators.js'
import { USERS } from './tenant.js'

export const payments = fc.record({
  user: fc.constantFrom(...USERS),
  corridor: fc.constantFrom<CorridorName>('th_promptpay', 'vn_vietqr'),
  code: fc.record({ of: fc.constant('corridor' as const), n: fc.nat(3) }),
  amount: amounts,
  acknowledged: fc.boolean(),
  outcome: fc.constantFrom('unknown', 'executed', 'executed', 'refused'),
})
export type Payment = typeof payments extends fc.Arbitrary<infer Drawn> ? Drawn : never

export const createOf = (
  { user, corridor }: Pick<ModelIntent, 'user' | 'corridor'>,
  cents = 100_000_000,
): ModelOperation => create({ user, corridor, cents, verified: true, clean: true, key: null })

export function scanOf(payment: Payment, intent: ModelIntent, model: Model): ModelOperation {
  const code = codeFor(payment.code, intent.corridor)
  const amount = amountFor(payment.amount, intent, code, model)
  return scanned(intent, code, amount, payment.acknowledged)
}

/** By the payer's app. */
export const scanned = (
  intent: ModelIntent,
  code: MerchantCode | string,
  amount: string | null,
  acknowledged = false,
): ModelOperation =>
  scan({ by: 'owner', intent, jti: tokenOf(intent, 0), code, amount, acknowledged })

/** The same code and amount again, as by a payer who retries. */
export function scanAgain(paid: ModelIntent, intent: ModelIntent): ModelOperation {
  const { code, minor } = paid.quotes.at(-1)!
  return scanned(intent, code, minor.toString())
}

export const reportsOf = (
  intent: ModelIntent,
  status: 'executed' | 'refused' | 'returned',
  reportId: string,
): ModelOperation => {
  const execution = executionOf(intent, intent.transactionId ?? 'TX1')
  return report({ intent, status, execution, refusal: 'rejected', reportId })
}

/** With one of its tokens; it names no quote. */
export const confirmOf = (
  intent: ModelIntent,
  token = 0,
  key: string | null = null,
): ModelOperation => {
  const jti = tokenOf(intent, token)
  return confirm({ by: 'owner', intent, jti, key, quoteId: null, quoteVersion: null })
}
