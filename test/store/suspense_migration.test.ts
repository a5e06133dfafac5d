/** The migration to settlements that clear suspense keeps every discrepancy and its constraints. */
import { cpSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openDatabase } from '../../src/store/sqlite/database.js'
import { PROCESSOR_SCHEMA } from '../../src/store/sqlite/store.js'
import { tempFolder } from '../support/temp_folder.js'

const INSERT = `INSERT INTO discrepancies
  (id, tenant, entity, reason, report, plan, currency, amount, at, resolved_at, settlement) VALUES`

t.test('discrepancies are kept, and can then be settled in more ways', async (t) => {
  const before = join(tempFolder(t), 'schema')
  mkdirSync(before)
  const old = readdirSync(PROCESSOR_SCHEMA).filter((name) => name < '0004')
  for (const name of old) cpSync(join(PROCESSOR_SCHEMA, name), join(before, name))
  const file = join(t.testdirName, 'processor.db')
  const first = await openDatabase(file, { migrations: before })
  await first.exec(`${INSERT}
    ('dis_1', 'demo_sandbox', 'pout_1', 'r', '{}', 'discrepancy_paid', 'VND', 7, 1, NULL, NULL),
    ('dis_2', 'demo_sandbox', 'pout_1', 'r', '{}', 'discrepancy_returned', 'VND', 8, 2, 3, 'undo'),
    ('dis_3', NULL, 'pout_2', 'r', '{}', NULL, NULL, NULL, 4, 5, 'keep')`)
  const kept = await first.all('SELECT * FROM discrepancies ORDER BY id')
  await first.close()

  const database = await openDatabase(file, { migrations: PROCESSOR_SCHEMA })
  t.teardown(() => database.close())
  t.same(await database.all('SELECT * FROM discrepancies ORDER BY id'), kept)
  const settle = (id: string, way: string): Promise<void> =>
    database.exec(
      `UPDATE discrepancies SET settlement = '${way}', resolved_at = 9 WHERE id = '${id}'`,
    )
  await settle('dis_1', 'charge_partner')
  await t.rejects(settle('dis_1', 'forget'), /CHECK/)
  await t.rejects(settle('dis_3', 'write_off'), /CHECK/, 'it has nothing in suspense')
  await t.rejects(
    database.exec(`${INSERT} ('dis_1', NULL, 'e', 'r', '{}', NULL, NULL, NULL, 1, NULL, NULL)`),
    /UNIQUE/,
  )
})
