/**
 * The manifest of a backup: what is in it, of which moment, and the digest of each file.
 *
 * - It is written last: a folder without it is no whole backup.
 * - A manifest names only files that a backup can have, so a path in it leads nowhere else.
 */
import { createHash } from 'node:crypto'
import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Ajv, JSONSchemaType, ValidateFunction } from 'ajv'
import { FILES, webhookDatabase, WEBHOOK_POOLS_MAX } from '../base/subjects.js'

export const MANIFEST = 'manifest.json'
const FORMAT = 1

/** Secrets, which are in a backup only when it was asked for. */
export const KEY_FILES: readonly string[] = [
  FILES.masterKey,
  FILES.railKey,
  FILES.operatorToken,
  FILES.internalToken,
]
export const POOL_FILES: readonly string[] = Array.from({ length: WEBHOOK_POOLS_MAX }, (_, index) =>
  webhookDatabase(index + 1),
)
/** The manifest that pg_basebackup writes, with a digest of each file of the server. */
export const SERVER_FILES: readonly string[] = ['base/backup_manifest']
const BACKED_UP = [
  ...SERVER_FILES,
  ...POOL_FILES,
  FILES.processorDatabase,
  FILES.railDatabase,
  FILES.railRecord,
  ...KEY_FILES,
]

export interface BackedUpFile {
  readonly name: string
  readonly bytes: number
  readonly sha256: string
  /** The number of its migrations. 0 means that it is no database. */
  readonly schema: number
}

export interface BooksState {
  readonly id: string
  readonly epoch: number
  readonly batch: number
  /** RFC 3339. Empty means that there is no event. */
  readonly newest_event_at: string
  /** Names of the master keys that its secrets need. */
  readonly master_keys: readonly string[]
}

export interface Manifest {
  readonly format: number
  /** The version of Causeway. */
  readonly version: string
  /** RFC 3339: the books are as they were then. */
  readonly snapshot_at: string
  readonly completed_at: string
  readonly books: BooksState
  readonly files: readonly BackedUpFile[]
  /** `clean` is absent from the copy of a server, which is not audited. */
  readonly audit: { readonly clean?: boolean; readonly conclusion: string }
}

const text = { type: 'string' } as const
const count = { type: 'integer', minimum: 0 } as const

const SHAPE: JSONSchemaType<Manifest> = {
  type: 'object',
  properties: {
    format: count,
    version: text,
    snapshot_at: { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\dT[0-9:.]{8,12}Z$' },
    completed_at: text,
    books: {
      type: 'object',
      properties: {
        id: { type: 'string', pattern: '^[0-9a-f]{32}$' },
        epoch: count,
        batch: count,
        newest_event_at: text,
        master_keys: { type: 'array', items: text },
      },
      required: ['id', 'epoch', 'batch', 'newest_event_at', 'master_keys'],
    },
    files: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          name: { type: 'string', enum: BACKED_UP },
          bytes: count,
          sha256: { type: 'string', pattern: '^[0-9a-f]{64}$' },
          schema: count,
        },
        required: ['name', 'bytes', 'sha256', 'schema'],
      },
    },
    audit: {
      type: 'object',
      properties: { clean: { type: 'boolean', nullable: true }, conclusion: text },
      required: ['conclusion'],
    },
  },
  required: ['format', 'version', 'snapshot_at', 'completed_at', 'books', 'files', 'audit'],
}

let compiled: ValidateFunction<Manifest> | undefined

/** The compiler is loaded here, as it would be a seventh of the start of every other command. */
function isManifest(found: unknown): found is Manifest {
  if (compiled === undefined) {
    const { Ajv } = createRequire(import.meta.url)('ajv') as { readonly Ajv: new () => Ajv }
    compiled = new Ajv().compile(SHAPE)
  }
  return compiled(found)
}

/** A backup that must not be restored; the message is one sentence. */
export class BackupFault extends Error {
  override name = 'BackupFault'
}

export const manifestText = (manifest: Omit<Manifest, 'format'>): string =>
  `${JSON.stringify({ format: FORMAT, ...manifest }, null, 2)}\n`

/** @throws BackupFault */
export function readManifest(folder: string): Manifest {
  const file = join(folder, MANIFEST)
  if (!existsSync(file))
    throw new BackupFault(`${folder} has no ${MANIFEST}: it is no whole backup.`)
  const found = parsed(readFileSync(file, 'utf8'))
  const format = typeof found === 'object' && found !== null && 'format' in found && found.format
  if (typeof format === 'number' && format > FORMAT) {
    throw new BackupFault(`${file} was written by a newer version: restore with that one.`)
  }
  if (!isManifest(found)) {
    throw new BackupFault(`${file} is damaged or foreign: take another backup.`)
  }
  return found
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Compares size and digest with the manifest. @throws BackupFault */
export async function requireIntact(folder: string, file: BackedUpFile): Promise<void> {
  const path = join(folder, file.name)
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) {
    throw new BackupFault(`${path} is missing: the backup is incomplete, take another one.`)
  }
  if (found.size !== file.bytes) {
    throw new BackupFault(
      `${path} has ${found.size} bytes, and ${file.bytes} in the manifest: take another backup.`,
    )
  }
  if ((await digestOf(path)) === file.sha256) return
  throw new BackupFault(`${path} differs from its digest in the manifest: take another backup.`)
}

export async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}
