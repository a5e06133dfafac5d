/**
 * Copies of the books that a run makes on its way, and the restore of one of them.
 *
 * - A copy is whole: it shows all files of the books between two commits.
 */
import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { openDatabase } from '../../../src/store/sqlite/database.js'
import type { SeededRandom } from '../../fuzz/seeded_random.js'

export interface BooksCopies {
  readonly count: number
  make(): Promise<void>
  /**
   * Drops the newer ones: what was decided since then never happened. The chosen one stays, because
   * it may be the newest one when books are lost again.
   */
  choose(random: SeededRandom): { readonly newer: number; readonly copy: Copy }
  /** Puts a copy in place of the books, which no connection has open. */
  restore(copy: Copy): void
}

/** The ordinal among all copies that were made. */
type Copy = number

/** Older ones are deleted. */
const KEPT = 3

/** @param files the names of the databases of the books */
export function createBooksCopies(
  folder: string,
  files: readonly string[],
  open: typeof openDatabase,
): BooksCopies {
  const copies: Copy[] = []
  let made = 0
  const pathOf = (copy: Copy, file: string): string => join(folder, `copy-${copy}-${file}`)
  const remove = (copy: Copy): void => {
    for (const file of files) rmSync(pathOf(copy, file))
  }
  return {
    get count() {
      return copies.length
    },
    make: async () => {
      made += 1
      for (const file of files) {
        const database = await open(join(folder, file))
        await database.exec(`VACUUM INTO '${pathOf(made, file)}'`)
        await database.close()
      }
      copies.push(made)
      if (copies.length > KEPT) remove(copies.shift()!)
    },
    choose: (random) => {
      const newer = random.int(copies.length)
      for (let count = 0; count < newer; count++) remove(copies.pop()!)
      return { newer, copy: copies.at(-1)! }
    },
    restore: (copy) => {
      for (const file of files) {
        const path = join(folder, file)
        for (const part of ['-wal', '-shm']) rmSync(path + part, { force: true })
        copyFileSync(pathOf(copy, file), path)
      }
    },
  }
}
