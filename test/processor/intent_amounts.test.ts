/** The amounts of an intent in each state, and refunds that the rail refuses. */
import t from 'tap'
import { createWorld, viewOf, codeOf, type World } from '../support/world.js'
import {
  authorized,
  beginLifecycle,
  cancelled,
  captured,
  expired,
  failed,
  refunded,
  scanned,
  type Stage,
  intentAt,
} from './intent_lifecycle.js'
import { balanceOf, runOnBothStores, types } from './scenarios.js'

const CEILING = 100_000_000
const QUOTE = 1_000

interface Seen {
  readonly status: string
  readonly amount_usd_cents: number
  readonly captured_amount_usd_cents?: number
  readonly captured_at?: string
}

/** Per stage: the intent's state, its debit and its receipt's amount. */
const STAGES: Readonly<Record<string, readonly [Stage, string, number | undefined, number]>> = {
  'just created': [async () => undefined, 'created', undefined, 0],
  scanned: [scanned, 'created', undefined, 0],
  authorized: [authorized, 'authorized', undefined, QUOTE],
  captured: [captured, 'captured', QUOTE, QUOTE],
  refunded: [refunded, 'refunded', QUOTE, QUOTE],
  failed: [failed, 'failed', undefined, 0],
  cancelled: [cancelled, 'cancelled', undefined, 0],
  'cancelled after a scan': [
    async (lifecycle) => {
      await scanned(lifecycle)
      await cancelled(lifecycle)
    },
    'cancelled',
    undefined,
    0,
  ],
  expired: [expired, 'expired', undefined, 0],
  'expired after a scan': [
    async (lifecycle) => {
      await scanned(lifecycle)
      await expired(lifecycle)
    },
    'expired',
    undefined,
    0,
  ],
}

for (const [name, [stage, status, debit, receipt]] of Object.entries(STAGES)) {
  t.test(name, async (t) => {
    const world = await createWorld(t)
    const lifecycle = await beginLifecycle(world, { over: { amount_usd_cents: CEILING } })
    await stage(lifecycle)
    const events = world.events.map(
      ({ body }) => (JSON.parse(body) as { data: { payment_intent: Seen } }).data.payment_intent,
    )
    for (const seen of [viewOf<Seen>(await lifecycle.get()), ...events]) {
      t.equal(seen.amount_usd_cents, CEILING)
      const isCaptured = seen.captured_at !== undefined
      t.equal(seen.captured_amount_usd_cents, isCaptured ? QUOTE : undefined, seen.status)
    }
    t.match(viewOf(await lifecycle.get()), { status })
    t.equal(viewOf<Seen>(await lifecycle.get()).captured_amount_usd_cents, debit)
    t.equal(viewOf<Seen>(await lifecycle.receipt()).amount_usd_cents, receipt)
  })
}

t.test('answers to a refund show the debit, also when replayed', async (t) => {
  const world = await createWorld(t)
  const lifecycle = await intentAt(world, captured)
  const first = viewOf<Seen>(await lifecycle.refund('key'))
  t.equal(first.captured_amount_usd_cents, QUOTE)
  await lifecycle.returned()
  t.same(viewOf(await lifecycle.refund('key')), first)
})

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
