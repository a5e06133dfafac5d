/**
 * Records partners' requests whose changes have no other row or event with the request id, for
 * look-ups by that id. Written in the commit of the change.
 *
 * - A refused request and a replay change nothing and are not recorded.
 * - Creating, scanning and confirming payments is not recorded: their rows and events have the
 *   request.
 */
import type { TenantId } from '../../base/ids.js'
import type { Command } from '../cycle/command.js'

export interface RecordedRequest {
  readonly tenant: TenantId
  readonly action: string
  /** The id of the changed entity, from the view in the answer. */
  readonly entityOf: (view: object) => string
}

/** The same command, which records its request when it succeeds. */
export const recorded = (
  command: Command,
  { tenant, action, entityOf }: RecordedRequest,
): Command => ({
  ...command,
  decide: (ctx) => {
    const answer = command.decide(ctx)
    const { requestId } = ctx.origin
    if (!answer.ok || answer.replayed === true || requestId === null) return answer
    const entity = entityOf(answer.view)
    ctx.batch.stage('requestActions', `${requestId} ${action} ${entity}`, {
      request_id: requestId,
      action,
      entity,
      tenant,
      at: ctx.now,
    })
    return answer
  },
})
