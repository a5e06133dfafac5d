/** Re-minting a session token: same user, new attestations, until the payment has ended. */
import {
  authorized,
  cancelled,
  openTenant,
  overdue,
  scanned,
  waiting,
} from '../intent_lifecycle.js'
import {
  at,
  becomes,
  CLOSING,
  created,
  ENDED,
  NOT_FOUND,
  ofOthers,
  refusal,
  suspended,
  SUSPENDED,
  UNCLEAN,
  UNSATISFIED,
  UNVERIFIED,
  type Request,
  type Table,
} from './row.js'

const reminted =
  (over: object = {}): Request =>
  (lifecycle) =>
    lifecycle.remint(over)

export const remint: Table = async (world) => {
  const submitted = authorized
  const terminal = refusal('payment_intent_terminal', 409)
  const closing = { tenant: await openTenant(world, CLOSING, {}, 100_000n) }
  const whileSuspended = suspended(reminted())
  const ofAnother = reminted({ partner_user_id: 'x', ...UNVERIFIED })
  return [
    ...at({ created, scanned }, reminted(), becomes('created')),
    ...at({ 'waiting for the rail': waiting, submitted }, reminted(), becomes('authorized')),
    ...at({ ...ENDED, overdue }, reminted(), terminal),
    ['suspended', created, whileSuspended, SUSPENDED, closing],
    ['suspended, and paid already', authorized, whileSuspended, becomes('authorized'), closing],
    ['terminal, before suspended', cancelled, whileSuspended, terminal, closing],
    ...ofOthers(reminted(), NOT_FOUND),
    [
      'another user, before attestations, before terminal',
      cancelled,
      ofAnother,
      refusal('user_mismatch', 403),
    ],
    ['not verified, before terminal', cancelled, reminted(UNVERIFIED), UNSATISFIED],
    ['not clean', created, reminted(UNCLEAN), UNSATISFIED],
    ['no KYC', created, reminted({ kyc_attestation: null }), UNSATISFIED],
  ]
}
