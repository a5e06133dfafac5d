/** Calls of a tenant by outcome, per hour, as the processor counts them for its usage. */
import t from 'tap'
import { DAY, HOUR, instant, plus, SECOND } from '../../src/base/clock.js'
import type { ErrorCode } from '../../src/base/errors.js'
import { answer, refuse } from '../../src/processor/cycle/answer.js'
import { createCallCounts } from '../../src/processor/servers/call_counts.js'

const START = instant(Date.parse('2026-11-26T10:20:00Z'))
const DONE = answer({})

t.test('calls are counted by outcome, and the busiest second', async (t) => {
  const counts = createCallCounts(START)
  const add = (tenant: string, at: number, code?: ErrorCode, isRejected = false): void =>
    counts.add(tenant, plus(START, at), code === undefined ? DONE : refuse(code), isRejected)
  for (const at of [0, 1, 999, SECOND]) add('a', at)
  add('a', 2 * SECOND, undefined, true)
  add('a', 2 * SECOND, 'payout_limit_exceeded')
  add('a', 2 * SECOND, 'user_limit_exceeded')
  add('a', 2 * SECOND, 'payout_not_found')
  add('a', 3 * SECOND, 'internal_error')
  add('b', 0)
  t.same(counts.of('a', START), {
    since: START,
    ...{ answered: 4, refused: 4, failed: 1, limited: 2, busiestSecond: 4 },
  })
  t.match(counts.of('b', START), { answered: 1, refused: 0, busiestSecond: 1 })
  t.match(counts.of('none', START), { since: START, answered: 0, busiestSecond: 0 })
})

t.test('an hour leaves when it is a day old, also without calls', async (t) => {
  const counts = createCallCounts(START)
  for (let i = 0; i < 5; i += 1) counts.add('a', START, DONE, false)
  counts.add('a', plus(START, HOUR), DONE, false)
  const at = (ms: number) => counts.of('a', plus(START, ms))
  t.match(at(23 * HOUR), { since: START, answered: 6, busiestSecond: 5 })
  t.match(at(DAY), { since: Date.parse('2026-11-26T11:00:00Z'), answered: 1, busiestSecond: 1 })
  t.match(at(3 * DAY), { answered: 0, busiestSecond: 0 })
  counts.add('a', plus(START, 3 * DAY + HOUR), DONE, false)
  counts.add('a', START, DONE, false)
  t.match(at(3 * DAY + HOUR), { answered: 2 }, 'a clock that was set back loses nothing')
})
