/** The bound on log lines a second. */
import t from 'tap'
import { instant, SECOND } from '../../src/base/clock.js'
import { createLineBound } from '../../src/base/line_bound.js'
import { eventually } from '../support/eventually.js'

t.test('lines within the bound are admitted, further ones counted', async (t) => {
  const reports: number[] = []
  const bound = createLineBound(2, (omitted) => reports.push(omitted))
  const at = (ms: number): boolean => bound.admits(instant(10 * SECOND + ms))
  t.same([at(0), at(1), at(2), at(999)], [true, true, false, false])
  t.same([at(1_000), at(1_001), at(1_002)], [true, true, false], 'each second starts a new count')
  t.same(reports, [])
  bound.flush()
  t.same(reports, [3])
  bound.flush()
  t.same(reports, [3], 'nothing to report')
})

t.test('without further lines the count is reported too', async (t) => {
  const reports: number[] = []
  const bound = createLineBound(0, (omitted) => reports.push(omitted))
  t.notOk(bound.admits(instant(1)))
  await eventually('the report', () => reports.length === 1)
  t.same(reports, [1])
})
