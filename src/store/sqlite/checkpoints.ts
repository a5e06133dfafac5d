/**
 * Passive WAL checkpoints on a connection of their own, beside the writer.
 *
 * Owns: when a checkpoint starts. Does not own: copying pages, restarting the WAL (both SQLite).
 *
 * - A passive checkpoint neither waits for others nor blocks them. It leaves little work for the
 *   writer's own checkpoint, which copies thousands of pages and waits for two fsyncs inside a
 *   commit.
 * - One checkpoint runs at a time. A failure is ignored: the writer's own checkpoint then fails
 *   too, in a commit.
 * - SQLite before 3.51.3 can lose pages when one connection restarts the WAL while another
 *   checkpoints (sqlite.org/wal.html#walresetbug). A test requires a later version.
 */
export const CHECKPOINT_PRAGMAS = `
  PRAGMA wal_autocheckpoint = 0;
  PRAGMA cache_size = 0;
`
/** A few thousand pages under load; less often, the writer would checkpoint first. */
const EVERY_COMMITS = 96
const COPY = 'PRAGMA wal_checkpoint(PASSIVE)'

/** A connection to the writer's file. */
export interface Connection {
  exec(sql: string): Promise<void>
  close(): Promise<void>
}

export interface Checkpoints {
  committed(): void
  /** Completed since the start. */
  count(): number
  close(): Promise<void>
}

export function createCheckpoints(connection: Connection): Checkpoints {
  let commits = 0
  let completed = 0
  let copying: Promise<void> | undefined

  return {
    committed: () => {
      commits += 1
      if (commits < EVERY_COMMITS || copying !== undefined) return
      commits = 0
      copying = connection
        .exec(COPY)
        .then(
          () => void (completed += 1),
          () => undefined,
        )
        .finally(() => (copying = undefined))
    },
    count: () => completed,
    close: async () => {
      await copying
      await connection.close()
    },
  }
}
