/**
 * The processor's real store under the scheduler, with a disk that may fail at a commit.
 *
 * Owns: when the store answers, and the fate of each commit. Does not own: SQLite.
 */
import type { GroupRows, Store } from '../../src/store/store.js'
import type { Scheduler } from './scheduler.js'

/** `lost`: reported as failed, and not on disk; `kept`: reported as failed, and on disk. */
export type Fate = 'done' | 'lost' | 'kept'

export const DISK_FAULT = 'SQLITE_IOERR'

export interface HeldStore extends Store {
  /** The process dies; a commit that is under way is on disk, or it is not. */
  crash(isKept: boolean): Promise<void>
}

export function holdStore(store: Store, scheduler: Scheduler, fateOf: () => Fate): HeldStore {
  let underWay: GroupRows | null = null

  const write = async (group: GroupRows): Promise<void> => {
    const fate = fateOf()
    underWay = null
    if (fate !== 'lost') await store.commit(group)
    if (fate !== 'done') throw new Error(`${DISK_FAULT}: disk I/O error`)
  }

  return {
    ...store,
    load: (wanted) => scheduler.inTurn('load', () => store.load(wanted)),
    due: (kind, now, limit) => scheduler.inTurn('due', () => store.due(kind, now, limit)),
    commit: (group) => {
      underWay = group
      return scheduler.inTurn('commit', () => write(group))
    },
    crash: async (isKept) => {
      if (underWay !== null && isKept) await store.commit(underWay)
      underWay = null
    },
  }
}
