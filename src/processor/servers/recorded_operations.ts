/**
 * The operations whose requests are recorded, each with the entity that it changes.
 *
 * Does not own: the record (changes/request_actions).
 *
 * - Requests to deliver again are recorded before they are sent to a pool.
 */
import type { Command__Output as WireCommand } from '../../../protos/types/causeway/internal/v1/Command.js'
import { isIdOf, type TenantId } from '../../base/ids.js'
import { recorded } from '../changes/request_actions.js'
import type { Command } from '../cycle/command.js'

type EntityOf = (wire: WireCommand, view: object) => string

const created: EntityOf = (_, view) => (view as { readonly id: string }).id

const ENTITY_OF: Readonly<Record<string, EntityOf>> = {
  remint_session: (wire) => wire.remint_session!.intent_id,
  refund_intent: (wire) => wire.refund_intent!.intent_id,
  simulate_payout: (wire) => wire.simulate_payout!.payout_id,
  disable_beneficiary: (wire) => wire.disable_beneficiary!.beneficiary_id,
  create_deposit: created,
  create_fx_conversion: created,
  create_webhook_endpoint: created,
  update_webhook_endpoint: (wire) => wire.update_webhook_endpoint!.endpoint_id,
  delete_webhook_endpoint: (wire) => wire.delete_webhook_endpoint!.endpoint_id,
  enable_webhook_endpoint: (wire) => wire.enable_webhook_endpoint!.endpoint_id,
  disable_webhook_endpoint: (wire) => wire.disable_webhook_endpoint!.endpoint_id,
  rotate_webhook_secret: (wire) => wire.rotate_webhook_secret!.endpoint_id,
  recover_webhook_endpoint: (wire) => wire.recover_webhook_endpoint!.endpoint_id,
  resend_event: (wire) => wire.resend_event!.event_id,
}

/** The command of an operation, recorded when it is one of these. */
export function recordedAs(wire: WireCommand, command: Command): Command {
  const action = wire.operation ?? ''
  const entity = ENTITY_OF[action]
  if (entity === undefined) return command
  // Events are looked up after the command, so any text can arrive as the id of one.
  if (action === 'resend_event' && !isIdOf('event', entity(wire, {}))) return command
  const tenant = wire.tenant as TenantId
  return recorded(command, { tenant, action, entityOf: (view) => entity(wire, view) })
}
