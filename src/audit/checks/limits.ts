/**
 * Limit counters: a user's usage is the sum of the user's confirmations.
 *
 * - A confirmation counts in its local day and month until it fails or is cancelled. Both corridors
 *   are at UTC+7 all year.
 * - Counters are one per user and day. They are compared in parts, selected by a digest of the key,
 *   which bounds memory.
 */
import { hash } from 'node:crypto'
import { HOUR, instant, plus, toRfc3339 } from '../../base/clock.js'
import type { Books } from '../books.js'
import { amountOf, type Violation, type Check } from '../check.js'

const KEYS_AT_ONCE = 200_000
const LOCAL_OFFSET_MS = 7 * HOUR

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
    FROM intents WHERE id > ? AND confirmed_at IS NOT NULL ORDER BY id LIMIT ?`
const COUNTERS = `
  SELECT key, CAST(used AS TEXT) AS used FROM limit_usage WHERE key > ? ORDER BY key LIMIT ?`

export const limitsAtOnce = (keysAtOnce: number): Check => ({
  name: 'limits_count_confirmations',
  sentence:
    'A limit counter is the sum of the confirmations of its day or month that neither failed ' +
    'nor were cancelled.',
  reads: [],
  needsEveryRow: true,
  run: async (books) => {
    const rows = await books.count('limit_usage')
    const parts = Math.max(1, Math.ceil(rows / keysAtOnce))
    for (let part = 0; part < parts; part++) {
      const broken = await compare(books, (key) => parts === 1 || digest(key) % parts === part)
      if (broken !== null) return { rows, broken }
    }
    return { rows, broken: null }
  },
})

export const limitsCountConfirmations = limitsAtOnce(KEYS_AT_ONCE)

const digest = (key: string): number => hash('sha256', key, 'buffer').readUInt32LE()

async function compare(
  books: Books,
  isOfPart: (key: string) => boolean,
): Promise<Violation | null> {
  const used = new Map<string, bigint>()
  for await (const page of books.pages<ConfirmedRow>(CONFIRMED, [''], ({ id }) => [id])) {
    for (const row of page) {
      const broken = addConfirmation(row, used, isOfPart)
      if (broken !== null) return broken
    }
  }
  const counters = books.pages<{ key: string; used: string }>(COUNTERS, [''], ({ key }) => [key])
  for await (const page of counters) {
    for (const counter of page.filter(({ key }) => isOfPart(key))) {
      const expected = used.get(counter.key) ?? 0n
      used.delete(counter.key)
      if (amountOf(counter.used) === expected) continue
      return { entity: counter.key, found: `${counter.used} used`, expected: `${expected}` }
    }
  }
  const [missing] = used
  if (missing === undefined) return null
  return { entity: missing[0], found: 'no counter', expected: `${missing[1]}` }
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
