/**
 * Ensures that the sandbox's demo partner exists: created with test funds on first use, returned
 * afterwards.
 */
import { tenantOf, type PartnerId } from '../../../base/ids.js'
import { CORRIDOR_NAMES } from '../../../qr/corridor.js'
import type { Command } from '../../cycle/command.js'
import { answer } from '../../cycle/answer.js'
import { isActiveKey } from '../../cache/tenant_directory.js'
import { keysOf, stageNewKey } from './key_issue.js'
import { stageNewPartner } from './partner_create.js'

export const DEMO = 'demo' as PartnerId

export function ensureDemo(): Command {
  return {
    name: 'ensure_demo',
    allowedInRecovery: true,
    needs: () => undefined,
    decide: (ctx) => {
      const tenant = tenantOf(DEMO, 'sandbox')
      const known = keysOf(ctx.memory, tenant)
        .filter((key) => isActiveKey(key, ctx.now))
        .sort((one, other) => (one.id < other.id ? -1 : 1))
        .at(-1)
      const isThere = ctx.memory.partners.has(DEMO)
      const create = () =>
        stageNewPartner(ctx, DEMO, { corridors: CORRIDOR_NAMES, withFunds: true })
      const key = known ?? (isThere ? stageNewKey(ctx, tenant) : create())
      return answer({ partner_id: DEMO, key_id: key.id, signing_secret: key.secret })
    },
  }
}
