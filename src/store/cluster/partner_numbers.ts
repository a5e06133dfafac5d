/**
 * The numbers that a partner's rows get in another shard: their own plus a constant for each kind,
 * so their order stays.
 *
 * Does not own: the rows (cluster/partner_copy, cluster/partner_transfer), the numbers of a move
 * without a copy, which has no gaps.
 *
 * - They begin above the last number of the other shard, with a margin for what it uses meanwhile.
 * - The partner's first number comes right after that margin. Without this each move would add all
 *   numbers of one shard to those of the other one, and partners that move to and fro would use
 *   them up.
 * - A posting gets a greater number in any case: its first one is the lowest that it has had.
 */
import { inTenants, isKeyOf, linksPage, tenantsOf } from './partner_fingerprints.js'
import type { PartnerMove } from './partner_moves.js'

/** Numbers of the books of a shard, one of each kind. */
export interface Numbers {
  readonly posting: number
  readonly position: number
  readonly key: number
  readonly intent: number
}

/** What is added to each kind of number in the other shard. */
export interface Shifts extends Numbers {
  /** The partner has only greater numbers. Absent in copies that an earlier version began: 0. */
  readonly below?: Numbers
}

/** The other shard uses fewer numbers meanwhile. */
const MARGINS: Numbers = { posting: 1e9, position: 1e9, key: 1e7, intent: 1e7 }
/** Numbers of keys and intents are words of 32 bits in memory. */
const WORD_MAX = 2 ** 32 - 2
const GREATEST: Numbers = {
  ...{ posting: Number.MAX_SAFE_INTEGER, position: Number.MAX_SAFE_INTEGER },
  ...{ key: WORD_MAX, intent: WORD_MAX },
}
const KINDS = ['posting', 'position', 'key', 'intent'] as const
const ofEachKind = (of: (kind: keyof Numbers) => number): Numbers => ({
  ...{ posting: of('posting'), position: of('position'), key: of('key'), intent: of('intent') },
})

export const belowOf = ({ below }: Shifts, kind: keyof Numbers): number => below?.[kind] ?? 0

/** How the numbers of intents change. */
export const linkShift = (shifts: Shifts): { readonly shift: number; readonly below: number } => ({
  ...{ shift: shifts.intent, below: belowOf(shifts, 'intent') },
})

/** @param target the last numbers of the other shard */
export function shiftsTo(target: Numbers, below: Numbers): Shifts {
  const shifts = ofEachKind((kind) => target[kind] + MARGINS[kind] - below[kind])
  return { ...shifts, posting: Math.max(shifts.posting, 1), below }
}

/** Why the numbers of the source do not fit. Null if they do. */
export function misfitOf(shifts: Shifts, source: Numbers, target: Numbers): string | null {
  const isPassed = KINDS.some((kind) => target[kind] > shifts[kind] + belowOf(shifts, kind))
  if (isPassed) return 'the other shard has used the numbers that were set apart'
  const isUsedUp = KINDS.some((kind) => shifts[kind] + source[kind] > GREATEST[kind])
  return isUsedUp ? 'the other shard has no numbers left' : null
}

/** SQL: the last numbers of a shard. */
export const lastNumbers = (shard: string): string => {
  const lastIn = (
    table: string,
  ): string => `(SELECT coalesce(max(first + length(prints) / 8) - 1, 0)
    FROM (SELECT first, prints FROM ${shard}.${table} ORDER BY first DESC LIMIT 1) AS last)`
  return `SELECT (SELECT greatest(
      (SELECT coalesce(max(posting), 0) FROM ${shard}.ledger_entries),
      (SELECT coalesce(max(below) - 1, 0) FROM ${shard}.moved_postings))) AS posting,
    greatest((SELECT coalesce(max(position), 0) FROM ${shard}.events),
      (SELECT coalesce(max(position_to), 0) FROM ${shard}.recoveries)) AS position,
    ${lastIn('idempotency_prints')} AS key, ${lastIn('intent_users')} AS intent`
}

/** SQL: the partner's first posting and the position of its first event, each found by index. */
export const firstIndexed = ({ partner, from }: PartnerMove): string => {
  const ofEach = (sql: (tenant: string) => string): string =>
    tenantsOf(partner)
      .map((tenant) => `(${sql(tenant)})`)
      .join(', ')
  return `SELECT least(
      ${ofEach(
        (tenant) => `SELECT min(posting) FROM ${from}.ledger_entries WHERE tenant = '${tenant}'`,
      )},
      (SELECT min(posting) FROM ${from}.ledger_entries WHERE entity IN (
        SELECT id FROM ${from}.discrepancies WHERE tenant ${inTenants(partner)}))) AS posting,
    least(${ofEach(
      (tenant) => `SELECT position FROM ${from}.events WHERE tenant = '${tenant}'
        ORDER BY sequence LIMIT 1`,
    )}) AS position`
}

/** Keys and links are found by reading all, a page at a time. */
interface Search {
  /** Cursors of the copy: how far it has come, and the number that it has found. */
  readonly reached: string
  readonly found: string
  /** Reads a page after `?1`: its `last` number, the partner's `first`, and whether it `ended`. */
  readonly sql: (move: PartnerMove, page: number) => string
}

/** SQL: the number after which a page begins. */
export const AFTER = "('0' || ?1)::bigint"
/** SQL: whether the table has no number after those of the page. */
export const pageEnds = (column: string, table: string): string => `NOT EXISTS (
  SELECT 1 FROM ${table} WHERE ${column} > (SELECT max(${column}) FROM page)) AS ended`

export const KEY_SEARCH: Search = {
  ...{ reached: 'keys searched', found: 'first key' },
  sql: ({ partner, from }, page) => `
    WITH page AS (SELECT sequence, entity FROM ONLY ${from}.idempotency
      WHERE sequence > ${AFTER} AND sequence < ${page} + (SELECT min(sequence)
        FROM ONLY ${from}.idempotency WHERE sequence > ${AFTER}))
    SELECT max(sequence) AS last,
      min(sequence) FILTER (WHERE ${isKeyOf(from, partner, 'page.entity')}) AS first,
      ${pageEnds('sequence', `ONLY ${from}.idempotency`)} FROM page`,
}

/** Links are shifted by rows, so its first number is the first one of a row. */
export const LINK_SEARCH: Search = {
  ...{ reached: 'links searched', found: 'first link' },
  sql: ({ partner, from }, page) => `
    WITH page AS (${linksPage(from, AFTER, page)})
    SELECT max(page.first) AS last, (SELECT min(r.first) FROM ${from}.intent_users AS r
        CROSS JOIN LATERAL json_array_elements(r.links::json) AS l (link)
        WHERE r.first IN (SELECT first FROM page) AND (SELECT tenant FROM ${from}.intents AS i
          WHERE i.id = l.link ->> 0) ${inTenants(partner)}) AS first,
      ${pageEnds('first', `${from}.intent_users`)} FROM page`,
}
