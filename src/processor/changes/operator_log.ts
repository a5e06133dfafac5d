/**
 * The operators' log: operator, reason, action, subject and evidence. Written in the commit of the
 * action.
 */
import type { Row } from '../../store/tables.js'
import type { CommandContext } from '../cycle/command.js'

export interface Actor {
  readonly name: string
  readonly reason: string
  /** Another operator's request that this one approves. */
  readonly approves?: Row<'approvalRequests'>
}

const EVIDENCE_MAX = 2_000

/** Whether the text is a usable reference to the evidence. */
export const isEvidence = (text: string): boolean =>
  text.trim() !== '' && text.length <= EVIDENCE_MAX

export function logAction(
  { batch, now, origin }: CommandContext,
  actor: Actor,
  action: string,
  subject: string,
  evidence: string | null = null,
): void {
  batch.stage('operatorLog', `${batch.changes}`, {
    at: now,
    actor: actor.name,
    reason: actor.reason,
    action,
    subject,
    evidence,
    request_id: origin.requestId,
  })
  batch.actions.push({ actor, action, subject, origin })
}
