/**
 * Maps each command of a gateway to what its operation does, recorded where its entry in src/api
 * says so.
 *
 * - Requests to deliver again are recorded before they are sent to a pool.
 */
import type { Command__Output as WireCommand } from '../../../protos/types/causeway/internal/v1/Command.js'
import type { OperationName } from '../../api/operation.js'
import { OPERATIONS } from '../../api/operations.js'
import type { Instant } from '../../base/clock.js'
import { isIdOf, type TenantId } from '../../base/ids.js'
import { recorded } from '../changes/request_actions.js'
import { checkSession } from '../commands/intents/session_check.js'
import { consumeNonce, unknownOperation } from '../commands/partners/nonce_consume.js'
import type { Command } from '../cycle/command.js'
import type { WebhookPools } from '../queries/webhook_pools.js'
import {
  command,
  type ActionContext,
  type ActionsOf,
  type CommandOperation,
} from './operations/action.js'
import { FUNDING_ACTIONS } from './operations/funding.js'
import { INTENT_ACTIONS } from './operations/intents.js'
import { PAYOUT_ACTIONS } from './operations/payouts.js'
import { WEBHOOK_ACTIONS } from './operations/webhooks.js'

/** An operation without an action does not compile. */
const TYPED: ActionsOf<OperationName> = {
  ...INTENT_ACTIONS,
  ...PAYOUT_ACTIONS,
  ...FUNDING_ACTIONS,
  ...WEBHOOK_ACTIONS,
}

type Action = (message: unknown, ctx: ActionContext) => CommandOperation

const ACTIONS = TYPED as Readonly<Record<OperationName, Action>>

export function operationOf(
  wire: WireCommand,
  now: Instant,
  pools: WebhookPools,
): CommandOperation {
  const tenant = wire.tenant as TenantId
  if (wire.consume_nonce_only) return command(consumeNonce())
  if (wire.operation === 'check_session') return command(checkSession(tenant, wire.check_session!))
  // An unset one is from a newer gateway.
  if (wire.operation === undefined) return command(unknownOperation())
  return actionOf(wire.operation, wire[wire.operation]!, { tenant, now, pools })
}

/** The action of an operation with this message. */
export function actionOf(
  name: OperationName,
  message: object,
  ctx: ActionContext,
): CommandOperation {
  const action = ACTIONS[name](message, ctx)
  const { recordedEntity: entity } = OPERATIONS[name]
  if (entity === undefined) return action
  return { ...action, command: recordedAs(name, entity, message, ctx.tenant, action.command) }
}

function recordedAs(
  action: OperationName,
  entity: string,
  message: object,
  tenant: TenantId,
  command: Command,
): Command {
  const named = (message as Readonly<Record<string, string>>)[entity] ?? ''
  // Events are looked up after the command, so any text can arrive as the id of one.
  if (action === 'resend_event' && !isIdOf('event', named)) return command
  const entityOf = (view: object): string =>
    entity === 'created' ? (view as { readonly id: string }).id : named
  return recorded(command, { tenant, action, entityOf })
}
