/**
 * A slice of all that is sealed: which rows, and with which master keys.
 *
 * - Slices are chained by cursors that only we make, for the master key that seals now and for
 *   one way of walking: who comes to the last slice has seen every one.
 * - A slice is of one table: payouts are read only after all beneficiaries are sealed anew, so
 *   that none copies an older text behind the walk (store/sealed).
 * - A corrupt row does not end the walk. The cursor remembers that one was met: what is sealed in
 *   it is not known, so no master key is called empty at the end.
 */
import { kidOf } from '../../auth/secret_box.js'
import {
  isSealedTable,
  SEALED_TABLES,
  type SealedRow,
  type SealedTable,
} from '../../store/sealed.js'
import { answer, refuse } from '../cycle/answer.js'
import type { Vault } from '../keys/vault.js'
import type { Query } from './query.js'

export interface EncryptedRowsPage {
  readonly isFirst: boolean
  readonly table: SealedTable
  /** Of rows with something that is sealed with another master key than the first. */
  readonly ids: readonly string[]
  /** Sealed texts of the slice, by master key. */
  readonly counts: ReadonlyMap<string, number>
  /** Rows that could not be read. */
  readonly corrupt: readonly string[]
  /** Whether an earlier slice had such a row, or one that did not open. */
  readonly hadCorrupt: boolean
  /** Absent: this was the last one. */
  readonly next: { readonly list: string; readonly position: string } | undefined
}

/** @param hasCorrupt whether this slice or one before it had a corrupt row */
export const cursorOf = (
  { cursors }: Pick<Vault, 'cursors'>,
  { next }: EncryptedRowsPage,
  hasCorrupt: boolean,
): string | undefined =>
  next && cursors.make(next.list, `${next.position}${hasCorrupt ? ` ${CORRUPT}` : ''}`)

/** Where a slice begins: behind this row. */
interface Place {
  readonly table: SealedTable
  readonly after: string
  readonly hadCorrupt?: boolean
}

const CORRUPT = 'corrupt'

/** Sealing these anew takes the cycle some ten milliseconds. */
const REENCRYPTED_AT_ONCE = 200
/** Only read, beside the cycle. */
const COUNTED_AT_ONCE = 2_000

export function encryptedRowsPage(isCount: boolean, cursor: string | undefined): Query {
  return {
    name: 'encrypted_rows_page',
    queueKey: 'ours',
    run: async ({ lists, vault }) => {
      const list = `sealed ${isCount ? 'counted' : 'resealed'} ${vault.sealingKid}`
      const given = cursor === undefined ? undefined : vault.cursors.open(list, cursor)
      if (cursor !== undefined && given === undefined) return refuse('invalid_request')
      const { table, after, hadCorrupt = false } = placeOf(given ?? '')
      const limit = isCount ? COUNTED_AT_ONCE : REENCRYPTED_AT_ONCE
      const rows = await lists.sealed(table, after, limit)
      const next = rows.length < limit ? tableAfter(table) : { table, after: rows.at(-1)!.id }
      const slice: EncryptedRowsPage = {
        isFirst: cursor === undefined,
        table,
        ids: rows.filter(isOther(vault.sealingKid)).map(({ id }) => id),
        counts: countsOf(rows),
        corrupt: rows.filter(({ corrupt }) => corrupt === 1).map(({ id }) => id),
        hadCorrupt,
        next: next && { list, position: `${next.table} ${next.after}` },
      }
      return answer(slice)
    },
  }
}

function placeOf(position: string): Place {
  const [table = '', after = '', mark] = position.split(' ')
  if (!isSealedTable(table)) return { table: SEALED_TABLES[0]!, after: '' }
  return { table, after, hadCorrupt: mark === CORRUPT }
}

function tableAfter(table: SealedTable): Place | undefined {
  const next = SEALED_TABLES[SEALED_TABLES.indexOf(table) + 1]
  return next && { table: next, after: '' }
}

const kidsOf = ({ sealed }: SealedRow): string[] =>
  (sealed?.split(' ') ?? []).map((text) => kidOf(text) ?? '')

const isOther =
  (sealing: string) =>
  (row: SealedRow): boolean =>
    kidsOf(row).some((kid) => kid !== sealing)

function countsOf(rows: readonly SealedRow[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const kid of rows.flatMap(kidsOf)) counts.set(kid, (counts.get(kid) ?? 0) + 1)
  return counts
}
