/**
 * What an adapter's statement of a period has, as figures, and the figures of the
 * instructions that are accepted and not ended.
 *
 * - It reads the journal page by page, as the statement does, and no account.
 */
import { instant } from '../../base/clock.js'
import {
  ACCEPTED,
  createMovementTally,
  MOVEMENTS,
  type MovementFigures,
  type MovementKind,
} from '../../base/movements.js'
import type { Reader } from '../../store/database.js'
import type { MovementPeriod, MovementSummary, NewestMovement } from '../rail.js'

const PAGE_ROWS = 5_000

const PAGE = `
  SELECT id, currency, CAST(amount AS TEXT) AS amount,
    executed_at >= ?2 AND executed_at < ?3 AS executed,
    returned_at >= ?2 AND returned_at < ?3 AS returned
  FROM instructions
  WHERE id > ?1 AND (executed_at >= ?2 AND executed_at < ?3
    OR returned_at >= ?2 AND returned_at < ?3)
  ORDER BY id LIMIT ${PAGE_ROWS}`

const PENDING = `
  SELECT id, currency, CAST(amount AS TEXT) AS amount
  FROM instructions WHERE id > ?1 AND state = 'pending' AND (?2 = '' OR shard = ?2)
  ORDER BY id LIMIT ${PAGE_ROWS}`

const NEWEST = `
  SELECT id, returned_at IS NOT NULL AS returned, coalesce(returned_at, executed_at) AS at
  FROM instructions
  WHERE executed_at IS NOT NULL AND (?1 = '' OR shard = ?1)
  ORDER BY at DESC LIMIT 1`

interface PendingRow {
  readonly id: string
  readonly currency: string
  readonly amount: string
}

interface Row extends PendingRow, Record<MovementKind, 0 | 1 | null> {}

interface NewestRow {
  readonly id: string
  readonly returned: 0 | 1
  readonly at: number
}

/** @param shard whose newest movement and accepted instructions count; undefined for all */
export async function summaryOf(
  journal: Reader,
  { from, to }: MovementPeriod,
  shard: string | undefined,
): Promise<MovementSummary> {
  const tally = createMovementTally()
  for (let after = ''; ;) {
    const rows = await journal.all<Row>(PAGE, [after, from, to])
    for (const { id, currency, amount, ...moved } of rows) {
      for (const movement of MOVEMENTS) {
        if (moved[movement] !== 1) continue
        tally.add({ instruction: id, movement, currency, amount: BigInt(amount) })
      }
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE_ROWS) break
    after = last.id
  }
  const [newest] = await journal.all<NewestRow>(NEWEST, [shard ?? ''])
  return {
    ...tally.figures(),
    newest: newest === undefined ? null : movementOf(newest),
    accepted: await pendingOf(journal, shard),
  }
}

async function pendingOf(journal: Reader, shard: string | undefined): Promise<MovementFigures> {
  const tally = createMovementTally()
  for (let after = ''; ;) {
    const rows = await journal.all<PendingRow>(PENDING, [after, shard ?? ''])
    for (const { id, currency, amount } of rows) {
      tally.add({ instruction: id, movement: ACCEPTED, currency, amount: BigInt(amount) })
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE_ROWS) return tally.figures()
    after = last.id
  }
}

const movementOf = ({ id, returned, at }: NewestRow): NewestMovement => ({
  instruction: id,
  movement: returned === 1 ? 'returned' : 'executed',
  at: instant(at),
})
