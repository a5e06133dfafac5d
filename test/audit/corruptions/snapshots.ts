/** Payout and intent rows that contradict themselves: columns, timestamps, timers, owners. */
import { breaks, setIn, type Corruptions } from '../corruption.js'

export const snapshots: Corruptions = ({ payouts, intents }) => [
  ...breaks('denormalized_columns_match', {
    'a timer moved': [
      `UPDATE payouts SET due_at = due_at + 1 WHERE id = '${payouts.processing}'`,
      payouts.processing,
    ],
    'a timer of an intent moved': [
      `UPDATE intents SET due_at = due_at + 1 WHERE id = '${intents.created}'`,
      intents.created,
    ],
    'an entity given to another tenant': [
      `UPDATE intents SET tenant = 'other_sandbox' WHERE id = '${intents.captured}'`,
      intents.captured,
    ],
  }),
  ...breaks('states_match_timestamps', {
    'a state without its timestamp': [
      `UPDATE payouts SET state = 'completed' WHERE id = '${payouts.processing}'`,
      payouts.processing,
    ],
    'a timestamp without its state': [
      setIn('intents', intents.authorized, '$.capturedAt', '1795233600000'),
      intents.authorized,
    ],
  }),
  ...breaks('moments_of_entity_do_not_fall', {
    'a confirmation two minutes before its creation': [
      setIn('intents', intents.captured, '$.createdAt', "(context ->> '$.confirmedAt') + 120000"),
      intents.captured,
    ],
  }),
  ...breaks('open_entities_have_timers', {
    'a timer lost': [
      `UPDATE intents SET due_at = NULL, context = json_set(context, '$.wakeAt', NULL)
        WHERE id = '${intents.authorized}'`,
      intents.authorized,
    ],
    'a timer lost, of a payout': [
      `UPDATE payouts SET due_at = NULL, context = json_set(context, '$.wakeAt', NULL)
        WHERE id = '${payouts.processing}'`,
      payouts.processing,
    ],
    'the end of a review lost': [
      `UPDATE payouts SET due_at = NULL, context = json_set(context, '$.wakeAt', NULL)
        WHERE id = '${payouts.held}'`,
      payouts.held,
    ],
    'a recall that nothing repeats': [
      `UPDATE intents SET context = json_remove(context, '$.recall.refused')
        WHERE id = '${intents.refundFailed}'`,
      intents.refundFailed,
    ],
  }),
  ...breaks('tenants_are_partners', {
    'an intent without a partner': [
      `UPDATE intents SET tenant = 'nobody_sandbox',
        context = json_set(context, '$.tenant', 'nobody_sandbox')
        WHERE id = '${intents.expired}'`,
      intents.expired,
    ],
    'a key of nobody': "UPDATE signing_keys SET tenant = 'nobody_sandbox'",
    'a beneficiary given to another tenant': [
      `UPDATE beneficiaries SET tenant = 'demo_production' WHERE id =
        (SELECT context ->> '$.beneficiary.id' FROM payouts WHERE id = '${payouts.failed}')`,
      payouts.failed,
    ],
  }),
]
