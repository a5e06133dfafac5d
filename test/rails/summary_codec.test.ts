/** A summary passes the wire unchanged, and one that violates the contract is none. */
import t from 'tap'
import type { MovementSummary__Output as Received } from '../../protos/types/causeway/rail/v1/MovementSummary.js'
import { instant } from '../../src/base/clock.js'
import { ACCEPTED, createMovementTally } from '../../src/base/movements.js'
import type { MovementSummary } from '../../src/rails/rail.js'
import { readSummary, writeSummary } from '../../src/rails/summary_codec.js'

const moved = createMovementTally()
moved.add({ instruction: 'pout_1', movement: 'executed', currency: 'VND', amount: 2n ** 63n })
const open = createMovementTally()
open.add({ instruction: 'pout_2', movement: ACCEPTED, currency: 'THB', amount: 5n })
const SUMMARY: MovementSummary = {
  ...moved.figures(),
  newest: { instruction: 'pout_1', movement: 'executed', at: instant(7) },
  accepted: open.figures(),
}

/** As the other side decodes it. */
const received = (summary: MovementSummary): Received => ({
  ...{ newest: null, accepted: [], accepted_digest: '' },
  ...(writeSummary(summary) as Partial<Received>),
  ...(writeSummary(summary) as Pick<Received, 'sums' | 'digest'>),
})

t.test('a summary passes the wire', async (t) => {
  t.same(readSummary(received(SUMMARY)), SUMMARY)
  const none = { ...SUMMARY, newest: null, accepted: createMovementTally().figures() }
  t.same(readSummary(received(none)), none, 'nothing is accepted')
})

t.test('a rail of an earlier version does not report what it has accepted', async (t) => {
  const earlier = { ...SUMMARY, accepted: null }
  t.same(readSummary(received(earlier)), earlier)
})

t.test('a summary that violates the contract is none', async (t) => {
  const wire = received(SUMMARY)
  t.equal(readSummary({ ...wire, accepted_digest: '' }), undefined)
  t.equal(readSummary({ ...wire, accepted_digest: 'x' }), undefined)
  t.equal(readSummary({ ...wire, accepted: wire.sums }), undefined, 'a movement')
  t.equal(readSummary({ ...wire, sums: wire.accepted }), undefined, 'no movement')
})
