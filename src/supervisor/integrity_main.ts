/**
 * Checks databases with SQLite's `quick_check`: the files are its arguments, results go to its
 * parent, one message a file.
 *
 * - It only reads, on connections of its own, with the lowest priority: a check of big files takes
 *   minutes and must delay nobody.
 * - It ends with its parent, in the middle of a check too.
 */
import { constants, setPriority } from 'node:os'
import { openDatabase } from '../store/database.js'

export interface CheckedFile {
  readonly file: string
  /** What SQLite found; empty: nothing is wrong. */
  readonly problems: readonly string[]
}

/** What a person needs in order to act. */
const PROBLEMS_MAX = 10

setPriority(constants.priority.PRIORITY_LOW)
// An exit would wait for the check that is under way.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))

for (const file of process.argv.slice(2)) {
  const checked: CheckedFile = { file, problems: await problemsOf(file) }
  await new Promise((resolve) => process.send?.(checked, resolve))
}
process.disconnect?.()

async function problemsOf(file: string): Promise<readonly string[]> {
  try {
    const database = await openDatabase(file, { readOnly: true })
    const rows = await database.all<{ quick_check: string }>(`PRAGMA quick_check(${PROBLEMS_MAX})`)
    await database.close()
    return rows.map((row) => row.quick_check).filter((problem) => problem !== 'ok')
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  }
}
