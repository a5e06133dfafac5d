/** `store copy`: copies the books of a stopped stack from SQLite to PostgreSQL, and compares. */
import { existsSync } from 'node:fs'
import { dataFile, type Settings } from '../base/settings.js'
import { withoutSecrets } from '../base/settings_reader.js'
import { FILES } from '../base/subjects.js'
import { copyAndCompare, type CheckedTable } from '../store/postgres/checked_copy.js'
import { openDataFolder } from '../supervisor/data_folder.js'
import { CommandFault, type LocalCommand, type Report } from './command.js'
import { table } from './terminal.js'

export const storeCopy: LocalCommand = {
  usage: 'store copy',
  about: 'copy the books of a stopped stack from SQLite to the schema SHARD of STORE_URL',
  runLocally: async (_paint, settings) => {
    const { DATA_DIR, STORE_URL, SHARD } = settings()
    if (STORE_URL === '') throw new CommandFault('STORE_URL names no server to copy to.')
    const file = dataFile(settings(), FILES.processorDatabase)
    if (!existsSync(file)) throw new CommandFault(`There are no books to copy: ${file}`)
    const folder = await openDataFolder(DATA_DIR)
    try {
      return reportOf(await copyAndCompare(file, STORE_URL, SHARD), settings())
    } finally {
      await folder.release()
    }
  },
}

function reportOf(tables: readonly CheckedTable[], { STORE_URL, SHARD }: Settings): Report {
  const different = tables.filter(({ equal }) => !equal).map((each) => each.table)
  const place = `${SHARD} of ${withoutSecrets('STORE_URL', STORE_URL)}`
  const rows = tables.map((each) => [
    each.table,
    String(each.rows),
    each.equal ? `sha256 ${each.sha256.slice(0, 16)}` : 'DIFFERENT',
  ])
  const isGood = different.length === 0
  const conclusion = isGood
    ? [
        `Copied to ${place}: every table has the same rows and the same digest.`,
        'Audit both before the stack starts: STORE_URL= make audit, then make audit.',
        `Then move ${FILES.processorDatabase} out of DATA_DIR, so that nothing starts on it again.`,
        'Webhook pools start empty: open deliveries come again, the history of others stays in',
        `${FILES.webhookDatabase}. Later audits: make audit ARGS="--webhooks-replaced-at TIME".`,
      ]
    : [
        `The copy in ${place} differs: ${different.join(', ')}.`,
        `Do not use it: drop the schema ${SHARD}, then copy again.`,
      ]
  return {
    value: { copied: isGood, tables },
    lines: [table(rows, [1]), '', ...conclusion],
    exitCode: isGood ? 0 : 1,
  }
}
