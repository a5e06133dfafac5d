/** Fees and quotes that no longer follow from the other amounts. */
import { setIn, type Corruptions } from '../corruption.js'

export const amounts: Corruptions = ({ payouts, intents }) => [
  {
    what: 'a fee changed by one',
    sql: setIn('payouts', payouts.completed, '$.fees.rail', "'3301'"),
    breaks: 'payout_amounts_add_up',
    of: payouts.completed,
  },
  {
    what: 'a total that is not a number',
    sql: setIn('payouts', payouts.held, '$.total', "'much'"),
    breaks: 'payout_amounts_add_up',
  },
  {
    what: 'a total changed by one',
    sql: setIn('payouts', payouts.held, '$.total', "'12533301'"),
    breaks: 'payout_amounts_add_up',
    of: payouts.held,
  },
  {
    what: "a quote above the intent's ceiling",
    sql: setIn('intents', intents.created, '$.amountCents', '1'),
    breaks: 'quotes_match_rates',
    of: intents.created,
  },
  {
    what: 'a cent too much in a quote',
    sql: setIn('intents', intents.created, '$.scanned.quote.cents', '1003'),
    breaks: 'quotes_match_rates',
    of: intents.created,
  },
]
