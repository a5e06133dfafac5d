/**
 * Events: one for each public transition, numbered without gaps, with a body that matches it.
 */
import { MINUTE } from '../../base/clock.js'
import { byQuery } from '../check.js'

/** An event of this tenant and moment can be deleted: its retention has ended. */
const isExpired = (tenant: string, at: string): string =>
  `EXISTS (SELECT 1 FROM event_retention r WHERE r.tenant = ${tenant} AND r.created_at >= ${at})`

/** Each public transition, and the timestamp of its entity's context. */
const PUBLIC_TIMESTAMPS = `public_timestamps (type, member) AS (VALUES
  ('payout.created',            'createdAt'),
  ('payout.processing',         'processingAt'),
  ('payout.completed',          'completedAt'),
  ('payout.failed',             'failedAt'),
  ('payout.reversed',           'reversedAt'),
  ('payment_intent.authorized', 'confirmedAt'),
  ('payment_intent.captured',   'capturedAt'),
  ('payment_intent.failed',     'failedAt'),
  ('payment_intent.expired',    'expiredAt'),
  ('payment_intent.cancelled',  'cancelledAt'),
  ('payment_intent.refunded',   'refundedAt'))`

/** A refund can fail repeatedly. The event's entity is `{intent}@{number}`, from 1 on. */
const REFUND_FAILED = 'payment_intent.refund_failed'
const subjectOf = (event: string): string => `iif(${event}.type = '${REFUND_FAILED}',
  substr(${event}.entity, 1, instr(${event}.entity, '@') - 1), ${event}.entity)`
const numberOf = (event: string): string =>
  `CAST(substr(${event}.entity, instr(${event}.entity, '@') + 1) AS INTEGER)`

const missingOf = (table: string, types: string): string => `
  SELECT x.id AS entity,
         coalesce(e.type || ' of ' || e.tenant || ' at ' || e.created_at, 'no event') AS found,
         m.type || ' of ' || x.tenant || ' at ' || (x.context ->> m.member) AS expected
    FROM ${table} x CROSS JOIN public_timestamps m
      LEFT JOIN events e ON e.entity = x.id AND e.type = m.type
    WHERE m.type GLOB '${types}' AND x.context ->> m.member IS NOT NULL
      AND (e.tenant, e.created_at) IS NOT (x.tenant, x.context ->> m.member)
      AND NOT (e.id IS NULL AND ${isExpired('x.tenant', '(x.context ->> m.member)')})`

export const everyTransitionHasEvent = byQuery({
  name: 'every_transition_has_event',
  sentence: 'Every public transition has an event of its tenant with its timestamp.',
  over: ['payouts', 'intents'],
  broken: `WITH ${PUBLIC_TIMESTAMPS}
    ${missingOf('payouts', 'payout.*')}
    UNION ALL ${missingOf('intents', 'payment_intent.*')}
    UNION ALL
    SELECT x.id, coalesce(e.type || ' of ' || e.tenant || ' at ' || e.created_at, 'no event'),
           '${REFUND_FAILED} ' || (x.context ->> 'refundsFailed') || ' of ' || x.tenant || ' at '
             || coalesce(x.context ->> 'refundFailedAt', 'no time')
      FROM intents x LEFT JOIN events e ON e.type = '${REFUND_FAILED}'
        AND e.entity = x.id || '@' || (x.context ->> 'refundsFailed')
      WHERE coalesce(x.context ->> 'refundsFailed', x.context ->> 'refundFailedAt') IS NOT NULL
        AND (e.tenant, e.created_at) IS NOT (x.tenant, x.context ->> 'refundFailedAt')
        AND NOT (e.id IS NULL AND ${isExpired('x.tenant', "(x.context ->> 'refundFailedAt')")})`,
})

export const noOrphanEvents = byQuery({
  name: 'no_orphan_events',
  sentence: 'Every event belongs to a transition that happened, and no two to the same one.',
  over: ['events'],
  broken: `WITH ${PUBLIC_TIMESTAMPS}
    SELECT e.entity, e.type || ' (' || e.id || ')' AS found,
           'a transition that happened' AS expected
      FROM events e
        LEFT JOIN public_timestamps m ON m.type = e.type
        LEFT JOIN payouts p ON p.id = e.entity
        LEFT JOIN intents i ON i.id = ${subjectOf('e')}
        LEFT JOIN webhook_endpoints w
          ON w.tenant = e.tenant AND w.id || '@' || e.sequence = e.entity
      WHERE CASE
        WHEN e.type GLOB 'payout.*' THEN p.context ->> m.member IS NULL
        WHEN e.type = '${REFUND_FAILED}' THEN NOT coalesce(
          e.entity = i.id || '@' || ${numberOf('e')}
            AND ${numberOf('e')} BETWEEN 1 AND i.context ->> 'refundsFailed'
            AND (${numberOf('e')} = 1 OR EXISTS (SELECT 1 FROM events b WHERE b.type = e.type
              AND b.entity = i.id || '@' || (${numberOf('e')} - 1) AND b.position < e.position)
              OR ${isExpired('e.tenant', "(i.context ->> 'capturedAt')")}),
          FALSE)
        WHEN e.type GLOB 'payment_intent.*' THEN i.context ->> m.member IS NULL
        WHEN e.type = 'balance.low' THEN NOT EXISTS (SELECT 1 FROM ledger_entries l
          WHERE e.entity = l.account || '@' || l.posting
            AND l.posting = CAST(substr(e.entity, instr(e.entity, '@') + 1) AS INTEGER))
        WHEN e.type IN ('webhook_endpoint.test', 'webhook_endpoint.disabled',
          'webhook_endpoint.deliveries_dead')
          THEN w.id IS NULL OR (e.body ->> '$.data.webhook_endpoint.id') IS NOT w.id
        ELSE TRUE END
    UNION ALL
    SELECT entity, count(*) || ' × ' || type, '1 × ' || type
      FROM events GROUP BY entity, type HAVING count(*) > 1`,
})

/** A column of the row of the tenant's last deleted event. */
const deleted = (column: string): string =>
  `(SELECT ${column} FROM event_retention WHERE tenant = e.tenant)`

/**
 * The number follows the tenant's previous event, or its last deleted one, and the numbers that
 * releases skipped.
 */
const FOLLOWS_A_RELEASE = `e.sequence = 1
  + coalesce((SELECT max(p.sequence) FROM events p
      WHERE p.tenant = e.tenant AND p.sequence < e.sequence), ${deleted('sequence')}, 0)
  + (SELECT coalesce(sum(r.position_to - r.position_from), 0) FROM recoveries r
      WHERE r.position_to < e.position AND r.position_from >= coalesce(
        (SELECT p.position FROM events p WHERE p.tenant = e.tenant AND p.sequence < e.sequence
          ORDER BY p.sequence DESC LIMIT 1), ${deleted('position')}, 0))`

export const sequencesHaveNoGap = byQuery({
  name: 'sequences_have_no_gap',
  sentence:
    "A tenant's events are numbered in commit order, from 1 or from its last deleted event on, " +
    'without gaps except the numbers that a release of restored books skipped.',
  over: ['events'],
  broken: `
    SELECT e.entity,
           e.id || ' is ' || e.sequence || ' of ' || e.tenant || ' at position ' || e.position
             AS found,
           iif(e.sequence < 1, 'numbers from 1 on',
             'number ' || (e.sequence - 1) || ' at an earlier position') AS expected
      FROM events e LEFT JOIN events b ON b.tenant = e.tenant AND b.sequence = e.sequence - 1
      WHERE e.sequence <> 1 AND (b.position IS NULL OR b.position >= e.position)
        AND NOT (b.position IS NULL AND ${FOLLOWS_A_RELEASE})
    UNION ALL
    SELECT e.entity, e.id || ' is ' || e.sequence || ' of ' || e.tenant,
           'numbers up to ' || r.sequence || ' are deleted'
      FROM event_retention r JOIN events e ON e.tenant = r.tenant AND e.sequence <= r.sequence
    UNION ALL
    SELECT r.tenant, 'no event after ' || r.sequence || ', which is deleted', 'the newest event'
      FROM event_retention r
      WHERE NOT EXISTS (SELECT 1 FROM events e
        WHERE e.tenant = r.tenant AND e.sequence > r.sequence)`,
})

/** A `disabled_at` of 0 predates these events. */
export const everyDisablingHasEvent = byQuery({
  name: 'every_disabling_has_event',
  sentence: 'Each time a webhook endpoint was disabled has an event with the reason.',
  over: ['webhook_endpoints'],
  broken: `
    WITH disablings (id, times, last) AS MATERIALIZED (
      SELECT substr(entity, 1, instr(entity, '@') - 1), count(*), max(position)
        FROM events WHERE type = 'webhook_endpoint.disabled' GROUP BY 1)
    SELECT w.id AS entity,
           coalesce(t.times, 0) || ' events, the last at ' || coalesce(e.created_at, 'no time')
             || coalesce(': ' || (e.body ->> '$.data.webhook_endpoint.disabled_reason'), '')
             AS found,
           w.times_disabled || ' events, the last at '
             || coalesce(nullif(w.disabled_at, 0), 'no time')
             || iif(w.disabled_reason = '', '', ': ' || w.disabled_reason) AS expected
      FROM webhook_endpoints w
        LEFT JOIN disablings t ON t.id = w.id
        LEFT JOIN events e ON e.position = t.last
      WHERE (coalesce(t.times, 0), e.created_at)
            IS NOT (w.times_disabled, nullif(w.disabled_at, 0))
          AND NOT (${isExpired('w.tenant', 'w.created_at')}
            AND coalesce(t.times, 0) < w.times_disabled
            AND (e.created_at IS w.disabled_at
              OR e.id IS NULL AND ${isExpired('w.tenant', 'w.disabled_at')}))
        OR w.status = 'disabled' AND (w.disabled_at IS NULL
          OR e.position IS NOT NULL
            AND (e.body ->> '$.data.webhook_endpoint.disabled_reason') IS NOT w.disabled_reason)`,
})

/** The clock of a pool can be ahead of the processor's. */
export const everyAnnouncementHasEvent = byQuery({
  name: 'every_announcement_has_event',
  sentence: 'The last announcement of dead deliveries of a webhook endpoint has its event.',
  over: ['webhook_endpoints'],
  broken: `
    WITH announced (id, last) AS MATERIALIZED (
      SELECT substr(entity, 1, instr(entity, '@') - 1), max(created_at)
        FROM events WHERE type = 'webhook_endpoint.deliveries_dead' GROUP BY 1)
    SELECT w.id AS entity, 'last event at ' || coalesce(a.last, 'no time') AS found,
           'announced at ' || coalesce(w.dead_announced_at, 'no time') AS expected
      FROM webhook_endpoints w LEFT JOIN announced a ON a.id = w.id
      WHERE ((w.dead_announced_at IS NULL) IS NOT (a.last IS NULL) OR w.dead_announced_at < a.last)
        AND NOT (a.last IS NULL
          AND ${isExpired('w.tenant', `w.dead_announced_at - ${MINUTE}`)})`,
})

/** RFC 3339 with three fraction digits, as epoch milliseconds. */
const epochMs = (text: string): string =>
  `(unixepoch(${text}) * 1000 + CAST(substr(${text}, 21, 3) AS INTEGER))`

export const eventBodiesMatch = byQuery({
  name: 'event_bodies_match',
  sentence:
    "An event's body has the row's id, type and time, and its entity's id, status and amounts.",
  // Older events have no captured_amount_usd_cents.
  over: ['events'],
  broken: `
    SELECT e.entity, substr(e.body, 1, 200) AS found,
           json_array(e.id, e.type, e.created_at, e.entity) || ' and its amounts' AS expected
      FROM events e LEFT JOIN payouts p ON p.id = e.entity
        LEFT JOIN intents i ON i.id = ${subjectOf('e')}
      WHERE (e.body ->> 'id', e.body ->> 'webhook_event_id') IS NOT (e.id, e.id)
        OR (e.body ->> 'type', e.body ->> 'webhook_event_type') IS NOT (e.type, e.type)
        OR ${epochMs("e.body ->> 'created_at'")} IS NOT e.created_at
        OR e.type GLOB 'payout.*'
          AND (e.body ->> '$.data.payout.id', 'payout.' || (e.body ->> '$.data.payout.status'),
               e.body ->> '$.data.payout.amount', e.body ->> '$.data.payout.total',
               e.body ->> '$.data.payout.recipient_amount', e.body ->> '$.data.payout.currency')
            IS NOT (e.entity, e.type, p.context ->> 'amount', p.context ->> 'total',
                    p.context ->> 'recipientAmount', p.context ->> 'currency')
        OR e.type = 'webhook_endpoint.disabled'
          AND (e.body ->> '$.data.webhook_endpoint.status') IS NOT 'disabled'
        OR e.type GLOB 'payment_intent.*'
          AND (e.body ->> '$.data.payment_intent.intent_id',
               e.body ->> '$.data.payment_intent.status',
               e.body ->> '$.data.payment_intent.amount_usd_cents',
               e.body ->> '$.data.payment_intent.quote.amount_usd_cents')
            IS NOT (${subjectOf('e')},
                    iif(e.type = '${REFUND_FAILED}', 'captured',
                        replace(e.type, 'payment_intent.', '')),
                    i.context ->> 'amountCents', i.context ->> '$.scanned.quote.cents')
        OR e.type = '${REFUND_FAILED}'
          AND e.body ->> '$.data.payment_intent.refund.status' IS NOT 'refused'
        OR e.body ->> '$.data.payment_intent.captured_amount_usd_cents' IS NOT NULL
          AND (e.body ->> '$.data.payment_intent.captured_amount_usd_cents')
            IS NOT iif(e.body ->> '$.data.payment_intent.captured_at' IS NULL, NULL,
                       i.context ->> '$.scanned.quote.cents')`,
})
