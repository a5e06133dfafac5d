/** `store copy`: copies the data of a stopped stack from SQLite to PostgreSQL, and compares. */
import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { dataFile, type Settings } from '../../settings/settings.js'
import { withoutSecrets } from '../../settings/settings_reader.js'
import { FILES, webhookDatabase, WEBHOOK_POOLS_MAX, webhookSchema } from '../../base/subjects.js'
import type { CheckedTable } from '../../store/postgres/checked_copy.js'
import type { SchemaFile } from '../../store/postgres/copy.js'
import { openDataFolder } from '../../supervisor/data_folder.js'
import { CommandFault, type LocalCommand, type Report } from '../cli/command.js'
import { table } from '../cli/terminal.js'

export const storeCopy: LocalCommand = {
  usage: 'store copy',
  about: 'copy books and webhook pools of a stopped stack from SQLite to STORE_URL',
  runLocally: async (_paint, settings) => {
    const { DATA_DIR, STORE_URL, WEBHOOK_STORE_URL } = settings()
    if (STORE_URL === '') throw new CommandFault('STORE_URL names no server to copy to.')
    const [books, ...pools] = filesOf(settings())
    if (!existsSync(books.file)) throw new CommandFault(`There are no books to copy: ${books.file}`)
    const files = [books, ...pools.filter(({ file }) => existsSync(file))]
    // A fifth of what all commands would load.
    const { copyAndCompare } = await import('../../store/postgres/checked_copy.js')
    const folder = await openDataFolder(DATA_DIR)
    try {
      const targets = { url: STORE_URL, poolUrl: WEBHOOK_STORE_URL || STORE_URL }
      return reportOf(await copyAndCompare(files, targets), files, STORE_URL)
    } finally {
      await folder.release()
    }
  },
}

function filesOf(settings: Settings): readonly [SchemaFile, ...SchemaFile[]] {
  const pools = Array.from({ length: WEBHOOK_POOLS_MAX }, (_, index): SchemaFile => ({
    schema: webhookSchema(settings.WEBHOOK_POOL_SCHEMA, index + 1),
    file: dataFile(settings, webhookDatabase(index + 1)),
    holds: 'pool',
  }))
  const file = dataFile(settings, FILES.processorDatabase)
  return [{ schema: settings.SHARD, file, holds: 'books' }, ...pools]
}

function reportOf(
  tables: readonly CheckedTable[],
  files: readonly SchemaFile[],
  url: string,
): Report {
  const different = tables.filter(({ equal }) => !equal)
  const schemas = files.map(({ schema }) => schema).join(', ')
  const target = `${schemas} of ${withoutSecrets('STORE_URL', url)}`
  const rows = tables.map((each) => [
    `${each.schema}.${each.table}`,
    String(each.rows),
    each.equal ? `sha256 ${each.sha256.slice(0, 16)}` : 'DIFFERENT',
  ])
  const isGood = different.length === 0
  const conclusion = isGood
    ? [
        `Copied to ${target}: every table has the same rows and the same digest.`,
        'Audit both before the stack starts: STORE_URL= make audit, then make audit.',
        `Then move ${files.map(({ file }) => basename(file)).join(', ')} out of DATA_DIR, so that`,
        'nothing starts on them again.',
      ]
    : [
        `The copy in ${target} differs:`,
        `  ${different.map((each) => `${each.schema}.${each.table}`).join(', ')}`,
        `Do not use it: drop the schemas ${schemas}, then copy again.`,
      ]
  return {
    value: { copied: isGood, tables },
    lines: [table(rows, [1]), '', ...conclusion],
    exitCode: isGood ? 0 : 1,
  }
}
