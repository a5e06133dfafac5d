/**
 * The indexes of the PostgreSQL books, each against its table: the extension amcheck, for what
 * `PRAGMA integrity_check` is in SQLite.
 *
 * - It reads every index and its table, and blocks no write.
 */
import { storeUrl } from '../../settings/settings.js'
import {
  connectToPrimary,
  parseStoreUrl,
  type Connection,
} from '../../store/postgres/connection.js'
import type { Finding } from './production_check.js'
import { checked, messageOf, UNUSED, type Area, type Seen } from './area.js'

/** With a comparison of the table's rows with the index. */
const CHECK = `SELECT quote_ident(n.nspname) AS schema
  FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
    JOIN pg_proc p ON p.pronamespace = n.oid AND p.proname = 'bt_index_check' AND p.pronargs = 2
  WHERE e.extname = 'amcheck' AND has_function_privilege(p.oid, 'EXECUTE')`
const INDEXES = `SELECT CAST(c.oid AS regclass)::text AS index
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
    JOIN pg_am a ON a.oid = c.relam JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE a.amname = 'btree' AND c.relkind = 'i' AND c.relpersistence = 'p'
    AND i.indisvalid AND i.indisready
    AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_' ORDER BY 1`

export const indexes: Area = {
  name: 'indexes',
  look: async (settings) => {
    const url = storeUrl(settings, settings.DATA_DIR)
    if (url === '') return UNUSED
    const connection = await connectToPrimary(parseStoreUrl(url), settings.SHARD, 'doctor')
    try {
      return await lookAt(connection)
    } finally {
      await connection.close()
    }
  },
}

async function lookAt(connection: Connection): Promise<Seen> {
  const [extension] = await connection.all<{ schema: string }>(CHECK)
  if (extension === undefined) {
    const grant = 'GRANT EXECUTE ON FUNCTION bt_index_check(regclass, boolean) TO our role'
    return { kind: 'unknown', reason: `as superuser: CREATE EXTENSION amcheck; ${grant}` }
  }
  const findings: Finding[] = []
  for (const { index } of await connection.all<{ index: string }>(INDEXES)) {
    try {
      const call = `SELECT ${extension.schema}.bt_index_check(CAST(? AS text)::regclass, true)`
      await connection.all(call, [index])
    } catch (error) {
      findings.push(damaged(index, messageOf(error)))
    }
  }
  return checked(findings)
}

const damaged = (index: string, message: string): Finding => ({
  finding: `the index ${index} is damaged: ${message}`,
  why: 'rows are not found, or found twice: keys, limits and balances are wrong',
  remedy: 'stop the processors, find the cause, REINDEX it, make audit',
})
