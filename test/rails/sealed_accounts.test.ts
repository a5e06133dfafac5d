/** Accounts in the sandbox rail's journal are encrypted with a key of the rail. */
import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../../src/base/project_root.js'
import { systemRandom } from '../../src/base/random.js'
import { readAccountBox } from '../../src/rails/adapter/account_box.js'
import { openJournal } from '../../src/rails/sandbox/journal.js'
import { statementOf } from '../../src/rails/adapter/statement.js'
import { openDatabase } from '../../src/store/sqlite/database.js'
import { frozenNames, unpack } from '../golden/frozen.js'
import { tempFolder } from '../support/temp_folder.js'
import { aLinkedListener, aLinkedRail, aRail, shortFolder } from './harness.js'

const SCHEMA = join(projectRoot(), 'src/rails/sandbox/schema')
const ACCOUNT = '4417123456789113'

/** The journal's files that contain a text. */
const filesWith = (folder: string, text: string): readonly string[] =>
  readdirSync(folder).filter(
    (name) => name.startsWith('rail.db') && readFileSync(join(folder, name)).includes(text),
  )

async function statementIn(file: string): Promise<string> {
  const journal = await openDatabase(file, { readOnly: true })
  const accounts = readAccountBox(file, systemRandom())
  let text = ''
  for await (const page of statementOf(journal, accounts, 0, Number.MAX_SAFE_INTEGER)) text += page
  await journal.close()
  return text
}

t.test('a new account is encrypted, and reports and the statement have it in clear', async (t) => {
  const { folder, rail, close } = await aLinkedRail(t)
  const file = join(folder, 'rail.db')
  const { id } = rail.pay({ account: ACCOUNT })
  await rail.waitFor(id, 'executed')
  t.same(filesWith(folder, ACCOUNT), [])
  const books = await openDatabase(file, { readOnly: true })
  t.match(await books.all('SELECT account, account_last4 FROM instructions'), [
    { account: '', account_last4: '9113' },
  ])
  await books.close()
  t.match(await statementIn(file), `,${ACCOUNT},`)
  await close()
  t.same(filesWith(folder, ACCOUNT), [])
  t.equal(statSync(join(folder, 'rail.key')).mode & 0o777, 0o600)

  const second = await aRail(t, folder)
  const again = await aLinkedListener(t, second.address)
  again.send([{ kind: 'query', id, environment: 'sandbox' }])
  t.match(await again.waitFor(id, 'executed'), { destinationAccount: ACCOUNT })
  await second.close()
})

t.test('a journal does not open with a missing or another key', async (t) => {
  const { folder, rail, close } = await aLinkedRail(t)
  const file = join(folder, 'rail.db')
  await rail.waitFor(rail.pay().id, 'executed')
  await close()
  const key = readFileSync(join(folder, 'rail.key'), 'utf8')
  rmSync(join(folder, 'rail.key'))
  await t.rejects(openJournal(file, systemRandom()), /rail\.key is missing: restore it/)
  await t.rejects(statementIn(file), /rail\.key is missing: restore it/)
  const kid = key.slice(0, key.indexOf(':'))
  writeFileSync(join(folder, 'rail.key'), `${kid}:${'ab'.repeat(32)}\n`, { mode: 0o600 })
  await t.rejects(openJournal(file, systemRandom()), /was sealed with another key than rail\.key/)
  writeFileSync(join(folder, 'rail.key'), 'k1:7\n')
  const keyFile = join(folder, 'rail.key')
  await t.rejects(openJournal(file, systemRandom()), {
    message: `key file ${keyFile}, line 1: must be kid:64 hex digits`,
  })
  writeFileSync(join(folder, 'rail.key'), key)
  await (await openJournal(file, systemRandom())).close()
})

t.test('accounts of an earlier version are encrypted, also in free pages', async (t) => {
  const folder = shortFolder(t)
  const file = join(folder, 'rail.db')
  await writeEarlier(file, 7_500)
  t.same(filesWith(folder, ACCOUNT), ['rail.db'])
  const journal = await openJournal(file, systemRandom())
  t.same(filesWith(folder, ACCOUNT), [])
  const [entry] = await journal.find(['pout_7500'])
  t.match(entry, { account: `${ACCOUNT}7500`, executions: 1 })
  await journal.close()
  t.equal((await statementIn(file)).match(new RegExp(`,${ACCOUNT}\\d+,`, 'g'))?.length, 7_500)
})

t.test('the encryption resumes after a crash', async (t) => {
  const folder = shortFolder(t)
  const file = join(folder, 'rail.db')
  await writeEarlier(file, 20)
  await (await openJournal(file, systemRandom())).close()
  const crashed = await openDatabase(file)
  await crashed.exec(`INSERT INTO accounts_in_clear VALUES (1);
    UPDATE instructions SET sealed_account = NULL, account = '${ACCOUNT}' WHERE id > 'pout_2'`)
  await crashed.close()
  t.not(filesWith(folder, ACCOUNT).length, 0)
  await (await openJournal(file, systemRandom())).close()
  t.same(filesWith(folder, ACCOUNT), [])
  const books = await openDatabase(file, { readOnly: true })
  t.same(await books.all('SELECT 1 FROM instructions WHERE sealed_account IS NULL'), [])
  t.same(await books.all('SELECT 1 FROM accounts_in_clear'), [])
  await books.close()
})

let accountsInClear = 0
for (const name of frozenNames()) {
  t.test(`the statement of the frozen journal ${name} is the same`, async (t) => {
    const folder = tempFolder(t)
    unpack(name, join(folder, 'data'))
    cpSync(join(folder, 'data'), join(folder, 'clear'), { recursive: true })
    const file = join(folder, 'data', 'rail.db')
    const clear = join(folder, 'clear', 'rail.db')
    await (await openDatabase(clear, { migrations: SCHEMA })).close()
    const before = await statementIn(clear)
    t.match(before, ',executed,')
    await (await openJournal(file, systemRandom())).close()
    t.equal(await statementIn(file), before)
    const books = await openDatabase(clear, { readOnly: true })
    const rows = await books.all<{ account: string }>(
      'SELECT DISTINCT account FROM instructions WHERE sealed_account IS NULL',
    )
    await books.close()
    accountsInClear += rows.length
    for (const { account } of rows) t.same(filesWith(join(folder, 'data'), account), [])
  })
}

t.test('one frozen journal has accounts in clear', async (t) => {
  t.not(accountsInClear, 0)
})

/** A journal of the version before encrypted accounts, with free pages. */
async function writeEarlier(file: string, rows: number): Promise<void> {
  const database = await openDatabase(file)
  const migrations = readdirSync(SCHEMA)
    .sort()
    .filter((name) => name < '0006')
  for (const name of migrations) await database.exec(readFileSync(join(SCHEMA, name), 'utf8'))
  await database.exec(`
    PRAGMA user_version = ${migrations.length};
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${2 * rows})
    INSERT INTO instructions (id, purpose, amount, currency, account, content, received_at, state,
        transaction_id, executions, executed_at)
      SELECT 'pout_' || i, 'payout', i, 'VND', '${ACCOUNT}' || i, 'c', 1, 'executed', 'TX', 1, i
      FROM n;
    DELETE FROM instructions WHERE amount > ${rows};
    PRAGMA wal_checkpoint(TRUNCATE)`)
  await database.close()
}
