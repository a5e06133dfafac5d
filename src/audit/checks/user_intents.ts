/**
 * The chains in which a user's intents are found.
 *
 * - A chain is entered by the print that stands for the user: two prints for one user would make
 *   two chains of which one is lost.
 */
import type { Books } from '../books.js'
import type { Check, Finding } from '../check.js'

/** Of an id's beginning: prefix and milliseconds. */
const TIME_LENGTH = 13

interface LinkRow {
  readonly first: number
  readonly place: number
  readonly id: string
  readonly before: number
  readonly fingerprint: string
  /** Null: there is no such intent. */
  readonly user: string | null
}

const LINKS = `
  SELECT u.first, j.key AS place, j.value ->> 0 AS id, j.value ->> 1 AS before,
         hex(substr(u.prints, 8 * j.key + 1, 8)) AS fingerprint,
         i.tenant || ' ' || (i.context ->> 'userId') AS user
    FROM intent_users u, json_each(u.links) j LEFT JOIN intents i ON i.id = j.value ->> 0
    WHERE u.first >= ?1 AND (u.first > ?1 OR j.key > ?2)
    ORDER BY u.first, j.key LIMIT ?3`

export const usersFindTheirIntents: Check = {
  name: 'users_find_their_intents',
  sentence:
    'Every intent is linked once, in the order of creation, to the one its user had before it.',
  reads: [],
  needsEveryRow: true,
  run: async (books) => {
    const lasts = new Map<string, { readonly number: number; readonly fingerprint: string }>()
    let rows = 0
    let firstLinked: string | undefined
    const pages = books.pages<LinkRow>(LINKS, [0, -1], ({ first, place }) => [first, place])
    for await (const page of pages) {
      for (const { first, place, id, before, fingerprint, user } of page) {
        rows += 1
        firstLinked ??= id
        const last = lasts.get(user ?? '') ?? { number: 0, fingerprint }
        const isThere = user === null ? 'no intent' : 'an intent'
        const found = `${isThere}, ${first + place} after ${before} by ${fingerprint}`
        const expected = `an intent, ${rows} after ${last.number} by ${last.fingerprint}`
        if (found !== expected) return { rows, broken: { entity: id, found, expected } }
        lasts.set(user ?? '', { number: rows, fingerprint })
      }
    }
    return whole(rows, await since(books, firstLinked))
  },
}

/**
 * Intents of the time before there were links have none. When that was, the first link tells, or
 * the mark that was made when there was none yet.
 */
async function since(books: Books, firstLinked = ''): Promise<number> {
  const [row] = await books.all<{ n: number }>(
    `SELECT count(*) AS n FROM intents WHERE substr(id, 1, ?) >= substr(?, 1, ?)
      AND id > coalesce((SELECT value FROM meta WHERE name = 'unlinked_to'), '')`,
    [TIME_LENGTH, firstLinked, TIME_LENGTH],
  )
  return row?.n ?? 0
}

const whole = (rows: number, intents: number): Finding => {
  if (rows === intents) return { rows, broken: null }
  return { rows, broken: { entity: '', found: `${rows} links`, expected: `${intents}` } }
}
