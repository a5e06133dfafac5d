/** The model of a payer's operations: scan and confirm. */
import { centsOf, CORRIDOR_RULES, QUOTE_TTL } from './contract_rules.js'
import { BAD_CODES, WRONG_CORRIDOR, type MerchantCode } from './merchant_codes.js'
import {
  boundQuote,
  enter,
  fitsLimits,
  accepted,
  submit,
  isDuplicate,
  isOpen,
  refused,
  reserve,
  type Expectation,
  type Model,
  type ModelQuote,
} from './model.js'
import { intentView, scanView } from './model_views.js'
import type { OnIntent } from './partner_rules.js'

export interface Scan extends OnIntent {
  readonly jti: string
  /** Text: a code that no corridor accepts. */
  readonly code: MerchantCode | string
  readonly amount: string | null
  readonly acknowledged: boolean
}

export interface Confirm extends OnIntent {
  readonly jti: string
  readonly key: string | null
  /** The quotes whose id and version the caller names. */
  readonly quoteId: ModelQuote | null
  readonly quoteVersion: number | null
}

const UNAUTHENTICATED = refused('authentication_failed')

export function expectScan(model: Model, operation: Scan): Expectation {
  const { intent, code } = operation
  if (operation.by === 'other tenant') return UNAUTHENTICATED
  if (intent.confirmation?.jti === operation.jti) return UNAUTHENTICATED
  if (!isOpen(intent, model.now)) return refused('payment_intent_not_scannable')
  if (typeof code === 'string') return refused(BAD_CODES[code] ?? 'unknown code')
  if (code.corridor !== intent.corridor) return refused(WRONG_CORRIDOR)
  const amount = amountOf(operation, code)
  if (typeof amount === 'string') return refused(amount)

  const rules = CORRIDOR_RULES[intent.corridor]
  if (!operation.acknowledged && isDuplicate(model, intent, code, amount)) {
    return refused('duplicate_scan')
  }
  if (amount < rules.minimum) return refused('amount_below_minimum')
  if (!fitsLimits(model, intent, amount)) return refused('user_limit_exceeded')
  const cents = centsOf(amount, rules, model.rates[rules.currency])
  if (cents > intent.cents) return refused('quote_exceeds_intent_amount')

  const quote: ModelQuote = {
    id: null,
    version: intent.quotes.length + 1,
    cents,
    minor: amount,
    expiresAt: model.now + QUOTE_TTL,
    acknowledged: operation.acknowledged,
    code,
  }
  intent.quotes.push(quote)
  return {
    code: 'ok',
    onAccepted: (answer) => (quote.id = (answer.quote as { quote_id: string }).quote_id),
    view: scanView(intent, quote),
  }
}

/** The amount to pay, or an error code. */
function amountOf({ amount: given }: Scan, { amount }: MerchantCode): bigint | string {
  if (given !== null && BigInt(given) <= 0n) return 'local_amount_invalid'
  if (amount === null) return given === null ? 'local_amount_required' : BigInt(given)
  return given === null || BigInt(given) === amount ? amount : 'qr_amount_mismatch'
}

export function expectConfirm(model: Model, operation: Confirm): Expectation {
  const { intent, jti, key } = operation
  if (operation.by === 'other tenant') return UNAUTHENTICATED
  const { confirmation } = intent
  if (confirmation !== null) {
    if (key !== null && confirmation.key === key) {
      return { code: 'ok', replayed: true, view: confirmation.answer }
    }
    return confirmation.jti === jti ? UNAUTHENTICATED : refused('already_confirmed')
  }
  const quote = boundQuote(intent)
  const refusal = refusalOfConfirm(model, operation, quote)
  if (refusal !== null || quote === null) return refused(refusal ?? 'quote_required')

  enter(model, intent, 'authorized')
  const answer = intentView(intent)
  intent.confirmation = { jti, key, at: model.now, answer }
  intent.wakeAt = model.now
  reserve(model, intent, quote)
  if (model.railUp) submit(model, intent)
  model.events.push({ type: 'payment_intent.authorized', intent, view: answer })
  return accepted(answer)
}

function refusalOfConfirm(
  model: Model,
  { intent, quoteId, quoteVersion }: Confirm,
  quote: ModelQuote | null,
): string | null {
  if (!isOpen(intent, model.now)) return 'payment_intent_not_confirmable'
  if (quote === null) return 'quote_required'
  if (quoteId !== null && quoteId !== quote) return 'quote_changed'
  if (quoteVersion !== null && quoteVersion !== quote.version) return 'quote_changed'
  if (model.now >= quote.expiresAt) return 'quote_expired'
  if (!quote.acknowledged && isDuplicate(model, intent, quote.code, quote.minor)) {
    return 'duplicate_scan'
  }
  if (!fitsLimits(model, intent, quote.minor)) return 'user_limit_exceeded'
  return model.prefund < BigInt(quote.cents) ? 'insufficient_balance' : null
}
