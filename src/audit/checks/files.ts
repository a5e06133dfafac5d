/**
 * The files themselves: what SQLite says of them, and whether their texts can be read.
 *
 * - These come first: an index that has lost a row, or a context that is no JSON, makes every
 *   other answer doubtful.
 */
import type { Books } from '../books.js'
import { byQuery, type Check } from '../check.js'

export const filesAreWhole: Check = {
  name: 'files_are_whole',
  sentence: 'SQLite finds no damage in any database: in pages, rows and indexes.',
  reads: [],
  run: async (books: Books) => {
    let rows = 0
    for (const { file, schema } of books.files) {
      const [first] = await books.all<{ integrity_check: string }>(
        `PRAGMA ${schema}.integrity_check(1)`,
      )
      rows += 1
      const found = first?.integrity_check ?? 'no answer'
      if (found !== 'ok') {
        return { rows, broken: { entity: '', found: `${file}: ${found}`, expected: 'ok' } }
      }
    }
    return { rows, broken: null }
  },
}

export const textsAreJson = byQuery({
  name: 'texts_are_json',
  sentence: 'Contexts, bodies of events and kept answers are JSON.',
  over: ['payouts', 'intents', 'events', 'idempotency'],
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
    SELECT entity, substr(response, 1, 60), 'JSON in its kept answer'
      FROM idempotency WHERE NOT json_valid(coalesce(response, '{}'))`,
})
