/**
 * Copies of the books of a stack, as backups have them: of the SQLite file, or by pg_dump.
 *
 * - On PostgreSQL a folder and its copies have the same schemas, so one stack runs at a time.
 * - A copy in PostgreSQL has no owner, so the next processor takes over at once.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { FILES, webhookSchema } from '../../src/base/subjects.js'
import { parseStoreUrl } from '../../src/store/postgres/connection.js'
import { takeSnapshot } from '../../src/store/sqlite/database_copy.js'
import { findPostgres } from '../../src/supervisor/postgres_server.js'
import {
  discardBooks,
  dropSchema,
  isOnPostgres,
  poolSchema,
  rawBooks,
  removeDatabase,
  server,
  SHARD_FILE,
  shardOf,
} from './books.js'
import { findInstalled } from './postgres_server.js'

export interface SavedBooks {
  /** Puts them in place of the books of this folder. */
  restore(folder: string): Promise<void>
}

/** Copies those of a stack that is stopped or was killed, with the WAL. */
export const saveBooks = (folder: string): SavedBooks =>
  isOnPostgres()
    ? dumpedBooks(folder)
    : filesIn(folder, [FILES.processorDatabase, `${FILES.processorDatabase}-wal`])

/** Copies those of a stack that goes on. */
export async function saveRunningBooks(folder: string): Promise<SavedBooks> {
  if (isOnPostgres()) return dumpedBooks(folder)
  const copied = mkdtempSync(join(folder, 'copy-'))
  const snapshot = await takeSnapshot(join(folder, FILES.processorDatabase))
  await snapshot.copyTo(join(copied, FILES.processorDatabase), () => false)
  await snapshot.close()
  const saved = filesIn(copied, [FILES.processorDatabase])
  rmSync(copied, { recursive: true })
  return saved
}

function dumpedBooks(folder: string): SavedBooks {
  const dump = dumpOf(shardOf(folder))
  return {
    restore: async (to) => {
      await discardBooks(to)
      await load(dump, to)
    },
  }
}

function filesIn(folder: string, names: readonly string[]): SavedBooks {
  const parts = names
    .filter((name) => existsSync(join(folder, name)))
    .map((name) => ({ name, bytes: readFileSync(join(folder, name)) }))
  return {
    restore: async (to) => {
      await discardBooks(to)
      for (const { name, bytes } of parts) writeFileSync(join(to, name), bytes)
    },
  }
}

/** The books and the webhook pools of folders that were copied. */
const dumps = new Map<string, string>()

/** Copies a DATA_DIR with its books and its webhook pools, as they are at the first copy. */
export async function copyFolder(from: string, to: string): Promise<void> {
  cpSync(from, to, { recursive: true })
  if (!isOnPostgres()) return
  const dump = dumps.get(from) ?? dumpOf(`${shardOf(from)}*`)
  dumps.set(from, dump)
  writeFileSync(join(to, SHARD_FILE), shardOf(from))
  await forEachSchema(to, "'DROP SCHEMA %I CASCADE'")
  await load(dump, to)
}

/** Removes the first webhook pool of a folder. */
export async function discardPool(folder: string): Promise<void> {
  if (isOnPostgres()) return dropSchema(webhookSchema(poolSchema(folder), 1))
  removeDatabase(folder, FILES.webhookDatabase)
}

/** @param schemas pattern of their names */
const dumpOf = (schemas: string): string => client('pg_dump', ['--schema', schemas])

async function load(dump: string, to: string): Promise<void> {
  client('psql', ['--no-psqlrc', '--quiet', '--set', 'ON_ERROR_STOP=1'], dump)
  await forEachSchema(to, "'UPDATE %I.owner SET holder = '''''")
}

/** Runs SQL, given as a format, for the schemas of a folder. */
async function forEachSchema(folder: string, format: string): Promise<void> {
  const books = await rawBooks(folder)
  await books.exec(`SET client_min_messages = error; DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT nspname FROM pg_namespace WHERE nspname LIKE '${shardOf(folder)}%' LOOP
      EXECUTE format(${format}, name);
    END LOOP; END $$`)
  await books.close()
}

function client(program: string, args: readonly string[], input = ''): string {
  const { host, port, database, user, password } = parseStoreUrl(server())[0]!
  return execFileSync(join(dirname(findPostgres(findInstalled).initdb), program), args, {
    input,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    env: {
      ...process.env,
      ...{ PGHOST: host, PGPORT: String(port), PGDATABASE: database },
      ...{ PGUSER: user, PGPASSWORD: password },
    },
  })
}
