/** Events that are missing, invented, out of order or wrong. */
import type { Corruptions } from '../corruption.js'

export const events: Corruptions = ({ payouts, intents }) => [
  {
    what: 'an event lost',
    sql: `DELETE FROM events WHERE entity = '${payouts.reversed}' AND type = 'payout.reversed'`,
    breaks: 'every_transition_has_event',
    of: payouts.reversed,
  },
  {
    what: 'an event with another timestamp',
    sql: `UPDATE events SET created_at = created_at + 1 WHERE entity = '${intents.refunded}'`,
    breaks: 'every_transition_has_event',
    of: intents.refunded,
  },
  {
    what: 'an event of a transition that did not happen',
    sql: `INSERT INTO events SELECT 1000, 'evt_x', tenant, 1000, 'payout.failed', entity,
            created_at, settled_at, body, NULL, 'rail' FROM events
            WHERE entity = '${payouts.completed}' AND type = 'payout.completed'`,
    breaks: 'no_orphan_events',
    of: payouts.completed,
  },
  {
    what: 'a failed refund without an event',
    sql: `DELETE FROM events WHERE entity = '${intents.refundFailed}@2'`,
    breaks: 'every_transition_has_event',
    of: intents.refundFailed,
  },
  {
    what: 'a failed refund whose event has another timestamp',
    sql: `UPDATE events SET created_at = created_at + 1
            WHERE entity = '${intents.refundFailed}@2'`,
    breaks: 'every_transition_has_event',
    of: intents.refundFailed,
  },
  {
    what: 'the first of two failed refunds without an event',
    sql: `DELETE FROM events WHERE entity = '${intents.refundFailed}@1'`,
    breaks: 'no_orphan_events',
    of: `${intents.refundFailed}@2`,
  },
  {
    what: 'an event of a refund that did not fail',
    sql: `INSERT INTO events SELECT 1000, 'evt_x', tenant, 1000, type,
            '${intents.captured}@1', created_at, settled_at, body, NULL, 'rail' FROM events
            WHERE entity = '${intents.refundFailed}@1'`,
    breaks: 'no_orphan_events',
    of: `${intents.captured}@1`,
  },
  {
    what: 'a failed refund that its event shows as done',
    sql: `UPDATE events SET body = json_set(body, '$.data.payment_intent.refund.status', 'done')
            WHERE entity = '${intents.refundFailed}@1'`,
    breaks: 'event_bodies_match',
    of: `${intents.refundFailed}@1`,
  },
  {
    what: 'an event of a balance that was not low',
    sql: "UPDATE events SET entity = 'demo_sandbox:VND:prefund@99999' WHERE type = 'balance.low'",
    breaks: 'no_orphan_events',
  },
  {
    what: 'a test event that names another number',
    sql: "UPDATE events SET entity = entity || '0' WHERE type = 'webhook_endpoint.test'",
    breaks: 'no_orphan_events',
  },
  {
    what: 'a disabled endpoint whose event names another one',
    sql: `UPDATE events SET body = json_set(body, '$.data.webhook_endpoint.id', 'we_x')
            WHERE type = 'webhook_endpoint.disabled'`,
    breaks: 'no_orphan_events',
  },
  {
    what: 'an endpoint disabled without an event',
    sql: "UPDATE webhook_endpoints SET status = 'disabled', disabled_at = NULL, times_disabled = 0",
    breaks: 'every_disabling_has_event',
  },
  {
    what: 'an endpoint disabled more often than it has events',
    sql: 'UPDATE webhook_endpoints SET times_disabled = times_disabled + 1',
    breaks: 'every_disabling_has_event',
  },
  {
    what: 'an endpoint disabled at another time than its event',
    sql: 'UPDATE webhook_endpoints SET disabled_at = disabled_at + 1',
    breaks: 'every_disabling_has_event',
  },
  {
    what: 'an endpoint disabled for another reason than its event',
    sql: "UPDATE webhook_endpoints SET status = 'disabled', disabled_reason = 'gone'",
    breaks: 'every_disabling_has_event',
  },
  {
    what: 'a disabled endpoint whose event shows it as enabled',
    sql: `UPDATE events SET body = json_set(body, '$.data.webhook_endpoint.status', 'enabled')
            WHERE type = 'webhook_endpoint.disabled'`,
    breaks: 'event_bodies_match',
  },
  {
    what: 'an event of an unknown type',
    sql: "UPDATE events SET type = 'payment.made' WHERE type = 'webhook_endpoint.test'",
    breaks: 'no_orphan_events',
  },
  {
    what: 'a gap in the sequence',
    sql: `UPDATE events SET sequence = sequence + 1
            WHERE position = (SELECT max(position) FROM events)`,
    breaks: 'sequences_have_no_gap',
  },
  {
    what: 'an event published after its successor',
    sql: 'UPDATE events SET position = position + 1000 WHERE sequence = 3',
    breaks: 'sequences_have_no_gap',
  },
  {
    what: 'another amount in the body of an event',
    sql: `UPDATE events SET body = json_set(body, '$.data.payout.amount', '1')
            WHERE entity = '${payouts.failed}' AND type = 'payout.failed'`,
    breaks: 'event_bodies_match',
    of: payouts.failed,
  },
  {
    what: 'another state in the body of an event',
    sql: `UPDATE events SET body = json_set(body, '$.data.payout.status', 'completed')
            WHERE entity = '${payouts.failed}' AND type = 'payout.failed'`,
    breaks: 'event_bodies_match',
    of: payouts.failed,
  },
  {
    what: 'another price in the body of an event',
    sql: `UPDATE events
            SET body = json_set(body, '$.data.payment_intent.quote.amount_usd_cents', 1)
            WHERE entity = '${intents.captured}' AND type = 'payment_intent.captured'`,
    breaks: 'event_bodies_match',
    of: intents.captured,
  },
  {
    what: 'another debit in the body of an event',
    sql: `UPDATE events
            SET body = json_set(body, '$.data.payment_intent.captured_amount_usd_cents', 1)
            WHERE entity = '${intents.captured}' AND type = 'payment_intent.captured'`,
    breaks: 'event_bodies_match',
    of: intents.captured,
  },
  {
    what: 'a debit in an event before the capture',
    sql: `UPDATE events SET body = json_set(body, '$.data.payment_intent.captured_amount_usd_cents',
                                           body -> '$.data.payment_intent.quote.amount_usd_cents')
            WHERE entity = '${intents.captured}' AND type = 'payment_intent.authorized'`,
    breaks: 'event_bodies_match',
    of: intents.captured,
  },
  {
    what: 'another time in the body of an event',
    sql: `UPDATE events SET body = json_set(body, '$.created_at', '2026-11-21T03:00:00.001Z')
            WHERE entity = '${intents.expired}'`,
    breaks: 'event_bodies_match',
    of: intents.expired,
  },
]
