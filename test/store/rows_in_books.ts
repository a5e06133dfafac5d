/** Books of the store's contract, and the rows in them. */
import type { Test } from 'tap'
import type { Database, Reader } from '../../src/store/database.js'
import type { Store } from '../../src/store/store.js'
import {
  columnsOf,
  fromStored,
  TABLES,
  type Row,
  type StoredRow,
  type Table,
  type TableName,
} from '../../src/store/tables.js'

export interface ContractBooks {
  readonly store: Store
  /** A second connection to their rows. */
  readonly raw: Database
  /** Closes the store and opens the same books again. */
  reopen(): Promise<Store>
}

/** Opens new books, which are closed at the end of the test. */
export type OpenContractBooks = (t: Test) => Promise<ContractBooks>

/** The rows of a table, in the order of its key. */
export async function rowsIn<N extends TableName>(
  reader: Reader,
  name: N,
): Promise<readonly Row<N>[]> {
  const { name: table, columns, key }: Table = TABLES[name]
  const order = (key ?? Object.keys(columns)).join(', ')
  const rows = await reader.all<StoredRow>(
    `SELECT ${columnsOf(name)} FROM ${table} ORDER BY ${order}`,
  )
  return rows.map((row) => fromStored(name, row))
}
