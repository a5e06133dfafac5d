/**
 * What partners trigger in the sandbox, and not in production: outcomes of payouts, of which the
 * rail is instructed, and intents that expire early.
 */
import { tenantOf, type PartnerId, type IntentId } from '../../src/base/ids.js'
import { simulatePayout } from '../../src/processor/commands/payouts/payout_simulate.js'
import { codeOf, DEMO, viewOf, PRODUCTION, createWorld, RULES } from '../support/world.js'
import { executed, pay, see, sentKinds, runOnBothStores, types } from './scenarios.js'
import t from 'tap'
import { createIntent } from '../../src/processor/commands/intents/intent_create.js'
import { instructIntent, instructPayout } from '../../src/processor/changes/rail_instructions.js'
import { anIntent } from '../support/requests.js'
import { authorized, intentAt } from './intent_lifecycle.js'

const OTHER = tenantOf('other' as PartnerId, 'sandbox')

runOnBothStores({
  'a simulation instructs the rail and changes nothing else': async (t, world) => {
    const { id } = await pay(world)
    const before = await see(world, id)
    for (const outcome of ['completed', 'failed', 'reversed']) {
      const answer = await world.run(simulatePayout(DEMO, id, outcome))
      t.same(viewOf(answer), before)
      t.same(world.railInstructions.at(-1), { kind: 'simulate', id, outcome })
    }
    t.same(await see(world, id), before)
    t.same(types(world), ['payout.created', 'payout.processing'])
  },

  'only outcomes that are still possible are accepted': async (t, world) => {
    const code = async (id: string, outcome: string): Promise<string> =>
      codeOf(await world.run(simulatePayout(DEMO, id, outcome)))
    const { id } = await pay(world)
    await world.railReports(executed(id))
    t.equal(await code(id, 'completed'), 'outcome_not_possible')
    t.equal(await code(id, 'failed'), 'outcome_not_possible')
    t.equal(await code(id, 'reversed'), 'ok')
    await world.railReports(executed(id, { status: 'returned' }))
    t.equal(await code(id, 'reversed'), 'outcome_not_possible')
    const held = await pay(world, { reference: 'sandbox:review' })
    t.equal(await code(held.id, 'completed'), 'outcome_not_possible', 'the rail has not got it')
    world.setRail(false)
    const waiting = await pay(world)
    t.equal(await code(waiting.id, 'completed'), 'outcome_not_possible', 'not submitted yet')
  },

  'only a known outcome of an own sandbox payout can be simulated': async (t, world) => {
    const { id } = await pay(world)
    for (const [tenant, payoutId, outcome, code] of [
      [DEMO, id, 'processing', 'invalid_request'],
      [DEMO, id, '', 'invalid_request'],
      [PRODUCTION, id, 'completed', 'invalid_request'],
      [OTHER, id, 'completed', 'payout_not_found'],
      [DEMO, 'pout_x', 'completed', 'payout_not_found'],
    ] as const) {
      t.equal(codeOf(await world.run(simulatePayout(tenant, payoutId, outcome))), code)
    }
    world.setRail(false)
    t.equal(codeOf(await world.run(simulatePayout(DEMO, id, 'completed'))), 'rail_unavailable')
    t.same(sentKinds(world), ['instruct'])
  },
})

t.test('an intent with +expire ends after five seconds, in the sandbox only', async (t) => {
  const world = await createWorld(t)
  const ttlOf = async (tenant: typeof DEMO, user: string): Promise<number> => {
    const request = { ...anIntent(), partner_user_id: user }
    const answer = await world.run(createIntent(tenant, request))
    const { intent_id: id } = viewOf<{ intent_id: IntentId }>(answer)
    const { createdAt, expiresAt } = world.memory().intents.get(id)!.context
    return expiresAt - createdAt
  }
  t.equal(await ttlOf(DEMO, 'user+expire'), 5_000)
  t.equal(await ttlOf(DEMO, 'user+expire+slow'), RULES.intentTtlMs)
  t.equal(await ttlOf(PRODUCTION, 'user+expire'), RULES.intentTtlMs)
})

t.test('a rail is told the wanted outcome of a sandbox payment only', async (t) => {
  const world = await createWorld(t)
  const { id } = await pay(world, { reference: 'sandbox:fail' })
  const { context: paidOut } = world.memory().payouts.get(id)!
  const hinted = await intentAt(world, authorized, { user: 'user+fail' })
  const { context: paid } = world.memory().intents.get(hinted.id)!
  const hintOf = ({ instruction }: { instruction: { hint: string } }): string => instruction.hint

  t.equal(hintOf(instructPayout(paidOut, '1')), 'sandbox:fail')
  t.equal(hintOf(instructIntent(paid, '1')), '+fail')
  t.equal(hintOf(instructPayout({ ...paidOut, tenant: PRODUCTION }, '1')), '')
  t.equal(hintOf(instructIntent({ ...paid, tenant: PRODUCTION }, '1')), '')
})
