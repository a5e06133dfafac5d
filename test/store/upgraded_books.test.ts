/** Migrations of data written by earlier versions. */
import { cpSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openDatabase } from '../../src/store/sqlite/database.js'
import type { Database } from '../../src/store/database.js'
import { PROCESSOR_SCHEMA } from '../../src/store/sqlite/store.js'
import { tempFolder } from '../support/temp_folder.js'

/** A database from before `migration`, filled by this SQL and opened by the current version. */
async function upgraded(
  t: Test,
  migration: string,
  filled: string,
  onMigration: (name: string) => void = () => undefined,
): Promise<Database> {
  const folder = tempFolder(t)
  const before = join(folder, 'schema')
  mkdirSync(before)
  const old = readdirSync(PROCESSOR_SCHEMA).filter((name) => name < migration)
  for (const name of old) cpSync(join(PROCESSOR_SCHEMA, name), join(before, name))
  const file = join(folder, 'processor.db')
  const first = await openDatabase(file, { migrations: before })
  await first.exec(filled)
  await first.close()
  const database = await openDatabase(file, { migrations: PROCESSOR_SCHEMA, onMigration })
  t.teardown(() => database.close())
  return database
}

t.test('rates that no operator set are deleted', async (t) => {
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

t.test('a rate of an earlier version applies to both environments', async (t) => {
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

t.test('the last intent from before user links is recorded', async (t) => {
  const unlinked = await upgraded(t, '0003', INTENTS)
  t.match(await unlinked.all(MARK), [{ value: 'pi_2' }])
  const fresh = await upgraded(t, '0003', '')
  t.match(await fresh.all(MARK), [{ value: '' }])
  const link = "INSERT INTO intent_users (first, prints, links) VALUES (1, x'00', '[]')"
  const linked = await upgraded(t, '0007', `${INTENTS}; ${link}`)
  t.match(await linked.all(MARK), [{ value: '' }], 'the start of the links is recorded')
})

t.test('payments keep their rows in tables that hold long ones', async (t) => {
  const context = JSON.stringify({ note: 'x'.repeat(1_500) })
  const intents = [
    { id: 'pi_1', tenant: 'a_sandbox', state: 'captured', due_at: 7, confirmed_at: 5, context },
    { id: 'pi_2', tenant: 'b_sandbox', state: 'created', due_at: 9, confirmed_at: null, context },
  ]
  const payout = { id: 'pout_1', tenant: 'a_sandbox', state: 'failed', due_at: null }
  const payouts = [{ ...payout, reference: 'invoice 1', beneficiary: 'ben_1', context }]
  const valueOf = (value: string | number | null): string =>
    typeof value === 'string' ? `'${value}'` : String(value)
  const valuesOf = (rows: readonly Readonly<Record<string, string | number | null>>[]): string =>
    rows.map((row) => `(${Object.values(row).map(valueOf).join(', ')})`).join(', ')
  const names: string[] = []
  const books = await upgraded(
    t,
    '0034',
    `INSERT INTO intents VALUES ${valuesOf(intents)};
     INSERT INTO payouts VALUES ${valuesOf(payouts)};`,
    (name) => names.push(name),
  )
  t.same(await books.all('SELECT * FROM intents ORDER BY id'), intents)
  t.same(await books.all('SELECT * FROM payouts ORDER BY id'), payouts)
  t.match(names, [/^0034/], 'migrations of a file of an earlier version are reported')
  const none: string[] = []
  await upgraded(t, '0001', '', (name) => none.push(name))
  t.same(none, [], 'those of a new file are not')
})
