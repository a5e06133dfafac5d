/** Cancellation before submission. */
import type { Answer } from '../../../src/processor/cycle/answer.js'
import { authorized, overdue, scanned, waiting, type Lifecycle } from '../intent_lifecycle.js'
import { at, becomes, ENDED, NOT_FOUND, refusal, STRANGER, UNKNOWN, type Table } from './row.js'

export const cancel: Table = () => {
  const ask = (lifecycle: Lifecycle): Promise<Answer> => lifecycle.cancel()
  return [
    { name: 'created', ask, ...becomes('cancelled') },
    { name: 'scanned', given: scanned, ask, ...becomes('cancelled') },
    { name: 'waiting for the rail', given: waiting, ask, ...becomes('cancelled') },
    ...at(
      { authorized, ...ENDED, overdue },
      { ask, ...refusal('payment_intent_not_cancelable', 409) },
    ),
    { name: 'unknown', ask: (lifecycle) => lifecycle.as(UNKNOWN).cancel(), ...NOT_FOUND },
    { name: "another tenant's", ask: (lifecycle) => lifecycle.as(STRANGER).cancel(), ...NOT_FOUND },
  ]
}
