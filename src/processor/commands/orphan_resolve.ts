/**
 * Ends an orphan execution: an operator has found out whose payment it was.
 *
 * - Matched: it is the payment of a held payout or intent, which ends as paid without a submission;
 *   its money is posted as by the rail's own report.
 * - Dismissed: no payment of ours will claim it. Those that are held for it stay held until a
 *   reviewer decides.
 */
import { environmentOf, PREFIX, type TenantId } from '../../base/ids.js'
import { isHeld } from '../../../actors/intent/context.js'
import { advanceIntent } from '../changes/advance_intent.js'
import { advancePayout } from '../changes/advance_payout.js'
import { isEvidence, logAction, type Actor } from '../changes/operator_log.js'
import { orphanView, stageOrphan } from '../changes/orphans.js'
import { answer, refuse } from '../cycle/answer.js'
import type { Command, Desk } from '../cycle/command.js'
import type { Orphan } from '../memory/orphan_index.js'
import { needIntentAndUsage } from './intent_needs.js'

export interface Resolution {
  readonly resolution: string
  /** Of `matched`. */
  readonly paymentId: string | undefined
  readonly evidence: string
}

export function resolveOrphan(
  actor: Actor,
  instruction: string,
  { resolution, paymentId, evidence }: Resolution,
): Command {
  const isMatch = resolution === 'matched'
  const isIntent = paymentId?.startsWith(PREFIX.intent) === true
  return {
    name: 'resolve_orphan',
    needs: (needs, memory) => {
      if (paymentId === undefined) return
      if (isIntent) needIntentAndUsage(needs, memory, paymentId)
      else needs.payout(paymentId)
    },
    decide: (desk) => {
      const isKnown = isMatch || resolution === 'dismissed'
      if (!isKnown || isMatch !== (paymentId !== undefined) || !isEvidence(evidence)) {
        return refuse('invalid_request')
      }
      const orphan = desk.memory.orphans.get(instruction)
      if (orphan === undefined) return refuse('orphan_execution_not_found')
      if (orphan.status !== 'open') return refuse('orphan_execution_resolved')
      const pay = paymentId === undefined ? null : paymentOf(desk, paymentId)
      if (paymentId !== undefined && pay === null) {
        return refuse(isIntent ? 'payment_intent_not_found' : 'payout_not_found')
      }
      if (pay !== null && !pay.fits(orphan)) return refuse('orphan_execution_differs')

      // From here on it must succeed.
      pay?.complete(orphan)
      const resolved: Orphan = {
        ...orphan,
        status: isMatch ? 'matched' : 'resolved',
        matched_to: paymentId ?? null,
        resolved_at: desk.now,
      }
      stageOrphan(desk, resolved)
      logAction(desk, actor, `resolve_orphan_${resolution}`, instruction, evidence)
      return answer({ ...orphanView(resolved), held: [] })
    },
  }
}

interface Payment {
  /** It is held, and it is of this amount. */
  fits(orphan: Orphan): boolean
  complete(orphan: Orphan): void
}

function paymentOf(desk: Desk, id: string): Payment | null {
  return id.startsWith(PREFIX.intent) ? intentOf(desk, id) : payoutOf(desk, id)
}

function intentOf(desk: Desk, id: string): Payment | null {
  const live = desk.memory.intents.get(id)
  if (!live) return null
  const { tenant, scanned } = live.context
  return {
    fits: (orphan) =>
      live.state === 'authorized' &&
      isHeld(live.context) &&
      isOf(orphan, tenant, 'qr_payment') &&
      scanned?.quote.currency === orphan.currency &&
      scanned.quote.localMinor === orphan.amount.toString(),
    complete: ({ transaction_id: transactionId }) =>
      advanceIntent(desk, live, { type: 'executed', at: desk.now, transactionId }),
  }
}

function payoutOf(desk: Desk, id: string): Payment | null {
  const live = desk.memory.payouts.get(id)
  if (!live) return null
  const { tenant, currency, recipientAmount } = live.context
  return {
    fits: (orphan) =>
      live.state === 'created' &&
      isOf(orphan, tenant, 'payout') &&
      currency === orphan.currency &&
      recipientAmount === orphan.amount.toString(),
    complete: ({ transaction_id: transactionId }) => {
      // As with a rail that is away: nothing is submitted.
      advancePayout(desk, live, { type: 'approve', at: desk.now, railUp: false })
      advancePayout(desk, live, { type: 'executed', at: desk.now, transactionId })
    },
  }
}

const isOf = ({ environment, purpose }: Orphan, tenant: TenantId, wanted: string): boolean =>
  (environment === null || environment === environmentOf(tenant)) &&
  (purpose === null || purpose === wanted)
