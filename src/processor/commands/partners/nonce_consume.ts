/**
 * Calls that do nothing but spend the nonce of their signature, in the cycle and with its next
 * commit.
 */
import type { Command } from '../../cycle/command.js'
import { answer, refuse, type Answer } from '../../cycle/answer.js'

const constant = (name: string, given: Answer): Command => ({
  name,
  allowedInRecovery: true,
  needs: () => undefined,
  decide: () => given,
})

const CONSUME = constant('consume_nonce', answer({}))
const UNKNOWN = constant('unknown_operation', refuse('not_found'))

/** The door refused the call; it answers the caller itself. */
export const consumeNonce = (): Command => CONSUME

/** The gateway speaks of something this processor does not know. */
export const unknownOperation = (): Command => UNKNOWN
