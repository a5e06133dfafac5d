/** A restore beside a key file of the rail. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { backupsIn } from '../../src/backup/backups.js'
import { systemRandom } from '../../src/base/random.js'
import { FILES } from '../../src/base/subjects.js'
import { openAccountBox } from '../../src/rails/adapter/account_box.js'
import { SCHEMA } from '../../src/rails/sandbox/journal.js'
import { openDatabase } from '../../src/store/sqlite/database.js'
import { openStore } from '../../src/store/sqlite/store.js'
import { operatorCli } from '../support/operator_cli.js'
import { tempFolder } from '../support/temp_folder.js'

t.test('a rail key that is there has to open the accounts of the backup', async (t) => {
  const dataDir = join(tempFolder(t), 'data')
  mkdirSync(dataDir, { mode: 0o700 })
  const file = join(dataDir, FILES.railDatabase)
  await (await openStore(join(dataDir, FILES.processorDatabase))).close()
  const journal = await openDatabase(file, { migrations: SCHEMA })
  const box = await openAccountBox(journal, file, systemRandom())
  await journal.run(
    `INSERT INTO instructions (id, purpose, amount, currency, account, sealed_account,
        account_last4, content, environment, received_at, state, refusal, executions)
      VALUES ('pout_1', 'payout', 1, 'VND', '', ?, '6789', '', 'sandbox', 1, 'refused', 'no', 0)`,
    [box.seal('pout_1', '0123456789')],
  )
  await journal.close()
  const backups = join(dataDir, '..', 'backups')
  await operatorCli(dataDir)('backup', backups) // its audit finds an instruction without a payment
  const [{ folder } = { folder: '' }] = backupsIn(backups)
  const own = readFileSync(join(dataDir, FILES.railKey), 'utf8')
  const restoreBeside = (name: string, keys: string) => {
    const target = join(dataDir, '..', name)
    mkdirSync(target, { mode: 0o700 })
    writeFileSync(join(target, FILES.railKey), keys, { mode: 0o600 })
    return { target, restored: operatorCli(target)('restore', folder) }
  }
  for (const [name, keys, why] of [
    ['of-another', `k1:${'1'.repeat(64)}\n`, 'was sealed with another key than rail.key'],
    ['empty', '', 'line 1: must be kid:64 hex digits'],
  ] as const) {
    const { target, restored } = restoreBeside(name, keys)
    const { exitCode, err } = await restored
    t.equal(exitCode, 1, name)
    t.match(
      err,
      `Not restored: ${join(target, FILES.railKey)} does not open the accounts in rail.db`,
    )
    t.match(err, why)
    t.same(readdirSync(target), [FILES.railKey], 'nothing is written')
  }
  t.match(await restoreBeside('own', own).restored, { exitCode: 0 })
})
