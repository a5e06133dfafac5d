/**
 * Creates a partner with its first sandbox key.
 *
 * R1. The same name again is refused: a partner is made once.
 * R2. A sandbox partner starts with play money unless told otherwise; production starts with
 *     nothing.
 */
import { tenantOf, type PartnerId } from '../../base/ids.js'
import { isPartnerId } from '../../auth/request_shape.js'
import { CORRIDOR_NAMES } from '../../qr/corridor.js'
import type { Command, Desk } from '../cycle/command.js'
import { stagePartner } from '../changes/directory.js'
import { depositFunds } from '../changes/funds.js'
import { answer, refuse } from '../cycle/answer.js'
import { logAction, type Actor } from '../changes/operator_log.js'
import { stageNewKey } from './key_issue.js'
import { PLAY_MONEY } from './play_money.js'

export function createPartner(actor: Actor, name: string, withFunds: boolean): Command {
  return {
    name: 'create_partner',
    needs: () => undefined,
    decide: (desk) => {
      if (!isPartnerId(name) || desk.memory.partners.has(name)) return refuse('invalid_request')

      // From here on it must succeed.
      const key = stageNewPartner(desk, name, withFunds)
      logAction(desk, actor, 'create_partner', name)
      return answer({ partner_id: name, sandbox_key: { key_id: key.id, secret: key.secret } })
    },
  }
}

export function stageNewPartner(
  desk: Desk,
  partner: PartnerId,
  withFunds: boolean,
): ReturnType<typeof stageNewKey> {
  const sandbox = tenantOf(partner, 'sandbox')
  stagePartner(desk, {
    id: partner,
    suspended: false,
    allowedIps: [],
    packages: [],
    corridors: CORRIDOR_NAMES,
    rateLimitPerSecond: 0,
    createdAt: desk.now,
  })
  if (withFunds) {
    for (const money of PLAY_MONEY) depositFunds(desk, sandbox, money)
  }
  return stageNewKey(desk, sandbox)
}
