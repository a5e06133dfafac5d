/**
 * Accepts a payout: freezes its beneficiary and fees, reserves its total and submits it to the
 * rail.
 *
 * - The same key with the same input replays the first answer byte for byte, whatever happened
 *   since to the payout, the beneficiary or the fees. A refusal does not bind the key.
 * - Checks run in the order of `payout_check`; a refusal changes nothing.
 * - `created` and `processing` are two transitions with an event each, in one commit. A held payout
 *   stays `created`.
 * - A payout on which the screening service has not answered is held, with that cause.
 * - A payout that matches an orphan execution is held: it is not submitted before an operator
 *   decides.
 */
import type { TenantId } from '../../../base/ids.js'
import { accountKey } from '../../../ledger/accounts.js'
import type { CreatePayout__Output as CreatePayout } from '../../../../protos/types/causeway/v1/CreatePayout.js'
import { payoutTransitions } from '../../../../actors/payout/machine.js'
import { payoutView } from '../../../../actors/payout/view.js'
import { advancePayout, publishPayout, stagePayout } from '../../changes/advance_payout.js'
import { withLowBalance } from '../../changes/balance_alerts.js'
import { stageBeneficiary, type BeneficiaryRow } from '../../changes/beneficiaries.js'
import { postPayout } from '../../changes/books.js'
import { maySubmit } from '../../changes/payment_rail.js'
import { beneficiaryAccountField, openedFor } from '../../changes/rail_instructions.js'
import { questionOnPayout, screeningId, verdictOn } from '../../changes/screening.js'
import { recordTransition } from '../../changes/transitions.js'
import { answer, refuse, replay } from '../../cycle/answer.js'
import type { Command, CommandContext } from '../../cycle/command.js'
import { bindKey, boundRow } from '../../cycle/idempotency.js'
import { idempotencyRowKey } from '../../keys/vault.js'
import { checkPayout, checkTerms, hintOf } from './payout_check.js'
import { hashedParts, trimmed } from './payout_context.js'

export function createPayout(tenant: TenantId, given: CreatePayout): Command {
  const request = trimmed(given)
  const rowKey = idempotencyRowKey(tenant, 'create_payout', request.idempotency_key)
  const beneficiaryId = request.beneficiary_id ?? null
  const requestHashOf = ({ vault }: CommandContext): string =>
    vault.hashRequest(hashedParts(request))
  const screeningIdOf = (ctx: CommandContext): string =>
    screeningId(ctx, [rowKey, requestHashOf(ctx)])

  return {
    name: 'create_payout',

    needs: (needs) => {
      needs.idempotency(rowKey)
      if (beneficiaryId !== null) needs.beneficiary(beneficiaryId)
    },

    screened: {
      ...{ purpose: 'payout', order: rowKey },
      request: (ctx) => {
        if (boundRow(ctx.memory, rowKey)) return null
        const checked = checkTerms(ctx, tenant, request)
        if (!checked.ok) return null
        const { beneficiary } = checked.value
        return questionOnPayout(ctx, screeningIdOf(ctx), tenant, request, beneficiary)
      },
    },

    decide: (ctx) => {
      const { memory } = ctx
      const requestHash = requestHashOf(ctx)
      const known = boundRow(memory, rowKey)
      if (known) {
        if (known.request_hash !== requestHash) return refuse('duplicate_payout')
        return replay(JSON.parse(known.response ?? '') as object)
      }

      const screened = verdictOn(ctx, () => screeningIdOf(ctx))
      const checked = checkPayout(ctx, tenant, request, screened)
      if (!checked.ok) return checked
      const account = checked.isNew ? null : storedAccount(ctx, checked.beneficiary)

      // From here on it must succeed.
      const { beneficiary, isNew, context, held } = checked
      if (isNew) stageBeneficiary(ctx, beneficiary)
      const live = { state: payoutTransitions.initial, context }
      const post = (): void => postPayout(ctx, context, 'payout_accepted')
      if (hintOf(tenant, request) === 'sandbox:balance_low') {
        withLowBalance(ctx, accountKey(tenant, context.currency, 'prefund'), post)
      } else post()
      publishPayout(ctx, live, 'payout.created')
      recordTransition(ctx, live, null)
      if (held) stagePayout(ctx, live)
      else {
        const isSubmitted = maySubmit(ctx, context)
        advancePayout(ctx, live, { type: 'approve', at: ctx.now, railUp: isSubmitted }, account)
      }
      const view = payoutView(live.state, live.context, ctx.rules.brand)
      const response = JSON.stringify(view)
      bindKey(ctx, rowKey, { requestHash, entity: context.id, response })
      return answer(view)
    },
  }
}

/** @throws CorruptRow before anything has changed, because the instruction needs the number */
function storedAccount(
  { vault }: CommandContext,
  { id, sealed_account: sealed }: BeneficiaryRow,
): string {
  return openedFor(id, () => vault.openAccount(sealed, beneficiaryAccountField(id)))
}
