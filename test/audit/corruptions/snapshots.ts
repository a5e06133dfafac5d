/** Payout and intent rows that contradict themselves: columns, timestamps, timers, owners. */
import { breaks, changed, setIn, type Corruptions } from '../corruption.js'

const NO_TIMER = "due_at = NULL, context = json_set(context, '$.wakeAt', NULL)"

export const snapshots: Corruptions = ({ payouts, intents }) => [
  ...breaks('denormalized_columns_match', {
    'a timer moved': changed('payouts', payouts.processing, 'due_at = due_at + 1'),
    'a timer of an intent moved': changed('intents', intents.created, 'due_at = due_at + 1'),
    'an entity given to another tenant': changed(
      'intents',
      intents.captured,
      "tenant = 'other_sandbox'",
    ),
  }),
  ...breaks('states_match_timestamps', {
    'a state without its timestamp': changed('payouts', payouts.processing, "state = 'completed'"),
    'a timestamp without its state': setIn(
      'intents',
      intents.authorized,
      '$.capturedAt',
      '1795233600000',
    ),
  }),
  ...breaks('moments_of_entity_do_not_fall', {
    'a confirmation two minutes before its creation': setIn(
      'intents',
      intents.captured,
      '$.createdAt',
      "(context ->> '$.confirmedAt') + 120000",
    ),
  }),
  ...breaks('open_entities_have_timers', {
    'a timer lost': changed('intents', intents.authorized, NO_TIMER),
    'a timer lost, of a payout': changed('payouts', payouts.processing, NO_TIMER),
    'the end of a review lost': changed('payouts', payouts.held, NO_TIMER),
    'a recall that nothing repeats': changed(
      'intents',
      intents.refundFailed,
      "context = json_remove(context, '$.recall.refused')",
    ),
  }),
  ...breaks('tenants_are_partners', {
    'an intent without a partner': changed(
      'intents',
      intents.expired,
      "tenant = 'nobody_sandbox', context = json_set(context, '$.tenant', 'nobody_sandbox')",
    ),
    'a key of nobody': "UPDATE signing_keys SET tenant = 'nobody_sandbox'",
    'a beneficiary given to another tenant': [
      `UPDATE beneficiaries SET tenant = 'demo_production' WHERE id =
        (SELECT context ->> '$.beneficiary.id' FROM payouts WHERE id = '${payouts.failed}')`,
      payouts.failed,
    ],
  }),
]
