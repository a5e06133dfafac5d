/** The partner's own settings in the OpenAPI document. */
import type { Operations } from '../operation.js'

export const ACCOUNT_OPERATIONS: Operations = {
  'GET /v1/account': {
    id: 'getAccount',
    tag: 'Account',
    summary: 'Get your settings',
    description:
      'Returns what is configured for you in this environment: terms, limits, corridors, keys, ' +
      'source addresses, app packages and balance alerts. Secrets are never shown.',
    answer: 'Account',
    answerText: 'Your settings.',
    errors: [],
  },
}
