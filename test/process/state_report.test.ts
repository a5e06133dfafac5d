/** What a process reports to its supervisor: each change, once. */
import t from 'tap'
import type { ReadyInfo } from '../../src/process/child.js'
import { degradedBy, reportChanges } from '../../src/process/state_report.js'
import { eventually } from '../support/eventually.js'

t.test('a change is reported once, at the latest with the next look', async (t) => {
  const reported: ReadyInfo[] = []
  const faults: string[] = []
  const update = (info: ReadyInfo): void => void reported.push(info)
  const report = reportChanges({ update }, () => ({ port: 1, ...degradedBy(faults) }), 1)
  t.teardown(() => report.stop())
  report.look()
  t.same(reported, [], 'as it was when the process was ready')
  faults.push('the bus is down', 'a rail is down')
  await eventually('it is reported', () => reported.length > 0)
  report.look()
  faults.length = 0
  report.look()
  report.look()
  t.same(reported, [{ port: 1, degraded: 'the bus is down; a rail is down' }, { port: 1 }])
})
