/** Counters of a user's limits that differ from what was confirmed. */
import { breaks, setIn, type Corruptions } from '../corruption.js'

const NOBODY = '["demo_sandbox","nobody","th_promptpay"] 2026-11'
const EARLIER = '["demo_sandbox","maria+unknown","th_promptpay"] 2019-11'

export const limits: Corruptions = ({ intents }) => [
  ...breaks('limits_count_confirmations', {
    'a counter changed by one': `
        UPDATE limit_usage SET used = used - 1
          WHERE key LIKE '["demo_sandbox","maria+unknown%'`,
    'a counter lost': `DELETE FROM limit_usage WHERE key LIKE '["demo_sandbox","user \\"ü\\" 1"%'`,
    'a counter of no confirmation': [
      `INSERT INTO limit_usage (key, used) VALUES ('${NOBODY}', 5)`,
      NOBODY,
    ],
    'a counter of a month without confirmations': [
      `INSERT INTO limit_usage (key, used) VALUES ('${EARLIER}', 5)`,
      EARLIER,
    ],
    'a confirmation counted in another month': setIn(
      'intents',
      intents.captured,
      '$.confirmation.monthKey',
      "'[] 2020-01'",
    ),
  }),
]
