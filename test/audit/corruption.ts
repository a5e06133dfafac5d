/**
 * One corruption: a SQL statement against one database of a copy, as a bug, a bad disk or a manual
 * edit would leave it, and the check that must find it.
 */
import { join } from 'node:path'
import { openDatabase } from '../../src/store/sqlite/database.js'
import type { BookFile, SmallBooks } from './small_books.js'

export interface Corruption {
  readonly what: string
  readonly file: BookFile
  readonly sql: string
  /** The check that must find it. */
  readonly breaks: string
  /** The entity that the check must name. */
  readonly of?: string
}

/** The SQL of one corruption, with the entity that the check must name. */
export type Planted = string | readonly [sql: string, of: string]

type OfOneCheck = (
  check: string,
  corruptions: Readonly<Record<string, Planted>>,
) => readonly Corruption[]

/** Corruptions of one database that one check must find, by their description. */
export const breaksIn =
  (file: BookFile): OfOneCheck =>
  (check, corruptions) =>
    Object.entries(corruptions).map(([what, planted]) => {
      const [sql, of] = typeof planted === 'string' ? [planted] : planted
      return { what, file, sql, breaks: check, ...(of !== undefined && { of }) }
    })

export const breaks = breaksIn('processor.db')

/** Corruptions of the given books, whose payouts and intents they name. */
export type Corruptions = (books: SmallBooks) => readonly Corruption[]

export async function plant(folder: string, file: BookFile, sql: string): Promise<void> {
  const database = await openDatabase(join(folder, file))
  await database.exec(`PRAGMA ignore_check_constraints = ON; ${sql}`)
  await database.close()
}

/** A change of the row of an entity, which the check must name. */
export const changed = (table: string, id: string, change: string): readonly [string, string] => [
  `UPDATE ${table} SET ${change} WHERE id = '${id}'`,
  id,
]

/** As `changed`, of one value in its context. */
export const setIn = (table: string, id: string, path: string, value: string) =>
  changed(table, id, `context = json_set(context, '${path}', ${value})`)
