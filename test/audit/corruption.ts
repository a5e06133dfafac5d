/**
 * One corruption: a SQL statement against one database of a copy, as a bug, a bad disk or a manual
 * edit would leave it, and the check that must find it.
 */
import { join } from 'node:path'
import { openDatabase } from '../../src/store/database.js'
import type { BookFile, SmallBooks } from './small_books.js'

export interface Corruption {
  readonly what: string
  readonly file?: BookFile
  readonly sql: string
  /** The check that must find it. */
  readonly breaks: string
  /** The entity that the check must name. */
  readonly of?: string
}

/** Corruptions of the given books, whose payouts and intents they name. */
export type Corruptions = (books: SmallBooks) => readonly Corruption[]

export async function plant(folder: string, file: BookFile, sql: string): Promise<void> {
  const database = await openDatabase(join(folder, file))
  await database.exec(`PRAGMA ignore_check_constraints = ON; ${sql}`)
  await database.close()
}

export const setIn = (table: string, id: string, path: string, value: string): string =>
  `UPDATE ${table} SET context = json_set(context, '${path}', ${value}) WHERE id = '${id}'`
