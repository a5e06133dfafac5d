/**
 * Creates a partner with its first sandbox key.
 *
 * - An existing name is refused.
 * - Its corridors are named: a corridor that is added later reaches no partner by itself.
 * - A sandbox partner starts with test funds unless the caller opts out; production starts without
 *   funds.
 */
import { tenantOf, type PartnerId } from '../../../base/ids.js'
import { isPartnerId } from '../../../auth/request_shape.js'
import { THB, USD, VND } from '../../../money/currency.js'
import { money, type Money } from '../../../money/money.js'
import { isCorridor, type Corridor } from '../../../qr/corridor.js'
import type { Command, CommandContext } from '../../cycle/command.js'
import { stagePartner } from '../../changes/directory.js'
import { depositFunds } from '../../changes/funds.js'
import { answer, refuse } from '../../cycle/answer.js'
import { logAction, type Actor } from '../../changes/operator_log.js'
import { stageNewKey } from './key_issue.js'

/** USD 10,000,000.00, THB 10,000,000.00 and VND 1,000,000,000. */
const SANDBOX_FUNDS: readonly Money[] = [
  money(USD, 10_000_000_00n),
  money(THB, 10_000_000_00n),
  money(VND, 1_000_000_000n),
]

export interface NewPartner {
  readonly corridors: readonly string[]
  /** In the sandbox. */
  readonly withFunds: boolean
}

export function createPartner(
  actor: Actor,
  name: string,
  { corridors, withFunds }: NewPartner,
): Command {
  return {
    name: 'create_partner',
    needs: () => undefined,
    decide: (ctx) => {
      if (!isPartnerId(name) || ctx.memory.partners.has(name)) return refuse('invalid_request')
      if (!corridors.every(isCorridor)) return refuse('invalid_request')

      // From here on it must succeed.
      const enabled = [...new Set(corridors)]
      const key = stageNewPartner(ctx, name, { corridors: enabled, withFunds })
      logAction(ctx, actor, 'create_partner', `${name} ${enabled.join(',')}`.trim())
      return answer({ partner_id: name, sandbox_key: { key_id: key.id, secret: key.secret } })
    },
  }
}

export function stageNewPartner(
  ctx: CommandContext,
  partner: PartnerId,
  { corridors, withFunds }: NewPartner & { readonly corridors: readonly Corridor[] },
): ReturnType<typeof stageNewKey> {
  const sandbox = tenantOf(partner, 'sandbox')
  stagePartner(ctx, {
    id: partner,
    suspended: false,
    allowedIps: [],
    packages: [],
    corridors,
    rateLimitPerSecond: 0,
    createdAt: ctx.now,
  })
  if (withFunds) {
    for (const funds of SANDBOX_FUNDS) depositFunds(ctx, sandbox, funds)
  }
  return stageNewKey(ctx, sandbox)
}
