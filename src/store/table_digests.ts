/** Rows and digest of each table of a SQLite file, to compare two copies of books. */
import { createHash } from 'node:crypto'
import { openDatabase } from './database.js'

export interface TableDigest {
  readonly table: string
  readonly rows: number
  /** SHA-256 of every column of every row, in the order of the primary key. */
  readonly sha256: string
}

const PAGE_ROWS = 10_000

export async function tableDigests(file: string): Promise<readonly TableDigest[]> {
  const database = await openDatabase(file, { readOnly: true })
  try {
    const tables = await database.all<{ name: string }>(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
       ORDER BY name`,
    )
    const digests: TableDigest[] = []
    for (const { name } of tables) {
      const columns = await database.all<{ name: string; pk: number }>(
        `SELECT name, pk FROM pragma_table_info('${name}') ORDER BY name`,
      )
      const quoted = columns.map((column) => `quote(${column.name})`).join(" || ',' || ")
      const keys = columns.filter(({ pk }) => pk > 0).sort((one, other) => one.pk - other.pk)
      const order = keys.map((key) => key.name).join(', ')
      const hash = createHash('sha256')
      let rows = 0
      for (;;) {
        const page = await database.all<{ row: string }>(
          `SELECT ${quoted} AS row FROM ${name} ORDER BY ${order} LIMIT ? OFFSET ?`,
          [PAGE_ROWS, rows],
        )
        if (page.length === 0) break
        for (const { row } of page) hash.update(`${row}\n`)
        rows += page.length
      }
      digests.push({ table: name, rows, sha256: hash.digest('hex') })
    }
    return digests
  } finally {
    await database.close()
  }
}
