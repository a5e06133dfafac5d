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
    what: 'a cent too much in a quote',
    sql: setIn('intents', intents.created, '$.scanned.quote.cents', '1003'),
    breaks: 'quotes_follow_their_rate',
    of: intents.created,
  },
]
