/**
 * Lists: pages of committed rows, each read along one index.
 *
 * Owns: the SQL and index of every list. Does not own: the order of reads (read_scheduler), row
 * transport (json_page); cursors, request filters, views (processor/queries).
 *
 * - A page costs its own rows only: each statement names an index that yields rows in list order.
 *   With several filters, the most selective one determines the index.
 * - Pages continue from the position of the last row, so rows added between pages shift nothing.
 */
import type { Instant } from '../base/clock.js'
import type { TenantId } from '../base/ids.js'
import type { Reader, Statement } from './database.js'
import type { Dialect } from './dialect.js'
import { readEntityHistory, type EntityHistory, type EntityKind } from './entity_history.js'
import {
  heldForStatement,
  heldIntentsStatement,
  heldInProcessing,
  orphansStatement,
  unsubmittedStatement,
  type HeldPayment,
  type OrphanPosition,
} from './orphans.js'
import { asText, NO_ROWS, rowsOf, type Columns } from './json_page.js'
import { readOpenWork, type OpenWork } from './open_work.js'
import {
  movementsOfStatement,
  movementsStatement,
  RAIL_MOVEMENT,
  type MovementPosition,
  type RailMovement,
} from './rail_movements.js'
import {
  createLedger,
  LISTED_ENTRY,
  LISTED_ENTRY_COLUMNS,
  type EntryPosition,
  type Ledger,
  type ListedEntry,
} from './ledger.js'
import { createReadScheduler, type ReadPriority, type ReadScheduler } from './read_scheduler.js'
import { createArchiveReads, type ArchiveReads } from './archive.js'
import { createBeneficiaryAges, type BeneficiaryAges } from './beneficiary_ages.js'
import { createRetentionReads, type RetentionReads, type UserFingerprints } from './retention.js'
import { createSearch, type Search } from './search.js'
import { sealedStatement, type SealedRow, type SealedTable } from './sealed.js'
import { unknownStatement, type UnknownKind } from './unknown_outcomes.js'
import { readUsage, type UsageKind, type UsageRange, type UsedAmount } from './usage.js'
import {
  ofCorridor,
  USER_INTENT,
  userIntentsStatement,
  type UserIntent,
  type UserIntentFilter,
} from './user_intent_rows.js'
import {
  columnsOf,
  fromStored,
  TABLES,
  type ActorRow,
  type Row,
  type StoredRow,
  type TableName,
} from './tables.js'

export interface PayoutFilter {
  readonly tenant: TenantId
  readonly state?: string
  readonly reference?: string
  readonly beneficiary?: string
  /** Lowest id, inclusive. */
  readonly from: string
  /** Highest id, exclusive. */
  readonly below: string
}

export interface IntentFilter {
  readonly tenant: TenantId
  readonly state?: string
  readonly corridor?: string
  /** Lowest id, inclusive. */
  readonly from: string
  /** Highest id, exclusive. */
  readonly below: string
}

const ACTION_FILTERS = ['actor', 'action', 'subject'] as const

/** Ids from `from` and below `below`. */
export interface ActionFilter {
  readonly from: number
  readonly below: number
  readonly equal: { readonly [Column in (typeof ACTION_FILTERS)[number]]?: string }
}

/** The position of a discrepancy in its list. */
export interface DiscrepancyPosition {
  /** As `DatedRow`. */
  readonly at: string
  readonly id: string
}

/** The part of an actor that lists show. */
export interface ListedActor {
  readonly id: string
  readonly state: string
  /** Parsed; null when it is corrupt. */
  readonly context: unknown
}

/** Rows that are parsed on demand; equal texts are equal rows. */
export interface UnreadRows<R> {
  readonly text: string
  /** @throws SyntaxError when a row is corrupt */
  parsed(): readonly R[]
  /** Reads the rows again; corrupt JSON becomes null. */
  checked(): Promise<readonly R[]>
}

export interface Lists {
  /** The same lists with this priority. @throws Cancelled when no longer awaited */
  scheduled(priority: ReadPriority): Lists
  /** Newest first. */
  payouts(filter: PayoutFilter, limit: number): Promise<UnreadRows<ListedActor>>
  /** Newest first. */
  intents(filter: IntentFilter, limit: number): Promise<readonly ListedActor[]>
  /**
   * The id that ends a search after this many intents of the range. Undefined if none is left then.
   */
  intentScanEnd(range: IntentFilter, scanned: number): Promise<string | undefined>
  /** The next links of one user's intents, newest first, starting at this number. */
  intentsOfUser(
    start: number,
    links: number,
    filter?: UserIntentFilter,
  ): Promise<readonly UserIntent[]>
  /** Submitted by `by` and without an outcome, all tenants, by id. */
  unknownOutcomes(
    kind: UnknownKind,
    by: Instant,
    after: string,
    limit: number,
  ): Promise<readonly ActorRow[]>
  /** The entity and its rows in other tables; undefined when it does not exist. */
  entityHistory(kind: EntityKind, id: string): Promise<EntityHistory | undefined>
  /** Payouts held for review, all tenants, oldest first. */
  heldPayouts(after: string, limit: number): Promise<readonly ActorRow[]>
  /** Confirmed intents held for review, all tenants, oldest first. */
  heldIntents(after: string, limit: number): Promise<readonly ActorRow[]>
  /** Newest first. */
  beneficiaries(
    tenant: TenantId,
    below: string,
    limit: number,
  ): Promise<readonly Row<'beneficiaries'>[]>
  /** Entries on the partner's own accounts, newest first. */
  entries(tenant: TenantId, below: EntryPosition, limit: number): Promise<readonly ListedEntry[]>
  /** The posting that entries have here, by the first one that they had. */
  postingOf(tenant: TenantId, first: number): Promise<number>
  /** Oldest first. */
  discrepancies(
    resolved: boolean,
    after: DiscrepancyPosition,
    limit: number,
  ): Promise<readonly DatedRow<'discrepancies'>[]>
  /** Oldest first. */
  orphans(
    resolved: boolean,
    after: OrphanPosition,
    limit: number,
  ): Promise<readonly DatedRow<'orphans'>[]>
  /** Payments held for review because they match one of these orphan executions. */
  heldFor(orphans: readonly string[]): Promise<readonly HeldPayment[]>
  /** Payments that are accepted and not submitted, of one kind, by id. */
  unsubmitted(
    kind: 'payouts' | 'intents',
    after: string,
    limit: number,
  ): Promise<readonly { readonly id: string }[]>
  /** Rail movements booked before `to`, oldest first. */
  movements(after: MovementPosition, to: number, limit: number): Promise<readonly RailMovement[]>
  /** All movements of these instructions. */
  movementsOf(instructions: readonly string[]): Promise<readonly RailMovement[]>
  /** Rows of a table with encrypted columns, by id. */
  sealed(table: SealedTable, after: string, limit: number): Promise<readonly SealedRow[]>
  /** A tenant's events after a sequence number, in order. */
  events(tenant: TenantId, after: number, limit: number): Promise<readonly EventInPage[]>
  event(tenant: TenantId, id: string): Promise<ListedEvent | undefined>
  /** The operators' log within these ids, newest first. */
  actions(filter: ActionFilter, limit: number): Promise<readonly LoggedAction[]>
  /** Likewise, after this many actions below one. */
  actionScanEnd(below: number, scanned: number): Promise<number | undefined>
  /** The sums of a tenant's newest payments in a range. */
  usage(kind: UsageKind, range: UsageRange, limit: number): Promise<readonly UsedAmount[]>
  /** What is open now, and unknown outcomes older than these ages. */
  openWork(now: Instant, agesMs: readonly number[]): Promise<OpenWork>
  readonly search: Search
  readonly retention: RetentionReads
  readonly archive: ArchiveReads
  readonly beneficiaryAges: BeneficiaryAges
  readonly ledger: Ledger
  /** The row of fingerprints that has the intent of this number. */
  userFingerprints(number: number): Promise<UserFingerprints | undefined>
  /** Rows of links after the one that has this number, in order. */
  userLinks(after: number, limit: number): Promise<readonly UserLinks[]>
  /** Those whose row is not corrupt. */
  usersOfIntents(ids: readonly string[]): Promise<readonly UserOfIntent[]>
  /** Requests to erase users, newest first. */
  userErasures(limit: number): Promise<readonly Row<'userErasures'>[]>
}

export interface UserLinks extends UserFingerprints {
  /** For each fingerprint the intent, and the number of its user's previous one. */
  readonly links: readonly (readonly [id: string, before: number])[]
}

export interface UserOfIntent {
  readonly id: string
  readonly user: string
}

export interface ListedEvent {
  readonly id: string
  readonly type: string
  readonly sequence: number
  readonly createdAt: Instant
  readonly settledAt: Instant | null
  readonly body: string
  /** The request that caused it. Null if there is none. */
  readonly requestId: string | null
  readonly traceparent: string | null
}

export interface EventInPage {
  readonly sequence: number
  /** JSON. */
  readonly body: string
}

/** A row and the moment that it is ordered by. */
export interface DatedRow<N extends TableName> {
  /** The stored number as text: a damaged one can be beyond 2^53. */
  readonly at: string
  readonly row: Row<N>
}

type StoredDatedRow = StoredRow & { readonly position: string }

export interface LoggedAction {
  readonly id: number
  readonly row: Row<'operatorLog'>
}

/** The queue of the service itself and of operators. */
const OWN_PRIORITY: ReadPriority = { queueKey: 'internal', isAwaited: () => true }

export const createLists = (database: Reader): Lists =>
  listsIn(createReadScheduler(database), OWN_PRIORITY)

function listsIn(scheduler: ReadScheduler, priority: ReadPriority): Lists {
  const read = <R>(statement: Statement): Promise<R[]> => scheduler.read<R>(priority, statement)
  const unread = async <R>(statement: Statement, columns: Columns): Promise<UnreadRows<R>> => {
    const [row] = await read<{ page: string | null }>(asText(statement, columns))
    const text = row?.page ?? NO_ROWS
    return {
      text,
      parsed: () => rowsOf<R>(text, columns),
      checked: async () => {
        const [again] = await read<{ page: string | null }>(asText(statement, columns, true))
        return rowsOf<R>(again?.page ?? NO_ROWS, columns)
      },
    }
  }
  const pageOf = async <R>(statement: Statement, columns: Columns): Promise<readonly R[]> => {
    const rows = await unread<R>(statement, columns)
    return unlessCorrupt(() => rows.parsed(), rows.checked)
  }

  return {
    scheduled: (other) => listsIn(scheduler, other),
    payouts: (filter, limit) => unread(payoutsStatement(filter, limit), LISTED_ACTOR),
    heldPayouts: (after, limit) => read(heldPayoutsStatement(after, limit)),
    heldIntents: (after, limit) => read(heldIntentsStatement(after, limit)),
    intents: (filter, limit) => pageOf(intentsStatement(filter, limit), LISTED_ACTOR),
    intentScanEnd: async (range, scanned) =>
      scanEnd(await read<{ id: string }>(intentScanEndStatement(range, scanned))),
    intentsOfUser: (start, links, filter) =>
      pageOf(userIntentsStatement(start, links, filter), USER_INTENT),
    unknownOutcomes: (kind, by, after, limit) => read(unknownStatement(kind, by, after, limit)),
    entityHistory: (kind, id) => readEntityHistory(read, kind, id),
    beneficiaries: (tenant, below, limit) =>
      pageOf(beneficiariesStatement(tenant, below, limit), TABLES.beneficiaries.columns),
    entries: (tenant, below, limit) => pageOf(entriesStatement(tenant, below, limit), LISTED_ENTRY),
    postingOf: async (tenant, first) => {
      const [moved] = await read<{ posting: number }>(movedPostingStatement(tenant, first))
      return moved?.posting ?? first
    },
    discrepancies: async (resolved, after, limit) => {
      const rows = await read<StoredDatedRow>(discrepanciesStatement(resolved, after, limit))
      return rows.map((row) => ({ at: row.position, row: fromStored('discrepancies', row) }))
    },
    orphans: async (resolved, after, limit) => {
      const rows = await read<StoredDatedRow>(orphansStatement(resolved, after, limit))
      return rows.map((row) => ({ at: row.position, row: fromStored('orphans', row) }))
    },
    heldFor: (orphans) => read(heldForStatement(orphans)),
    unsubmitted: (kind, after, limit) => read(unsubmittedStatement(kind, after, limit)),
    movements: (after, to, limit) => pageOf(movementsStatement(after, to, limit), RAIL_MOVEMENT),
    movementsOf: (instructions) => pageOf(movementsOfStatement(instructions), RAIL_MOVEMENT),
    sealed: (table, after, limit) => read(sealedStatement(table, after, limit)),
    events: (tenant, after, limit) => read(eventsStatement(tenant, after, limit)),
    event: async (tenant, id) => (await read<ListedEvent>(eventStatement(tenant, id)))[0],
    search: createSearch(read),
    retention: createRetentionReads(read),
    archive: createArchiveReads(read),
    beneficiaryAges: createBeneficiaryAges(read),
    ledger: createLedger(read, pageOf),
    usage: (kind, range, limit) => readUsage(read, kind, range, limit),
    openWork: (now, agesMs) => readOpenWork(read, now, agesMs),
    actions: async (filter, limit) => {
      const rows = await read<StoredRow & { id: number }>(actionsStatement(filter, limit))
      return rows.map((row) => ({ id: row.id, row: fromStored('operatorLog', row) }))
    },
    userFingerprints: async (number) =>
      (await read<UserFingerprints>(userFingerprintsStatement(number)))[0],
    userLinks: async (after, limit) => {
      const rows = await read<UserFingerprints & { links: string }>(
        userLinksStatement(after, limit),
      )
      return rows.map((row) => ({ ...row, links: JSON.parse(row.links) as UserLinks['links'] }))
    },
    usersOfIntents: (ids) => read(usersOfIntentsStatement(ids)),
    userErasures: (limit) => read(userErasuresStatement(limit)),
    actionScanEnd: async (below, scanned) =>
      scanEnd(await read<{ id: number }>(actionScanEndStatement(below, scanned))),
  }
}

/** Runs `quick`, or `careful` when a row is corrupt. */
export async function unlessCorrupt<T>(quick: () => T, careful: () => Promise<T>): Promise<T> {
  try {
    return quick()
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return careful()
  }
}

const userFingerprintsStatement = (number: number): Statement => ({
  sql: () => `SELECT first, prints FROM intent_users WHERE first <= ?
    ORDER BY first DESC LIMIT 1`,
  values: [number],
})

const userLinksStatement = (after: number, limit: number): Statement => ({
  sql: () => `SELECT first, prints, links FROM intent_users WHERE first > ? ORDER BY first LIMIT ?`,
  values: [after, limit],
})

const usersOfIntentsStatement = (ids: readonly string[]): Statement => ({
  sql: (d) => `SELECT id, ${d.text('context', 'userId')} AS "user" FROM intents
    WHERE id IN (${d.texts('?')}) AND ${d.isJson('context')}`,
  values: [JSON.stringify(ids)],
})

const userErasuresStatement = (limit: number): Statement => ({
  sql: () => `SELECT ${columnsOf('userErasures')} FROM user_erasures ORDER BY id DESC LIMIT ?`,
  values: [limit],
})

const LISTED_ACTOR = { id: 'text', state: 'text', context: 'json' } as const

export function payoutsStatement(filter: PayoutFilter, limit: number): Statement {
  const { tenant, state, reference, beneficiary, from, below } = filter
  const equal = Object.entries({ reference, beneficiary, state }).filter(
    (column): column is [string, string] => column[1] !== undefined,
  )
  const index = `payouts_${equal[0] === undefined ? 'of_tenant' : `by_${equal[0][0]}`}`
  const conditions = equal.map(([column]) => `AND ${column} = ?`)
  return {
    sql: (d) => `SELECT id, state, context FROM payouts ${d.indexedBy(index)}
      WHERE ${d.ofTenant} ${conditions.join(' ')} AND id >= ? AND id < ?
      ORDER BY ${d.tenantFirst}id DESC LIMIT ?`,
    values: [tenant, ...equal.map(([, value]) => value), from, below, limit],
  }
}

const ofTenant = (d: Dialect): string =>
  `FROM intents ${d.indexedBy('intents_of_tenant')} WHERE ${d.ofTenant}`

export function intentsStatement(filter: IntentFilter, limit: number): Statement {
  const { tenant, state, corridor, from, below } = filter
  const conditions = (d: Dialect): readonly string[] => [
    ...(state === undefined ? [] : ['AND state = ?']),
    ...(corridor === undefined ? [] : [`AND ${ofCorridor(d, 'context')}`]),
  ]
  const given = [state, corridor].filter((value) => value !== undefined)
  return {
    sql: (d) => `SELECT id, state, context ${ofTenant(d)} ${conditions(d).join(' ')}
      AND id >= ? AND id < ? ORDER BY ${d.tenantFirst}id DESC LIMIT ?`,
    values: [tenant, ...given, from, below, limit],
  }
}

/** From the last row that is searched, and the one after it. */
const scanEnd = <Id>([last, next]: readonly { readonly id: Id }[]): Id | undefined =>
  next === undefined ? undefined : last?.id

export const intentScanEndStatement = (
  { tenant, from, below }: IntentFilter,
  scanned: number,
): Statement => ({
  sql: (d) => `SELECT id ${ofTenant(d)} AND id >= ? AND id < ?
    ORDER BY ${d.tenantFirst}id DESC LIMIT 2 OFFSET ?`,
  values: [tenant, from, below, scanned - 1],
})

function actionsStatement({ from, below, equal }: ActionFilter, limit: number): Statement {
  const columns = ACTION_FILTERS.filter((column) => equal[column] !== undefined)
  return {
    sql: () => `SELECT id, ${columnsOf('operatorLog')} FROM operator_log
      WHERE ${columns.map((column) => `${column} = ? AND`).join(' ')} id >= ? AND id < ?
      ORDER BY id DESC LIMIT ?`,
    values: [...columns.map((column) => equal[column] ?? ''), from, below, limit],
  }
}

const actionScanEndStatement = (below: number, scanned: number): Statement => ({
  sql: () => 'SELECT id FROM operator_log WHERE id < ? ORDER BY id DESC LIMIT 2 OFFSET ?',
  values: [below, scanned - 1],
})

/** Uses the unique index on (tenant, sequence). */
export const eventsStatement = (tenant: TenantId, after: number, limit: number): Statement => ({
  sql: () => `SELECT sequence, body FROM events
    WHERE tenant = ? AND sequence > ? ORDER BY sequence LIMIT ?`,
  values: [tenant, after, limit],
})

export const eventStatement = (tenant: TenantId, id: string): Statement => ({
  sql: (d) => `SELECT id, type, sequence, created_at AS "createdAt",
      ${d.settledAt} AS "settledAt", body, request_id AS "requestId", traceparent
    FROM events WHERE id = ? AND tenant = ?`,
  values: [id, tenant],
})

export const heldPayoutsStatement = (after: string, limit: number): Statement => ({
  sql: (d) => `SELECT id, tenant, state, context FROM payouts ${d.indexedBy('payouts_held')}
      WHERE state = 'created' AND id > ?1
    UNION ALL
    SELECT id, tenant, state, context FROM payouts ${d.indexedBy('payouts_under_way')}
      WHERE state = 'processing' AND id > ?1 AND ${heldInProcessing(d)} IS NOT NULL
    ORDER BY id LIMIT ?2`,
  values: [after, limit],
})

export const beneficiariesStatement = (
  tenant: TenantId,
  below: string,
  limit: number,
): Statement => ({
  sql: (d) => `SELECT ${columnsOf('beneficiaries')}
    FROM beneficiaries ${d.indexedBy('beneficiaries_of_tenant')}
    WHERE ${d.ofTenant} AND id < ? ORDER BY ${d.tenantFirst}id DESC LIMIT ?`,
  values: [tenant, below, limit],
})

export const entriesStatement = (
  tenant: TenantId,
  { posting, line }: EntryPosition,
  limit: number,
): Statement => ({
  sql: (d) => `SELECT ${LISTED_ENTRY_COLUMNS}
    FROM ledger_entries ${d.indexedBy('ledger_entries_of_tenant')}
    WHERE ${d.ofTenant} AND (posting, line) < (?, ?)
    ORDER BY ${d.tenantFirst}posting DESC, line DESC LIMIT ?`,
  values: [tenant, posting, line, limit],
})

/** The posting of entries that came from another shard, by the first one that they had. */
export const movedPostingStatement = (tenant: TenantId, first: number): Statement => ({
  sql: (d) => `SELECT posting FROM ledger_entries ${d.indexedBy('ledger_entries_posted_as')}
    WHERE tenant = ? AND posted_as = ? LIMIT 1`,
  values: [tenant, first],
})

export const discrepanciesStatement = (
  resolved: boolean,
  { at, id }: DiscrepancyPosition,
  limit: number,
): Statement => ({
  sql: (d) => `SELECT ${columnsOf('discrepancies')}, CAST(at AS TEXT) AS position
    FROM discrepancies
    ${d.indexedBy(`discrepancies_${resolved ? 'resolved' : 'open'}`)}
    WHERE resolved_at IS ${resolved ? 'NOT NULL' : 'NULL'} AND (at, id) > (?, ?)
    ORDER BY at, id LIMIT ?`,
  values: [at, id, limit],
})
