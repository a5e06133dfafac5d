/** Refunds of a captured payment, and their idempotency keys. */
import { viewOf } from '../../support/world.js'
import { authorized, captured, scanned, waiting, type Stage } from '../intent_lifecycle.js'
import {
  at,
  becomes,
  CONFLICT,
  ENDED,
  inTurn,
  NOT_FOUND,
  ofOthers,
  refusal,
  type Request,
  type Table,
} from './row.js'

const OTHERS_KEY = 'a key of another intent'

/** With a key of its own. */
const refundedBy =
  (suffix = ''): Request =>
  (lifecycle) =>
    lifecycle.refund(lifecycle.id + suffix)

const recalled: Stage = async (lifecycle) => {
  await captured(lifecycle)
  viewOf(await lifecycle.refund(lifecycle.id))
}
const returned: Stage = (lifecycle) => lifecycle.returned()
const recallRefused: Stage = (lifecycle) => lifecycle.recallRefused()
const besideAnother: Stage = async (lifecycle) => {
  const other = await lifecycle.another()
  await captured(other)
  viewOf(await other.refund(OTHERS_KEY))
}

export const refund: Table = () => {
  const ok = becomes('captured')
  const unrefundable = refusal('payment_intent_not_refundable', 409)
  const { failed, refunded, cancelled, expired } = ENDED
  const others = { scanned, waiting, authorized, failed, refunded, cancelled, expired }
  return [
    ['captured', captured, refundedBy(), ok],
    ['without a key', captured, (lifecycle) => lifecycle.refund(), ok],
    ['the same key', recalled, refundedBy(), ok],
    ['the same key, refunded', inTurn(recalled, returned), refundedBy(), becomes('refunded')],
    [
      'another key, when the recall was refused',
      inTurn(recalled, recallRefused),
      refundedBy(' again'),
      ok,
    ],
    ['another key, under way', recalled, refundedBy('+'), unrefundable],
    [
      "another intent's key, before the state",
      besideAnother,
      (lifecycle) => lifecycle.refund(OTHERS_KEY),
      CONFLICT,
    ],
    ...at(others, refundedBy(), unrefundable),
    ...ofOthers((lifecycle) => lifecycle.refund('k'), NOT_FOUND),
  ]
}
