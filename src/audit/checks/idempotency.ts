/**
 * Idempotency: the rows that keep a repeated request from moving money twice.
 *
 * I1. A key is looked for by the first eight bytes of its digest; what is not among these prints
 *     counts as free. So a print that is lost is as bad as a row that is lost.
 */
import type { Books } from '../books.js'
import { byQuery, type Check, type Finding } from '../check.js'

export const keysLeadSomewhere = byQuery({
  name: 'keys_lead_somewhere',
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
const PRINTS = `
  SELECT first, lower(hex(prints)) AS prints FROM idempotency_prints
    WHERE first > ? ORDER BY first LIMIT ?`
const PRINT_BYTES = 8
const PRINT_DIGITS = 2 * PRINT_BYTES

export const keysAreFoundAgain: Check = {
  name: 'keys_are_found_again',
  sentence: 'Kept requests count from 1 without a gap, and each has the print it is looked for by.',
  reads: [],
  run: async (books) => {
    const prints = printsOf(books)
    let rows = 0
    const keys = books.pages<KeyRow>(KEYS, [0], ({ sequence }) => [sequence])
    for await (const page of keys) {
      for (const { sequence, key, entity } of page) {
        rows += 1
        const next = await prints.next()
        const found = next.done === true ? 'no print' : `${next.value} at ${sequence}`
        const expected = `${printOf(key)} at ${rows}`
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
async function* printsOf(books: Books): AsyncGenerator<string> {
  interface PrintsRow {
    readonly first: number
    readonly prints: string
  }
  let next = 1
  for await (const page of books.pages<PrintsRow>(PRINTS, [0], ({ first }) => [first])) {
    for (const { first, prints } of page) {
      for (; next < first; next++) yield 'nothing'
      for (let at = 0; at < prints.length; at += PRINT_DIGITS, next++) {
        yield prints.slice(at, at + PRINT_DIGITS)
      }
    }
  }
}

const printOf = (key: string): string =>
  Buffer.from(key, 'base64url').toString('hex', 0, PRINT_BYTES)
