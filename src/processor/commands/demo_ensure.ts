/**
 * The sandbox's demo partner: made on first use, with play money and the sandbox's rates;
 * afterwards only named.
 */
import { tenantOf, type PartnerId } from '../../base/ids.js'
import { currencyOf } from '../../money/currency.js'
import { parseRate } from '../../money/rate.js'
import type { Command, Desk } from '../cycle/command.js'
import { answer } from '../cycle/answer.js'
import { keysOf, stageNewKey } from './key_issue.js'
import { stageNewPartner } from './partner_create.js'

const DEMO = 'demo' as PartnerId
const SANDBOX_RATES = [
  ['THB', '36.00'],
  ['VND', '26500'],
] as const

export function ensureDemo(): Command {
  return {
    name: 'ensure_demo',
    needs: () => undefined,
    decide: (desk) => {
      const tenant = tenantOf(DEMO, 'sandbox')
      setMissingRates(desk)
      const known = keysOf(desk.memory, tenant)
        .filter((key) => key.revokedAt === null || key.revokedAt > desk.now)
        .sort((one, other) => (one.id < other.id ? -1 : 1))
        .at(-1)
      const isThere = desk.memory.partners.has(DEMO)
      const key = known ?? (isThere ? stageNewKey(desk, tenant) : stageNewPartner(desk, DEMO, true))
      return answer({ partner_id: DEMO, key_id: key.id, signing_secret: key.secret })
    },
  }
}

function setMissingRates({ memory, group, now }: Desk): void {
  for (const [name, text] of SANDBOX_RATES) {
    const currency = currencyOf(name)
    const rate = parseRate(text)
    if (currency === undefined || rate === undefined || memory.rates.has(currency)) continue
    memory.rates.set(currency, { rate, setAt: now })
    group.stage('rates', name, { currency: name, rate: text, set_at: now })
  }
}
