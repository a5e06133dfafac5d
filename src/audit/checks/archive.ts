/**
 * The archive of ended payments that have left the books.
 *
 * - With the archive other checks read its payments as if they were in the books, whose ledger
 *   entries and links stay there. Limit counters do not (checks/limits).
 * - The digest is restated here: SHA-256 over id, state and context.
 */
import { createHash } from 'node:crypto'
import type { Check } from '../check.js'

interface ArchivedRow {
  readonly id: string
  readonly digest: string
  /** Null means that the archive does not have it. */
  readonly state: string | null
  readonly context: string | null
  readonly isInBooks: 0 | 1
}

const ARCHIVED = `
  SELECT x.id, x.digest, coalesce(i.state, p.state) AS state,
         coalesce(i.context, p.context) AS context,
         EXISTS (SELECT 1 FROM main.intents WHERE id = x.id)
           OR EXISTS (SELECT 1 FROM main.payouts WHERE id = x.id) AS isInBooks
    FROM archived_payments x LEFT JOIN archive.intents i ON i.id = x.id
      LEFT JOIN archive.payouts p ON p.id = x.id
    WHERE x.id > ? ORDER BY x.id LIMIT ?`

export const archiveHasWhatLeft: Check = {
  name: 'archive_has_what_left',
  sentence:
    'Every payment that has left the books is in their archive, unchanged, and not in both.',
  reads: [],
  run: async (books) => {
    const { archive } = books
    if (archive === null) return { rows: 0, broken: null }
    const rows = await books.count('archived_payments')
    if (!archive.isRead) {
      const { id, path, fault } = archive
      const found =
        fault === undefined
          ? `no archive ${id} at ${path}`
          : `archive ${id} at ${path} cannot be read: ${fault}`
      const expected = `the file with ${rows} payments: name it with --archive`
      return { rows, broken: { entity: '', found, expected } }
    }
    for await (const page of books.pages<ArchivedRow>(ARCHIVED, [''], ({ id }) => [id])) {
      for (const row of page) {
        const found = stateOf(row)
        if (found === `archived ${row.digest}`) continue
        return { rows, broken: { entity: row.id, found, expected: `archived ${row.digest}` } }
      }
    }
    return { rows, broken: null }
  },
}

function stateOf({ id, state, context, isInBooks }: ArchivedRow): string {
  if (isInBooks === 1) return 'in the books too'
  if (state === null || context === null) return 'not in the archive'
  const text = `${id}\n${state}\n${context}`
  return `archived ${createHash('sha256').update(text).digest('base64url')}`
}
