/**
 * The webhook pools' books against the processor's: every event reached its end, or is on the way.
 *
 * - A pool's snapshot is the later one: what the processor holds settled must be settled there.
 *   What a pool says of the processor is held against what the processor says by now.
 * - A pool forgets settled events; only what is too young for that must be there.
 * - Where there are several, an event may have come to more than one of them, and each delivers
 *   it: that is at least once. One of them that has done with it is enough; what each has written
 *   must be right all the same.
 */
import { DAY } from '../../base/clock.js'
import { inEachPool, type Books } from '../books.js'
import { byQuery, rowsOf, type Broken, type Check } from '../check.js'

/** A pool keeps every event at least this long. */
const KEPT_MS = 8 * DAY

/**
 * Open ones that were there when the event was settled. A redriven one has more tries than counted
 * attempts; one for an endpoint that became known a moment late was made, or tried first, later.
 */
const WAS_OPEN = `d.due_at IS NOT NULL AND d.context ->> 'tries' = d.context ->> 'attempts'
  AND coalesce((SELECT min(a.at) FROM :pool.attempts a WHERE a.delivery_id = d.id),
               d.context ->> 'dueAt') <= e.settled_at`

const HAS_ENDED = `EXISTS (SELECT 1 FROM :pool.events w WHERE w.id = e.id)
  AND NOT EXISTS (SELECT 1 FROM :pool.deliveries d WHERE d.event_id = e.id AND ${WAS_OPEN})`

export const settledEventsHaveEnded = byQuery({
  name: 'settled_events_have_ended',
  sentence:
    'Each delivery of a settled event is delivered or dead, unless somebody has redriven it.',
  reads: ['webhooks'],
  over: ['main.events'],
  broken: (books) => `
    SELECT e.entity, e.id || ' is settled and unknown to the pool' AS found,
           'its row in the pool' AS expected
      FROM main.events e
        ${inEachPool('LEFT JOIN :pool.events ON :pool.events.id = e.id', books).join(' ')}
      WHERE e.settled_at > :replaced_at AND e.created_at > :as_of - ${KEPT_MS}
        AND ${inEachPool(':pool.events.id IS NULL', books).join(' AND ')}
    UNION ALL
    SELECT e.entity, e.id || ' is settled, its delivery ' || d.id || ' is ' || d.state,
           'delivered or dead'
      FROM :pool.deliveries d JOIN main.events e ON e.id = d.event_id
      WHERE e.settled_at IS NOT NULL AND ${WAS_OPEN}
        AND NOT (${inEachPool(HAS_ENDED, books).join(' OR ')})`,
})

export const deliveriesAreCounted = byQuery({
  name: 'deliveries_are_counted',
  sentence: 'An event of a pool counts its open deliveries, and a delivered one was answered 2xx.',
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
    SELECT coalesce(e.entity, d.event_id), d.id || ' is delivered', 'an attempt answered 2xx'
      FROM :pool.deliveries d LEFT JOIN main.events e ON e.id = d.event_id
      WHERE d.state = 'delivered' AND NOT EXISTS (SELECT 1 FROM :pool.attempts a
        WHERE a.delivery_id = d.id AND a.status BETWEEN 200 AND 299)
    UNION ALL
    SELECT coalesce(e.entity, d.event_id),
           d.id || ' is due at ' || coalesce(d.due_at, 'no time'),
           coalesce(d.context ->> 'dueAt', 'no time')
      FROM :pool.deliveries d LEFT JOIN main.events e ON e.id = d.event_id
      WHERE d.due_at IS NOT d.context ->> 'dueAt'`,
})

/**
 * That an endpoint got an earlier event of a type, and has the same filter since, shows that it
 * wants the type. A test goes to one endpoint, that one was disabled goes to the others; what a
 * pool took after it was settled was asked for, by one endpoint as well.
 */
export const deliveriesHaveNoGap = byQuery({
  name: 'deliveries_have_no_gap',
  sentence: 'An endpoint that got earlier events of a type has a delivery of each later one.',
  reads: ['webhooks'],
  over: [':pool.events'],
  broken: `
    WITH reached (endpoint_id, type, position) AS MATERIALIZED (
      SELECT d.endpoint_id, e.type, min(e.position)
        FROM :pool.deliveries d JOIN :pool.events e ON e.id = d.event_id
        GROUP BY d.endpoint_id, e.type)
    SELECT coalesce(p.entity, e.id) AS entity, e.id || ' without a delivery to ' || w.id AS found,
           'a delivery, as of earlier events' AS expected
      FROM :pool.events e
        JOIN main.webhook_endpoints w ON w.tenant = e.tenant
        JOIN reached r ON r.endpoint_id = w.id AND r.type = e.type
        LEFT JOIN main.events p ON p.id = e.id
      WHERE w.status <> 'deleted' AND w.enabled_events_since <= e.created_at
        AND r.position < e.position AND e.type <> 'webhook_endpoint.test'
        AND (e.type <> 'webhook_endpoint.disabled'
          OR (e.body ->> '$.data.webhook_endpoint.id') IS NOT w.id)
        AND (p.settled_at IS NULL OR e.received_at <= p.settled_at)
        AND EXISTS (SELECT 1 FROM json_each(w.enabled_events) t
          WHERE t.value = e.type OR t.value = '*' AND e.type <> 'payment_intent.authorized')
        AND NOT EXISTS (SELECT 1 FROM :pool.deliveries d
          WHERE d.event_id = e.id AND d.endpoint_id = w.id)`,
})

interface PoolEvent {
  readonly position: number
  readonly id: string
  /** What must be the same in the processor's row. */
  readonly told: string
  readonly reported: number
}

const TOLD = "json_array(id, tenant, type, sequence, created_at, body) || ''"
/** An operator has accepted it as lost: it is from before the restored books were released. */
const WAS_LOST = `w.created_at < (SELECT max(r.entered_at) FROM main.recoveries r
    WHERE r.released_at IS NOT NULL)
  AND NOT EXISTS (SELECT 1 FROM main.events x
    WHERE x.tenant = w.tenant AND x.sequence = w.sequence)`
/** Of a pool's events those whose like is not in the processor's snapshot. */
const UNLIKE = `
  SELECT w.position, w.id, w.told, w.reported
    FROM (SELECT position, id, reported, tenant, sequence, created_at, ${TOLD} AS told
            FROM :pool.events) w
      LEFT JOIN (SELECT id, settled_at, ${TOLD} AS told FROM main.events) e ON e.id = w.id
    WHERE w.position > ? AND (e.told IS NOT w.told OR w.reported = 1 AND e.settled_at IS NULL)
      AND NOT (e.id IS NULL AND ${WAS_LOST})
    ORDER BY w.position LIMIT ?`
const BY_NOW = `
  SELECT id, entity, settled_at AS settledAt, ${TOLD} AS told FROM events
    WHERE id IN (SELECT value FROM json_each(?))`

export const poolTellsWhatHappened: Check = {
  name: 'pool_tells_what_happened',
  sentence: 'What a pool delivers is what was published, and what it reported is settled.',
  reads: ['webhooks'],
  run: async (books) => {
    const rows = await rowsOf(books, [':pool.events'])
    for (const sql of inEachPool(UNLIKE, books)) {
      for await (const page of books.pages<PoolEvent>(sql, [0], ({ position }) => [position])) {
        const broken = await stillUnlike(books, page)
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
  readonly told: string
}

async function stillUnlike(books: Books, page: readonly PoolEvent[]): Promise<Broken | null> {
  const ids = JSON.stringify(page.map(({ id }) => id))
  const published = new Map<string, ProcessorEvent>()
  for (const event of await books.byNow<ProcessorEvent>(BY_NOW, [ids])) {
    published.set(event.id, event)
  }
  for (const { id, told, reported } of page) {
    const event = published.get(id)
    const entity = event?.entity ?? id
    if (event?.told !== told) {
      const expected = event === undefined ? 'an event that was published' : event.told
      return { entity, found: `delivers ${told}`, expected }
    }
    if (reported === 1 && event.settledAt === null) {
      return { entity, found: `${id} was reported and is open`, expected: 'settled' }
    }
  }
  return null
}
