/**
 * The webhook pools' databases compared with the processor's: each event is delivered, dead or
 * open.
 *
 * - A pool's snapshot is taken later: an event that the processor has as settled must be final
 *   there. Facts that a pool states about the processor are compared with the processor's current
 *   rows.
 * - The pools of a backup are older than its books: nothing that was settled until `:replaced_at`
 *   is compared.
 * - An event without a subscriber is settled by its own commit and need not be in a pool. Events
 *   about endpoints are always delivered by a pool. Endpoints that were deleted, or whose filter is
 *   younger than the event, are no evidence.
 * - A pool deletes settled events after a retention period. Only younger ones must be there.
 * - With several pools, more than one may receive an event, and each delivers it: delivery is at
 *   least once. An event is final when one pool has finished it, but the rows of every pool must be
 *   consistent.
 * - A corrupt delivery is listed by a check of its own; the other checks run over all others.
 */
import { DAY } from '../../base/clock.js'
import { inEachPool, type Books } from '../books.js'
import { byQuery, rowsOf, type Violation, type Check } from '../check.js'

/** The minimum retention of an event in a pool. */
const KEPT_MS = 8 * DAY

/**
 * Deliveries that were open when the event was settled. A redriven delivery has more tries than
 * counted attempts. A delivery to an endpoint that reached the pool late starts after the event was
 * settled.
 */
const WAS_OPEN = `d.due_at IS NOT NULL AND json_valid(d.context)
  AND d.context ->> 'tries' = d.context ->> 'attempts'
  AND coalesce((SELECT min(a.at) FROM :pool.attempts a WHERE a.delivery_id = d.id),
               d.context ->> 'dueAt') <= e.settled_at`

/** The processor has deleted the event: its retention has ended. */
const isExpired = (event: string): string =>
  `EXISTS (SELECT 1 FROM main.event_retention r
    WHERE r.tenant = ${event}.tenant AND r.sequence >= ${event}.sequence)`

const HAS_ENDED = `EXISTS (SELECT 1 FROM :pool.events w WHERE w.id = e.id)
  AND NOT EXISTS (SELECT 1 FROM :pool.deliveries d WHERE d.event_id = e.id AND ${WAS_OPEN})`

/** An endpoint selects the event, and did when it was created. */
const HAD_SUBSCRIBER = `(e.type GLOB 'webhook_endpoint.*'
  OR EXISTS (SELECT 1 FROM main.webhook_endpoints w
    JOIN json_each(iif(json_valid(w.enabled_events), w.enabled_events, '[]')) t
    WHERE w.tenant = e.tenant AND w.status <> 'deleted' AND w.enabled_events_since < e.created_at
      AND (t.value = e.type OR t.value = '*' AND e.type <> 'payment_intent.authorized')))`

export const settledEventsAreFinal = byQuery({
  name: 'settled_events_are_final',
  sentence:
    'A settled event is in a pool unless it had no subscriber, and each of its deliveries is ' +
    'delivered or dead, unless an operator redrove it.',
  reads: ['webhooks'],
  over: ['main.events'],
  broken: (books) => `
    SELECT e.entity, e.id || ' is settled and not in the pool' AS found,
           'its row in the pool, or no subscriber' AS expected
      FROM main.events e
        ${inEachPool('LEFT JOIN :pool.events ON :pool.events.id = e.id', books).join(' ')}
      WHERE e.settled_at > :replaced_at AND e.created_at > :as_of - ${KEPT_MS}
        AND ${inEachPool(':pool.events.id IS NULL', books).join(' AND ')}
        AND ${HAD_SUBSCRIBER}
    UNION ALL
    SELECT e.entity, e.id || ' is settled, its delivery ' || d.id || ' is ' || d.state,
           'delivered or dead'
      FROM :pool.deliveries d JOIN main.events e ON e.id = d.event_id
      WHERE e.settled_at > :replaced_at AND ${WAS_OPEN}
        AND NOT (${inEachPool(HAS_ENDED, books).join(' OR ')})`,
})

export const deliveriesAreCounted = byQuery({
  name: 'deliveries_are_counted',
  sentence:
    'An event in a pool counts its open deliveries, and each delivered one has a 2xx attempt.',
  reads: ['webhooks'],
  over: [':pool.deliveries'],
  broken: `
    SELECT coalesce(e.entity, w.id) AS entity, w.id || ' counts ' || w.open || ' open' AS found,
           (SELECT count(*) FROM :pool.deliveries d
             WHERE d.event_id = w.id AND d.due_at IS NOT NULL) || ' open' AS expected
      FROM :pool.events w LEFT JOIN main.events e ON e.id = w.id
      WHERE w.open <> (SELECT count(*) FROM :pool.deliveries d
        WHERE d.event_id = w.id AND d.due_at IS NOT NULL)
    UNION ALL
    SELECT coalesce(e.entity, d.event_id), d.id || ' is delivered', 'an attempt with status 2xx'
      FROM :pool.deliveries d LEFT JOIN main.events e ON e.id = d.event_id
      WHERE d.state = 'delivered' AND NOT EXISTS (SELECT 1 FROM :pool.attempts a
        WHERE a.delivery_id = d.id AND a.status BETWEEN 200 AND 299)
    UNION ALL
    SELECT coalesce(e.entity, d.event_id),
           d.id || ' is due at ' || coalesce(d.due_at, 'no time'),
           coalesce(d.context ->> 'dueAt', 'no time')
      FROM :pool.deliveries d LEFT JOIN main.events e ON e.id = d.event_id
      WHERE json_valid(d.context) AND d.due_at IS NOT d.context ->> 'dueAt'`,
})

/** A member that is not a whole number, or is negative. */
const isNoCount = (member: string): string => `(json_type(d.context, '$.${member}') IS NOT 'integer'
  OR d.context ->> '${member}' < 0)`
const CORRUPT = `
  SELECT coalesce(p.entity, d.event_id) AS entity, d.id, CASE
      WHEN e.id IS NULL THEN 'its event is missing'
      WHEN NOT json_valid(e.body) THEN 'the body of its event is not JSON'
      WHEN d.state NOT IN ('pending', 'waiting', 'delivered', 'dead') THEN 'its state is unknown'
      WHEN NOT json_valid(d.context) THEN 'its context is not JSON'
      WHEN ${isNoCount('attempts')} OR ${isNoCount('tries')}
        THEN 'its context has no numbers of attempts and tries'
      WHEN d.context ->> 'tries' < (SELECT max(number) FROM :pool.attempts
          WHERE delivery_id = d.id) THEN 'it has more attempts than tries'
      END AS why
    FROM :pool.deliveries d LEFT JOIN :pool.events e ON e.id = d.event_id
      LEFT JOIN main.events p ON p.id = d.event_id`
/** Named in a report; the number of all is there too. */
const NAMED_MAX = 100

interface CorruptDelivery {
  readonly entity: string
  readonly id: string
  readonly why: string
}

export const deliveriesAreReadable: Check = {
  name: 'deliveries_are_readable',
  sentence: 'Each delivery in a pool has its event and a context that the pool can read.',
  reads: ['webhooks'],
  run: async (books) => {
    const rows = await rowsOf(books, [':pool.deliveries'])
    const found: CorruptDelivery[] = []
    for (const sql of inEachPool(`SELECT * FROM (${CORRUPT}) WHERE why IS NOT NULL`, books)) {
      found.push(...(await books.all<CorruptDelivery>(sql)))
    }
    const [first] = found
    if (first === undefined) return { rows, broken: null }
    const named = found.slice(0, NAMED_MAX).map(({ id, why }) => `${id} (${why})`)
    const others = found.length - named.length
    const list = [...named, ...(others === 0 ? [] : [`and ${others} more`])].join(', ')
    return { rows, broken: { entity: first.entity, found: list, expected: 'no corrupt delivery' } }
  },
}

/**
 * An endpoint that received an earlier event of a type, and whose filter has not changed since,
 * subscribes to the type. Exceptions: a test event goes to one endpoint, another event about an
 * endpoint to all others, and an event received after it was settled is a resend
 * to one endpoint.
 */
export const deliveriesHaveNoGap = byQuery({
  name: 'deliveries_have_no_gap',
  sentence: 'An endpoint that received earlier events of a type has a delivery of each later one.',
  reads: ['webhooks'],
  over: [':pool.events'],
  broken: `
    WITH reached (endpoint_id, type, position) AS MATERIALIZED (
      SELECT d.endpoint_id, e.type, min(e.position)
        FROM :pool.deliveries d JOIN :pool.events e ON e.id = d.event_id
        GROUP BY d.endpoint_id, e.type)
    SELECT coalesce(p.entity, e.id) AS entity, e.id || ' without a delivery to ' || w.id AS found,
           'a delivery, as for earlier events' AS expected
      FROM :pool.events e
        JOIN main.webhook_endpoints w ON w.tenant = e.tenant
        JOIN reached r ON r.endpoint_id = w.id AND r.type = e.type
        LEFT JOIN main.events p ON p.id = e.id
      WHERE w.status <> 'deleted' AND w.enabled_events_since <= e.created_at
        AND r.position < e.position AND e.type <> 'webhook_endpoint.test'
        AND (e.type NOT IN ('webhook_endpoint.disabled', 'webhook_endpoint.deliveries_dead')
          OR iif(json_valid(e.body), e.body, '{}') ->> '$.data.webhook_endpoint.id' IS NOT w.id)
        AND (p.settled_at IS NULL OR e.received_at <= p.settled_at)
        AND NOT (p.id IS NULL AND ${isExpired('e')})
        AND EXISTS (SELECT 1 FROM json_each(w.enabled_events) t
          WHERE t.value = e.type OR t.value = '*' AND e.type <> 'payment_intent.authorized')
        AND NOT EXISTS (SELECT 1 FROM :pool.deliveries d
          WHERE d.event_id = e.id AND d.endpoint_id = w.id)`,
})

interface PoolEvent {
  readonly position: number
  readonly id: string
  /** The columns that must equal the processor's row. */
  readonly content: string
  readonly reported: number
}

const CONTENT = "json_array(id, tenant, type, sequence, created_at, body) || ''"
/** Accepted as lost: it predates the release of restored books. */
const WAS_LOST = `w.created_at < (SELECT max(r.entered_at) FROM main.recoveries r
    WHERE r.released_at IS NOT NULL)
  AND NOT EXISTS (SELECT 1 FROM main.events x
    WHERE x.tenant = w.tenant AND x.sequence = w.sequence)`
/** A pool's events that differ from the processor's snapshot. */
const MISMATCHED = `
  SELECT w.position, w.id, w.content, w.reported
    FROM (SELECT position, id, reported, tenant, sequence, created_at, ${CONTENT} AS content
            FROM :pool.events) w
      LEFT JOIN (SELECT id, settled_at, ${CONTENT} AS content FROM main.events) e ON e.id = w.id
    WHERE w.position > ?
      AND (e.content IS NOT w.content OR w.reported = 1 AND e.settled_at IS NULL)
      AND NOT (e.id IS NULL AND (${WAS_LOST} OR ${isExpired('w')}))
    ORDER BY w.position LIMIT ?`
const CURRENT = `
  SELECT id, entity, settled_at AS settledAt, ${CONTENT} AS content FROM events
    WHERE id IN (SELECT value FROM json_each(?))`

export const poolEventsMatch: Check = {
  name: 'pool_events_match',
  sentence:
    "A pool's event equals the published event, and an event that the pool reported is settled.",
  reads: ['webhooks'],
  run: async (books) => {
    const rows = await rowsOf(books, [':pool.events'])
    for (const sql of inEachPool(MISMATCHED, books)) {
      for await (const page of books.pages<PoolEvent>(sql, [0], ({ position }) => [position])) {
        const broken = await stillMismatched(books, page)
        if (broken !== null) return { rows, broken }
      }
    }
    return { rows, broken: null }
  },
}

interface ProcessorEvent {
  readonly id: string
  readonly entity: string
  readonly settledAt: number | null
  readonly content: string
}

async function stillMismatched(
  books: Books,
  page: readonly PoolEvent[],
): Promise<Violation | null> {
  const ids = JSON.stringify(page.map(({ id }) => id))
  const published = new Map<string, ProcessorEvent>()
  for (const event of await books.allCurrent<ProcessorEvent>(CURRENT, [ids])) {
    published.set(event.id, event)
  }
  for (const { id, content, reported } of page) {
    const event = published.get(id)
    const entity = event?.entity ?? id
    if (event?.content !== content) {
      const expected = event === undefined ? 'a published event' : event.content
      return { entity, found: `delivers ${content}`, expected }
    }
    if (reported === 1 && event.settledAt === null) {
      return { entity, found: `${id} is reported and open`, expected: 'settled' }
    }
  }
  return null
}
