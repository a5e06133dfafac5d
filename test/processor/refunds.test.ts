/** Refunds that the rail refuses: the partner gets an event and can request again. */
import { codeOf, viewOf, type World } from '../support/world.js'
import { captured, intentAt } from './intent_lifecycle.js'
import { balanceOf, runOnBothStores, types } from './scenarios.js'

const ROUTED = { environment: 'sandbox', route: 'sandbox/th_promptpay', rail: 'sandbox' }

const FAILED = 'payment_intent.refund_failed'

interface PublishedEvent {
  readonly type: string
  readonly data: { readonly payment_intent: object }
}

const lastEvent = (world: World): PublishedEvent =>
  JSON.parse(world.events.at(-1)?.body ?? '') as PublishedEvent

runOnBothStores({
  'a refused recall has one event': async (t, world) => {
    const lifecycle = await intentAt(world, captured)
    viewOf(await lifecycle.refund('first'))
    const requested_at = new Date(world.clock.now()).toISOString()
    world.clock.pass(2_000)
    await lifecycle.recallRefused()
    const failed_at = new Date(world.clock.now()).toISOString()
    const refund = { status: 'refused', amount_usd_cents: 1_000, requested_at, failed_at }
    const seen = await lifecycle.see()
    t.same(seen['refund'], refund)
    t.equal(seen.status, 'captured')
    t.match(lastEvent(world), { type: FAILED, data: { payment_intent: seen } })
    const count = world.events.length
    world.clock.pass(2_000)
    await lifecycle.recallRefused()
    t.equal(world.events.length, count, 'a repeated report has no event')
    t.same((await lifecycle.see())['refund'], refund)
  },

  'a further request is a new recall': async (t, world) => {
    const lifecycle = await intentAt(world, captured)
    const first = viewOf(await lifecycle.refund('first'))
    await lifecycle.recallRefused()
    t.same(viewOf(await lifecycle.refund('first')), first, 'the same key replays the answer')
    world.railInstructions.length = 0
    world.clock.pass(1_000)
    const again = viewOf<{ refund: object }>(await lifecycle.refund('second'))
    const requested_at = new Date(world.clock.now()).toISOString()
    t.same(again.refund, { status: 'requested', amount_usd_cents: 1_000, requested_at })
    t.same(world.railInstructions, [
      { kind: 'recall', id: lifecycle.id, reason: 'refund', ...ROUTED },
    ])
    const third = codeOf(await lifecycle.refund('third'))
    t.equal(third, 'payment_intent_not_refundable', 'refund in progress')
    await lifecycle.recallRefused()
    t.equal(types(world).filter((type) => type === FAILED).length, 2, 'one event per refusal')
    viewOf(await lifecycle.refund('third'))
    await lifecycle.returned()
    t.match(await lifecycle.see(), { status: 'refunded', refund: { status: 'done' } })
    t.notOk('failed_at' in ((await lifecycle.see())['refund'] as object))
    t.equal((await balanceOf(world, 'USD')).available, '1000000000')
    await lifecycle.recallRefused()
    t.equal(types(world).at(-1), 'payment_intent.refunded', 'a return completes the refund')
  },
})
