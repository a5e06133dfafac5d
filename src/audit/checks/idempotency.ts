/**
 * Idempotency: the rows that keep a repeated request from moving money twice.
 *
 * - A key is looked for by the first eight bytes of its digest; what is not among these prints
 *   counts as free. So a print that is lost is as bad as a row that is lost.
 */
import type { Books } from '../books.js'
import { byQuery, type Check, type Finding } from '../check.js'

export const idempotencyRowsResolve = byQuery({
  name: 'idempotency_rows_resolve',
  sentence: 'Every kept request names an entity that is there, and a kept answer speaks of it.',
  over: ['idempotency'],
  broken: `
    SELECT k.entity, 'a kept request for ' || k.entity AS found, 'such an entity' AS expected
      FROM idempotency k
      WHERE NOT CASE substr(k.entity, 1, instr(k.entity, '_'))
        WHEN 'pi_' THEN EXISTS (SELECT 1 FROM intents WHERE id = k.entity)
        WHEN 'pout_' THEN EXISTS (SELECT 1 FROM payouts WHERE id = k.entity)
        WHEN 'dep_' THEN EXISTS (SELECT 1 FROM ledger_entries WHERE entity = k.entity)
        WHEN 'fxc_' THEN EXISTS (SELECT 1 FROM ledger_entries WHERE entity = k.entity)
        ELSE 0 END
    UNION ALL
    SELECT entity, 'an answer about ' || coalesce(response ->> 'id', 'nobody'), entity
      FROM idempotency
      WHERE entity GLOB 'pout_*' AND response ->> 'id' IS NOT entity`,
})

/** Keys are digests, so they can be counted but not worked out again. */
export const payoutsKeepTheirKey = byQuery({
  name: 'payouts_keep_their_key',
  sentence: 'Every payout has the one kept request it was made by.',
  over: ['payouts', 'idempotency'],
  broken: `
    SELECT p.id AS entity, count(k.entity) || ' kept requests' AS found, '1' AS expected
      FROM payouts p LEFT JOIN idempotency k ON k.entity = p.id
      WHERE (SELECT count(*) FROM payouts)
        <> (SELECT count(*) FROM idempotency WHERE entity GLOB 'pout_*')
      GROUP BY p.id HAVING count(k.entity) <> 1`,
})

interface KeyRow {
  readonly sequence: number
  readonly key: string
  readonly entity: string
}

const KEYS = `
  SELECT sequence, key, entity FROM idempotency WHERE sequence > ? ORDER BY sequence LIMIT ?`
const FINGERPRINTS = `
  SELECT first, lower(hex(prints)) AS prints FROM idempotency_prints
    WHERE first > ? ORDER BY first LIMIT ?`
const FINGERPRINT_BYTES = 8
const FINGERPRINT_DIGITS = 2 * FINGERPRINT_BYTES

export const keysAreFoundAgain: Check = {
  name: 'keys_are_found_again',
  sentence: 'Kept requests count from 1 without a gap, and each has the print it is looked for by.',
  reads: [],
  run: async (books) => {
    const prints = fingerprintsOf(books)
    let rows = 0
    const keys = books.pages<KeyRow>(KEYS, [0], ({ sequence }) => [sequence])
    for await (const page of keys) {
      for (const { sequence, key, entity } of page) {
        rows += 1
        const next = await prints.next()
        const found = next.done === true ? 'no print' : `${next.value} at ${sequence}`
        const expected = `${fingerprintOf(key)} at ${rows}`
        if (found !== expected) return { rows, broken: { entity, found, expected } }
      }
    }
    return afterTheLast(rows, (await prints.next()).done === true)
  },
}

const afterTheLast = (rows: number, isEnd: boolean): Finding =>
  isEnd
    ? { rows, broken: null }
    : { rows, broken: { entity: '', found: 'a further print', expected: `${rows} prints` } }

/**
 * The prints in the order of their sequences, in hex; a gap between two rows of them is one, too.
 */
async function* fingerprintsOf(books: Books): AsyncGenerator<string> {
  interface FingerprintsRow {
    readonly first: number
    readonly prints: string
  }
  let next = 1
  for await (const page of books.pages<FingerprintsRow>(FINGERPRINTS, [0], ({ first }) => [
    first,
  ])) {
    for (const { first, prints } of page) {
      for (; next < first; next++) yield 'nothing'
      for (let at = 0; at < prints.length; at += FINGERPRINT_DIGITS, next++) {
        yield prints.slice(at, at + FINGERPRINT_DIGITS)
      }
    }
  }
}

const fingerprintOf = (key: string): string =>
  Buffer.from(key, 'base64url').toString('hex', 0, FINGERPRINT_BYTES)
