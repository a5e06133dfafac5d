/**
 * The store of a simulated processor: rows of the books' server, and commits under its ownership.
 *
 * - Reads and commits are steps of the schedulers.
 */
import type { Ownership } from '../../src/store/postgres/lease.js'
import type { Owned } from '../../src/store/postgres/ownership.js'
import type { Instant } from '../../src/base/clock.js'
import type { BootState, Store } from '../../src/store/store.js'
import { collected } from '../support/collected.js'
import type { BooksConnection } from './books_network.js'
import type { PlantedFault } from './planted_faults.js'
import type { Scheduler } from './scheduler.js'

export interface SimulatedStoreOptions {
  readonly connection: BooksConnection
  readonly scheduler: Scheduler
  readonly isReachable: () => boolean
  readonly fault: () => PlantedFault | null
  /** The result of `boot`. */
  readonly ownership: () => Ownership
  /** Called by commits and barriers. */
  readonly owned: () => Pick<Owned, 'commit' | 'barrier'>
}

export function createSimulatedStore(options: SimulatedStoreOptions): Store {
  const { connection, scheduler, isReachable, fault, ownership, owned } = options
  const read = <Result>(what: 'load' | 'due', query: (store: Store) => Promise<Result>) =>
    scheduler.inOrder(what, () => query(connection.server.store), isReachable)
  return {
    ...connection.server.store,
    keyRows: () => read('load', (store) => store.keyRows()),
    boot: (since) =>
      read('load', async (store) => ({ ...(await wholeBoot(store, since)), ...ownership() })),
    load: (wanted) => read('load', (store) => store.load(wanted)),
    due: (...query) => read('due', (store) => store.due(...query)),
    lists: {
      ...connection.server.store.lists,
      unsubmitted: (...page) => read('load', (store) => store.lists.unsubmitted(...page)),
    },
    commit: (rows) => {
      connection.prepare(rows)
      return owned().commit((epoch, batch) => [epoch, batch])
    },
    barrier: async () => {
      if (fault()?.barrier !== 'none') await owned().barrier()
    },
  }
}

/** Its rows are read within the step: later reads would take part in no schedule. */
async function wholeBoot(store: Store, since: Instant): Promise<BootState> {
  const boot = await store.boot(since)
  return {
    ...boot,
    nonces: inMemory(await collected(boot.nonces)),
    keyFingerprints: inMemory(await collected(boot.keyFingerprints)),
    userFingerprints: inMemory(await collected(boot.userFingerprints)),
  }
}

async function* inMemory<T>(items: readonly T[]): AsyncGenerator<T> {
  await Promise.resolve()
  yield* items
}
