/** Snapshots of deliveries: stepping equals the running actor. */
import fc from 'fast-check'
import t from 'tap'
import { instant } from '../../src/base/clock.js'
import {
  firstAttempt,
  openDelivery,
  snapshotOf,
  stepDelivery,
} from '../../actors/webhook/delivery/actor.js'
import { newDelivery, type DeliveryEvent } from '../../actors/webhook/delivery/machine.js'

const at = fc.nat(1_000).map(instant)
const events: fc.Arbitrary<DeliveryEvent> = fc.oneof(
  fc.record({ type: fc.constant('attempt' as const), at }),
  fc.record({ type: fc.constant('probe' as const) }),
  fc.record({ type: fc.constant('succeeded' as const), at }),
  fc.record({ type: fc.constant('refused' as const), at, reason: fc.constant('http_404') }),
  fc.record({
    type: fc.constant('failed' as const),
    at,
    retryAt: fc.option(at),
    reason: fc.constant('timeout'),
  }),
  fc.record({ type: fc.constant('abandon' as const), at, reason: fc.constant('deleted') }),
  fc.record({ type: fc.constant('redrive' as const), at }),
)

void t.test('stepping a snapshot gives the same result as its actor', (t) => {
  fc.assert(
    fc.property(fc.array(events, { maxLength: 12 }), (story) => {
      const context = newDelivery(instant(5))
      const actor = openDelivery('pending', context)
      let snapshot = snapshotOf('pending', context)
      for (const event of story) {
        if (!actor.getSnapshot().can(event)) continue
        actor.send(event)
        snapshot = stepDelivery(snapshot, event)
        const { value, context: now } = actor.getSnapshot()
        t.equal(snapshot.value, value)
        t.strictSame(snapshot.context, now)
      }
    }),
    { numRuns: 50 },
  )
  t.end()
})

void t.test('firstAttempt equals a new delivery after the event attempt', (t) => {
  const context = newDelivery(instant(7))
  const actor = openDelivery('pending', context)
  actor.send({ type: 'attempt', at: instant(9) })
  const { value, context: after } = actor.getSnapshot()
  t.equal(firstAttempt(context).value, value)
  t.strictSame(firstAttempt(context).context, after)
  t.end()
})
