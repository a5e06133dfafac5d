/** The result of a command: the public view of the entity, or the error code of a refusal. */
import { refused, type ErrorCode, type Refusal, type Violation } from '../../base/errors.js'

export type Answer =
  | { readonly ok: true; readonly view: object; readonly replayed?: boolean }
  | Refusal
  | ApprovalRequired
  | EqualOrphans

/** The only refusal that changes something: it has stored the request for an approval. */
export interface ApprovalRequired extends Refusal {
  readonly code: 'second_operator_required'
  readonly approvalRequest: string
}

/** The refusal of an approval, with what the operator has to decide on. */
export interface EqualOrphans extends Refusal {
  readonly code: 'orphan_execution_equal'
  /** For operators: the orphan executions that the payment equals. */
  readonly orphans: readonly string[]
}

export const answer = (view: object): Answer => ({ ok: true, view })
export const replay = (view: object): Answer => ({ ok: true, view, replayed: true })
export const refuse = (code: ErrorCode, violation?: Violation): Answer => refused(code, violation)

export type Reply = (answer: Answer) => void
