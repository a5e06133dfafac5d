/**
 * Idempotency records: they prevent a repeated request from moving money twice.
 *
 * - A key is looked up by the first eight bytes of its digest, its fingerprint. A lost fingerprint
 *   is as bad as a lost record: the key would count as unused.
 * - Records are deleted when their retention has ended: those of payouts up to a
 *   sequence, all others up to another. Their fingerprints stay.
 */
import type { Books } from '../books.js'
import { byQuery, type Check } from '../check.js'

export const idempotencyRowsResolve = byQuery({
  name: 'idempotency_rows_resolve',
  sentence:
    'Every idempotency record names an existing entity, its response is about it, and none is ' +
    'left whose retention has ended.',
  over: ['idempotency'],
  broken: `
    SELECT k.entity, 'a record for ' || k.entity AS found, 'an existing entity' AS expected
      FROM idempotency k
      WHERE NOT CASE substr(k.entity, 1, instr(k.entity, '_'))
        WHEN 'pi_' THEN EXISTS (SELECT 1 FROM intents WHERE id = k.entity)
        WHEN 'pout_' THEN EXISTS (SELECT 1 FROM payouts WHERE id = k.entity)
        WHEN 'dep_' THEN EXISTS (SELECT 1 FROM ledger_entries WHERE entity = k.entity)
        WHEN 'wdr_' THEN EXISTS (SELECT 1 FROM ledger_entries WHERE entity = k.entity)
        WHEN 'fxc_' THEN EXISTS (SELECT 1 FROM ledger_entries WHERE entity = k.entity)
        WHEN 'we_' THEN EXISTS (SELECT 1 FROM webhook_endpoints WHERE id = k.entity)
        ELSE 0 END
    UNION ALL
    SELECT entity, 'a response about ' || coalesce(response ->> 'id', 'nothing'), entity
      FROM idempotency
      WHERE (entity GLOB 'pout_*' OR entity GLOB 'we_*')
        AND response ->> 'id' IS NOT entity
    UNION ALL
    SELECT k.entity, 'record ' || k.sequence, 'none of ' || r.kind || ' up to ' || r.through
      FROM idempotency_retention r JOIN idempotency k ON k.sequence <= r.through
        AND r.kind = iif(k.entity GLOB 'pout_*', 'payouts', 'others')`,
})

/** Deleted records of payouts are of this moment, or older. */
const EXPIRED_BY = `(SELECT coalesce(min(a.at), -1) FROM idempotency_retention r
  JOIN idempotency_ages a ON a.through >= r.through WHERE r.kind = 'payouts')`

/** Keys are digests, so they can be counted but not recomputed. */
export const payoutsHaveOneKey = byQuery({
  name: 'payouts_have_one_key',
  sentence:
    'Every payout has exactly one idempotency record, unless the retention of its record has ' +
    'ended.',
  over: ['payouts', 'idempotency'],
  broken: `
    SELECT p.id AS entity, count(k.entity) || ' records' AS found, '1' AS expected
      FROM payouts p LEFT JOIN idempotency k ON k.entity = p.id
      WHERE (SELECT count(*) FROM payouts)
        <> (SELECT count(*) FROM idempotency WHERE entity GLOB 'pout_*')
      GROUP BY p.id HAVING count(k.entity) <> 1
        AND NOT (count(k.entity) = 0 AND p.context ->> 'createdAt' <= ${EXPIRED_BY})`,
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

export const fingerprintsMatchKeys: Check = {
  name: 'fingerprints_match_keys',
  sentence:
    'Idempotency records are numbered from 1 without gaps, but for those whose retention has ' +
    'ended or that have moved, and each has its fingerprint.',
  reads: [],
  run: async (books) => {
    const fingerprints = fingerprintsOf(books)
    const expired = await expiredThrough(books)
    const moved = await movedKeys(books)
    /** A number without a record. */
    const isGone = ({ number, print }: Fingerprint): boolean =>
      number <= expired || moved.isGone(print)
    let rows = 0
    let last = 0
    /** The fingerprint of this number, or what is found in its place. */
    const found = async (sequence: number): Promise<string> => {
      for (;;) {
        const next = await fingerprints.next()
        if (next.done === true) return 'no fingerprint'
        const { number, print } = next.value
        const isGap = number > last + 1 && !moved.hasGaps && number - 1 > expired
        if (isGap || number > sequence) return `none at ${last + 1}`
        last = number
        if (number === sequence) return print
        if (!isGone(next.value)) return `one more, ${print} at ${number}`
      }
    }
    for await (const page of keyPages(books)) {
      for (const { sequence, key, entity } of page) {
        rows += 1
        const [print, expected] = [await found(sequence), fingerprintOf(key)]
        if (print !== expected)
          return { rows, broken: { entity, found: print, expected: `${expected} at ${sequence}` } }
      }
    }
    for await (const each of fingerprints) {
      if (isGone(each)) continue
      const expected = `${rows} fingerprints`
      return { rows, broken: { entity: '', found: 'one more fingerprint', expected } }
    }
    return { rows, broken: null }
  },
}

interface Fingerprint {
  readonly number: number
  readonly print: string
}

/** A key that is in another shard has it. */
const NO_FINGERPRINT = '0'.repeat(FINGERPRINT_DIGITS)

interface MovedKeys {
  /** Numbers of partners that came are far apart. */
  readonly hasGaps: boolean
  /** The key is in another shard. One that a partner has just left still clears fingerprints. */
  isGone(print: string): boolean
}

async function movedKeys(books: Books): Promise<MovedKeys> {
  const hasGaps = await hasMoved(books)
  const isClearingUp = await isClearing(books)
  return { hasGaps, isGone: (print) => hasGaps && (isClearingUp || print === NO_FINGERPRINT) }
}

const EXPIRED = 'SELECT coalesce(max(through), 0) AS through FROM idempotency_retention'

/** Records of later sequences are not deleted. */
async function expiredThrough(books: Books): Promise<number> {
  const [row] = await books.all<{ through: number }>(EXPIRED)
  return row?.through ?? 0
}

const PARTNER_HAS_MOVED = "SELECT 1 FROM operator_log WHERE action = 'move_partner' LIMIT 1"

/** Whether a partner has left these books, or come. */
export const hasMoved = async (books: Books): Promise<boolean> =>
  (await books.all(PARTNER_HAS_MOVED)).length > 0

const CLEARING = "SELECT 1 FROM meta WHERE name GLOB 'left by *' LIMIT 1"

/** Whether the shard still has fingerprints and links of a partner that has left. */
export const isClearing = async (books: Books): Promise<boolean> =>
  (await books.all(CLEARING)).length > 0

const keyPages = (books: Books): AsyncGenerator<readonly KeyRow[]> =>
  books.pages<KeyRow>(KEYS, [0], ({ sequence }) => [sequence])

const MOVED = 'SELECT coalesce(max(through), 0) AS through FROM idempotency_index_moves'
const INDEXED = `
  SELECT j.key AS ordinal FROM json_each(?) j JOIN idempotency_index i
    ON i.fingerprint = j.value ->> '$[0]' AND i.sequence = j.value ->> '$[1]'`

/** A move that was interrupted has indexed some younger keys. */
export const olderKeysAreIndexed: Check = {
  name: 'older_keys_are_indexed',
  sentence: 'The index of older idempotency keys has every key that was moved to it, and no other.',
  reads: [],
  run: async (books) => {
    const [moved] = await books.all<{ through: number }>(MOVED)
    const through = moved?.through ?? 0
    const rows = await books.count('idempotency_index')
    if (rows === 0 && through === 0) return { rows, broken: null }
    let found = 0
    for await (const page of keyPages(books)) {
      const asRows = page.map(({ key, sequence }) => `[${integerOf(key)},${sequence}]`)
      const matches = await books.all<{ ordinal: number }>(INDEXED, [`[${asRows.join(',')}]`])
      found += matches.length
      const indexed = new Set(matches.map(({ ordinal }) => ordinal))
      const missing = page.find(({ sequence }, at) => sequence <= through && !indexed.has(at))
      if (missing === undefined) continue
      const { entity, sequence } = missing
      const expected = `key ${sequence} in the index through ${through}`
      return { rows, broken: { entity, found: 'no row with its fingerprint', expected } }
    }
    const [left] = await books.all<{ rows: number }>(INDEXED_WITHOUT_KEY, [
      await expiredThrough(books),
    ])
    if (found + (left?.rows ?? 0) === rows || (await isClearing(books)))
      return { rows, broken: null }
    return { rows, broken: { entity: '', found: `${rows} rows`, expected: `${found} keys` } }
  },
}

/** A move can index a key whose record is deleted. */
const INDEXED_WITHOUT_KEY = `SELECT count(*) AS rows FROM idempotency_index i
  WHERE i.sequence <= ? AND NOT EXISTS (SELECT 1 FROM idempotency k WHERE k.sequence = i.sequence)`

/** The first 8 bytes of a key's digest, as the column has them. */
function integerOf(key: string): bigint {
  const digest = Buffer.from(key, 'base64url')
  return (BigInt(digest.readInt32LE(0)) << 32n) | BigInt(digest.readUInt32LE(4))
}

/** Fingerprints in hex, by sequence. */
async function* fingerprintsOf(books: Books): AsyncGenerator<Fingerprint> {
  interface FingerprintsRow {
    readonly first: number
    readonly prints: string
  }
  const pages = books.pages<FingerprintsRow>(FINGERPRINTS, [0], ({ first }) => [first])
  for await (const page of pages)
    for (const { first, prints } of page)
      for (let at = 0; at < prints.length; at += FINGERPRINT_DIGITS) {
        const print = prints.slice(at, at + FINGERPRINT_DIGITS)
        yield { number: first + at / FINGERPRINT_DIGITS, print }
      }
}

const fingerprintOf = (key: string): string =>
  Buffer.from(key, 'base64url').toString('hex', 0, FINGERPRINT_BYTES)
