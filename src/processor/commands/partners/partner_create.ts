/**
 * Creates a partner with its first sandbox key.
 *
 * - The same name again is refused: a partner is made once.
 * - A sandbox partner starts with test funds unless told otherwise; production starts with
 *   nothing.
 */
import { tenantOf, type PartnerId } from '../../../base/ids.js'
import { isPartnerId } from '../../../auth/request_shape.js'
import { CORRIDOR_NAMES } from '../../../qr/corridor.js'
import type { Command, CommandContext } from '../../cycle/command.js'
import { stagePartner } from '../../changes/directory.js'
import { depositFunds } from '../../changes/funds.js'
import { answer, refuse } from '../../cycle/answer.js'
import { logAction, type Actor } from '../../changes/operator_log.js'
import { stageNewKey } from './key_issue.js'
import { SANDBOX_FUNDS } from '../funds/sandbox_funds.js'

export function createPartner(actor: Actor, name: string, withFunds: boolean): Command {
  return {
    name: 'create_partner',
    needs: () => undefined,
    decide: (ctx) => {
      if (!isPartnerId(name) || ctx.memory.partners.has(name)) return refuse('invalid_request')

      // From here on it must succeed.
      const key = stageNewPartner(ctx, name, withFunds)
      logAction(ctx, actor, 'create_partner', name)
      return answer({ partner_id: name, sandbox_key: { key_id: key.id, secret: key.secret } })
    },
  }
}

export function stageNewPartner(
  ctx: CommandContext,
  partner: PartnerId,
  withFunds: boolean,
): ReturnType<typeof stageNewKey> {
  const sandbox = tenantOf(partner, 'sandbox')
  stagePartner(ctx, {
    id: partner,
    suspended: false,
    allowedIps: [],
    packages: [],
    corridors: CORRIDOR_NAMES,
    rateLimitPerSecond: 0,
    createdAt: ctx.now,
  })
  if (withFunds) {
    for (const money of SANDBOX_FUNDS) depositFunds(ctx, sandbox, money)
  }
  return stageNewKey(ctx, sandbox)
}
