/** Which tests run on PostgreSQL, and that they open the store of the run and no file. */
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import t from 'tap'
import { projectRoot } from '../../src/base/project_root.js'
import { testNames } from './jobs.js'
import { importedBy, opensStore, OWN_SERVER, runsOnPostgres, SQLITE_ONLY } from './store_tests.js'

const names = testNames()

t.test('tests that open no store run once', async (t) => {
  const openIt = ['test/integration/payouts', 'test/crash/processes_killed', 'test/store/store']
  for (const name of openIt) t.ok(runsOnPostgres(name), name)
  for (const name of ['test/gateway/json', 'test/qr/read', 'test/client/client', 'test/lint'])
    t.notOk(opensStore(name), name)
})

t.test('each exception names a test that opens the store', async (t) => {
  for (const start of [...Object.keys(SQLITE_ONLY), ...Object.keys(OWN_SERVER)])
    t.ok(
      names.some((name) => name.startsWith(start) && opensStore(name)),
      start,
    )
})

/** The helpers that depend on the place of a store's rows, or write files for `make seed` alone. */
const HELPERS = [
  '.build/test/support/books.js',
  '.build/test/support/saved_books.js',
  '.build/test/load/seed_data/repeated_payments.js',
]
const OPENS_A_FILE =
  /openStore\(|openDatabase\([^;]*(processor\.db|processorDatabase|webhooks\.db|webhookDatabase)/

t.test('a test on PostgreSQL opens no database file of processor or pools', async (t) => {
  const files = new Set(names.filter(runsOnPostgres).flatMap((name) => [...importedBy(name)]))
  const found = [...files]
    .map((file) => relative(projectRoot(), file))
    .filter((file) => file.startsWith('.build/test/') && !HELPERS.includes(file))
    .filter((file) => OPENS_A_FILE.test(readFileSync(file, 'utf8')))
  t.same(found, [])
})
