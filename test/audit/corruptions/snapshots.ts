/** Payout and intent rows that contradict themselves: columns, timestamps, timers, owners. */
import { setIn, type Corruptions } from '../corruption.js'

export const snapshots: Corruptions = ({ payouts, intents }) => [
  {
    what: 'a timer moved',
    sql: `UPDATE payouts SET due_at = due_at + 1 WHERE id = '${payouts.processing}'`,
    breaks: 'denormalized_columns_match',
    of: payouts.processing,
  },
  {
    what: 'a timer of an intent moved',
    sql: `UPDATE intents SET due_at = due_at + 1 WHERE id = '${intents.created}'`,
    breaks: 'denormalized_columns_match',
    of: intents.created,
  },
  {
    what: 'an entity given to another tenant',
    sql: `UPDATE intents SET tenant = 'other_sandbox' WHERE id = '${intents.captured}'`,
    breaks: 'denormalized_columns_match',
    of: intents.captured,
  },
  {
    what: 'a state without its timestamp',
    sql: `UPDATE payouts SET state = 'completed' WHERE id = '${payouts.processing}'`,
    breaks: 'states_match_timestamps',
    of: payouts.processing,
  },
  {
    what: 'a timestamp without its state',
    sql: setIn('intents', intents.authorized, '$.capturedAt', '1795233600000'),
    breaks: 'states_match_timestamps',
    of: intents.authorized,
  },
  {
    what: 'a timer lost',
    sql: `UPDATE intents SET due_at = NULL, context = json_set(context, '$.wakeAt', NULL)
            WHERE id = '${intents.authorized}'`,
    breaks: 'open_entities_have_timers',
    of: intents.authorized,
  },
  {
    what: 'a timer lost, of a payout',
    sql: `UPDATE payouts SET due_at = NULL, context = json_set(context, '$.wakeAt', NULL)
            WHERE id = '${payouts.processing}'`,
    breaks: 'open_entities_have_timers',
    of: payouts.processing,
  },
  {
    what: 'an intent without a partner',
    sql: `UPDATE intents SET tenant = 'nobody_sandbox',
            context = json_set(context, '$.tenant', 'nobody_sandbox')
            WHERE id = '${intents.expired}'`,
    breaks: 'tenants_are_partners',
    of: intents.expired,
  },
  {
    what: 'a beneficiary given to another tenant',
    sql: `UPDATE beneficiaries SET tenant = 'demo_production' WHERE id =
            (SELECT context ->> '$.beneficiary.id' FROM payouts WHERE id = '${payouts.failed}')`,
    breaks: 'tenants_are_partners',
    of: payouts.failed,
  },
]
