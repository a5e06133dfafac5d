/**
 * Checks database files with SQLite's `quick_check` and sends one message per file to the parent.
 *
 * - Read-only, on its own connections, with the lowest priority: a check of large files takes
 *   minutes.
 * - Ends with its parent, even during a check.
 */
import { constants, setPriority } from 'node:os'
import { openDatabase } from '../store/sqlite/database.js'

export interface CheckedFile {
  readonly file: string
  /** Empty when the file is intact. */
  readonly problems: readonly string[]
}

/** Enough for a diagnosis. */
const PROBLEMS_MAX = 10

setPriority(constants.priority.PRIORITY_LOW)
// `exit` would wait for the running check.
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
