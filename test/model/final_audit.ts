/**
 * The end of a test case: open intents reach a final state; then rows, events and instructions on
 * disk are checked.
 */
import assert from 'node:assert/strict'
import { instant } from '../../src/base/clock.js'
import { limitKeys } from '../../src/limits/usage.js'
import { answer } from '../../src/processor/cycle/answer.js'
import type { IntentStatus } from '../support/lifecycle.js'
import { pass, restart, setRail, step, fireDueTimers, type Harness } from './harness.js'
import { DAY, INTENT_TTL } from './contract_rules.js'
import { reportsOf } from './payments.js'

/**
 * Intents that were not submitted expire; the rail executes the others and returns those with a
 * recall.
 */
export async function endRun(harness: Harness): Promise<void> {
  const { model } = harness
  setRail(harness, false)
  pass(harness, model.now + INTENT_TTL)
  await fireDueTimers(harness)
  const open = model.intents.filter(({ state }) => state === 'authorized')
  await step(
    harness,
    open.map((intent) => reportsOf(intent, 'executed', 'last')),
  )
  const recalled = model.intents.filter(({ state, recall }) => {
    return state === 'captured' && recall !== null && recall.refusedAt === null
  })
  await step(
    harness,
    recalled.map((intent) => reportsOf(intent, 'returned', 'last')),
  )
  pass(harness, model.now + 400 * DAY)
  await fireDueTimers(harness)
}

export async function auditRun(harness: Harness): Promise<void> {
  await restart(harness)
  auditStates(harness)
  auditEntries(harness)
  auditEvents(harness)
  auditInstructions(harness)
  await auditUsage(harness)
}

function auditStates({ model }: Harness): void {
  for (const { state, wakeAt } of model.intents) {
    assert.ok(state !== 'created' && state !== 'authorized', 'every intent is final')
    assert.equal(wakeAt, null, 'a final intent has no timer')
  }
  assert.equal(model.reserved, 0n)
}

const PLANS: Readonly<Record<IntentStatus, readonly string[]>> = {
  created: [],
  expired: [],
  authorized: ['intent_confirmed'],
  captured: ['intent_confirmed', 'intent_captured'],
  refunded: ['intent_confirmed', 'intent_captured', 'intent_refunded'],
  failed: ['intent_confirmed', 'intent_failed'],
  cancelled: ['intent_confirmed', 'intent_cancelled'],
}

/** Each posting balances in each currency; each transition was posted once. */
function auditEntries({ model, shared }: Harness): void {
  const sums = new Map<string, bigint>()
  const plans = new Map<string, Set<string>>()
  for (const { posting, account, amount, entity, plan } of shared.entries) {
    const key = `${posting} ${account.split(':')[1]}`
    sums.set(key, (sums.get(key) ?? 0n) + amount)
    plans.set(entity, (plans.get(entity) ?? new Set()).add(`${posting} ${plan}`))
  }
  for (const [key, sum] of sums) assert.equal(sum, 0n, `posting ${key} balances`)
  for (const { id, state, confirmation } of model.intents) {
    const posted = [...(plans.get(id ?? '') ?? [])].map((text) => text.split(' ')[1] ?? '')
    const expected = confirmation === null ? [] : PLANS[state]
    assert.deepEqual(
      posted.filter((plan) => plan.startsWith('intent_')),
      expected,
    )
  }
}

function auditEvents({ model, log }: Harness): void {
  assert.deepEqual(
    log.events.map(({ sequence }) => sequence),
    log.events.map((_, index) => index + 1),
    'sequences have no gap',
  )
  const published = log.events.map(({ type, body }) => {
    const { data } = JSON.parse(body) as { data: { payment_intent: { intent_id: string } } }
    return `${data.payment_intent.intent_id} ${type}`
  })
  const transitions = model.intents.flatMap(({ id, enteredAt, refundsFailed }) => [
    ...Object.keys(enteredAt).map((state) => `${id} payment_intent.${state}`),
    ...Array.from({ length: refundsFailed }, () => `${id} payment_intent.refund_failed`),
  ])
  assert.deepEqual(
    published.sort(),
    transitions.sort(),
    'each public transition has exactly one event',
  )
}

function auditInstructions({ model, log }: Harness): void {
  const instructions = new Map<string, Set<string>>()
  for (const instruction of log.instructions) {
    if (instruction.kind !== 'instruct') continue
    const { id, amount, ...rest } = instruction.instruction
    const text = JSON.stringify([String(amount), rest])
    instructions.set(id, (instructions.get(id) ?? new Set()).add(text))
  }
  for (const { id, state, confirmation } of model.intents) {
    const count = instructions.get(id ?? '')?.size ?? 0
    const mustNot = confirmation === null || state === 'cancelled' || state === 'expired'
    assert.ok(count <= (mustNot ? 0 : 1), `${state}: ${count} different instructions`)
  }
}

/** The limit usage that the next payment would see. */
async function auditUsage({ model, shared, tenant }: Harness): Promise<void> {
  const counters = [...model.usage].map(([period, { user, corridor, at, used }]) => {
    const keys = limitKeys(tenant, user, corridor, instant(at))
    const isDay = period.split(' ')[2]?.length === 'yyyy-mm-dd'.length
    return { key: isDay ? keys.day : keys.month, used, period }
  })
  const seen = new Map<string, bigint>()
  await shared.runAll([
    {
      name: 'read_usage',
      needs: (needs) => counters.forEach(({ key }) => needs.usage(key)),
      decide: ({ memory }) => {
        for (const { key, period } of counters) seen.set(period, memory.usage.get(key) ?? 0n)
        return answer({})
      },
    },
  ])
  for (const { period, used } of counters) assert.equal(seen.get(period), used, `used in ${period}`)
}
