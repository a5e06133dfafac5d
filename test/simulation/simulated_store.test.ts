/** The simulated store keeps the contract of the store. */
import { join } from 'node:path'
import type { Test } from 'tap'
import { FILES } from '../../src/base/subjects.js'
import { openDatabase } from '../../src/store/sqlite/database.js'
import { takeOwnership } from '../../src/store/postgres/ownership.js'
import type { Store } from '../../src/store/store.js'
import { createSeededRandom } from '../fuzz/seeded_random.js'
import { testContract } from '../store/contract.js'
import { SILENT_LOG as log } from '../support/logs.js'
import { tempFolder } from '../support/temp_folder.js'
import { createBooksNetwork, type Link } from './books_network.js'
import { COMMIT, openBooksServer, type BooksServer } from './books_server.js'
import { createScheduler } from './scheduler.js'
import { createSimulatedStore } from './simulated_store.js'

/** The clock is fixed, so no heartbeat is due. */
const elapsed = (): number => 0
const forever = (): Promise<void> => new Promise(() => undefined)

/** Without faults; its schedulers release every step at once. */
async function opened(folder: string): Promise<Store> {
  const open = (): Promise<BooksServer> => openBooksServer(folder, () => null)
  const network = await createBooksNetwork({
    folder,
    server: await open(),
    reopen: open,
    now: elapsed,
    random: createSeededRandom(1, 0),
    outcomeOfWrite: () => 'done',
    onViolation: () => undefined, // A rejected commit, as the contract tests it.
    onCount: () => undefined,
  })
  const scheduler = createScheduler()
  const link: Link = { holder: 'one', scheduler, isAlive: () => true, isReachable: () => true }
  const connection = network.connect(link)
  const owned = await takeOwnership({
    connection,
    background: connection,
    holder: link.holder,
    elapsed,
    pause: forever,
    log,
    statement: COMMIT,
  })
  return {
    ...createSimulatedStore({
      connection,
      scheduler,
      isReachable: link.isReachable,
      fault: () => null,
      ownership: owned.ownership,
      owned: () => owned,
    }),
    close: async () => {
      await owned.release()
      await network.close()
    },
  }
}

testContract(async (t: Test) => {
  const folder = tempFolder(t)
  const first = await opened(folder)
  let store = first
  const raw = await openDatabase(join(folder, FILES.processorDatabase))
  t.teardown(async () => {
    await raw.close()
    await store.close()
  })
  return {
    store: first,
    raw,
    reopen: async () => {
      await first.close()
      return (store = await opened(folder))
    },
  }
})
