/** Cancellation before submission. */
import type { Answer } from '../../../src/processor/cycle/answer.js'
import { authorized, overdue, scanned, waiting, type Lifecycle } from '../intent_lifecycle.js'
import { at, becomes, ENDED, NOT_FOUND, refusal, OTHER_TENANT, UNKNOWN, type Table } from './row.js'

export const cancel: Table = () => {
  const request = (lifecycle: Lifecycle): Promise<Answer> => lifecycle.cancel()
  return [
    { name: 'created', request, ...becomes('cancelled') },
    { name: 'scanned', given: scanned, request, ...becomes('cancelled') },
    { name: 'waiting for the rail', given: waiting, request, ...becomes('cancelled') },
    ...at(
      { authorized, ...ENDED, overdue },
      { request, ...refusal('payment_intent_not_cancelable', 409) },
    ),
    { name: 'unknown', request: (lifecycle) => lifecycle.as(UNKNOWN).cancel(), ...NOT_FOUND },
    {
      name: "another tenant's",
      request: (lifecycle) => lifecycle.as(OTHER_TENANT).cancel(),
      ...NOT_FOUND,
    },
  ]
}
