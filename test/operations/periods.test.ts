/** The days and times that an operator names. */
import t from 'tap'
import { DAY } from '../../src/base/clock.js'
import { CommandFault } from '../../src/operations/calls/command_fault.js'
import { momentIn, periodIn } from '../../src/operations/money/statement_comparison.js'

t.test('a day is its start in UTC, a time has an offset', async (t) => {
  const day = Date.UTC(2026, 10, 21)
  t.equal(momentIn('at', '2026-11-21'), day)
  t.equal(momentIn('at', '2026-11-21T07:00:00.5+07:00'), day + 500)
  t.same(periodIn({ from: '2026-11-21' }), { from: day, to: day + DAY })
  t.same(periodIn({ from: '2026-11-21', until: '2026-11-21T01:00Z' }).to, day + DAY / 24)
  t.throws(() => periodIn({ from: '2026-11-21', until: '2026-11-21' }), CommandFault)
})

t.test('a day that does not exist is not taken for a later one', async (t) => {
  for (const text of [
    ...['2026-02-30', '2026-09-31', '2026-02-29', '2026-13-01', '2026-11-31T00:00:00Z'],
    ...['2026-11-21T00:00:00', '2026-11', 'today', '', undefined],
  ]) {
    t.throws(() => momentIn('before', text), CommandFault, text ?? 'none')
  }
})
