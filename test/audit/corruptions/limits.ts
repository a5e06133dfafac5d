/** Counters of a user's limits that differ from what was confirmed. */
import { breaks, setIn, type Corruptions } from '../corruption.js'

export const limits: Corruptions = ({ intents }) => [
  ...breaks('limits_count_confirmations', {
    'a counter changed by one': `
        UPDATE limit_usage SET used = used - 1
          WHERE key LIKE '["demo_sandbox","maria+unknown%'`,
    'a counter lost': `DELETE FROM limit_usage WHERE key LIKE '["demo_sandbox","user \\"ü\\" 1"%'`,
    'a confirmation counted in another month': [
      setIn('intents', intents.captured, '$.confirmation.monthKey', "'[] 2020-01'"),
      intents.captured,
    ],
  }),
]
