/** An owner of books that commits batches of one intent each until its store fails. */
import { instant } from '../../src/base/clock.js'
import type { SchemaOptions } from '../../src/store/postgres/owned_schema.js'
import { openPostgresStore } from '../../src/store/postgres/store.js'
import type { Store } from '../../src/store/store.js'
import { dueIds } from '../support/due_ids.js'
import { hurriedClock } from '../support/hurried_clock.js'
import { anIntent, batchOf } from '../store/commit_rows.js'
import { SILENT_LOG as log } from '../support/logs.js'

export interface OwnerUnderLoad {
  readonly store: Store
  /** Ids of intents, in order. */
  readonly sent: readonly string[]
  readonly acknowledged: readonly string[]
  /** Resolves with the error that ended the load. */
  readonly failed: Promise<Error>
}

export interface Books {
  readonly ids: readonly string[]
  readonly lastBatch: number
  readonly epoch: number
}

const MORE_THAN_ALL = 1_000_000

/** Takes over without waiting for the timeout of the lease. */
export function openOwner(
  url: string,
  holder: string,
  more: Partial<SchemaOptions> = {},
): Promise<Store> {
  const { hurried, ...clock } = hurriedClock()
  return hurried(() => openPostgresStore({ url, shard: 'books_1', holder, log, ...clock, ...more }))
}

export function loadUntilFailure(store: Store, name: string): OwnerUnderLoad {
  const sent: string[] = []
  const acknowledged: string[] = []
  store.onFailure(() => undefined)
  const failed = (async () => {
    try {
      for (let number = 1; ; number++) {
        const id = `pi_${name}_${number}`
        sent.push(id)
        await store.commit(batchOf({ intents: [anIntent(id)] }))
        acknowledged.push(id)
      }
    } catch (error) {
      return error as Error
    }
  })()
  return { store, sent, acknowledged, failed }
}

export async function booksOf(store: Store): Promise<Books> {
  const { lastBatch, epoch } = await store.boot(instant(0))
  return { ids: await dueIds(store, 'intents', instant(5), MORE_THAN_ALL), lastBatch, epoch }
}
