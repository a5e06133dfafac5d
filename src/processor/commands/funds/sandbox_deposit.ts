/**
 * Test funds: a sandbox partner credits its own balance. In production an operator credits
 * deposits.
 *
 * - The same key again with the same deposit replays the first answer; without a key every call
 *   credits.
 */
import { toRfc3339 } from '../../../base/clock.js'
import { invalid, SANDBOX_ONLY } from '../../../base/errors.js'
import { type TenantId, environmentOf } from '../../../base/ids.js'
import type { CreateDeposit__Output as CreateDeposit } from '../../../../protos/types/causeway/v1/CreateDeposit.js'
import { currencyOf } from '../../../money/currency.js'
import { money, parsePositiveInt64, toWire } from '../../../money/money.js'
import type { Command } from '../../cycle/command.js'
import { isSuspended } from '../../changes/directory.js'
import { canDeposit, depositFunds } from '../../changes/funds.js'
import { answer, refuse, replay } from '../../cycle/answer.js'
import { bindKey, boundRow } from '../../cycle/idempotency.js'
import { idempotencyRowKey } from '../../keys/vault.js'

export function depositSandboxFunds(tenant: TenantId, request: CreateDeposit): Command {
  const key = request.idempotency_key
  const rowKey = key === undefined ? null : idempotencyRowKey(tenant, 'create_deposit', key)
  const requestHash = `${request.currency} ${request.amount}`
  return {
    name: 'create_deposit',
    needs: (needs) => {
      if (rowKey !== null) needs.idempotency(rowKey)
    },
    decide: (ctx) => {
      if (environmentOf(tenant) !== 'sandbox') return SANDBOX_ONLY
      if (key === '') return invalid('header/Idempotency-Key', 'must not be empty')
      const known = rowKey === null ? null : boundRow(ctx.memory, rowKey)
      if (known) {
        if (known.request_hash !== requestHash) return refuse('idempotency_conflict')
        return replay(JSON.parse(known.response ?? '') as object)
      }
      if (isSuspended(ctx.memory, tenant)) return refuse('partner_suspended')
      const currency = currencyOf(request.currency)
      const amount = parsePositiveInt64(request.amount)
      if (currency === undefined) return invalid('/currency', 'must be a known currency')
      if (amount === undefined) return invalid('/amount', 'must be a positive 64-bit integer')
      const funds = money(currency, amount)
      if (!canDeposit(ctx, tenant, funds)) return refuse('balance_limit_exceeded')

      // From here on it must succeed.
      const id = depositFunds(ctx, tenant, funds)
      const view = { id, currency, amount: toWire(amount), created_at: toRfc3339(ctx.now) }
      if (rowKey !== null) {
        bindKey(ctx, rowKey, { requestHash, entity: id, response: JSON.stringify(view) })
      }
      return answer(view)
    },
  }
}
