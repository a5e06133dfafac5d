/** Compares the system's effects with the model's; each function throws on a difference. */
import assert from 'node:assert/strict'
import type { TenantId } from '../../src/base/ids.js'
import { accountKey, type AccountKind } from '../../src/ledger/accounts.js'
import { currencyOf, USD } from '../../src/money/currency.js'
import type { Answer } from '../../src/processor/cycle/answer.js'
import type { RailInstruction } from '../../src/rails/rail.js'
import type { StoredEvent } from '../../src/store/store.js'
import { CORRIDOR_RULES } from './contract_rules.js'
import { submitDeadlineOf, type Expectation, type Model, type ModelIntent } from './model.js'
import { intentView } from './model_views.js'
import type { ModelOperation } from './operations.js'
import type { SharedWorld } from './shared_world.js'

export function compareAnswer(
  operation: ModelOperation,
  expected: Expectation,
  answer: Answer,
): void {
  const code = answer.ok ? 'ok' : answer.code
  assert.equal(code, expected.code, `${operation.name}: ${expected.code}, not ${code}`)
  if (!answer.ok || expected.view === undefined) return
  assert.deepEqual(withoutMessage(answer.view), expected.view())
  if (expected.replayed === undefined) return
  assert.equal(answer.replayed ?? false, expected.replayed, 'a replay is marked')
  if (expected.replayed) assert.equal(JSON.stringify(answer.view), JSON.stringify(expected.view()))
}

export function compareIntent(intent: ModelIntent, answer: Answer): void {
  assert.ok(answer.ok, 'an intent is found')
  assert.deepEqual(withoutMessage(answer.view), intentView(intent)())
}

/** The model does not predict failure texts, only that there is one. */
function withoutMessage(view: object): object {
  const { failure } = view as { failure?: { message?: unknown } }
  if (failure === undefined) return view
  const { message, ...rest } = failure
  assert.ok(typeof message === 'string' && message !== '', 'a failure has a text')
  return { ...view, failure: rest }
}

/** @param before the number of events before this batch */
export function compareEvents(model: Model, events: readonly StoredEvent[], before: number): void {
  const seen = events.map(({ type, sequence, body, id }) => {
    const { data, ...envelope } = JSON.parse(body) as { data: { payment_intent: object } }
    assert.deepEqual(envelope, {
      id,
      type,
      webhook_event_id: id,
      webhook_event_type: type,
      api_version: '2026-11-01',
      created_at: new Date(model.now).toISOString(),
    })
    return { type, sequence, intent: withoutMessage(data.payment_intent) }
  })
  const expected = model.events.map(({ type, view }, index) => ({
    type,
    sequence: before + index + 1,
    intent: view(),
  }))
  assert.deepEqual(seen, expected, 'each public transition has one event, in order')
}

export function compareInstructions(model: Model, instructions: readonly RailInstruction[]): void {
  const expected = model.instructions.map(({ kind, intent, reportId }) => {
    if (kind === 'acknowledge') return { kind, reportId }
    const fields = { kind, id: intent?.id, environment: 'sandbox', ...routedBy(intent!) }
    if (kind === 'query') return fields
    if (kind === 'recall') return { ...fields, reason: 'refund' }
    return { kind, instruction: instructionOf(intent!) }
  })
  assert.deepEqual(instructions, expected, 'the instructions to the rail, in order')
}

const routedBy = ({ corridor }: ModelIntent): object => ({
  route: `sandbox/${corridor}`,
  rail: 'sandbox',
})

function instructionOf(intent: ModelIntent): object {
  const { code, minor } = intent.quotes.at(-1)!
  const { scheme, country, currency } = CORRIDOR_RULES[intent.corridor]
  const [reference1, reference2] = code.references
  return {
    id: intent.id,
    purpose: 'qr_payment',
    amount: minor,
    currency,
    destination: {
      scheme,
      country,
      bankCode: code.bankCode,
      account: code.account,
      accountType: code.accountType,
      reference1,
      reference2,
      name: code.merchant.name,
    },
    reference: intent.id,
    notAfter: submitDeadlineOf(intent),
    hint: '',
    environment: 'sandbox',
    ...routedBy(intent),
  }
}

/** A contradicting report leaves one discrepancy, also when repeated; others leave none. */
export function compareMismatches(model: Model, shared: SharedWorld): void {
  const fresh = new Set(shared.freshDiscrepancies.splice(0))
  const mismatch = new Set(model.mismatches.map((intent) => intent?.id ?? 'unknown'))
  for (const id of fresh) {
    const isKnown = model.intents.some((intent) => intent.id === id)
    assert.ok(mismatch.has(isKnown ? id : 'unknown'), 'a matching report leaves no discrepancy')
  }
  for (const intent of model.mismatches) {
    if (intent === null) continue
    assert.ok(
      shared.knownDiscrepancies.has(intent.id ?? ''),
      'a contradicting report is a discrepancy',
    )
  }
}

export function compareBalances(
  model: Model,
  tenant: TenantId,
  balances: ReadonlyMap<string, bigint>,
): void {
  const balance = (currency: string, kind: AccountKind): bigint =>
    balances.get(accountKey(tenant, currencyOf(currency) ?? USD, kind)) ?? 0n
  assert.equal(balance('USD', 'prefund'), model.prefund, 'available')
  assert.equal(balance('USD', 'reserved'), model.reserved, 'reserved')
  assert.equal(balance('USD', 'fx'), model.usdOut, 'US dollars exchanged')
  for (const currency of ['THB', 'VND'] as const) {
    const paid = model.paidOut[currency]
    assert.equal(balance(currency, 'fx'), -paid, `${currency} exchanged`)
    const outside = balance(currency, 'rail_clearing') + balance(currency, 'suspense')
    assert.equal(outside, paid, `${currency} paid out`)
  }
  const open = model.intents.filter(({ state }) => state === 'authorized')
  const reserved = open.reduce((sum, { quotes }) => sum + BigInt(quotes.at(-1)!.cents), 0n)
  assert.equal(model.reserved, reserved, 'the cost of authorized intents is reserved')
}
