/**
 * Fingerprints of the keys and users of a partner that will come, loaded while the shard still
 * serves.
 *
 * Does not own: the rows that are set apart (store/cluster/partner_copy), the move
 * (cluster/partner_move).
 *
 * - Before the move no row has their numbers, so a fingerprint that is found names nothing.
 * - Last numbers stay those of the books until the move has been made.
 */
import { copyOf } from '../../store/cluster/partner_copy.js'
import { renumbered } from '../../store/cluster/partner_copy_tables.js'
import type { Connection } from '../../store/postgres/connection.js'
import type { LastFingerprints } from '../../store/stored_fingerprints.js'
import { fingerprintsIn, type IndexEntry } from '../cache/idempotency_index.js'
import type { Memory } from '../cache/memory.js'

export interface EarlyFingerprints {
  /** The last rows that are loaded. */
  readonly last: Partial<LastFingerprints>
  /** The partner is here. */
  use(): void
  /** It does not come. */
  forget(): void
}

interface StoredPage {
  readonly first: number
  readonly prints: Buffer
}

const ROWS_AT_ONCE = 256

/** @returns undefined when nothing is set apart */
export async function loadEarlyFingerprints(
  connection: Pick<Connection, 'all'>,
  memory: Memory,
  partner: string,
): Promise<EarlyFingerprints | undefined> {
  const copy = await copyOf(connection, partner)
  if (copy?.phase !== 'ready') return undefined
  const keys: StoredPage[] = []
  const last: { keys?: number; users?: number } = {}
  let [lastKey, lastIntent] = [0, 0]
  for await (const page of pagesOf(connection, renumbered(copy, 'idempotency_prints'))) {
    keys.push(page)
    for (const { sequence, ...fingerprint } of entriesIn(page))
      memory.keyIndex.add(fingerprint, sequence)
    last.keys = page.first
    lastKey = page.first + page.prints.length / 8 - 1
  }
  for await (const page of pagesOf(connection, renumbered(copy, 'intent_users'))) {
    for (const { sequence, ...fingerprint } of entriesIn(page))
      memory.userIndex.replace(fingerprint, sequence)
    last.users = page.first
    lastIntent = page.first + page.prints.length / 8 - 1
  }
  return {
    last,
    use: () => {
      memory.lastKeySequence = Math.max(memory.lastKeySequence, lastKey)
      memory.lastIntentNumber = Math.max(memory.lastIntentNumber, lastIntent)
    },
    forget: () => memory.keyIndex.remove(keys.flatMap(entriesIn)),
  }
}

async function* pagesOf(
  connection: Pick<Connection, 'all'>,
  table: string,
): AsyncGenerator<StoredPage> {
  for (let after = 0; ;) {
    const rows = await connection.all<StoredPage>(
      `SELECT first, prints FROM ${table} WHERE first > ? ORDER BY first LIMIT ${ROWS_AT_ONCE}`,
      [after],
    )
    yield* rows
    if (rows.length < ROWS_AT_ONCE) return
    after = rows.at(-1)!.first
  }
}

const entriesIn = ({ first, prints }: StoredPage): readonly IndexEntry[] =>
  fingerprintsIn(prints)
    .map((fingerprint, index) => ({ ...fingerprint, sequence: first + index }))
    .filter(({ high, low }) => high !== 0 || low !== 0)
