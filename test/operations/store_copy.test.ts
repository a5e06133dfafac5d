/** `store copy`: the books of a stopped stack move from SQLite to PostgreSQL. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { acquireLock } from '../../src/store/database.js'
import { openDataFolder } from '../../src/supervisor/data_folder.js'
import { noPostgres, startPostgres } from '../support/postgres_server.js'
import { startProgram, type CliResult } from '../support/program.js'
import { partnerOf } from '../support/partner.js'
import { payByQr, payOut, untilStatus } from '../support/payments.js'
import { startStack } from '../support/stack.js'
import { tempFolder } from '../support/temp_folder.js'

if (noPostgres !== false) {
  t.pass(noPostgres)
  process.exit()
}

interface Copied {
  readonly copied: boolean
  readonly tables: readonly { readonly table: string; readonly rows: number }[]
}

t.setTimeout(0)
const server = await startPostgres(t)
const dataDir = join(tempFolder(t), 'data')
const ON_SQLITE = { STORE: 'sqlite', STORE_URL: '' }
const onServer = { STORE_URL: server.url, SHARD: 'books_7' }

const ops = (...words: string[]): Promise<CliResult> =>
  startProgram('operations/main.js', words, { DATA_DIR: dataDir, ...onServer }).ended
const audit = (settings: Readonly<Record<string, string>>): Promise<CliResult> =>
  startProgram('audit/main.js', ['--data-dir', dataDir], settings).ended

void t.test('what a stack without books and a URL is told', async (t) => {
  t.match(await ops('store', 'copy'), { exitCode: 2, err: /There are no books to copy/ })
  const unset = { DATA_DIR: dataDir, ...ON_SQLITE }
  const { exitCode, err } = await startProgram('operations/main.js', ['store', 'copy'], unset).ended
  t.match({ exitCode, err }, { exitCode: 2, err: /STORE_URL names no server/ })
})

void t.test('the copy has every payment, and the stack continues on it', async (t) => {
  const first = await startStack({ dataDir, settings: { RAIL_DELAY_MS: '20', ...ON_SQLITE } })
  const partner = partnerOf(first.sandbox)
  const payout = await payOut(partner, 'before the copy')
  const { id } = await payByQr(partner, 'before the copy')
  await untilStatus(partner, `/v1/payouts/${payout}`, 'completed')
  await untilStatus(partner, `/v1/payment_intents/${id}`, 'captured')
  t.match(await ops('store', 'copy'), { exitCode: 1, err: /in use by a running stack: stop it/ })
  await first.stop()

  const lock = await acquireLock(join(dataDir, 'processor.db'))
  t.match(await ops('store', 'copy'), { exitCode: 1, err: /in use by another process/ })
  await lock.close()
  const folder = await openDataFolder(dataDir)
  t.match(await ops('store', 'copy'), { exitCode: 1, err: /in use by a running stack/ })
  await folder.release()

  const { exitCode, out, err } = await ops('store', 'copy', '--json')
  t.equal(exitCode, 0, err)
  const { copied, tables } = JSON.parse(out) as Copied
  t.equal(copied, true)
  t.ok((tables.find(({ table }) => table === 'events')?.rows ?? 0) > 3)
  t.same(
    readdirSync(dataDir).filter((name) => name.startsWith('store_copy_')),
    [],
  )
  const again = await ops('store', 'copy')
  t.match(again, { exitCode: 1, err: /schema books_7 has books: name another SHARD/ })
  for (const settings of [ON_SQLITE, onServer]) {
    const { exitCode, out, err } = await audit(settings)
    t.equal(exitCode, 0, out + err)
  }

  const movedAt = new Date().toISOString()
  const second = await startStack({ dataDir, settings: { RAIL_DELAY_MS: '20', ...onServer } })
  t.teardown(() => second.stop())
  const same = partnerOf(second.sandbox)
  t.ok(await untilStatus(same, `/v1/payment_intents/${id}`, 'captured'))
  const later = await payOut(same, 'after the copy')
  t.ok(await untilStatus(same, `/v1/payouts/${later}`, 'completed'))
  const replaced = ['--data-dir', dataDir, '--webhooks-replaced-at', movedAt]
  const { exitCode: code, out: report } = await startProgram('audit/main.js', replaced, onServer)
    .ended
  t.equal(code, 0, report)
})
