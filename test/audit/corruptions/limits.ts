/** Counters of a user's limits that differ from what was confirmed. */
import { setIn, type Corruptions } from '../corruption.js'

export const limits: Corruptions = ({ intents }) => [
  {
    what: 'a counter changed by one',
    sql: `UPDATE limit_usage SET used = used - 1 WHERE key LIKE '["demo_sandbox","maria+unknown%'`,
    breaks: 'limits_count_confirmations',
  },
  {
    what: 'a counter lost',
    sql: `DELETE FROM limit_usage WHERE key LIKE '["demo_sandbox","user \\"ü\\" 1"%'`,
    breaks: 'limits_count_confirmations',
  },
  {
    what: 'a confirmation counted in another month',
    sql: setIn('intents', intents.captured, '$.confirmation.monthKey', "'[] 2020-01'"),
    breaks: 'limits_count_confirmations',
    of: intents.captured,
  },
]
