/**
 * Copies of the simulated server's tables, and the numbers of commits that a restore has lost.
 */
import type { Bindable } from '../../../src/store/database.js'
import { partsOfName } from './made.js'
import type { Tables } from './tables.js'

/** Rows by table. */
export type CopiedTables = ReadonlyMap<string, readonly CopiedRow[]>
type CopiedRow = Readonly<Record<string, Bindable>>

/** Those that the product has made have blanks in their names. */
const TABLES = `SELECT schema || '.' || iif(instr(name, ' ') > 0, '"' || name || '"', name) AS name
  FROM pragma_table_list
  WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND schema <> 'temp'`
/** Sessions are those of processes. */
const SESSIONS = 'main.pg_stat_activity'

const namesIn = (tables: Tables): readonly string[] =>
  tables.all<{ name: string }>(TABLES).map(({ name }) => name)

/** A table that the product has made keeps the places of its rows. */
const allIn = (table: string): string => (partsOfName(table).isMade ? 'rowid AS rowid, *' : '*')

export function copyTables(tables: Tables): CopiedTables {
  const copied = new Map<string, readonly CopiedRow[]>()
  for (const table of namesIn(tables))
    if (table !== SESSIONS) copied.set(table, tables.all(`SELECT ${allIn(table)} FROM ${table}`))
  return copied
}

/** No session has them open any more. @param schemas those that go back */
export function putBackTables(
  tables: Tables,
  copied: CopiedTables,
  schemas: readonly string[],
): void {
  for (const table of namesIn(tables)) {
    if (!schemas.includes(partsOfName(table).schema)) continue
    tables.run(`DELETE FROM ${table}`)
    for (const row of copied.get(table) ?? []) {
      const columns = Object.keys(row)
      const marks = columns.map(() => '?')
      tables.run(
        `INSERT INTO ${table} (${columns.join()}) VALUES (${marks.join()})`,
        Object.values(row),
      )
    }
  }
}

interface CommitNumber {
  readonly epoch: number
  readonly lastBatch: number
}

interface CopiedOwner extends CommitNumber {
  readonly acceptedEpoch: number
}

export interface CommitNumbers {
  /** @returns false: it has the number of a lost one, although its loss is accepted */
  commit(shard: string, number: CommitNumber, acceptedEpoch: number): boolean
  /** What follows these commits of their shards is lost. */
  restored(copy: ReadonlyMap<string, CopiedOwner>): void
}

export function createCommitNumbers(): CommitNumbers {
  const committed = new Map<string, { readonly shard: string; readonly lastBatch: number }>()
  const lost = new Set<string>()
  /** By shard, in the restored copies. */
  const acceptedBefore = new Map<string, number>()
  return {
    commit: (shard, { epoch, lastBatch }, acceptedEpoch) => {
      const number = `${shard} ${epoch} ${lastBatch}`
      committed.set(number, { shard, lastBatch })
      const isReleased = acceptedEpoch > (acceptedBefore.get(shard) ?? -1)
      return !isReleased || epoch < acceptedEpoch || !lost.has(number)
    },
    restored: (copy) => {
      for (const [shard, { acceptedEpoch }] of copy) acceptedBefore.set(shard, acceptedEpoch)
      for (const [number, { shard, lastBatch }] of committed)
        if (lastBatch > (copy.get(shard)?.lastBatch ?? lastBatch)) lost.add(number)
    },
  }
}
