/**
 * The schemas of the databases, compared with what their migrations make: a part that was dropped
 * or changed by hand is a rule that the books no longer have.
 */
import { existsSync } from 'node:fs'
import { schemaFolderOf } from '../../backup/databases.js'
import { POOL_FILES } from '../../backup/manifest.js'
import { FILES } from '../../base/subjects.js'
import { dataFile, storeUrl, type Settings } from '../../settings/settings.js'
import { CLUSTER_SCHEMA } from '../../store/cluster/cluster.js'
import {
  connectToPrimary,
  parseStoreUrl,
  type Connection,
} from '../../store/postgres/connection.js'
import { POOL_SCHEMA } from '../../store/postgres/copy.js'
import { NOT_ALLOWED, type SchemaDefinition } from '../../store/postgres/migrate.js'
import {
  expectedParts,
  readSchema,
  schemasWith,
  type SchemaParts,
} from '../../store/postgres/schema_parts.js'
import { BOOKS } from '../../store/postgres/store.js'
import type { Database, Reader } from '../../store/database.js'
import { openDatabase } from '../../store/sqlite/database.js'
import type { Finding } from './production_check.js'
import { checked, messageOf, type Area, type Seen } from './area.js'

export const schema: Area = {
  name: 'schema',
  look: async (settings) => {
    const findings = await ofFiles(settings)
    const url = storeUrl(settings, settings.DATA_DIR)
    if (url === '') return checked(findings)
    const poolUrl = settings.WEBHOOK_STORE_URL || url
    const connect = (to: string): Promise<Connection> =>
      connectToPrimary(parseStoreUrl(to), settings.SHARD, 'doctor')
    const connection = await connect(url)
    const ofPools = poolUrl === url ? connection : await connect(poolUrl)
    try {
      return await ofServer(connection, ofPools, findings)
    } finally {
      await connection.close()
      if (ofPools !== connection) await ofPools.close()
    }
  },
}

async function ofFiles(settings: Settings): Promise<Finding[]> {
  const names = [FILES.processorDatabase, ...POOL_FILES, FILES.railDatabase, FILES.railRecord]
  const findings: Finding[] = []
  for (const name of names) {
    const file = dataFile(settings, name)
    if (!existsSync(file)) continue
    const found = await openDatabase(file, { readOnly: true })
    const migrations = schemaFolderOf(name)!
    const made = await openDatabase(':memory:', { migrations })
    try {
      // An older file is migrated by the next start, and then compared.
      if ((await versionOf(found)) !== (await versionOf(made))) continue
      findings.push(...differences(name, await partsOf(found), await partsOf(made)))
    } finally {
      await found.close()
      await made.close()
    }
  }
  return findings
}

async function versionOf(file: Reader): Promise<number> {
  const [row] = await file.all<{ user_version: number }>('PRAGMA user_version')
  return row?.user_version ?? 0
}

async function partsOf(file: Database): Promise<SchemaParts> {
  const rows = await file.all<{ name: string; text: string }>(
    `SELECT type || ' ' || name AS name, sql AS text FROM sqlite_schema
     WHERE name NOT LIKE 'sqlite!_%' ESCAPE '!'`,
  )
  // SQLite quotes the new name of a table that was renamed.
  return new Map(rows.map(({ name, text }) => [name, text.replaceAll(/[\s"]+/g, '')]))
}

/**
 * @param ofPools of the role that may read the pools; a role of theirs may not create what is
 * compared with them
 */
async function ofServer(
  connection: Connection,
  ofPools: Connection,
  findings: Finding[],
): Promise<Seen> {
  const kinds = [
    [connection, BOOKS, 'owner', 'payouts'],
    [connection, CLUSTER_SCHEMA, 'version', 'placements'],
    [ofPools, POOL_SCHEMA, 'owner', 'deliveries'],
  ] as const
  for (const [reader, definition, one, other] of kinds) {
    for (const name of await schemasWith(reader, one, other)) {
      const fault = await compare({ name, definition, reader }, connection, findings)
      if (fault !== null) return { kind: 'unknown', reason: fault }
    }
  }
  return checked(findings)
}

/** @returns why a schema cannot be compared */
async function compare(
  { name, definition, reader }: NamedSchema,
  creator: Connection,
  findings: Finding[],
): Promise<string | null> {
  const { version, parts, hasCopies } = await readSchema(reader, name, definition)
  try {
    const expected = await expectedParts(creator, definition, version)
    findings.push(...differences(`schema ${name}`, parts, expected, hasCopies))
    return null
  } catch (error) {
    if ((error as { code?: string }).code !== NOT_ALLOWED) throw error
    return `GRANT CREATE ON DATABASE to our role: ${messageOf(error)}`
  }
}

interface NamedSchema {
  readonly name: string
  readonly definition: SchemaDefinition
  readonly reader: Connection
}

/** @param mayHaveMore unknown parts are of a move that is under way */
export function differences(
  where: string,
  found: SchemaParts,
  expected: SchemaParts,
  mayHaveMore = false,
): readonly Finding[] {
  const missing = [...expected.keys()].filter((name) => !found.has(name))
  const other = [...expected].filter(([name, text]) => (found.get(name) ?? text) !== text)
  const unknown = mayHaveMore ? [] : [...found.keys()].filter((name) => !expected.has(name))
  const why = 'the books have a rule or an index less, or another one, than the program relies on'
  const remedy = 'find out who changed it; make it again as its migration does, then make audit'
  return [
    ...missing.map((name) => ({ finding: `${where} lacks the ${name}`, why, remedy })),
    ...other.map(([name]) => ({ finding: `${where}: the ${name} was changed`, why, remedy })),
    ...unknown.map((name) => ({
      finding: `${where} has the ${name}, which no migration makes`,
      why: 'it can refuse, change or slow down what the processor writes',
      remedy: 'find out who made it, and drop it',
    })),
  ]
}
