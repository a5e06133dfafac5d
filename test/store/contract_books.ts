/** Books for the contract, in the store of the run. */
import { join } from 'node:path'
import { FILES } from '../../src/base/subjects.js'
import { openNewBooks, openTestStore } from '../support/books.js'
import type { OpenContractBooks } from './rows_in_books.js'

export const openBooksOfTheRun: OpenContractBooks = async (t) => {
  const { store, raw, folder } = await openNewBooks(t)
  return {
    store,
    raw,
    reopen: async () => {
      await store.close()
      const second = await openTestStore(join(folder, FILES.processorDatabase))
      t.teardown(() => second.close())
      return second
    },
  }
}
