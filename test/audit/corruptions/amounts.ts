/** Fees and quotes that no longer follow from the other amounts. */
import { breaks, setIn, type Corruptions } from '../corruption.js'

export const amounts: Corruptions = ({ payouts, intents }) => [
  ...breaks('payout_amounts_add_up', {
    'a fee changed by one': setIn('payouts', payouts.completed, '$.fees.rail', "'3301'"),
    'a total that is not a number': setIn('payouts', payouts.held, '$.total', "'much'")[0],
    'a total changed by one': setIn('payouts', payouts.held, '$.total', "'12533301'"),
  }),
  ...breaks('quotes_match_rates', {
    "a quote above the intent's ceiling": setIn('intents', intents.created, '$.amountCents', '1'),
    'a cent too much in a quote': setIn(
      'intents',
      intents.created,
      '$.scanned.quote.cents',
      '1003',
    ),
  }),
]
