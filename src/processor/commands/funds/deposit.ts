/**
 * Credits a tenant's balance with money that arrived outside the service.
 *
 * - The same key again with the same deposit replays the first answer; with another deposit it is a
 *   conflict.
 */
import type { TenantId } from '../../../base/ids.js'
import { currencyOf } from '../../../money/currency.js'
import { money, parsePositiveInt64, toWire } from '../../../money/money.js'
import { refusalOfOneOperator } from '../../changes/approval_requests.js'
import { balanceOf } from '../../changes/books.js'
import type { Command } from '../../cycle/command.js'
import { canDeposit, depositFunds } from '../../changes/funds.js'
import { answer, refuse, replay } from '../../cycle/answer.js'
import { bindKey, boundRow } from '../../cycle/idempotency.js'
import { logAction, type Actor } from '../../changes/operator_log.js'
import { idempotencyRowKey } from '../../keys/vault.js'
import { NO_IDEMPOTENCY_KEY } from './withdrawal_request.js'

export interface DepositRequest {
  readonly currency: string
  /** Minor units. */
  readonly amount: string
  readonly idempotencyKey: string
}

export function deposit(actor: Actor, tenant: TenantId, request: DepositRequest): Command {
  const rowKey = idempotencyRowKey(tenant, 'deposit', request.idempotencyKey)
  const requestHash = `${request.currency} ${request.amount}`
  return {
    name: 'deposit',
    needs: (needs) => needs.idempotency(rowKey),
    decide: (ctx) => {
      const known = boundRow(ctx.memory, rowKey)
      if (known) {
        if (known.request_hash !== requestHash) return refuse('idempotency_conflict')
        return replay(JSON.parse(known.response ?? '') as object)
      }
      const currency = currencyOf(request.currency)
      const amount = parsePositiveInt64(request.amount)
      if (request.idempotencyKey === '') return NO_IDEMPOTENCY_KEY
      if (currency === undefined || amount === undefined) return refuse('invalid_request')
      const funds = money(currency, amount)
      if (!canDeposit(ctx, tenant, funds)) return refuse('balance_limit_exceeded')
      const { idempotencyKey } = request
      const moved = { tenant, funds }
      const refusal = refusalOfOneOperator(ctx, actor, {
        operation: 'deposit',
        arguments: { tenant, currency, amount: request.amount, idempotency_key: idempotencyKey },
        subject: `${tenant} ${idempotencyKey}`,
        moved,
      })
      if (refusal !== null) return refusal

      // From here on it must succeed.
      const depositId = depositFunds(ctx, tenant, funds)
      logAction(ctx, actor, 'deposit', `${tenant} ${depositId}`, null, moved)
      const available = toWire(balanceOf(ctx.memory, tenant, currency, 'prefund'))
      const view = { deposit_id: depositId, available }
      bindKey(ctx, rowKey, { requestHash, entity: depositId, response: JSON.stringify(view) })
      return answer(view)
    },
  }
}
