/**
 * The operators' log: who did what to whom, why, and on what evidence. Written in the commit of the
 * action.
 */
import type { Desk } from '../cycle/command.js'

export interface Actor {
  readonly name: string
  readonly reason: string
}

const EVIDENCE_MAX = 2_000

/** Says where it can be looked up. */
export const isEvidence = (text: string): boolean =>
  text.trim() !== '' && text.length <= EVIDENCE_MAX

export function logAction(
  { group, now }: Desk,
  actor: Actor,
  action: string,
  subject: string,
  evidence: string | null = null,
): void {
  group.stage('operatorLog', `${group.changes}`, {
    at: now,
    actor: actor.name,
    reason: actor.reason,
    action,
    subject,
    evidence,
  })
}
