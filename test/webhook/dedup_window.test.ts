/** The window of known event ids. */
import fc from 'fast-check'
import t from 'tap'
import type { EventId } from '../../src/base/ids.js'
import { createDedupWindow } from '../../actors/webhook/store/dedup_window.js'

const id = (number: number): EventId => `evt_${String(number).padStart(4, '0')}` as EventId

t.test('the window answers correctly, and an evicted id needs a query on disk', async () => {
  const onDisk = fc.uniqueArray(fc.nat(60), { maxLength: 20 })
  const taken = fc.array(fc.nat(200), { maxLength: 60 })
  fc.assert(
    fc.property(onDisk, taken, (before, later) => {
      const here = new Set(before)
      const newest = before.length === 0 ? '' : id(Math.max(...before))
      const known = createDedupWindow(newest, 4)
      for (const number of later) {
        const said = known.has(id(number))
        if (said !== undefined && said !== here.has(number)) return false
        if (said === true || (said === undefined && here.has(number))) continue
        known.add(id(number))
        here.add(number)
        if (known.has(id(number)) !== true) return false
      }
      return true
    }),
  )
})

t.test('ids above the watermark are new without a query on disk', async (t) => {
  const known = createDedupWindow(id(5), 2)
  t.equal(known.has(id(5)), undefined)
  t.equal(known.has(id(6)), false)
  for (const number of [6, 7, 8, 9, 10]) known.add(id(number))
  t.equal(known.has(id(9)), true)
  t.equal(known.has(id(6)), undefined, 'evicted')
  t.equal(known.has(id(11)), false)
})
