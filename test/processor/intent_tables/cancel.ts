/** Cancellation before submission. */
import { authorized, overdue, scanned, waiting } from '../intent_lifecycle.js'
import {
  at,
  becomes,
  created,
  ENDED,
  NOT_FOUND,
  ofOthers,
  refusal,
  type Request,
  type Table,
} from './row.js'

const cancelled: Request = (lifecycle) => lifecycle.cancel()

export const cancel: Table = () => [
  ...at({ created, scanned, 'waiting for the rail': waiting }, cancelled, becomes('cancelled')),
  ...at(
    { authorized, ...ENDED, overdue },
    cancelled,
    refusal('payment_intent_not_cancelable', 409),
  ),
  ...ofOthers(cancelled, NOT_FOUND),
]
