/**
 * The database files: SQLite's integrity check, whether JSON columns parse, the row of the owner.
 *
 * - These checks run first: a damaged index or an unreadable context makes later results
 *   unreliable.
 */
import type { Books } from '../books.js'
import { byQuery, type Check } from '../check.js'

export const filesAreIntact: Check = {
  name: 'files_are_intact',
  sentence: "SQLite's integrity check finds no damage in the pages, rows and indexes.",
  reads: [],
  run: async (books: Books) => {
    let rows = 0
    const archive = books.archive?.isRead === true ? [books.archive.path] : []
    const files = [...books.files, ...archive.map((file) => ({ file, schema: 'archive' }))]
    for (const { file, schema } of files) {
      const [first] = await books.all<{ integrity_check: string }>(
        `PRAGMA ${schema}.integrity_check(1)`,
      )
      rows += 1
      const found = first?.integrity_check ?? 'no result'
      if (found !== 'ok') {
        return { rows, broken: { entity: '', found: `${file}: ${found}`, expected: 'ok' } }
      }
    }
    return { rows, broken: null }
  },
}

export const booksHaveAnOwner = byQuery({
  name: 'books_have_an_owner',
  sentence: 'Books have the row of their owner, with its epoch and the number of commits.',
  over: ['owner'],
  broken: `
    SELECT '' AS entity, 'no row' AS found, 'one row in owner' AS expected
      WHERE NOT EXISTS (SELECT 1 FROM owner)`,
})

/** The lists of the directory, with the column that names an entry. */
const LISTS = [
  ['partners', 'id', 'allowed_ips'],
  ['partners', 'id', 'packages'],
  ['partners', 'id', 'corridors'],
  ['webhook_endpoints', 'id', 'enabled_events'],
  ['webhook_endpoints', 'id', 'secrets'],
  ['callers', 'name', 'roles'],
  ['callers', 'name', 'partners'],
  ['callers', 'name', 'tokens'],
] as const
const DIRECTORY = [
  ...(['discrepancies', 'approval_requests', 'partners', 'webhook_endpoints', 'callers'] as const),
]

/** A list that is absent is NULL. */
const unreadable = (table: string, id: string, column: string): string => `
    UNION ALL
    SELECT ${id}, substr(${column}, 1, 60), 'a JSON list in ${column}'
      FROM ${table} WHERE CASE WHEN json_valid(${column})
        THEN json_type(${column}) <> 'array' ELSE ${column} IS NOT NULL END`

export const textsAreJson = byQuery({
  name: 'texts_are_json',
  sentence: 'Contexts, event bodies, stored responses, lists, reports and arguments are JSON.',
  over: ['payouts', 'intents', 'events', 'idempotency', ...DIRECTORY],
  broken: `
    SELECT id AS entity, substr(context, 1, 60) AS found, 'JSON in its context' AS expected
      FROM payouts WHERE NOT json_valid(context)
    UNION ALL
    SELECT id, substr(context, 1, 60), 'JSON in its context'
      FROM intents WHERE NOT json_valid(context)
    UNION ALL
    SELECT entity, substr(body, 1, 60), 'JSON in the body of ' || id
      FROM events WHERE NOT json_valid(body)
    UNION ALL
    SELECT entity, substr(response, 1, 60), 'JSON in its stored response'
      FROM idempotency WHERE NOT json_valid(coalesce(response, '{}'))
    UNION ALL
    SELECT id, substr(report, 1, 60), 'JSON in its report'
      FROM discrepancies WHERE NOT json_valid(report)
    UNION ALL
    SELECT id, substr(arguments, 1, 60), 'JSON in its arguments'
      FROM approval_requests WHERE NOT json_valid(arguments)
    ${LISTS.map(([table, id, column]) => unreadable(table, id, column)).join('')}`,
})
