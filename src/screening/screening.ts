/**
 * The port to a screening service, which decides before a payment is accepted.
 *
 * Does not own: when it is asked (processor/cycle/screened_pipeline), what an answer means
 * (processor/commands), the call (client).
 */
import type { ScreenRequest } from '../../protos/types/causeway/screening/v1/ScreenRequest.js'

/** Decisions of a service that a payment is not accepted after. */
export type Rejection = 'compliance_rejected' | 'risk_rejected'
export type Decision = 'pass' | Rejection

/** A decision, or why there is none. */
export type Outcome = Decision | 'late' | 'error' | 'malformed'

export interface Screening {
  /** Never rejects, and settles within the deadline. */
  ask(request: ScreenRequest): Promise<Outcome>
}

const DECISIONS: readonly string[] = ['pass', 'compliance_rejected', 'risk_rejected']

export const isDecision = (text: string): text is Decision => DECISIONS.includes(text)

/** The decision that a sandbox partner requests by its reference. */
export function decisionByReference(reference: string): Decision {
  if (reference === 'sandbox:compliance') return 'compliance_rejected'
  return reference === 'sandbox:risk' ? 'risk_rejected' : 'pass'
}
