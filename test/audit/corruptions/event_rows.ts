/** Events that are missing, invented, out of order or wrong. */
import { breaks, type Corruptions } from '../corruption.js'

export const events: Corruptions = ({ payouts, intents }) => [
  ...breaks('every_transition_has_event', {
    'an event lost': [
      `DELETE FROM events WHERE entity = '${payouts.reversed}' AND type = 'payout.reversed'`,
      payouts.reversed,
    ],
    'an event with another timestamp': [
      `UPDATE events SET created_at = created_at + 1 WHERE entity = '${intents.refunded}'`,
      intents.refunded,
    ],
    'a failed refund without an event': [
      `DELETE FROM events WHERE entity = '${intents.refundFailed}@2'`,
      intents.refundFailed,
    ],
    'a failed refund whose event has another timestamp': [
      `UPDATE events SET created_at = created_at + 1
        WHERE entity = '${intents.refundFailed}@2'`,
      intents.refundFailed,
    ],
  }),
  ...breaks('no_orphan_events', {
    'an event of a transition that did not happen': [
      `INSERT INTO events SELECT 1000, 'evt_x', tenant, 1000, 'payout.failed', entity,
        created_at, settled_at, body, NULL, 'rail', NULL FROM events
        WHERE entity = '${payouts.completed}' AND type = 'payout.completed'`,
      payouts.completed,
    ],
    'the first of two failed refunds without an event': [
      `DELETE FROM events WHERE entity = '${intents.refundFailed}@1'`,
      `${intents.refundFailed}@2`,
    ],
    'an event of a refund that did not fail': [
      `INSERT INTO events SELECT 1000, 'evt_x', tenant, 1000, type,
        '${intents.captured}@1', created_at, settled_at, body, NULL, 'rail', NULL FROM events
        WHERE entity = '${intents.refundFailed}@1'`,
      `${intents.captured}@1`,
    ],
    'an event of a balance that was not low':
      "UPDATE events SET entity = 'demo_sandbox:VND:prefund@99999' WHERE type = 'balance.low'",
    'a test event that names another number':
      "UPDATE events SET entity = entity || '0' WHERE type = 'webhook_endpoint.test'",
    'a disabled endpoint whose event names another one': `
        UPDATE events SET body = json_set(body, '$.data.webhook_endpoint.id', 'we_x')
        WHERE type = 'webhook_endpoint.disabled'`,
    'an event of an unknown type':
      "UPDATE events SET type = 'payment.made' WHERE type = 'webhook_endpoint.test'",
  }),
  ...breaks('event_bodies_match', {
    'a failed refund that its event shows as done': [
      `UPDATE events SET body = json_set(body, '$.data.payment_intent.refund.status', 'done')
        WHERE entity = '${intents.refundFailed}@1'`,
      `${intents.refundFailed}@1`,
    ],
    'a disabled endpoint whose event shows it as enabled': `
        UPDATE events SET body = json_set(body, '$.data.webhook_endpoint.status', 'enabled')
        WHERE type = 'webhook_endpoint.disabled'`,
    'another amount in the body of an event': [
      `UPDATE events SET body = json_set(body, '$.data.payout.amount', '1')
        WHERE entity = '${payouts.failed}' AND type = 'payout.failed'`,
      payouts.failed,
    ],
    'another state in the body of an event': [
      `UPDATE events SET body = json_set(body, '$.data.payout.status', 'completed')
        WHERE entity = '${payouts.failed}' AND type = 'payout.failed'`,
      payouts.failed,
    ],
    'another quote in the body of an event': [
      `UPDATE events
        SET body = json_set(body, '$.data.payment_intent.quote.amount_usd_cents', 1)
        WHERE entity = '${intents.captured}' AND type = 'payment_intent.captured'`,
      intents.captured,
    ],
    'another debit in the body of an event': [
      `UPDATE events
        SET body = json_set(body, '$.data.payment_intent.captured_amount_usd_cents', 1)
        WHERE entity = '${intents.captured}' AND type = 'payment_intent.captured'`,
      intents.captured,
    ],
    'a debit in an event before the capture': [
      `UPDATE events SET body = json_set(body, '$.data.payment_intent.captured_amount_usd_cents',
                                           body -> '$.data.payment_intent.quote.amount_usd_cents')
        WHERE entity = '${intents.captured}' AND type = 'payment_intent.authorized'`,
      intents.captured,
    ],
    'another time in the body of an event': [
      `UPDATE events SET body = json_set(body, '$.created_at', '2026-11-21T03:00:00.001Z')
        WHERE entity = '${intents.expired}'`,
      intents.expired,
    ],
  }),
  ...breaks('every_disabling_has_event', {
    'an endpoint disabled without an event':
      "UPDATE webhook_endpoints SET status = 'disabled', disabled_at = NULL, times_disabled = 0",
    'an endpoint disabled more often than it has events':
      'UPDATE webhook_endpoints SET times_disabled = times_disabled + 1',
    'an endpoint disabled at another time than its event':
      'UPDATE webhook_endpoints SET disabled_at = disabled_at + 1',
    'an endpoint disabled for another reason than its event':
      "UPDATE webhook_endpoints SET status = 'disabled', disabled_reason = 'gone'",
  }),
  ...breaks('every_announcement_has_event', {
    'dead deliveries announced without an event':
      'UPDATE webhook_endpoints SET dead_announced_at = created_at',
  }),
  ...breaks('sequences_have_no_gap', {
    'a gap in the sequence': `UPDATE events SET sequence = sequence + 1
        WHERE position = (SELECT max(position) FROM events)`,
    'an event published after its successor':
      'UPDATE events SET position = position + 1000 WHERE sequence = 3',
  }),
  ...breaks('moments_of_sequence_do_not_fall', {
    'an event of an hour later than its successors':
      "UPDATE events SET created_at = created_at + 3600000 WHERE type = 'webhook_endpoint.test'",
    'a posting of an hour before its predecessor': `
        UPDATE ledger_entries SET at = at - 3600000
        WHERE posting = (SELECT max(posting) FROM ledger_entries WHERE plan = 'deposit')`,
  }),
]
