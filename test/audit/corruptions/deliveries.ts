/** Deliveries that a webhook pool lost, miscounted or changed. */
import { breaks, breaksIn, type Corruptions } from '../corruption.js'

const inPool = breaksIn('webhooks.db')

const FIRST_CREATED = "(SELECT min(position) FROM events WHERE type = 'payout.created')"

export const deliveries: Corruptions = ({ payouts }) => [
  ...inPool('settled_events_are_final', {
    'a settled event that the pool has lost': [
      `DELETE FROM events WHERE position = ${FIRST_CREATED}`,
      payouts.completed,
    ],
    'a settled test event that the pool has lost':
      "DELETE FROM events WHERE type = 'webhook_endpoint.test'",
  }),
  ...breaks('settled_events_are_final', {
    'an event settled while its delivery waits': `UPDATE events SET settled_at = created_at
        WHERE position = (SELECT max(position) FROM events WHERE settled_at IS NULL
                                AND type <> 'payment_intent.authorized')`,
  }),
  ...inPool('deliveries_are_counted', {
    'an open delivery that is not counted': 'UPDATE events SET open = 0 WHERE open = 1',
    'a delivery without an attempt': `DELETE FROM attempts WHERE status = 200 AND delivery_id =
        (SELECT min(delivery_id) FROM attempts WHERE status = 200)`,
    'a delivery whose attempt was refused': `UPDATE attempts SET status = 500 WHERE delivery_id =
        (SELECT min(delivery_id) FROM attempts WHERE status = 200)`,
    'a delivery due at another time':
      'UPDATE deliveries SET due_at = due_at + 1 WHERE due_at IS NOT NULL',
  }),
  ...inPool('deliveries_have_no_gap', {
    'a delivery lost': `DELETE FROM deliveries WHERE event_id =
        (SELECT id FROM events WHERE type = 'payout.created'
               ORDER BY position LIMIT 1 OFFSET 2)`,
  }),
  ...inPool('pool_events_match', {
    'a body changed in the pool': [
      `UPDATE events SET body = replace(body, '12500000', '12500001')
        WHERE position = ${FIRST_CREATED}`,
      payouts.completed,
    ],
  }),
  ...inPool('deliveries_are_readable', {
    'a context cut short': `UPDATE deliveries SET context = substr(context, 1, 9)
        WHERE id = (SELECT min(id) FROM deliveries WHERE due_at IS NOT NULL)`,
    'a number that is none': `UPDATE deliveries SET context = json_set(context, '$.tries', 'x')
        WHERE id = (SELECT min(id) FROM deliveries WHERE due_at IS NOT NULL)`,
    'fewer tries than attempts': `UPDATE deliveries SET context = json_set(context, '$.tries', 0)
        WHERE id = (SELECT min(id) FROM deliveries WHERE state = 'delivered')`,
  }),
  ...breaks('pool_events_match', {
    'an outcome reported and not settled': [
      `UPDATE events SET settled_at = NULL WHERE position = ${FIRST_CREATED}`,
      payouts.completed,
    ],
  }),
]
