/**
 * The operators' log: operator, reason, action, subject, evidence, and the money that is moved.
 * Written in the commit of the action.
 */
import { EVIDENCE_MAX } from '../../base/constants.js'
import { invalid } from '../../base/errors.js'
import type { Moved } from '../cache/single_handed_sums.js'
import type { Row } from '../../store/tables.js'
import type { CommandContext } from '../cycle/command.js'

export interface Actor {
  readonly name: string
  readonly reason: string
  /** Another operator's request that this one approves. */
  readonly approves?: Row<'approvalRequests'>
}

/** Whether the text is a usable reference to the evidence. */
export const isEvidence = (text: string): boolean =>
  text.trim() !== '' && text.length <= EVIDENCE_MAX

export const INVALID_EVIDENCE = invalid('/evidence', `must have 1 to ${EVIDENCE_MAX} characters`)

export function logAction(
  { memory, batch, now, origin }: CommandContext,
  actor: Actor,
  action: string,
  subject: string,
  evidence: string | null = null,
  moved: Moved | null = null,
): void {
  if (moved !== null && actor.approves === undefined)
    memory.singleHanded.add(actor.name, moved, now)
  batch.stage('operatorLog', `${batch.changes}`, {
    at: now,
    actor: actor.name,
    reason: actor.reason,
    action,
    subject,
    evidence,
    request_id: origin.requestId,
    tenant: moved?.tenant ?? null,
    currency: moved?.funds.currency ?? null,
    amount: moved?.funds.minor ?? null,
    approval: actor.approves?.id ?? null,
  })
  batch.actions.push({ actor, action, subject, origin })
}
