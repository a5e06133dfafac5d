/**
 * The processor's real store under the scheduler, with commits that can fail.
 *
 * Owns: the time of each response and the outcome of each commit.
 */
import type { CommitRows, Store } from '../../src/store/store.js'
import type { Scheduler } from './scheduler.js'

/** `lost`: reported as failed, and not on disk; `kept`: reported as failed, and on disk. */
export type CommitOutcome = 'done' | 'lost' | 'kept'

export const DISK_FAULT = 'SQLITE_IOERR'

export interface StallingStore extends Store {
  /** The process crashes; a commit in flight is on disk or not. */
  crash(isKept: boolean): Promise<void>
}

export function stallStore(
  store: Store,
  scheduler: Scheduler,
  commitOutcomeOf: () => CommitOutcome,
): StallingStore {
  let inFlight: CommitRows | null = null

  const write = async (batch: CommitRows): Promise<void> => {
    const commitOutcome = commitOutcomeOf()
    inFlight = null
    if (commitOutcome !== 'lost') await store.commit(batch)
    if (commitOutcome !== 'done') throw new Error(`${DISK_FAULT}: disk I/O error`)
  }

  return {
    ...store,
    load: (wanted) => scheduler.inOrder('load', () => store.load(wanted)),
    due: (...query) => scheduler.inOrder('due', () => store.due(...query)),
    commit: (batch) => {
      inFlight = batch
      return scheduler.inOrder('commit', () => write(batch))
    },
    crash: async (isKept) => {
      if (inFlight !== null && isKept) await store.commit(inFlight)
      inFlight = null
    },
  }
}
