/** The store of the run keeps the contract, its books their owner and their version. */
import { join } from 'node:path'
import t from 'tap'
import { FILES } from '../../src/base/subjects.js'
import { openNewBooks, openTestStore } from '../support/books.js'
import { anIntent, batchOf } from './commit_rows.js'
import { testContract } from './contract.js'
import { openBooksOfTheRun } from './contract_books.js'

testContract(openBooksOfTheRun)

t.test('new books have an id and a salt of their own', async (t) => {
  const [one, other] = [await openNewBooks(t), await openNewBooks(t)]
  t.match(one.store.marks.progress().booksId, /^[0-9a-f]{32}$/)
  t.not(one.store.marks.progress().booksId, other.store.marks.progress().booksId)
  const salt = "SELECT value FROM meta WHERE name = 'nonce_salt'"
  t.notSame(await one.raw.all(salt), await other.raw.all(salt))
})

t.test('a commit of another epoch or batch is rejected', async (t) => {
  const { store, raw } = await openNewBooks(t)
  const { booksId } = store.marks.progress()
  t.match(store.marks.progress(), { booksId, epoch: 1, lastBatch: 0 })
  await store.commit(batchOf({ intents: [anIntent('pi_1')] }))
  await store.raiseEpoch(4)
  await store.commit(batchOf({ intents: [anIntent('pi_2')] }))
  t.match(store.marks.progress(), { booksId, epoch: 5, lastBatch: 2 })
  t.same(await raw.all('SELECT epoch, last_batch FROM owner'), [{ epoch: 5, last_batch: 2 }])

  for (const change of ['epoch = epoch + 1', 'last_batch = last_batch + 1']) {
    const other = await openNewBooks(t)
    await other.raw.run(`UPDATE owner SET ${change}`)
    await t.rejects(
      other.store.commit(batchOf({ intents: [anIntent('pi_1')] })),
      /these books are at another batch or epoch|another process owns the books/,
      change,
    )
    t.same(await other.raw.all('SELECT id FROM intents'), [], 'nothing of it is stored')
  }
})

t.test('books of a newer version are rejected', async (t) => {
  const { store, raw, folder } = await openNewBooks(t)
  await store.close()
  await raw.exec(
    raw.dialect.name === 'sqlite'
      ? 'PRAGMA user_version = 99'
      : 'UPDATE owner SET schema_version = 99',
  )
  const open = (): Promise<unknown> => openTestStore(join(folder, FILES.processorDatabase))
  await t.rejects(open(), /newer version/)
  await t.rejects(open(), /newer version/, 'the rejection does not lock them')
})
