/** A page as one JSON text: the same rows in the same order as the driver returns. */
import { join } from 'node:path'
import t from 'tap'
import fc from 'fast-check'
import { openDatabase } from '../../src/store/sqlite/database.js'
import { SQLITE } from '../../src/store/dialect.js'
import { asText, NO_ROWS, rowsOf } from '../../src/store/json_page.js'
import { tempFolder } from '../support/temp_folder.js'

const COLUMNS = {
  id: 'integer',
  name: 'text',
  note: 'text',
  amount: 'int64',
  spent: 'int64',
  body: 'json',
} as const

interface Stored {
  readonly id: number
  readonly name: string
  readonly note: string | null
  readonly amount: string
  readonly spent: string | null
  readonly body: string
}

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String)
/** Includes lone surrogates and control characters. */
const anyText = fc.string({ unit: 'binary' })
const thing = fc.record({
  name: anyText,
  note: fc.option(anyText),
  amount: int64,
  spent: fc.option(int64),
  body: fc.dictionary(anyText, fc.jsonValue()),
})

t.test('a page has the same rows as separate reads, whatever is stored', async (t) => {
  const database = await openDatabase(join(tempFolder(t), 'things.db'))
  t.teardown(() => database.close())
  await database.exec(`CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT NOT NULL, note TEXT,
    amount INTEGER NOT NULL, spent INTEGER, body TEXT NOT NULL) STRICT`)
  const list = (limit: number) => ({
    sql: () => `SELECT id, name, note, CAST(amount AS TEXT) AS amount,
      CAST(spent AS TEXT) AS spent, body
      FROM things ORDER BY id DESC LIMIT ?`,
    values: [limit],
  })
  const each = ({ amount, spent, body, ...rest }: Stored) => ({
    ...rest,
    amount: BigInt(amount),
    spent: spent === null ? null : BigInt(spent),
    body: JSON.parse(body) as unknown,
  })
  await fc.assert(
    fc.asyncProperty(fc.array(thing, { maxLength: 8 }), fc.nat({ max: 9 }), async (made, limit) => {
      await database.run('DELETE FROM things')
      // As a commit stores them.
      await database.run(
        `INSERT INTO things (name, note, amount, spent, body) SELECT value ->> '$.name',
          value ->> '$.note', CAST(value ->> '$.amount' AS INTEGER),
          CAST(value ->> '$.spent' AS INTEGER), value ->> '$.body' FROM jsonb_each(?)`,
        [JSON.stringify(made)],
      )
      const rows = await database.all<Stored>(list(limit).sql(), list(limit).values)
      const { sql, values } = asText(list(limit), COLUMNS)
      const [text] = await database.all<{ page: string | null }>(sql(SQLITE), values)
      const read = rowsOf<ReturnType<typeof each>>(text?.page ?? NO_ROWS, COLUMNS)
      t.equal(read.length, Math.min(limit, made.length))
      t.strictSame(read, rows.map(each))
    }),
    { numRuns: 200 },
  )
})
