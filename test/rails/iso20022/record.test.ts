/** Numbers of statements: which are missing, also after the bank has begun to count again. */
import { join } from 'node:path'
import t from 'tap'
import { DAY } from '../../../src/base/clock.js'
import type { EffectId } from '../../../src/base/ids.js'
import { uetrOf } from '../../../src/rails/iso20022/payment_messages.js'
import { openRecord } from '../../../src/rails/iso20022/record.js'
import { tempFolder } from '../../support/temp_folder.js'
import { simulatedClock } from '../../support/world.js'

const ACCOUNT = '0000000001 THB'

t.test('missing numbers, in whatever order and however often they come', async (t) => {
  const clock = simulatedClock()
  const record = await openRecord(join(tempFolder(t), 'record.db'), clock)
  t.teardown(() => record.close())
  const missingAt = async (...numbers: readonly number[]): Promise<number[]> => {
    const found: number[] = []
    for (const number of numbers) {
      found.push(...(await record.statement(ACCOUNT, number)).missing)
      clock.pass(DAY)
    }
    return found
  }
  t.same(await missingAt(7, 8, 11), [9, 10])
  t.same(await missingAt(10, 9, 8, 12, 12), [9], 'what is missing is told until it comes')
  t.same((await record.statement('another', 20)).missing, [])
  clock.pass(200 * DAY)
  t.same(await missingAt(1, 2, 3), [])
  clock.pass(20 * DAY)
  t.same(await missingAt(7), [4, 5, 6])
  t.same(await missingAt(8, 11), [9, 10], 'those of the year before are others')
})

t.test('a message that is sent again has the moment of the first time', async (t) => {
  const clock = simulatedClock()
  const record = await openRecord(join(tempFolder(t), 'record.db'), clock)
  t.teardown(() => record.close())
  const first = clock.now()
  t.equal(await record.firstSent('R1'), first)
  clock.pass(DAY)
  t.equal(await record.firstSent('R1'), first)
  t.equal(await record.firstSent('R2'), clock.now())
})

t.test('the UETRs of sent payments are kept, also across a restart', async (t) => {
  const file = join(tempFolder(t), 'record.db')
  const ids = [1, 2, 3].map((n) => `pout_01KAJ0V8X0000000000000000${n}` as EffectId)
  const [first, second, unsent] = ids.map(uetrOf) as [string, string, string]
  const record = await openRecord(file, simulatedClock())
  for (const id of [ids[0]!, ids[1]!, ids[0]!]) record.sent(id)
  t.same([...(await record.idsOf([second, unsent]))], [[second, ids[1]]])
  record.sent(ids[0]!)
  await record.close()
  const later = await openRecord(file, simulatedClock())
  t.teardown(() => later.close())
  t.same([...(await later.idsOf([first]))], [[first, ids[0]]])
})
