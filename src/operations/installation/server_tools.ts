/** The programs of PostgreSQL on this machine, e.g. pg_basebackup. */
import { dirname } from 'node:path'
import type { ServerTools } from '../../backup/server_backup.js'
import { readEnvironment } from '../../supervisor/environment.js'
import { findPostgres } from '../../supervisor/postgres_server.js'

/** @throws StartupError when there are none */
export function serverTools(): ServerTools {
  const environment = readEnvironment()
  const { postgres } = findPostgres((program) => environment.find(program))
  return { folder: dirname(postgres), environment: environment.forForeign() }
}
