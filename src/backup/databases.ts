/**
 * The databases of a DATA_DIR, in the order of their snapshots in a backup.
 *
 * - Pools first, then the books: restored books then have every event that a restored pool names.
 *   A delivery that a pool finished in between is settled in the books and has no row in the pool;
 *   it is not sent again.
 * - The log of the sandbox rail last: a bank has at least what the books say that it has executed.
 *   A real bank keeps its log itself, and nothing of it is in a backup. What an adapter remembers
 *   beside its journal is newer still: it has the moment of each message that the journal sent.
 * - The bus is not copied: it is transport. The books publish again what no pool has finished.
 */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../base/project_root.js'
import { FILES } from '../base/subjects.js'
import { BackupFault, POOL_FILES, type BackedUpFile } from './manifest.js'

/** Those that exist. @throws BackupFault without books */
export function databasesIn(dataDir: string): readonly string[] {
  if (!existsSync(join(dataDir, FILES.processorDatabase))) {
    throw new BackupFault(`${dataDir} has no ${FILES.processorDatabase}: there are no books.`)
  }
  const ordered = [...POOL_FILES, FILES.processorDatabase, FILES.railDatabase, FILES.railRecord]
  return ordered.filter((name) => existsSync(join(dataDir, name)))
}

/** @throws BackupFault when a newer version has written the file */
export function requireKnownSchema(folder: string, { name, schema }: BackedUpFile): void {
  const known = migrationsOf(name)
  if (schema <= known) return
  throw new BackupFault(
    `${join(folder, name)} was written by a newer version (${schema} > ${known}): restore it ` +
      'with that version.',
  )
}

function migrationsOf(name: string): number {
  const folder = schemaFolderOf(name)
  if (folder === undefined) return 0
  return readdirSync(join(projectRoot(), folder)).filter((file) => file.endsWith('.sql')).length
}

/** Where the migrations of a file are. Undefined if it is no database. */
export function schemaFolderOf(name: string): string | undefined {
  if (name === FILES.processorDatabase) return 'src/store/sqlite/schema'
  if (name === FILES.railDatabase) return 'src/rails/sandbox/schema'
  if (name === FILES.railRecord) return 'src/rails/iso20022/schema'
  return POOL_FILES.includes(name) ? 'actors/webhook/store/schema' : undefined
}
