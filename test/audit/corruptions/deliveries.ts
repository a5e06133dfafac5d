/** Deliveries that a webhook pool lost, miscounted or changed. */
import type { Corruptions } from '../corruption.js'

const FIRST_CREATED = "(SELECT min(position) FROM events WHERE type = 'payout.created')"

export const deliveries: Corruptions = ({ payouts }) => [
  {
    what: 'a settled event that the pool has lost',
    file: 'webhooks.db',
    sql: `DELETE FROM events WHERE position = ${FIRST_CREATED}`,
    breaks: 'settled_events_are_final',
    of: payouts.completed,
  },
  {
    what: 'an event settled while its delivery waits',
    sql: `UPDATE events SET settled_at = created_at
            WHERE position = (SELECT max(position) FROM events WHERE settled_at IS NULL
                                AND type <> 'payment_intent.authorized')`,
    breaks: 'settled_events_are_final',
  },
  {
    what: 'an open delivery that is not counted',
    file: 'webhooks.db',
    sql: 'UPDATE events SET open = 0 WHERE open = 1',
    breaks: 'deliveries_are_counted',
  },
  {
    what: 'a delivery without an attempt',
    file: 'webhooks.db',
    sql: `DELETE FROM attempts WHERE status = 200 AND delivery_id =
            (SELECT min(delivery_id) FROM attempts WHERE status = 200)`,
    breaks: 'deliveries_are_counted',
  },
  {
    what: 'a delivery whose attempt was refused',
    file: 'webhooks.db',
    sql: `UPDATE attempts SET status = 500 WHERE delivery_id =
            (SELECT min(delivery_id) FROM attempts WHERE status = 200)`,
    breaks: 'deliveries_are_counted',
  },
  {
    what: 'a delivery due at another time',
    file: 'webhooks.db',
    sql: 'UPDATE deliveries SET due_at = due_at + 1 WHERE due_at IS NOT NULL',
    breaks: 'deliveries_are_counted',
  },
  {
    what: 'a delivery lost',
    file: 'webhooks.db',
    sql: `DELETE FROM deliveries WHERE event_id =
            (SELECT id FROM events WHERE type = 'payout.created'
               ORDER BY position LIMIT 1 OFFSET 2)`,
    breaks: 'deliveries_have_no_gap',
  },
  {
    what: 'a body changed in the pool',
    file: 'webhooks.db',
    sql: `UPDATE events SET body = replace(body, '12500000', '12500001')
            WHERE position = ${FIRST_CREATED}`,
    breaks: 'pool_events_match',
    of: payouts.completed,
  },
  {
    what: 'an outcome reported and not settled',
    sql: `UPDATE events SET settled_at = NULL WHERE position = ${FIRST_CREATED}`,
    breaks: 'pool_events_match',
    of: payouts.completed,
  },
]
