/**
 * Takes back what a deposit credited by mistake: all of it or a part.
 *
 * - The corrections of a deposit never exceed it, and only what is available can be taken back. A
 *   suspended partner's deposit can be corrected too.
 * - A correction is posted under the id of its deposit.
 * - The same key again with the same correction replays the first answer; with another one it is a
 *   conflict.
 */
import { invalid } from '../../../base/errors.js'
import type { TenantId } from '../../../base/ids.js'
import { accountKey } from '../../../ledger/accounts.js'
import { toWire, type Money } from '../../../money/money.js'
import type { DepositSums } from '../../cache/deposit_sums.js'
import { refusalOfOneOperator } from '../../changes/approval_requests.js'
import { balanceOf } from '../../changes/books.js'
import { refusalOfWithdrawal, withdrawFunds } from '../../changes/funds.js'
import { logAction, type Actor } from '../../changes/operator_log.js'
import { answer, refuse, replay, type Answer } from '../../cycle/answer.js'
import type { Command, CommandContext } from '../../cycle/command.js'
import { bindKey, boundRow } from '../../cycle/idempotency.js'
import { idempotencyRowKey } from '../../keys/vault.js'
import { fundsIn, hashOf, type WithdrawalRequest } from './withdrawal_request.js'

const PLAN = 'deposit_corrected'

export function correctDeposit(
  actor: Actor,
  tenant: TenantId,
  id: string,
  request: WithdrawalRequest,
): Command {
  const { currency, amount, evidence, idempotencyKey } = request
  const rowKey = idempotencyRowKey(tenant, 'correct_deposit', idempotencyKey)
  const requestHash = hashOf(request, id)
  return {
    name: 'correct_deposit',
    needs: (needs) => {
      needs.idempotency(rowKey)
      needs.deposit(id)
    },
    decide: (ctx) => {
      const known = boundRow(ctx.memory, rowKey)
      if (known) {
        if (known.request_hash !== requestHash) return refuse('idempotency_conflict')
        return replay(JSON.parse(known.response ?? '') as object)
      }
      const given = fundsIn(request)
      if (!given.ok) return given
      const funds = given.value
      const deposit = ctx.memory.deposits.get(id)
      if (!deposit?.account.startsWith(`${tenant}:`)) return refuse('deposit_not_found')
      const refusal = refusalOf(ctx, tenant, deposit, funds)
      if (refusal !== null) return refusal
      const moved = { tenant, funds }
      const named = { tenant, deposit_id: id, currency, amount }
      const ofOne = refusalOfOneOperator(ctx, actor, {
        operation: 'correct_deposit',
        arguments: { ...named, idempotency_key: idempotencyKey, evidence },
        subject: `${tenant} ${id}`,
        moved,
      })
      if (ofOne !== null) return ofOne

      // From here on it must succeed.
      withdrawFunds(ctx, tenant, { plan: PLAN, amount: funds, entity: id })
      const corrected = deposit.corrected + funds.minor
      ctx.memory.deposits.set(id, { ...deposit, corrected }, ctx.batch.number)
      logAction(ctx, actor, 'correct_deposit', `${tenant} ${id}`, evidence, moved)
      const available = toWire(balanceOf(ctx.memory, tenant, funds.currency, 'prefund'))
      const view = { deposit_id: id, corrected: toWire(corrected), available }
      bindKey(ctx, rowKey, { requestHash, entity: id, response: JSON.stringify(view) })
      return answer(view)
    },
  }
}

const OTHER_CURRENCY = invalid('/currency', 'must be that of the deposit')

function refusalOf(
  ctx: CommandContext,
  tenant: TenantId,
  { account, credited, corrected }: DepositSums,
  funds: Money,
): Answer | null {
  if (account !== accountKey(tenant, funds.currency, 'prefund')) return OTHER_CURRENCY
  if (corrected + funds.minor > credited) return refuse('correction_exceeds_deposit')
  const refusal = refusalOfWithdrawal(ctx, tenant, PLAN, funds)
  return refusal === null ? null : refuse(refusal)
}
