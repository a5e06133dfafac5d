/**
 * The sandbox's demo partner: made on first use, with play money; afterwards only named.
 */
import { tenantOf, type PartnerId } from '../../base/ids.js'
import type { Command } from '../cycle/command.js'
import { answer } from '../cycle/answer.js'
import { isActiveKey } from '../memory/directory_entries.js'
import { keysOf, stageNewKey } from './key_issue.js'
import { stageNewPartner } from './partner_create.js'

const DEMO = 'demo' as PartnerId

export function ensureDemo(): Command {
  return {
    name: 'ensure_demo',
    allowedInRecovery: true,
    needs: () => undefined,
    decide: (desk) => {
      const tenant = tenantOf(DEMO, 'sandbox')
      const known = keysOf(desk.memory, tenant)
        .filter((key) => isActiveKey(key, desk.now))
        .sort((one, other) => (one.id < other.id ? -1 : 1))
        .at(-1)
      const isThere = desk.memory.partners.has(DEMO)
      const key = known ?? (isThere ? stageNewKey(desk, tenant) : stageNewPartner(desk, DEMO, true))
      return answer({ partner_id: DEMO, key_id: key.id, signing_secret: key.secret })
    },
  }
}
