/**
 * A simulated PostgreSQL server with the books: rows in SQLite, and the owner row under the
 * product's own statements.
 *
 * - Statements run one at a time and are atomic. Each one is replicated to the standby.
 */
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { FILES } from '../../src/base/subjects.js'
import { openDatabase } from '../../src/store/sqlite/database.js'
import type { Bindable } from '../../src/store/database.js'
import { COMMIT_FUNCTION } from '../../src/store/postgres/commit.js'
import { FENCED } from '../../src/store/postgres/commit_function.js'
import { openStore } from '../../src/store/sqlite/store.js'
import type { CommitRows, Store } from '../../src/store/store.js'
import { planted, type PlantedFault } from './planted_faults.js'

export interface OwnerRow {
  readonly epoch: number
  readonly lastBatch: number
  readonly holder: string
  /** 0 means that no loss was accepted. */
  readonly acceptedEpoch: number
}

export interface BooksServer {
  /** Reads the rows. */
  readonly store: Store
  owner(): Promise<OwnerRow>
  query(sql: string, parameters: readonly Bindable[]): Promise<readonly unknown[]>
  /** @returns the number of rows. @throws an error with the code FENCED */
  write(sql: string, parameters: readonly Bindable[], rows: CommitRows | null): Promise<number>
  /** A server with the same books from here on. */
  copyTo(folder: string): Promise<BooksServer>
  close(): Promise<void>
}

/** The statement of a commit, whose parameters are its epoch and number. */
export const COMMIT = fenceOf(COMMIT_FUNCTION.definition)

/** The names of its databases. */
export const BOOKS = FILES.processorDatabase
export const OWNER = 'owner.db'

const OWNER_TABLE = `CREATE TABLE IF NOT EXISTS owner (
  epoch INTEGER NOT NULL, last_batch INTEGER NOT NULL, holder TEXT NOT NULL,
  beat INTEGER NOT NULL, session INTEGER NOT NULL, accepted_epoch INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS pg_stat_activity (pid INTEGER, application_name TEXT);
  INSERT INTO owner SELECT 0, 0, '', 0, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM owner)`
const OWNER_ROW = `SELECT epoch, last_batch AS "lastBatch", holder,
  accepted_epoch AS "acceptedEpoch" FROM owner`
/** As the product's statement, which writes two tables at once. */
const RAISE_EPOCH = `UPDATE owner
  SET epoch = max(epoch, ?1) + 1, accepted_epoch = max(epoch, ?1) + 1
  WHERE epoch = ?2 RETURNING epoch`
/** A rejected commit writes nothing. */
const BATCH_BEFORE = 'UPDATE owner SET last_batch = last_batch - 1'

export async function openBooksServer(
  folder: string,
  fault: () => PlantedFault | null,
  open = openDatabase,
): Promise<BooksServer> {
  const files = [BOOKS, OWNER].map((name) => join(folder, name))
  const [booksFile = '', ownerFile = ''] = files
  const store = await openStore(booksFile, open)
  const owner = await open(ownerFile)
  await owner.exec(OWNER_TABLE)
  return {
    store,
    owner: async () => (await owner.all<OwnerRow>(OWNER_ROW))[0]!,
    query: (sql, parameters) => {
      const own = sql.includes('accepted_epoch') ? RAISE_EPOCH : sql
      return owner.all(planted(own, fault()), parameters)
    },
    write: async (sql, parameters, rows) => {
      const changed = await owner.run(planted(sql, fault()), parameters)
      if (rows === null) return changed
      if (changed === 0) throw Object.assign(new Error('fenced'), { code: FENCED })
      try {
        await store.commit(rows)
      } catch (error) {
        await owner.run(BATCH_BEFORE)
        throw error
      }
      return changed
    },
    copyTo: async (target) => {
      mkdirSync(target)
      for (const file of files) {
        const database = await open(file)
        await database.exec(`VACUUM INTO '${join(target, file.slice(folder.length + 1))}'`)
        await database.close()
      }
      return openBooksServer(target, fault, open)
    },
    close: async () => {
      await owner.close()
      await store.close()
    },
  }
}

/** The fence inside the commit function, with `?1` for the epoch and `?2` for the number. */
function fenceOf(definition: string): string {
  const [fence] = /UPDATE owner SET last_batch[^;]+/.exec(definition) ?? []
  assert.ok(fence !== undefined, 'the commit function has a fence')
  return fence.replaceAll('p_epoch', '?1').replaceAll('p_batch', '?2')
}
