/** Commands about single payouts: show, review, resolve, reverse. */
import type { HeldPayout__Output as HeldPayout } from '../../../protos/types/causeway/operator/v1/HeldPayout.js'
import type { Payout__Output as Payout } from '../../../protos/types/causeway/v1/Payout.js'
import type { PayoutRecord__Output as PayoutRecord } from '../../../protos/types/causeway/operator/v1/PayoutRecord.js'
import { traceIdIn } from '../../base/traceparent.js'
import { CHANGE, deciderOf, evidenceOf } from '../cli/actor.js'
import { formatWireAmount } from '../cli/amounts.js'
import { choiceOf, type CliCommand, type Report } from '../cli/command.js'
import { PAGE, page, pageLines } from '../cli/page.js'
import { recordLines, type Fact } from '../cli/terminal.js'
import { unlessArchived } from './archived.js'

export const payoutShow: CliCommand = {
  usage: 'payout show PAYOUT',
  about: 'a payout: details and history',
  run: async (context, [payout_id = '']) => {
    const shown = context.operator.call('ShowPayout', { payout_id })
    const record = await unlessArchived(context, payout_id, shown)
    return { value: record, lines: linesOf(record) }
  },
}

function linesOf({ tenant, payout, timeline, ...record }: PayoutRecord): string[] {
  if (payout === null) return [tenant]
  if (record.corrupt) return recordLines(`${payout.id}: ${payout.status}, corrupt`, [], timeline)
  const { currency, beneficiary, rail, failure } = payout
  const money = (minor: string): string => formatWireAmount(currency, minor)
  const fees = Object.entries(payout.fee_details).map(([whose, fee]) => `${whose} ${money(fee)}`)
  const facts: Fact[] = [
    ['tenant', tenant],
    ['reference', payout.reference],
    ['amount', money(payout.amount)],
    ['fee', `${money(payout.fee)} (${fees.join(', ')})`],
    ['total', money(payout.total)],
    ['recipient gets', money(payout.recipient_amount)],
    ['beneficiary', `${beneficiary?.id} ${beneficiary?.name} ****${beneficiary?.account_last4}`],
    ['submitted', record.submitted_at ?? ''],
    ['inquiries', record.asked === undefined ? '' : String(record.asked)],
    ['transaction', rail?.transaction_id ?? ''],
    ['trace', traceIdIn(record.traceparent)],
    ['failure', failure ? `${failure.code} (${failure.source}): ${failure.message}` : ''],
    ['next due', record.next_due_at ?? ''],
  ]
  return recordLines(`${payout.id}: ${payout.status}`, facts, timeline)
}

export const payoutsHeld: CliCommand = {
  usage: 'payout held',
  about: 'payouts held for review, oldest first',
  options: PAGE,
  run: async ({ operator, flags }) => {
    const list = await operator.call('ListHeldPayouts', page(flags.cursor))
    const rows = list.data.map(heldRow)
    const listing = { rows, rightAligned: [2], empty: 'No payouts are held.' }
    return { value: list, lines: pageLines(listing, list.next_cursor) }
  },
}

function heldRow({ tenant, deadline, payout, corrupt, orphan, cause }: HeldPayout): string[] {
  if (payout === null) return [corrupt ?? '', tenant, '', 'corrupt', '']
  const { id, amount, currency, reference } = payout
  return [
    id,
    tenant,
    formatWireAmount(currency, amount),
    `until ${deadline}`,
    reference,
    whyHeld(orphan, cause),
  ]
}

const whyHeld = (orphan: string | undefined, cause: string | undefined): string =>
  orphan === undefined ? (cause ?? '') : `equals orphan execution ${orphan}`

export const payoutApprove: CliCommand = {
  usage: 'payout approve PAYOUT',
  about: 'approve a held payout',
  options: [...CHANGE, 'other-than'],
  run: async (context, [payout_id = '']) =>
    reportOf(
      await context.operator.call('ApprovePayout', {
        actor: deciderOf(context),
        payout_id,
        other_than: [...(context.flags['other-than'] ?? [])],
      }),
    ),
}

export const payoutReject: CliCommand = {
  usage: 'payout reject PAYOUT',
  about: 'fail a held payout and release its reservation',
  options: CHANGE,
  run: async (context, [payout_id = '']) =>
    reportOf(await context.operator.call('RejectPayout', { actor: deciderOf(context), payout_id })),
}

export const payoutResolve: CliCommand = {
  usage: 'payout resolve PAYOUT OUTCOME',
  about: 'end an unknown outcome as completed or failed',
  options: [...CHANGE, 'evidence'],
  run: async (context, [payout_id = '', outcome = '']) =>
    reportOf(
      await context.operator.call('ResolvePayout', {
        actor: deciderOf(context),
        payout_id,
        outcome: choiceOf(outcome, ['completed', 'failed']),
        evidence: evidenceOf(context),
      }),
    ),
}

export const payoutReverse: CliCommand = {
  usage: 'payout reverse PAYOUT',
  about: 'record that the money of a completed payout came back',
  options: [...CHANGE, 'evidence'],
  run: async (context, [payout_id = '']) => {
    const reversed = context.operator.call('ReversePayout', {
      actor: deciderOf(context),
      payout_id,
      evidence: evidenceOf(context),
    })
    return reportOf(await unlessArchived(context, payout_id, reversed))
  },
}

function reportOf(payout: Payout): Report {
  const { id, status, amount, currency } = payout
  return { value: payout, lines: [`${id} ${formatWireAmount(currency, amount)}: ${status}`] }
}
