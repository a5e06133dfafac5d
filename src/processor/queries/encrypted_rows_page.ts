/**
 * A page of the rows with encrypted columns, and which master keys encrypt them.
 *
 * - Pages are chained by cursors bound to the current encrypting key and to the mode of the walk,
 *   so reaching the last page proves that every row was visited.
 * - A page covers one table. Payouts follow beneficiaries, whose ciphertext they copy, so no payout
 *   can copy an older ciphertext behind the walk (store/sealed).
 * - A corrupt row does not stop the walk. The cursor records it: the key of its ciphertext is
 *   unknown, so no master key is reported as unused at the end.
 */
import { kidOf } from '../../auth/secret_box.js'
import {
  isSealedTable,
  SEALED_TABLES,
  type SealedRow,
  type SealedTable,
} from '../../store/sealed.js'
import { answer } from '../cycle/answer.js'
import type { Vault } from '../keys/vault.js'
import { INVALID_PAGE } from './page.js'
import type { Query } from './query.js'

export interface EncryptedRowsPage {
  readonly isFirst: boolean
  readonly table: SealedTable
  /** Rows with a text encrypted by another master key than the first. */
  readonly ids: readonly string[]
  /** Number of encrypted texts in the page, by master key. */
  readonly counts: ReadonlyMap<string, number>
  /** Rows that could not be read. */
  readonly corrupt: readonly string[]
  /** An earlier page had a corrupt row, or one that did not decrypt. */
  readonly hadCorrupt: boolean
  /** Undefined on the last page. */
  readonly next: { readonly list: string; readonly position: string } | undefined
}

/** @param hasCorrupt whether this page or an earlier one had a corrupt row */
export const cursorOf = (
  { cursors }: Pick<Vault, 'cursors'>,
  { next }: EncryptedRowsPage,
  hasCorrupt: boolean,
): string | undefined =>
  next && cursors.make(next.list, `${next.position}${hasCorrupt ? ` ${CORRUPT}` : ''}`)

/** A page begins after this row. */
interface Position {
  readonly table: SealedTable
  readonly after: string
  readonly hadCorrupt?: boolean
}

const CORRUPT = 'corrupt'

/** Re-encrypting a page takes the cycle about 10 ms. */
const REENCRYPT_PAGE_ROWS = 200
/** Read outside the cycle. */
const COUNT_PAGE_ROWS = 2_000

export function encryptedRowsPage(isCount: boolean, cursor: string | undefined): Query {
  return {
    name: 'encrypted_rows_page',
    queueKey: 'internal',
    run: async ({ lists, vault }) => {
      const list = `sealed ${isCount ? 'counted' : 'resealed'} ${vault.sealingKid}`
      const given = cursor === undefined ? undefined : vault.cursors.open(list, cursor)
      if (cursor !== undefined && given === undefined) return INVALID_PAGE
      const { table, after, hadCorrupt = false } = positionIn(given ?? '')
      const limit = isCount ? COUNT_PAGE_ROWS : REENCRYPT_PAGE_ROWS
      const rows = await lists.sealed(table, after, limit)
      const next = rows.length < limit ? tableAfter(table) : { table, after: rows.at(-1)!.id }
      const page: EncryptedRowsPage = {
        isFirst: cursor === undefined,
        table,
        ids: rows.filter(isOther(vault.sealingKid)).map(({ id }) => id),
        counts: countsOf(rows),
        corrupt: rows.filter(({ corrupt }) => corrupt === 1).map(({ id }) => id),
        hadCorrupt,
        next: next && { list, position: `${next.table} ${next.after}` },
      }
      return answer(page)
    },
  }
}

function positionIn(position: string): Position {
  const [table = '', after = '', mark] = position.split(' ')
  if (!isSealedTable(table)) return { table: SEALED_TABLES[0]!, after: '' }
  return { table, after, hadCorrupt: mark === CORRUPT }
}

function tableAfter(table: SealedTable): Position | undefined {
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
