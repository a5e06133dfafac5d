/** A tenant per test case, with its balance and its users' earlier payments. */
import { instant } from '../../src/base/clock.js'
import { tenantOf, type PartnerId } from '../../src/base/ids.js'
import { limitKeys } from '../../src/limits/usage.js'
import { currencyOf } from '../../src/money/currency.js'
import { money } from '../../src/money/money.js'
import { rememberRate } from '../../src/processor/cache/memory.js'
import type { Command, CommandContext } from '../../src/processor/cycle/command.js'
import { stagePartner } from '../../src/processor/changes/directory.js'
import { depositFunds } from '../../src/processor/changes/funds.js'
import { answer } from '../../src/processor/cycle/answer.js'
import { usageOf, type Model } from './model.js'
import { CORRIDOR_RULES, type CorridorName } from './contract_rules.js'

export const USERS = ['anna', 'boonsri'] as const

export interface Start {
  readonly at: number
  /** USD cents. */
  readonly prefund: bigint
  /** The limit that the first user has nearly reached, and the remainder. */
  readonly nearly: 'none' | 'day' | 'month'
  readonly left: bigint
}

/** Sets up the tenant in the system and in the model. */
export function openTenant(partner: PartnerId, start: Start, model: Model): Command {
  return {
    name: 'open_tenant',
    needs: () => undefined,
    decide: (ctx) => {
      const demo = ctx.memory.partners.get('demo' as PartnerId)
      if (demo === undefined) throw new Error('the demo partner is there')
      stagePartner(ctx, { ...demo, id: partner })
      const tenant = tenantOf(partner, 'sandbox')
      depositFunds(ctx, tenant, money(currencyOf('USD')!, start.prefund))
      for (const [currency, rate] of Object.entries(model.rates)) {
        const row = {
          ...{ currency, rate, set_at: ctx.now, opening_rate: rate, opened_at: ctx.now },
          ...{ actor: 'ann', before_rate: null, removed_at: null },
        }
        rememberRate(ctx.memory, 'sandbox', row)
        ctx.batch.stage('sandboxRates', currency, row)
      }
      for (const corridor of ['th_promptpay', 'vn_vietqr'] as const) {
        useUp(ctx, partner, corridor, start, model)
      }
      return answer({})
    },
  }
}

function useUp(
  ctx: CommandContext,
  partner: PartnerId,
  corridor: CorridorName,
  { at, nearly, left }: Start,
  model: Model,
): void {
  if (nearly === 'none') return
  const { perDay, perMonth } = CORRIDOR_RULES[corridor]
  const [user] = USERS
  const keys = limitKeys(tenantOf(partner, 'sandbox'), user, corridor, instant(at))
  const [day, month] = usageOf(model, user, corridor, at)
  day.used = nearly === 'day' ? perDay - left : 0n
  month.used = nearly === 'month' ? perMonth - left : day.used
  for (const [key, { used }] of [
    [keys.day, day],
    [keys.month, month],
  ] as const) {
    ctx.memory.usage.set(key, used, ctx.batch.number)
    ctx.batch.stage('usage', key, { key, used })
  }
}
