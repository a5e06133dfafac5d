/**
 * Debits a tenant's balance with money that is paid back to the partner outside the service.
 *
 * - Only what is available can be withdrawn, so no accepted payment loses its money. A suspended
 *   partner's money can be paid back too.
 * - The same key again with the same withdrawal replays the first answer; with another one it is a
 *   conflict.
 */
import { newId, type TenantId } from '../../../base/ids.js'
import { toWire } from '../../../money/money.js'
import { refusalOfOneOperator } from '../../changes/approval_requests.js'
import { balanceOf } from '../../changes/books.js'
import { refusalOfWithdrawal, withdrawFunds } from '../../changes/funds.js'
import { logAction, type Actor } from '../../changes/operator_log.js'
import { answer, refuse, replay } from '../../cycle/answer.js'
import type { Command } from '../../cycle/command.js'
import { bindKey, boundRow } from '../../cycle/idempotency.js'
import { idempotencyRowKey } from '../../keys/vault.js'
import { fundsIn, hashOf, type WithdrawalRequest } from './withdrawal_request.js'

export function withdraw(actor: Actor, tenant: TenantId, request: WithdrawalRequest): Command {
  const { currency, amount, evidence, idempotencyKey } = request
  const rowKey = idempotencyRowKey(tenant, 'withdraw', idempotencyKey)
  const requestHash = hashOf(request, null)
  return {
    name: 'withdraw',
    needs: (needs) => needs.idempotency(rowKey),
    decide: (ctx) => {
      const known = boundRow(ctx.memory, rowKey)
      if (known) {
        if (known.request_hash !== requestHash) return refuse('idempotency_conflict')
        return replay(JSON.parse(known.response ?? '') as object)
      }
      const given = fundsIn(request)
      if (!given.ok) return given
      const funds = given.value
      const refusal = refusalOfWithdrawal(ctx, tenant, 'withdrawal', funds)
      if (refusal !== null) return refuse(refusal)
      const moved = { tenant, funds }
      const ofOne = refusalOfOneOperator(ctx, actor, {
        operation: 'withdraw',
        arguments: { tenant, currency, amount, idempotency_key: idempotencyKey, evidence },
        subject: `${tenant} ${idempotencyKey}`,
        moved,
      })
      if (ofOne !== null) return ofOne

      // From here on it must succeed.
      const id = newId<string>('withdrawal', ctx.now, ctx.random)
      withdrawFunds(ctx, tenant, { plan: 'withdrawal', amount: funds, entity: id })
      logAction(ctx, actor, 'withdraw', `${tenant} ${id}`, evidence, moved)
      const available = toWire(balanceOf(ctx.memory, tenant, funds.currency, 'prefund'))
      const view = { withdrawal_id: id, available }
      bindKey(ctx, rowKey, { requestHash, entity: id, response: JSON.stringify(view) })
      return answer(view)
    },
  }
}
