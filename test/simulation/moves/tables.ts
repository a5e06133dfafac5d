/**
 * The tables of the simulated PostgreSQL server, in SQLite in memory: the schema `cluster`, and of
 * the books what the moves of shards and partners read or write, with those columns alone.
 *
 * - Statements run at once, in the caller's thread: the order of steps is the scheduler's.
 */
import initSqlJs, { type Database as Loaded, type Statement } from 'sql.js'
import type { Bindable } from '../../../src/store/database.js'
import { MADE, partsOfName } from './made.js'

export const SHARDS = ['books_1', 'books_2'] as const

export interface Tables {
  all<Row>(sql: string, parameters?: readonly Bindable[]): Row[]
  run(sql: string, parameters?: readonly Bindable[]): number
  /** For a statement that does not come again. */
  once<Row>(sql: string, parameters?: readonly Bindable[]): { rows: Row[]; changed: number }
  close(): void
}

/** Columns by table. The schema `cluster` is `main` here. */
const CLUSTER = {
  shards: `shard TEXT PRIMARY KEY, epoch INTEGER NOT NULL DEFAULT 0,
    holder TEXT NOT NULL DEFAULT '', address TEXT NOT NULL DEFAULT '', move_to TEXT,
    move_requested_at INTEGER, moves INTEGER NOT NULL DEFAULT 0`,
  candidates: `name TEXT PRIMARY KEY, address TEXT NOT NULL, prefers TEXT,
    gateways INTEGER NOT NULL, cannot_take TEXT NOT NULL, beat_at INTEGER NOT NULL`,
  placements: 'partner TEXT PRIMARY KEY, shard TEXT NOT NULL, since INTEGER NOT NULL',
  partner_moves: `partner TEXT PRIMARY KEY, from_shard TEXT NOT NULL, to_shard TEXT NOT NULL,
    requested_at INTEGER NOT NULL, actor TEXT NOT NULL, reason TEXT NOT NULL, ended_at INTEGER,
    cause TEXT, begun_at INTEGER, held_epoch INTEGER, held_batch INTEGER`,
  partner_copies: `partner TEXT PRIMARY KEY, from_shard TEXT NOT NULL, to_shard TEXT NOT NULL,
    actor TEXT NOT NULL, reason TEXT NOT NULL, phase TEXT NOT NULL, begun_at INTEGER,
    shifts TEXT NOT NULL DEFAULT '{}', cursors TEXT NOT NULL DEFAULT '{}',
    sums TEXT NOT NULL DEFAULT '{}', payments INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0`,
  ...MADE,
  pg_stat_activity: 'pid INTEGER PRIMARY KEY, application_name TEXT NOT NULL',
} as const

const OF_TENANT = 'id TEXT PRIMARY KEY, tenant TEXT NOT NULL'
const BOOKS = {
  owner: `epoch INTEGER PRIMARY KEY, last_batch INTEGER NOT NULL, holder TEXT NOT NULL,
    beat INTEGER NOT NULL, session INTEGER NOT NULL, schema_version INTEGER NOT NULL,
    accepted_epoch INTEGER NOT NULL`,
  meta: 'name TEXT PRIMARY KEY, value TEXT NOT NULL',
  recoveries: 'number INTEGER PRIMARY KEY, released_at INTEGER, position_to INTEGER',
  partners: 'id TEXT PRIMARY KEY',
  intents: `${OF_TENANT}, partner TEXT NOT NULL, key TEXT NOT NULL, state INTEGER NOT NULL,
    sequence INTEGER NOT NULL, due_at INTEGER`,
  payouts: `${OF_TENANT}, state TEXT NOT NULL, due_at INTEGER, reference TEXT NOT NULL,
    beneficiary TEXT NOT NULL, context TEXT NOT NULL, partner TEXT NOT NULL, key TEXT NOT NULL,
    number INTEGER NOT NULL, sequence INTEGER NOT NULL`,
  orphan_executions: `instruction TEXT PRIMARY KEY, recovery INTEGER NOT NULL, environment TEXT,
    purpose TEXT, destination TEXT, account_last4 TEXT, amount INTEGER NOT NULL,
    currency TEXT NOT NULL, reference TEXT, transaction_id TEXT NOT NULL,
    executed_at INTEGER NOT NULL, status TEXT NOT NULL, matched_to TEXT, resolved_at INTEGER,
    state TEXT NOT NULL, rail TEXT`,
  ledger_accounts: 'id TEXT PRIMARY KEY, balance INTEGER NOT NULL',
  ledger_entries: `posting INTEGER NOT NULL, line INTEGER NOT NULL, account TEXT NOT NULL,
    tenant TEXT NOT NULL, amount INTEGER NOT NULL, balance INTEGER, plan TEXT,
    entity TEXT NOT NULL, at INTEGER NOT NULL, posted_as INTEGER, PRIMARY KEY (posting, line)`,
  events: `position INTEGER PRIMARY KEY, id TEXT, tenant TEXT NOT NULL, sequence INTEGER NOT NULL,
    type TEXT, entity TEXT, created_at INTEGER NOT NULL, body TEXT NOT NULL, request_id TEXT,
    cause TEXT, traceparent TEXT`,
  idempotency: `sequence INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE,
    request_hash TEXT NOT NULL DEFAULT '', entity TEXT NOT NULL, response TEXT NOT NULL DEFAULT ''`,
  idempotency_prints: 'first INTEGER PRIMARY KEY, prints BLOB NOT NULL',
  operator_log: `id INTEGER PRIMARY KEY, at INTEGER NOT NULL, actor TEXT NOT NULL,
    reason TEXT NOT NULL, action TEXT NOT NULL, subject TEXT NOT NULL, approval TEXT, tenant TEXT`,
  moved_payments: 'id TEXT PRIMARY KEY, partner TEXT NOT NULL',
  moved_postings: 'first INTEGER PRIMARY KEY, below INTEGER NOT NULL',
  nonces: 'id INTEGER PRIMARY KEY, seen_at INTEGER NOT NULL, fingerprints BLOB NOT NULL',
  // What the simulated partners do not have.
  ...{ beneficiaries: OF_TENANT, webhook_endpoints: OF_TENANT },
  ...{ fx_quotes: OF_TENANT, routes: OF_TENANT, discrepancies: OF_TENANT },
  ...{ request_actions: OF_TENANT, signing_keys: OF_TENANT },
  user_erasures: `${OF_TENANT}, ended_at INTEGER`,
  approval_requests: 'id TEXT PRIMARY KEY, subject TEXT, status TEXT, expires_at INTEGER',
  idempotency_retention: 'kind TEXT PRIMARY KEY',
  archives: 'name TEXT PRIMARY KEY',
  balance_alerts: 'account TEXT PRIMARY KEY',
  limit_usage: 'key TEXT PRIMARY KEY, used INTEGER NOT NULL',
  event_retention: 'tenant TEXT PRIMARY KEY, position INTEGER NOT NULL',
  event_outcomes: 'position INTEGER PRIMARY KEY, settled_at INTEGER',
  outbox: 'position INTEGER PRIMARY KEY',
  intent_users: 'first INTEGER PRIMARY KEY, prints BLOB, links TEXT',
  master_keys: 'kid TEXT PRIMARY KEY, sealing_since INTEGER, emptied_at INTEGER',
  lasting_keys: 'id TEXT PRIMARY KEY, sealed TEXT NOT NULL',
} as const

/** What PostgreSQL's functions return for an empty table is not modeled, so these have a row. */
const FIRST_ROWS = (shard: string): readonly string[] => [
  `INSERT INTO ${shard}.owner VALUES (0, 0, '', 0, 0, 1, 0)`,
  `INSERT INTO ${shard}.meta VALUES ('nonce_salt', 'one')`,
  `INSERT INTO ${shard}.nonces VALUES (1, 0, x'00')`,
  `INSERT INTO ${shard}.operator_log VALUES (1, 0, '', '', 'start', '', NULL, NULL)`,
]

const made = (schema: string, tables: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(tables).map(([name, columns]) => `CREATE TABLE ${schema}.${name} (${columns})`)

/** Columns of a table, as it was created. Rows of one that a statement made keep their order. */
export function columnsOf(name: string): string | undefined {
  const { schema, table, isMade, like } = partsOfName(name)
  const all = new Map<string, string>(Object.entries(schema === 'main' ? CLUSTER : BOOKS))
  const columns = all.get(isMade ? like : table)
  return isMade ? columns?.replace('INTEGER PRIMARY KEY', 'INT PRIMARY KEY') : columns
}

type Value = number | null
/** Without what is null, as PostgreSQL's. */
const among =
  (pick: (...values: number[]) => number) =>
  (...values: readonly Value[]): Value => {
    const known = values.filter((value) => value !== null)
    return known.length === 0 ? null : pick(...known)
  }
const FUNCTIONS = {
  split_part: (text: string, by: string, part: number): string => text.split(by)[part - 1] ?? '',
  starts_with: (text: string, start: string): number => Number(text.startsWith(start)),
}
/** They take any number of values: sql.js has that from the length of a function. */
const OF_ANY = { least: among(Math.min), greatest: among(Math.max) }

const sqlJs = await initSqlJs()

const PRAGMAS = `PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY;
  PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY`

/** @param now what `now_ms()` returns */
export function openTables(now: () => number): Tables {
  const loaded = new sqlJs.Database()
  loaded.exec(PRAGMAS)
  loaded.create_function('now_ms', now)
  for (const [name, run] of Object.entries(FUNCTIONS)) loaded.create_function(name, run)
  for (const [name, run] of Object.entries(OF_ANY))
    loaded.create_function(name, Object.defineProperty(run, 'length', { value: -1 }))
  for (const statement of made('main', CLUSTER)) loaded.exec(statement)
  for (const shard of SHARDS) {
    loaded.exec(`ATTACH ':memory:' AS ${shard}`)
    for (const statement of [...made(shard, BOOKS), ...FIRST_ROWS(shard)]) loaded.exec(statement)
  }
  const prepared = new Map<string, Statement>()
  const statementFor = (sql: string): Statement => {
    const known = prepared.get(sql) ?? loaded.prepare(sql)
    prepared.set(sql, known)
    return known
  }
  return {
    all: <Row>(sql: string, parameters: readonly Bindable[] = []) =>
      rowsOf<Row>(statementFor(sql), parameters),
    run: (sql, parameters = []) => {
      statementFor(sql).run([...parameters])
      return loaded.getRowsModified()
    },
    once: <Row>(sql: string, parameters: readonly Bindable[] = []) =>
      once<Row>(loaded, sql, parameters),
    close: () => loaded.close(),
  }
}

function once<Row>(
  loaded: Loaded,
  sql: string,
  parameters: readonly Bindable[],
): { rows: Row[]; changed: number } {
  const statement = loaded.prepare(sql)
  try {
    const rows = rowsOf<Row>(statement, parameters)
    return { rows, changed: loaded.getRowsModified() }
  } finally {
    statement.free()
  }
}

function rowsOf<Row>(statement: Statement, parameters: readonly Bindable[]): Row[] {
  const rows: Row[] = []
  try {
    statement.bind([...parameters])
    while (statement.step()) rows.push(statement.getAsObject() as Row)
  } finally {
    statement.reset()
  }
  return rows
}
