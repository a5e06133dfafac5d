/** The operators' log: who did what to whom, why, and on what evidence. Written in the commit of the action. */
import type { Desk } from './command.js'

export interface Actor {
  readonly name: string
  readonly reason: string
}

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
