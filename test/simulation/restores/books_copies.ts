/**
 * Copies of the books that a run makes on its way, and the restore of one of them.
 *
 * - A copy is whole: it shows the books between two commits.
 */
import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { FILES } from '../../../src/base/subjects.js'
import type { openDatabase } from '../../../src/store/sqlite/database.js'
import type { SeededRandom } from '../../fuzz/seeded_random.js'

export interface BooksCopies {
  readonly count: number
  make(): Promise<void>
  /**
   * Drops the newer ones: what was decided since then never happened. The chosen one stays, because
   * it may be the newest one when books are lost again.
   */
  choose(random: SeededRandom): { readonly newer: number; readonly file: string }
  /** Puts a copy in place of the books, which no connection has open. */
  restore(file: string): void
}

/** Older ones are deleted. */
const KEPT = 3

export function createBooksCopies(folder: string, open: typeof openDatabase): BooksCopies {
  const books = join(folder, FILES.processorDatabase)
  const copies: string[] = []
  let made = 0
  return {
    get count() {
      return copies.length
    },
    make: async () => {
      made += 1
      const file = join(folder, `copy-${made}.db`)
      const database = await open(books)
      await database.exec(`VACUUM INTO '${file}'`)
      await database.close()
      copies.push(file)
      if (copies.length > KEPT) rmSync(copies.shift()!)
    },
    choose: (random) => {
      const newer = random.int(copies.length)
      for (let count = 0; count < newer; count++) rmSync(copies.pop()!)
      return { newer, file: copies.at(-1)! }
    },
    restore: (file) => {
      for (const part of ['-wal', '-shm']) rmSync(books + part, { force: true })
      copyFileSync(file, books)
    },
  }
}
