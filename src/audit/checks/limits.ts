/**
 * Limit counters: a user's usage is the sum of the user's confirmations.
 *
 * - A confirmation counts in its local day and month until it fails or is cancelled, or leaves the
 *   books for their archive. Both corridors are at UTC+7 all year.
 * - Counters are of a local day or month, so they are compared month by month: each confirmation is
 *   read once, whatever the age of the books. A month with many is compared in parts, selected by a
 *   digest of the key, which bounds memory.
 */
import { hash } from 'node:crypto'
import { DAY, HOUR, instant, plus, toRfc3339 } from '../../base/clock.js'
import type { Books } from '../books.js'
import { amountOf, type Violation, type Check } from '../check.js'

const KEYS_AT_ONCE = 200_000
/** Its day and its month. */
const KEYS_OF_A_CONFIRMATION = 2
const LOCAL_OFFSET_MS = 7 * HOUR
const LONGEST_MONTH_MS = 31 * DAY

interface ConfirmedRow {
  readonly id: string
  readonly tenant: string
  readonly state: string
  readonly userId: string
  readonly corridor: string
  readonly confirmedAt: number
  readonly dayKey: string | null
  readonly monthKey: string | null
  readonly local: string
}

const CONFIRMED = `
  SELECT id, tenant, state, context ->> 'userId' AS userId, context ->> 'corridor' AS corridor,
         confirmed_at AS confirmedAt, context ->> '$.confirmation.dayKey' AS dayKey,
         context ->> '$.confirmation.monthKey' AS monthKey,
         context ->> '$.scanned.quote.localMinor' AS local
    FROM main.intents WHERE (confirmed_at, id) > (?, ?) AND confirmed_at < :end
    ORDER BY confirmed_at, id LIMIT ?`
const SPAN = 'SELECT min(confirmed_at) AS first, max(confirmed_at) AS last FROM main.intents'
const IN_MONTH = `SELECT count(*) AS n FROM main.intents
  WHERE confirmed_at >= ? AND confirmed_at < ?`
const COUNTERS = `
  SELECT key, CAST(used AS TEXT) AS used FROM limit_usage
    WHERE key IN (SELECT value FROM json_each(?))`
const COUNTERS_AT_ONCE = 4_000
const OTHERS = 'SELECT count(*) AS n FROM limit_usage WHERE used <> 0'
const OTHER = `
  SELECT key, CAST(used AS TEXT) AS used FROM limit_usage WHERE used <> 0 AND key NOT IN (
    SELECT context ->> '$.confirmation.dayKey' FROM main.intents
      WHERE confirmed_at IS NOT NULL AND state NOT IN ('failed', 'cancelled')
    UNION ALL
    SELECT context ->> '$.confirmation.monthKey' FROM main.intents
      WHERE confirmed_at IS NOT NULL AND state NOT IN ('failed', 'cancelled')) LIMIT 1`

export const limitsAtOnce = (keysAtOnce: number): Check => ({
  name: 'limits_count_confirmations',
  sentence:
    'A limit counter is the sum of the confirmations of its day or month that neither failed ' +
    'nor were cancelled, and are in the books.',
  reads: [],
  needsEveryRow: true,
  run: async (books) => {
    const rows = await books.count('limit_usage')
    let counted = 0
    for (const month of await monthsOf(books)) {
      const [confirmed] = await books.all<{ n: number }>(IN_MONTH, [month.from, month.end])
      const parts = Math.max(
        1,
        Math.ceil((KEYS_OF_A_CONFIRMATION * (confirmed?.n ?? 0)) / keysAtOnce),
      )
      for (let part = 0; part < parts; part++) {
        const isOfPart = (key: string): boolean => parts === 1 || digest(key) % parts === part
        const compared = await compare(books, month, isOfPart)
        if (compared.broken !== null) return { rows, broken: compared.broken }
        counted += compared.counters
      }
    }
    const [stored] = await books.all<{ n: number }>(OTHERS)
    return { rows, broken: stored?.n === counted ? null : await otherCounter(books) }
  },
})

export const limitsCountConfirmations = limitsAtOnce(KEYS_AT_ONCE)

const digest = (key: string): number => hash('sha256', key, 'buffer').readUInt32LE()

interface LocalMonth {
  readonly from: number
  /** Excluded. */
  readonly end: number
}

/** All months from the first confirmation to the last one. */
async function monthsOf(books: Books): Promise<readonly LocalMonth[]> {
  const [span] = await books.all<{ first: number | null; last: number | null }>(SPAN)
  const { first, last } = span ?? { first: null, last: null }
  const months: LocalMonth[] = []
  if (first === null || last === null) return months
  for (let from = startOfMonth(first); from <= last;) {
    const end = startOfMonth(from + LONGEST_MONTH_MS)
    months.push({ from, end })
    from = end
  }
  return months
}

function startOfMonth(at: number): number {
  const local = new Date(at + LOCAL_OFFSET_MS)
  return Date.UTC(local.getUTCFullYear(), local.getUTCMonth()) - LOCAL_OFFSET_MS
}

async function compare(
  books: Books,
  { from, end }: LocalMonth,
  isOfPart: (key: string) => boolean,
): Promise<{ readonly counters: number; readonly broken: Violation | null }> {
  const used = new Map<string, bigint>()
  const found = (broken: Violation | null) => ({ counters: used.size, broken })
  const confirmed = books.pages<ConfirmedRow>(
    CONFIRMED.replace(':end', String(end)),
    [from, ''],
    ({ confirmedAt, id }) => [confirmedAt, id],
  )
  for await (const page of confirmed) {
    for (const row of page) {
      const broken = addConfirmation(row, used, isOfPart)
      if (broken !== null) return found(broken)
    }
  }
  const keys = [...used.keys()]
  for (let at = 0; at < keys.length; at += COUNTERS_AT_ONCE) {
    const some = keys.slice(at, at + COUNTERS_AT_ONCE)
    const counters = await books.all<{ key: string; used: string }>(COUNTERS, [
      JSON.stringify(some),
    ])
    const stored = new Map(counters.map((counter) => [counter.key, counter.used]))
    for (const key of some) {
      const [is, expected] = [stored.get(key), used.get(key) ?? 0n]
      if (is === undefined) {
        return found({ entity: key, found: 'no counter', expected: `${expected}` })
      }
      if (amountOf(is) === expected) continue
      return found({ entity: key, found: `${is} used`, expected: `${expected}` })
    }
  }
  return found(null)
}

/** A counter of no confirmation. */
async function otherCounter(books: Books): Promise<Violation> {
  const [other] = await books.all<{ key: string; used: string }>(OTHER)
  return { entity: other?.key ?? '', found: `${other?.used} used`, expected: '0' }
}

function addConfirmation(
  row: ConfirmedRow,
  used: Map<string, bigint>,
  isOfPart: (key: string) => boolean,
): Violation | null {
  const keys = keysOf(row)
  if (row.dayKey !== keys[0] || row.monthKey !== keys[1]) {
    const found = `counted in ${row.dayKey} and ${row.monthKey}`
    return { entity: row.id, found, expected: keys.join(' and ') }
  }
  if (row.state === 'failed' || row.state === 'cancelled') return null
  for (const key of keys.filter(isOfPart)) {
    used.set(key, (used.get(key) ?? 0n) + amountOf(row.local))
  }
  return null
}

function keysOf({ tenant, userId, corridor, confirmedAt }: ConfirmedRow): readonly string[] {
  const owner = JSON.stringify([tenant, userId, corridor])
  const local = toRfc3339(plus(instant(confirmedAt), LOCAL_OFFSET_MS))
  return [`${owner} ${local.slice(0, 10)}`, `${owner} ${local.slice(0, 7)}`]
}
