/**
 * What an operation does: its command, and the query that follows it.
 *
 * - A signed list call first consumes its nonce in the cycle; its query runs after that commit.
 */
import type { Command__Output as WireCommand } from '../../../../protos/types/causeway/internal/v1/Command.js'
import type { OperationName } from '../../../api/operation.js'
import type { Instant } from '../../../base/clock.js'
import type { TenantId } from '../../../base/ids.js'
import { consumeNonce } from '../../commands/partners/nonce_consume.js'
import type { Command } from '../../cycle/command.js'
import type { Query } from '../../queries/query.js'
import type { WebhookPools } from '../../queries/webhook_pools.js'

export interface CommandOperation {
  readonly command: Command
  /**
   * The query that runs after the command is committed, given the command's view. Null if the
   * command's answer is the result.
   */
  readonly query: ((view: object) => Query) | null
}

export interface ActionContext {
  readonly tenant: TenantId
  readonly now: Instant
  readonly pools: WebhookPools
}

export type WireMessage<Name extends OperationName> = NonNullable<WireCommand[Name]>

/** Some of the operations, by name: what each does with its message. */
export type ActionsOf<Names extends OperationName> = {
  readonly [Name in Names]: (message: WireMessage<Name>, ctx: ActionContext) => CommandOperation
}

export const command = (of: Command): CommandOperation => ({ command: of, query: null })

/** A query after a command, which by default only consumes the nonce. */
export const query = (of: Query, after: Command = consumeNonce()): CommandOperation => ({
  command: after,
  query: () => of,
})
