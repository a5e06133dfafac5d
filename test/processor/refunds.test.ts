/** Refunds that the rail refuses: the partner is told, and may ask again. */
import { codeOf, viewOf, type World } from '../support/world.js'
import { beginLife, captured } from './intent_life.js'
import { balanceOf, tellTwice, types } from './stories.js'

const FAILED = 'payment_intent.refund_failed'

interface Told {
  readonly type: string
  readonly data: { readonly payment_intent: object }
}

const lastTold = (world: World): Told => JSON.parse(world.events.at(-1)?.body ?? '') as Told

tellTwice({
  'a refused recall is told, once': async (t, world) => {
    const life = await beginLife(world)
    await captured(life)
    viewOf(await life.refund('first'))
    const requested = new Date(world.clock.now()).toISOString()
    world.clock.pass(2_000)
    await life.recallRefused()
    const failed = new Date(world.clock.now()).toISOString()
    const refund = {
      status: 'refused',
      amount_usd_cents: 1_000,
      requested_at: requested,
      failed_at: failed,
    }
    const seen = await life.see()
    t.same(seen['refund'], refund)
    t.equal(seen.status, 'captured')
    t.match(lastTold(world), { type: FAILED, data: { payment_intent: seen } })
    const told = world.events.length
    world.clock.pass(2_000)
    await life.recallRefused()
    t.equal(world.events.length, told, 'the same words again are no news')
    t.same((await life.see())['refund'], refund)
  },

  'a further request is a new recall': async (t, world) => {
    const life = await beginLife(world)
    await captured(life)
    const first = viewOf(await life.refund('first'))
    await life.recallRefused()
    t.same(viewOf(await life.refund('first')), first, 'the same key has the same answer')
    world.orders.length = 0
    world.clock.pass(1_000)
    const again = viewOf<{ refund: object }>(await life.refund('second'))
    const requested_at = new Date(world.clock.now()).toISOString()
    t.same(again.refund, { status: 'requested', amount_usd_cents: 1_000, requested_at })
    t.same(world.orders, [
      { kind: 'recall', id: life.id, reason: 'refund', environment: 'sandbox' },
    ])
    t.equal(codeOf(await life.refund('third')), 'payment_intent_not_refundable', 'under way')
    await life.recallRefused()
    t.equal(types(world).filter((type) => type === FAILED).length, 2, 'one event a refusal')
    viewOf(await life.refund('third'))
    await life.returned()
    t.match(await life.see(), { status: 'refunded', refund: { status: 'done' } })
    t.notOk('failed_at' in ((await life.see())['refund'] as object))
    t.equal((await balanceOf(world, 'USD')).available, '1000000000')
    await life.recallRefused()
    t.equal(types(world).at(-1), 'payment_intent.refunded', 'money that is back is back')
  },
})
