/** The result of a command: the public view of the entity, or the error code of a refusal. */
import type { ErrorCode } from '../../base/errors.js'

export type Answer =
  | { readonly ok: true; readonly view: object; readonly replayed?: boolean }
  | { readonly ok: false; readonly code: ErrorCode }

export const answer = (view: object): Answer => ({ ok: true, view })
export const replay = (view: object): Answer => ({ ok: true, view, replayed: true })
export const refuse = (code: ErrorCode): Answer => ({ ok: false, code })

export type Reply = (answer: Answer) => void
