/**
 * Checkpoints beside the writer: what its commits have written to the WAL is copied to the file.
 *
 * Owns: when one begins. Does not own: the copying, and beginning the WAL anew (both SQLite's).
 *
 * - They run on a connection of their own, wait for nobody and keep nobody waiting. The writer's
 *   own, which copies thousands of pages and waits for two fsyncs in the midst of a commit, then
 *   finds little left.
 * - One at a time. One that fails is no loss: the writer's own meets what is wrong, in a commit.
 * - SQLite before 3.51.3 may lose pages when one connection begins the WAL anew while another one
 *   checkpoints (sqlite.org/wal.html#walresetbug). A test holds the driver to a later one.
 */
export const CHECKPOINT_PRAGMAS = `
  PRAGMA wal_autocheckpoint = 0;
  PRAGMA cache_size = 0;
`
/** Some thousand pages under load: less often, and the writer comes first. */
const EVERY_COMMITS = 96
const COPY = 'PRAGMA wal_checkpoint(PASSIVE)'

/** Of the same file as the writer's. */
export interface Connection {
  exec(sql: string): Promise<void>
  close(): Promise<void>
}

export interface Checkpoints {
  committed(): void
  close(): Promise<void>
}

export function createCheckpoints(connection: Connection): Checkpoints {
  let commits = 0
  let copying: Promise<void> | undefined

  return {
    committed: () => {
      commits += 1
      if (commits < EVERY_COMMITS || copying !== undefined) return
      commits = 0
      copying = connection
        .exec(COPY)
        .catch(() => undefined)
        .finally(() => (copying = undefined))
    },
    close: async () => {
      await copying
      await connection.close()
    },
  }
}
