/** Migrations of data written by earlier versions. */
import { cpSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openDatabase } from '../../src/store/sqlite/database.js'
import type { Database } from '../../src/store/database.js'
import { PROCESSOR_SCHEMA } from '../../src/store/sqlite/store.js'
import { tempFolder } from '../support/temp_folder.js'

/** A database from before `migration`, filled by this SQL and opened by the current version. */
async function upgraded(t: Test, migration: string, filled: string): Promise<Database> {
  const folder = tempFolder(t)
  const before = join(folder, 'schema')
  mkdirSync(before)
  const old = readdirSync(PROCESSOR_SCHEMA).filter((name) => name < migration)
  for (const name of old) cpSync(join(PROCESSOR_SCHEMA, name), join(before, name))
  const file = join(folder, 'processor.db')
  const first = await openDatabase(file, { migrations: before })
  await first.exec(filled)
  await first.close()
  const database = await openDatabase(file, { migrations: PROCESSOR_SCHEMA })
  t.teardown(() => database.close())
  return database
}

void t.test('rates that no operator set are deleted', async (t) => {
  const books = await upgraded(
    t,
    '0006',
    `INSERT INTO rates (currency, rate, set_at) VALUES ('THB', '36.00', 1), ('VND', '26500', 1);
     INSERT INTO operator_log (at, actor, reason, action, subject)
       VALUES (1, 'ann', 'a test', 'set_rate', 'VND 26500'),
         (2, 'ann', 'a test', 'set_route', 'THB 36.00')`,
  )
  const rates = await books.all('SELECT currency, rate FROM rates')
  t.match(rates, [{ currency: 'VND', rate: '26500' }])
})

void t.test('a rate of an earlier version applies to both environments', async (t) => {
  const set = "INSERT INTO rates (currency, rate, set_at) VALUES ('THB', '36.00', 7)"
  const books = await upgraded(t, '0027', set)
  const columns = 'currency, rate, set_at, actor, before_rate'
  const both = `SELECT ${columns} FROM rates UNION ALL SELECT ${columns} FROM sandbox_rates`
  const known = { currency: 'THB', rate: '36.00', set_at: 7, actor: null, before_rate: null }
  t.same(await books.all(both), [known, known])
})

const INTENTS = `INSERT INTO intents (id, tenant, state, context)
  VALUES ('pi_1', 'demo_sandbox', 'expired', '{}'), ('pi_2', 'demo_sandbox', 'expired', '{}')`
const MARK = "SELECT value FROM meta WHERE name = 'unlinked_to'"

void t.test('the last intent from before user links is recorded', async (t) => {
  const unlinked = await upgraded(t, '0003', INTENTS)
  t.match(await unlinked.all(MARK), [{ value: 'pi_2' }])
  const fresh = await upgraded(t, '0003', '')
  t.match(await fresh.all(MARK), [{ value: '' }])
  const link = "INSERT INTO intent_users (first, prints, links) VALUES (1, x'00', '[]')"
  const linked = await upgraded(t, '0007', `${INTENTS}; ${link}`)
  t.match(await linked.all(MARK), [{ value: '' }], 'the start of the links is recorded')
})
