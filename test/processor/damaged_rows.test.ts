/** Rows that a disk or a hand has damaged: they stand still, and nobody else does. */
import { join } from 'node:path'
import t from 'tap'
import { createLog } from '../../src/base/log.js'
import { createTimers } from '../../src/processor/background/timers.js'
import { createPayout } from '../../src/processor/commands/payout_create.js'
import { openDatabase } from '../../src/store/database.js'
import { eventually } from '../support/eventually.js'
import { createWorld, DEMO, viewOf } from '../support/world.js'
import { beginLife } from './intent_life.js'
import { payout } from './stories.js'

const HALF_AN_HOUR = 1_800_000

void t.test('what can not be woken is set aside, and all others go on', async (t) => {
  const world = await createWorld(t)
  world.setRail(false)
  const waiting = async (): Promise<string> =>
    viewOf<{ id: string }>(await world.run(createPayout(DEMO, payout()))).id
  const [unread, sealed, whole] = [await waiting(), await waiting(), await waiting()]
  const intent = (await beginLife(world)).id
  const books = await openDatabase(join(t.testdirName, 'processor.db'))
  await books.exec(`UPDATE payouts SET context = '{' WHERE id = '${unread}'`)
  await books.exec(`UPDATE intents SET context = '' WHERE id = '${intent}'`)
  await books.exec(`UPDATE payouts SET context =
    json_set(context, '$.beneficiary.sealedAccount', 'k1.AAAA') WHERE id = '${sealed}'`)
  const kept = await books.all<{ id: string }>('SELECT * FROM payouts ORDER BY id')

  await world.rebuild()
  world.setRail(true)
  world.clock.pass(HALF_AN_HOUR)
  const timers = createTimers({
    clock: world.clock,
    store: world.store,
    pipeline: { submit: world.submit },
    log: createLog('test', { LOG_LEVEL: 'silent' }),
    pause: () => new Promise((resolve) => setImmediate(resolve)),
  })
  timers.start()
  await eventually('the whole one is handed over', () => world.orders.length > 0)
  await eventually('three are set aside', () => timers.setAside === 3)
  await timers.stop()
  t.match(world.orders, [{ kind: 'instruct', instruction: { id: whole } }])
  t.equal(timers.setAside, 3, 'each once')
  const rows = await books.all<{ id: string }>('SELECT * FROM payouts ORDER BY id')
  const damaged = (row: { readonly id: string }): boolean => row.id !== whole
  t.same(rows.filter(damaged), kept.filter(damaged), 'as they were')
  t.ok((await world.run(createPayout(DEMO, payout()))).ok, 'business goes on')
  await books.close()
})
