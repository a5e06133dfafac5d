/** The journal of a sandbox rail, by its DATA_DIR, and the statement that is made of it. */
import { join } from 'node:path'
import { FILES } from '../../src/base/subjects.js'
import { openDatabase } from '../../src/store/sqlite/database.js'
import { startProgram } from './program.js'

/** Rows of its table `instructions`. */
export async function instructionsAt<Row>(dataDir: string, select: string): Promise<Row[]> {
  const journal = await openDatabase(join(dataDir, FILES.railDatabase), { readOnly: true })
  return journal.all<Row>(select).finally(() => journal.close())
}

/** Ids of the executed instructions. */
export const executedAt = async (dataDir: string): Promise<readonly string[]> =>
  (
    await instructionsAt<{ id: string }>(
      dataDir,
      'SELECT id FROM instructions WHERE executions > 0 ORDER BY id',
    )
  ).map(({ id }) => id)

export async function changeJournal(dataDir: string, sql: string): Promise<void> {
  const journal = await openDatabase(join(dataDir, FILES.railDatabase))
  await journal.exec(sql)
  await journal.close()
}

/** Writes the statement since 2020. @returns the file */
export async function writeStatement(dataDir: string, file: string): Promise<string> {
  const args = ['--from', '2020-01-01', '--out', file]
  const settings = { DATA_DIR: dataDir }
  const { exitCode, err } = await startProgram('rails/sandbox/statement_main.js', args, settings)
    .ended
  if (exitCode !== 0) throw new Error(err)
  return file
}
