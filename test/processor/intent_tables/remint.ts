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
  OTHER_TENANT,
  suspended,
  SUSPENDED,
  UNCLEAN,
  UNKNOWN,
  UNSATISFIED,
  UNVERIFIED,
  type Table,
} from './row.js'

export const remint: Table = async (world) => {
  const request = (lifecycle: Lifecycle): Promise<Answer> => lifecycle.remint()
  const terminal = refusal('payment_intent_terminal', 409)
  const closing = { tenant: await openTenant(world, CLOSING, {}, 100_000n) }
  return [
    { name: 'created', request, ...becomes('created') },
    { name: 'scanned', given: scanned, request, ...becomes('created') },
    { name: 'waiting for the rail', given: waiting, request, ...becomes('authorized') },
    { name: 'submitted', given: authorized, request, ...becomes('authorized') },
    ...at({ ...ENDED, overdue }, { request, ...terminal }),
    { name: 'suspended', options: closing, request: suspended(request), ...SUSPENDED },
    {
      name: 'suspended, and paid already',
      options: closing,
      given: authorized,
      request: suspended(request),
      ...becomes('authorized'),
    },
    {
      name: 'terminal, before suspended',
      options: closing,
      given: cancelled,
      request: suspended(request),
      ...terminal,
    },
    { name: 'unknown', request: (lifecycle) => lifecycle.as(UNKNOWN).remint(), ...NOT_FOUND },
    {
      name: "another tenant's",
      request: (lifecycle) => lifecycle.as(OTHER_TENANT).remint(),
      ...NOT_FOUND,
    },
    {
      name: 'another user, before attestations, before terminal',
      given: cancelled,
      request: (lifecycle) => lifecycle.remint({ partner_user_id: 'x', ...UNVERIFIED }),
      ...refusal('user_mismatch', 403),
    },
    {
      name: 'not verified, before terminal',
      given: cancelled,
      request: (lifecycle) => lifecycle.remint(UNVERIFIED),
      ...UNSATISFIED,
    },
    { name: 'not clean', request: (lifecycle) => lifecycle.remint(UNCLEAN), ...UNSATISFIED },
    {
      name: 'no KYC',
      request: (lifecycle) => lifecycle.remint({ kyc_attestation: null }),
      ...UNSATISFIED,
    },
  ]
}
