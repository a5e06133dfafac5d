/**
 * The linked lists of each user's intents.
 *
 * - A list is found by the user's fingerprint. Two fingerprints for one user would make two lists,
 *   of which one is lost.
 * - While a user is being erased, the list up to the erasure has payments of both names, each with
 *   the fingerprint of its own; the user's next payment begins another list.
 * - The link of an intent that has moved to another shard names none, and has no fingerprint.
 */
import type { Books } from '../books.js'
import type { Check } from '../check.js'
import { hasMoved, isClearing } from './idempotency.js'

/** The prefix of an id that holds its type and its milliseconds. */
const TIME_LENGTH = 13

interface LinkRow {
  readonly first: number
  readonly ordinal: number
  readonly id: string
  readonly before: number
  readonly fingerprint: string
  /** Null means that the intent does not exist. */
  readonly user: string | null
  /** The erasure of the user that is under way for this intent. Null means none. */
  readonly erasure: string | null
}

/** Lookups of one intent: with an archive, a join would read all intents for each page. */
const LINKS = `
  SELECT u.first, j.key AS ordinal, j.value ->> 0 AS id, j.value ->> 1 AS before,
         hex(substr(u.prints, 8 * j.key + 1, 8)) AS fingerprint,
         (SELECT i.tenant || ' ' || (i.context ->> 'userId') FROM intents i
           WHERE i.id = j.value ->> 0) AS user,
         (SELECT min(e.id) FROM user_erasures e WHERE e.ended_at IS NULL
           AND u.first + j.key <= e.last_intent
           AND EXISTS (SELECT 1 FROM intents i WHERE i.id = j.value ->> 0 AND i.tenant = e.tenant
             AND (i.context ->> 'userId') IN (e.user_id, e.id))) AS erasure
    FROM intent_users u, json_each(u.links) j
    WHERE u.first >= ?1 AND (u.first > ?1 OR j.key > ?2)
    ORDER BY u.first, j.key LIMIT ?3`

export const userIntentsAreLinked: Check = {
  name: 'user_intents_are_linked',
  sentence: "Every intent is linked once, in creation order, to its user's previous intent.",
  reads: [],
  needsEveryRow: true,
  run: async (books) => {
    const lasts = new Map<string, number>()
    const fingerprints = new Map<string, string>()
    const hasGaps = await hasMoved(books)
    const isClearingUp = await isClearing(books)
    const isMoved = ({ id, before, fingerprint, user }: LinkRow): boolean =>
      hasGaps &&
      ((id === '' && before === 0 && /^0+$/.test(fingerprint)) || (isClearingUp && user === null))
    let [rows, moved, last] = [0, 0, 0]
    let firstLinked: string | undefined
    const pages = books.pages<LinkRow>(LINKS, [0, -1], ({ first, ordinal }) => [first, ordinal])
    for await (const page of pages) {
      for (const row of page) {
        const { first, ordinal, id, before, fingerprint, user, erasure } = row
        const number = first + ordinal
        const next = hasGaps ? Math.max(number, last + 1) : last + 1
        rows += 1
        last = number
        if (isMoved(row)) {
          moved += 1
          continue
        }
        if (firstLinked === undefined || id < firstLinked) firstLinked = id
        const [named, list] = [user ?? '', erasure ?? user ?? '']
        const known = fingerprints.get(named) ?? fingerprint
        const subject = user === null ? 'no intent' : 'an intent'
        const found = `${subject}, ${number} after ${before} by ${fingerprint}`
        const expected = `an intent, ${next} after ${lasts.get(list) ?? 0} by ${known}`
        if (found !== expected) return { rows, broken: { entity: id, found, expected } }
        lasts.set(list, number)
        fingerprints.set(named, known)
      }
    }
    const intents = await countLinkable(books, firstLinked)
    const linked = rows - moved
    if (linked === intents) return { rows, broken: null }
    return { rows, broken: { entity: '', found: `${linked} links`, expected: `${intents}` } }
  },
}

/**
 * Counts the intents that must have a link: those created since the oldest linked one, and after
 * the id in `unlinked_to`. Older intents predate links.
 */
async function countLinkable(books: Books, firstLinked = ''): Promise<number> {
  const [row] = await books.all<{ n: number }>(
    `SELECT count(*) AS n FROM intents
      WHERE substr(id, 1, ?) >= substr(?, 1, ?)
        AND id > coalesce((SELECT value FROM meta WHERE name = 'unlinked_to'), '')`,
    [TIME_LENGTH, firstLinked, TIME_LENGTH],
  )
  return row?.n ?? 0
}

const ERASED = `
  SELECT e.id, e.payments, coalesce(found.payments, 0) AS found
    FROM user_erasures e LEFT JOIN (
      SELECT context ->> 'userId' AS id, count(*) AS payments FROM intents
        WHERE context ->> 'userId' GLOB 'era_*' GROUP BY 1) found ON found.id = e.id
    WHERE e.payments <> coalesce(found.payments, 0) LIMIT 1`

export const erasedUsersHaveTheirPayments: Check = {
  name: 'erased_users_have_their_payments',
  sentence: 'An erasure counts the payments that have its id in place of their user.',
  reads: [],
  needsEveryRow: true,
  run: async (books) => {
    const rows = await books.count('user_erasures')
    if (rows === 0) return { rows, broken: null }
    const [row] = await books.all<{ id: string; payments: number; found: number }>(ERASED, [])
    if (row === undefined) return { rows, broken: null }
    const [found, expected] = [`${row.found} payments`, `${row.payments}`]
    return { rows, broken: { entity: row.id, found, expected } }
  },
}
