/**
 * One corruption: a statement against one database of a copy, as a bug, a bad disk or a hand in the
 * file would leave it, and the check that has to find it.
 *
 * Owns: planting it. Does not own: the books (small_books.ts), what is planted (corruptions.ts).
 */
import { join } from 'node:path'
import { openDatabase } from '../../src/store/database.js'
import type { BookFile, SmallBooks } from './small_books.js'

export interface Corruption {
  readonly what: string
  readonly file?: BookFile
  readonly sql: string
  /** The check that has to find it. */
  readonly breaks: string
  /** The entity it has to name. */
  readonly of?: string
}

/** They name payouts and intents of the books they are planted in. */
export type Corruptions = (books: SmallBooks) => readonly Corruption[]

export async function plant(folder: string, file: BookFile, sql: string): Promise<void> {
  const database = await openDatabase(join(folder, file))
  await database.exec(`PRAGMA ignore_check_constraints = ON; ${sql}`)
  await database.close()
}

export const setIn = (table: string, id: string, path: string, value: string): string =>
  `UPDATE ${table} SET context = json_set(context, '${path}', ${value}) WHERE id = '${id}'`
