/** Re-minting a session token: same user, new attestations, until the payment has ended. */
import type { Answer } from '../../../src/processor/cycle/answer.js'
import {
  authorized,
  cancelled,
  openTenant,
  overdue,
  scanned,
  waiting,
  type Lifecycle,
} from '../intent_lifecycle.js'
import {
  at,
  becomes,
  CLOSING,
  ENDED,
  NOT_FOUND,
  refusal,
  STRANGER,
  suspended,
  SUSPENDED,
  UNCLEAN,
  UNKNOWN,
  UNSATISFIED,
  UNVERIFIED,
  type Table,
} from './row.js'

export const remint: Table = async (world) => {
  const ask = (lifecycle: Lifecycle): Promise<Answer> => lifecycle.remint()
  const terminal = refusal('payment_intent_terminal', 409)
  const closing = { tenant: await openTenant(world, CLOSING, {}, 100_000n) }
  return [
    { name: 'created', ask, ...becomes('created') },
    { name: 'scanned', given: scanned, ask, ...becomes('created') },
    { name: 'waiting for the rail', given: waiting, ask, ...becomes('authorized') },
    { name: 'submitted', given: authorized, ask, ...becomes('authorized') },
    ...at({ ...ENDED, overdue }, { ask, ...terminal }),
    { name: 'suspended', options: closing, ask: suspended(ask), ...SUSPENDED },
    {
      name: 'suspended, and paid already',
      options: closing,
      given: authorized,
      ask: suspended(ask),
      ...becomes('authorized'),
    },
    {
      name: 'terminal, before suspended',
      options: closing,
      given: cancelled,
      ask: suspended(ask),
      ...terminal,
    },
    { name: 'unknown', ask: (lifecycle) => lifecycle.as(UNKNOWN).remint(), ...NOT_FOUND },
    { name: "another tenant's", ask: (lifecycle) => lifecycle.as(STRANGER).remint(), ...NOT_FOUND },
    {
      name: 'another user, before attestations, before terminal',
      given: cancelled,
      ask: (lifecycle) => lifecycle.remint({ partner_user_id: 'x', ...UNVERIFIED }),
      ...refusal('user_mismatch', 403),
    },
    {
      name: 'not verified, before terminal',
      given: cancelled,
      ask: (lifecycle) => lifecycle.remint(UNVERIFIED),
      ...UNSATISFIED,
    },
    { name: 'not clean', ask: (lifecycle) => lifecycle.remint(UNCLEAN), ...UNSATISFIED },
    {
      name: 'no KYC',
      ask: (lifecycle) => lifecycle.remint({ kyc_attestation: null }),
      ...UNSATISFIED,
    },
  ]
}
