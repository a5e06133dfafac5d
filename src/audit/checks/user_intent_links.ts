/**
 * The linked lists of each user's intents.
 *
 * - A list is found by the user's fingerprint. Two fingerprints for one user would make two lists,
 *   of which one is lost.
 */
import type { Books } from '../books.js'
import type { Check } from '../check.js'

/** The prefix of an id that holds its type and its milliseconds. */
const TIME_LENGTH = 13

interface LinkRow {
  readonly first: number
  readonly place: number
  readonly id: string
  readonly before: number
  readonly fingerprint: string
  /** The fingerprint, if the intent has moved. Null: the intent does not exist. */
  readonly user: string | null
}

const LINKS = `
  SELECT u.first, j.key AS place, j.value ->> 0 AS id, j.value ->> 1 AS before,
         hex(substr(u.prints, 8 * j.key + 1, 8)) AS fingerprint,
         coalesce(i.tenant || ' ' || (i.context ->> 'userId'),
                  m.partner || ' ' || hex(substr(u.prints, 8 * j.key + 1, 8))) AS user
    FROM intent_users u, json_each(u.links) j LEFT JOIN intents i ON i.id = j.value ->> 0
      LEFT JOIN moved_payments m ON m.id = j.value ->> 0
    WHERE u.first >= ?1 AND (u.first > ?1 OR j.key > ?2)
    ORDER BY u.first, j.key LIMIT ?3`

export const userIntentsAreLinked: Check = {
  name: 'user_intents_are_linked',
  sentence: "Every intent is linked once, in creation order, to its user's previous intent.",
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
        if (firstLinked === undefined || id < firstLinked) firstLinked = id
        const last = lasts.get(user ?? '') ?? { number: 0, fingerprint }
        const subject = user === null ? 'no intent' : 'an intent'
        const found = `${subject}, ${first + place} after ${before} by ${fingerprint}`
        const expected = `an intent, ${rows} after ${last.number} by ${last.fingerprint}`
        if (found !== expected) return { rows, broken: { entity: id, found, expected } }
        lasts.set(user ?? '', { number: rows, fingerprint })
      }
    }
    const intents = await countLinkable(books, firstLinked)
    if (rows === intents) return { rows, broken: null }
    return { rows, broken: { entity: '', found: `${rows} links`, expected: `${intents}` } }
  },
}

/**
 * Counts the intents that must have a link: those created since the oldest linked one, and after
 * the id in `unlinked_to`. Older intents predate links. One that has moved keeps its link.
 */
async function countLinkable(books: Books, firstLinked = ''): Promise<number> {
  const [row] = await books.all<{ n: number }>(
    `SELECT count(*) AS n FROM (SELECT id FROM intents
        UNION ALL SELECT id FROM moved_payments WHERE id GLOB 'pi_*')
      WHERE substr(id, 1, ?) >= substr(?, 1, ?)
        AND id > coalesce((SELECT value FROM meta WHERE name = 'unlinked_to'), '')`,
    [TIME_LENGTH, firstLinked, TIME_LENGTH],
  )
  return row?.n ?? 0
}
