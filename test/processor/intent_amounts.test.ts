/** The amounts of each state: the requested ceiling, the debit and the receipt's amount. */
import t from 'tap'
import { createWorld, viewOf } from '../support/world.js'
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
