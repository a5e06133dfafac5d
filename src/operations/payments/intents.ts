/** Commands about single intents, and the list of unknown outcomes. */
import type { IntentRecord__Output as IntentRecord } from '../../../protos/types/causeway/operator/v1/IntentRecord.js'
import type { PaymentIntent__Output as PaymentIntent } from '../../../protos/types/causeway/v1/PaymentIntent.js'
import type { UnknownOutcome__Output as UnknownOutcome } from '../../../protos/types/causeway/operator/v1/UnknownOutcome.js'
import { traceIdIn } from '../../base/traceparent.js'
import { actorOf, CHANGE, deciderOf, evidenceOf } from '../cli/actor.js'
import { formatWireAmount } from '../cli/amounts.js'
import { choiceOf, type CliCommand, type Report } from '../cli/command.js'
import { PAGE, page, pageLines, rowOrName } from '../cli/page.js'
import { recordLines, type Fact } from '../cli/terminal.js'
import { unlessArchived } from './archived.js'

export const intentShow: CliCommand = {
  usage: 'intent show INTENT',
  about: 'an intent: details and history',
  run: async (context, [intent_id = '']) => {
    const shown = context.operator.call('ShowIntent', { intent_id })
    const record = await unlessArchived(context, intent_id, shown)
    return { value: record, lines: linesOf(record) }
  },
}

function linesOf(record: IntentRecord): string[] {
  const { intent, timeline, submitted_at: submitted, transaction_id: transaction } = record
  if (record.corrupt) {
    return recordLines(`${intent?.intent_id}: ${intent?.status}, corrupt`, [], timeline)
  }
  const facts: Fact[] = [
    ['tenant', record.tenant],
    ['user', record.partner_user_id],
    ['corridor', intent?.corridor ?? ''],
    ['ceiling', formatWireAmount('USD', String(intent?.amount_usd_cents ?? 0))],
    ['merchant', record.merchant_name ?? ''],
    ['destination', record.destination_masked ?? ''],
    ['submitted', submitted ?? ''],
    ['transaction', transaction ?? ''],
    ['trace', traceIdIn(record.traceparent)],
  ]
  return recordLines(`${intent?.intent_id}: ${intent?.status}`, facts, timeline)
}

export const intentResolve: CliCommand = {
  usage: 'intent resolve INTENT OUTCOME',
  about: 'end an unknown outcome as captured or failed, a recall as refund_failed',
  options: [...CHANGE, 'evidence'],
  run: async (context, [intent_id = '', outcome = '']) => {
    const intent = await context.operator.call('ResolveIntent', {
      actor: deciderOf(context),
      intent_id,
      outcome: choiceOf(outcome, ['captured', 'failed', 'refund_failed']),
      evidence: evidenceOf(context),
    })
    return reportOf(intent)
  },
}

export const intentReverse: CliCommand = {
  usage: 'intent reverse INTENT',
  about: 'record that the money of a captured intent came back',
  options: [...CHANGE, 'evidence'],
  run: async (context, [intent_id = '']) => {
    const reversed = context.operator.call('ReverseIntent', {
      actor: deciderOf(context),
      intent_id,
      evidence: evidenceOf(context),
    })
    return reportOf(await unlessArchived(context, intent_id, reversed))
  },
}

function reportOf(intent: PaymentIntent): Report {
  const refund = intent.refund ? `, refund ${intent.refund.status}` : ''
  return { value: intent, lines: [`${intent.intent_id}: ${intent.status}${refund}`] }
}

export const outcomesInquire: CliCommand = {
  usage: 'outcomes inquire PAYMENT',
  about: 'inquire about a payment or a recall at the rail now',
  options: CHANGE,
  run: async (context, [payment_id = '']) => {
    const actor = actorOf(context, 'sandbox')
    const value = await context.operator.call('Inquire', { actor, payment_id })
    return { value, lines: [`${payment_id}: the inquiry is sent.`] }
  },
}

export const outcomesUnknown: CliCommand = {
  usage: 'outcomes unknown',
  about: 'instructions and recalls without a final outcome, oldest first',
  options: PAGE,
  run: async ({ operator, flags, paint }) => {
    const list = await operator.call('ListUnknownOutcomes', page(flags.cursor))
    const rows = list.data.map(rowOrName(rowOf))
    const late = list.data.filter(({ over_24h }) => over_24h).length
    const alarm = late === 0 ? [] : [paint('bad', `${late} of these for more than 24 hours.`)]
    const listing = { rows, rightAligned: [2], empty: 'There are no unknown outcomes.' }
    return { value: list, lines: [...pageLines(listing, list.next_cursor), ...alarm] }
  },
}

function rowOf({ entity, tenant, currency, amount, kind, ...when }: UnknownOutcome): string[] {
  const inquiries =
    when.asked === 0 ? 'no inquiry yet' : `${when.asked} inquiries, last ${when.last_inquiry_at}`
  return [
    entity,
    tenant,
    formatWireAmount(currency, amount),
    `since ${when.since}`,
    inquiries,
    kind,
  ]
}
