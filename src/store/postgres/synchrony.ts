/**
 * Whether the commits of a PostgreSQL server wait for a standby.
 *
 * Does not own: what happens when they do not (postgres/owned_schema).
 *
 * - A commit that waits for none is on one server: when that is lost, answered calls are.
 * - Without a standby that is connected, commits of a synchronous server wait: nothing is lost.
 */
import type { Reader } from '../database.js'
import type { Synchrony } from '../store.js'

interface SynchronyRow {
  readonly commit: string
  readonly names: string
  readonly standbys: number
  readonly isVisible: boolean
}

const SYNCHRONY = `SELECT current_setting('synchronous_commit') AS commit,
  current_setting('synchronous_standby_names') AS names,
  (SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')) AS standbys,
  pg_has_role('pg_monitor', 'USAGE') AS "isVisible"`

export async function readSynchrony(connection: Pick<Reader, 'all'>): Promise<Synchrony> {
  const [row] = await connection.all<SynchronyRow>(SYNCHRONY)
  const { commit, names, standbys, isVisible } = row!
  return { fault: faultOf(commit, names), standbys: isVisible ? standbys : null }
}

function faultOf(commit: string, names: string): string | null {
  if (names.trim() === '') return 'synchronous_standby_names is empty: commits wait for no standby'
  if (commit === 'on' || commit === 'remote_apply') return null
  return `synchronous_commit is ${commit}: commits wait for no standby`
}
