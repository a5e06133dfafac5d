/** Another session token: for the same user, attested anew, until the payment has ended. */
import type { Answer } from '../../../src/processor/cycle/answer.js'
import {
  authorized,
  cancelled,
  openTenant,
  overdue,
  scanned,
  waiting,
  type Life,
} from '../intent_life.js'
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
  const ask = (life: Life): Promise<Answer> => life.remint()
  const terminal = refusal('payment_intent_terminal', 409)
  const closing = { tenant: await openTenant(world, CLOSING, {}, 100_000n) }
  return [
    { name: 'created', ask, ...becomes('created') },
    { name: 'scanned', given: scanned, ask, ...becomes('created') },
    { name: 'waiting for the rail', given: waiting, ask, ...becomes('authorized') },
    { name: 'handed over', given: authorized, ask, ...becomes('authorized') },
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
    { name: 'unknown', ask: (life) => life.as(UNKNOWN).remint(), ...NOT_FOUND },
    { name: "another tenant's", ask: (life) => life.as(STRANGER).remint(), ...NOT_FOUND },
    {
      name: 'another user, before attestations, before terminal',
      given: cancelled,
      ask: (life) => life.remint({ partner_user_id: 'x', ...UNVERIFIED }),
      ...refusal('user_mismatch', 403),
    },
    {
      name: 'not verified, before terminal',
      given: cancelled,
      ask: (life) => life.remint(UNVERIFIED),
      ...UNSATISFIED,
    },
    { name: 'not clean', ask: (life) => life.remint(UNCLEAN), ...UNSATISFIED },
    { name: 'no KYC', ask: (life) => life.remint({ kyc_attestation: null }), ...UNSATISFIED },
  ]
}
