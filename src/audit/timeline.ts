/**
 * The timeline of one entity: everything the databases record about it, ordered by time.
 *
 * - The subject is usually an intent's or a payout's id. For an account it shows the latest
 *   entries, for a limit counter the confirmations counted in it.
 * - Sealed texts and account numbers are omitted, because operators paste timelines anywhere.
 */
import { inEachPool, type Books, type Source } from './books.js'

export interface TimelineItem {
  /** Epoch milliseconds. */
  readonly at: number
  readonly source: string
  readonly what: string
}

const ROWS_MAX = 200

interface TimelineSource {
  readonly source: string
  readonly reads: Source
  /** Selects `at` and `what` for the subject `?1`. A query with `:pool` runs once per pool. */
  readonly select: string
}

const itemsOf = (table: string): string => `
  SELECT j.value AS at, j.key AS what FROM ${table} x, json_each(x.context) j
    WHERE x.id = ?1 AND j.type = 'integer' AND j.key GLOB '*At'`

/** Shown at the latest timestamp of the context, which can be a future timer. */
const stateOf = (table: string): string => `
  SELECT (SELECT max(at) FROM (${itemsOf(table)})) AS at, 'is ' || state AS what
    FROM ${table} WHERE id = ?1`

/** Matches the subject and `{subject}@{number}`. In ASCII, `A` follows `@`. */
const isOf = (entity: string): string => `${entity} >= ?1 AND ${entity} < ?1 || 'A'`

const TIMELINE_SOURCES: readonly TimelineSource[] = [
  { source: 'payout', reads: 'processor', select: itemsOf('payouts') },
  { source: 'intent', reads: 'processor', select: itemsOf('intents') },
  { source: 'payout', reads: 'processor', select: stateOf('payouts') },
  { source: 'intent', reads: 'processor', select: stateOf('intents') },
  {
    source: 'ledger',
    reads: 'processor',
    select: `
      WITH entries AS (
        SELECT * FROM ledger_entries
          WHERE entity = ?1 OR account = ?1
            OR entity IN (SELECT id FROM main.discrepancies WHERE entity = ?1)
          ORDER BY posting DESC, line DESC LIMIT ${ROWS_MAX})
      SELECT at, 'posting ' || posting || '.' || line || ' ' || plan || ': ' || account || ' '
                   || CAST(amount AS TEXT) || ' → ' || CAST(balance AS TEXT)
                   || iif(entity = ?1, '', ' for ' || entity) AS what
        FROM entries ORDER BY posting, line`,
  },
  {
    source: 'limit',
    reads: 'processor',
    select: `
      SELECT confirmed_at AS at,
             id || ' (' || state || ') ' || (context ->> '$.scanned.quote.localMinor') AS what
        FROM intents
        WHERE confirmed_at IS NOT NULL
          AND ?1 IN (context ->> '$.confirmation.dayKey', context ->> '$.confirmation.monthKey')`,
  },
  {
    source: 'event',
    reads: 'processor',
    select: `
      SELECT created_at AS at, type || ' ' || id || ', number ' || sequence || ' of ' || tenant
               || iif(settled_at IS NULL, ', open', ', settled at ' || settled_at) AS what
        FROM main.events WHERE ${isOf('entity')}`,
  },
  {
    source: 'discrepancy',
    reads: 'processor',
    select: `
      SELECT at, id || ': ' || reason || iif(resolved_at IS NULL, ', open', ', resolved') AS what
        FROM main.discrepancies WHERE entity = ?1`,
  },
  {
    source: 'operator',
    reads: 'processor',
    select: `
      SELECT at, action || ' ' || subject || ' by ' || actor || ': ' || reason
               || coalesce(' (' || evidence || ')', '') AS what
        FROM operator_log WHERE instr(subject, ?1) > 0`,
  },
  {
    source: 'rail',
    reads: 'rail',
    select: `
      SELECT received_at AS at, purpose || ' of ' || currency || ' ' || CAST(amount AS TEXT)
               || ' received, now ' || state || ', executed ' || executions || ' times'
               || coalesce(' as ' || transaction_id, '') || coalesce(', ' || refusal, '') AS what
        FROM rail.instructions WHERE id = ?1
      UNION ALL
      SELECT at, 'received again with different content'
        FROM rail.discrepancies WHERE instruction = ?1`,
  },
  {
    source: 'delivery',
    reads: 'webhooks',
    select: `
      SELECT coalesce(d.due_at, d.context ->> 'endedAt') AS at,
             d.id || ' of ' || e.type || ' to ' || d.endpoint_id || ': ' || d.state AS what
        FROM main.events e JOIN :pool.deliveries d ON d.event_id = e.id WHERE ${isOf('e.entity')}
      UNION ALL
      SELECT a.at, 'attempt ' || a.number || ' of ' || d.id || ': ' || coalesce(a.status, a.reason)
        FROM main.events e JOIN :pool.deliveries d ON d.event_id = e.id
          JOIN :pool.attempts a ON a.delivery_id = d.id WHERE ${isOf('e.entity')}`,
  },
]

export async function timelineOf(books: Books, subject: string): Promise<readonly TimelineItem[]> {
  const items: TimelineItem[] = []
  for (const { source, reads, select } of TIMELINE_SOURCES) {
    if (subject === '' || !books.has(reads)) continue
    for (const sql of inEachPool(`SELECT at, what FROM (${select}) LIMIT ${ROWS_MAX}`, books)) {
      // The books may be damaged: omit a source that cannot be read.
      const rows = await books.all<Omit<TimelineItem, 'source'>>(sql, [subject]).catch(() => [])
      items.push(...rows.map((row) => ({ ...row, at: row.at ?? 0, source })))
    }
  }
  return items.sort((one, other) => one.at - other.at)
}
