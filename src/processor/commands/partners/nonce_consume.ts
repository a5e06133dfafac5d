/**
 * Commands that only consume the nonce of a signed call, in the pipeline and with its next commit.
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

/** For a call that the gateway refuses and answers itself, and for queries outside the pipeline. */
export const consumeNonce = (): Command => CONSUME

/** For an operation of a newer gateway that this processor does not have. */
export const unknownOperation = (): Command => UNKNOWN
