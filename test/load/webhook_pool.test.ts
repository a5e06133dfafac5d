/** A short run of the benchmark of the webhook pool. */
import { join } from 'node:path'
import t from 'tap'
import { tempFolder } from '../support/temp_folder.js'
import { measurePool } from './webhook_pool.js'

t.test('every published event arrives, also beside failing endpoints', async (t) => {
  const settings = { endpoints: 4, seconds: 0.5, outstanding: 50, isolation: true }
  const folder = join(tempFolder(t), 'run')
  const { sections, voidBecause } = await measurePool(
    { folder },
    { ...settings, ratePerSecond: 100 },
  )
  t.same(voidBecause, [])
  const [section] = sections
  const value = (name: string) => section?.findings.find((one) => one.name === name)?.value ?? 0
  t.ok(value('deliveries') > 50)
  t.ok(value('failing / healthy, p95') > 0)
  t.ok(value('CPU a delivery, pool') > 0)
})
