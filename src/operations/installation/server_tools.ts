/** The programs of PostgreSQL on this machine, e.g. pg_basebackup. */
import { dirname } from 'node:path'
import { BackupFault } from '../../backup/manifest.js'
import type { ServerTools } from '../../backup/server_backup.js'
import { readEnvironment } from '../../supervisor/environment.js'
import { findPostgres } from '../../supervisor/postgres_server.js'
import { serverVersion } from '../../supervisor/server_version.js'

/**
 * @param version the major version of the server, or of its copy, whose WAL no other one reads
 * @throws StartupError when there are none; BackupFault when they are of another version
 */
export function serverTools(version: number | undefined): ServerTools {
  const environment = readEnvironment()
  const { postgres } = findPostgres((program) => environment.find(program), { version })
  const found = Number.parseInt(serverVersion(postgres), 10)
  if (version !== undefined && found > 0 && found !== version) {
    throw new BackupFault(
      `the server is PostgreSQL ${version} and the tools here are of ${found}: install those of ` +
        `${version}, with its server (Debian: postgresql-${version}).`,
    )
  }
  return { folder: dirname(postgres), environment: environment.forForeign() }
}
