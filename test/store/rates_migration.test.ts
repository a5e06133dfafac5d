/** Of the rates that books hold those stay that an operator has set. */
import { cpSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openDatabase } from '../../src/store/database.js'
import { PROCESSOR_SCHEMA } from '../../src/store/store.js'
import { ownFolder } from '../support/own_folder.js'

void t.test('rates that nobody set are no rates of the books', async (t) => {
  const folder = ownFolder(t)
  const before = join(folder, 'schema')
  mkdirSync(before)
  const old = readdirSync(PROCESSOR_SCHEMA).filter((name) => name < '0006')
  for (const name of old) cpSync(join(PROCESSOR_SCHEMA, name), join(before, name))
  const file = join(folder, 'processor.db')
  const first = await openDatabase(file, { migrations: before })
  await first.exec(`INSERT INTO rates (currency, rate, set_at)
    VALUES ('THB', '36.00', 1), ('VND', '26500', 1)`)
  await first.exec(`INSERT INTO operator_log (at, actor, reason, action, subject)
    VALUES (1, 'ann', 'a test', 'set_rate', 'VND 26500'),
      (2, 'ann', 'a test', 'set_route', 'THB 36.00')`)
  await first.close()

  const database = await openDatabase(file, { migrations: PROCESSOR_SCHEMA })
  t.teardown(() => database.close())
  t.match(await database.all('SELECT currency, rate FROM rates'), [
    { currency: 'VND', rate: '26500' },
  ])
})
