/** A payment intent or a payout: details, the state in its machine, history, decisions. */
import type { FoundList__Output as FoundList } from '../../../protos/types/causeway/operator/v1/FoundList.js'
import type { IntentRecord__Output as IntentRecord } from '../../../protos/types/causeway/operator/v1/IntentRecord.js'
import type { PayoutRecord__Output as PayoutRecord } from '../../../protos/types/causeway/operator/v1/PayoutRecord.js'
import { intentMachine } from '../../../actors/intent/machine.js'
import { payoutMachine } from '../../../actors/payout/machine.js'
import { statechartOf } from '../../../actors/statechart.js'
import { instant, toRfc3339 } from '../../base/clock.js'
import { Refused } from '../../operations/calls/calls.js'
import { currencyOfNumber } from '../../money/currency.js'
import {
  actions,
  EVIDENCE,
  resolveForm,
  reviewOf,
  type ActionForm,
  type Kind,
} from '../html/action_forms.js'
import { html, NOTHING, type Html } from '../html/html.js'
import {
  amount,
  badge,
  card,
  commandLine,
  empty,
  facts,
  incomplete,
  isPayment,
  time,
  type Fact,
} from '../html/parts.js'
import { payeeDetails } from '../html/payee.js'
import { statechart } from '../html/statechart.js'
import {
  formContext,
  missingIn,
  part,
  type Content,
  type ConsolePage,
  type PageContext,
} from '../session/console_page.js'
import { noPayment } from './no_payment.js'
import { statesIn, timeline } from './timeline.js'
import { traceLink } from './trace.js'

const INTENT = statechartOf(intentMachine)
const PAYOUT = statechartOf(payoutMachine)
const NOT_FOUND = 'Payment not found'

export const payment: ConsolePage = {
  path: '/payments/:id',
  render: async (context) => {
    const { id } = context
    if (!isPayment(id)) return noPayment(context, NOT_FOUND)
    try {
      return id.startsWith('pi_') ? await intentPage(context) : await payoutPage(context)
    } catch (error) {
      if (!(error instanceof Refused) || !error.code.endsWith('_not_found')) throw error
      return noPayment(context, NOT_FOUND)
    }
  },
}

async function intentPage(context: PageContext): Promise<Content> {
  const call = context.clients.operator.call('ShowIntent', { intent_id: context.id })
  const [record, found] = await Promise.all([call, deliveriesOf(context)])
  const status = record.intent?.status ?? ''
  const all = intentFacts(record, context)
  return pageOf(context, 'intent', intentActions(context, record), {
    ...{ title: 'Payment intent', states: INTENT, status, record, found, facts: all },
  })
}

async function payoutPage(context: PageContext): Promise<Content> {
  const call = context.clients.operator.call('ShowPayout', { payout_id: context.id })
  const [record, found] = await Promise.all([call, deliveriesOf(context)])
  const status = record.payout?.status ?? ''
  const all = payoutFacts(record, context)
  return pageOf(context, 'payout', payoutActions(context, record), {
    ...{ title: 'Payout', states: PAYOUT, status, record, found, facts: all },
  })
}

const pageOf = async (
  context: PageContext,
  kind: Kind,
  decisions: Html,
  about: Shown,
): Promise<Content> => ({
  title: about.title,
  live: shown(context, about),
  body: html`${card('Decide', decisions)} ${await payeeOf(context)}
  ${card('Same in a terminal', commandLine(`${kind} show ${context.id}`))}`,
})

const payeeOf = (context: PageContext): Promise<Html> => {
  const { clients, id, now } = context
  const call = clients.operator.call('ShowPayee', { payment_id: id })
  return part('Who else was paid there', call, (payee) =>
    card(
      'Who else was paid there',
      html`${payeeDetails(payee, now)} ${commandLine(`payee show ${id}`)}`,
    ),
  )
}

/** The history is shown without the deliveries when they are not known. */
const deliveriesOf = ({ clients, id }: PageContext): Promise<FoundList | undefined> =>
  clients.operator.call('Find', { text: id }).catch(() => undefined)

interface Shown {
  readonly title: string
  readonly states: typeof INTENT
  readonly status: string
  readonly record: Pick<IntentRecord | PayoutRecord, 'corrupt' | 'tenant' | 'timeline'>
  readonly found: FoundList | undefined
  readonly facts: readonly Fact[]
}

function shown({ id }: PageContext, { states, status, record, found, facts: all }: Shown): Html {
  const passed = [states[0]?.name ?? '', ...statesIn(record.timeline)]
  const entity = found?.data.find((each) => each.id === id)
  return html`
    <div class="headline">
      <span class="id">${id}</span> ${badge(status)} <span class="tenant">${record.tenant}</span>
    </div>
    ${
      record.corrupt
        ? html`<p class="notice bad" role="alert">
            Its row is corrupt: only its history is known.
          </p>`
        : NOTHING
    }
    ${card('Details', facts(all))} ${card('State', statechart({ states, current: status, passed }))}
    ${card(
      'Timeline',
      html`${found === undefined ? NOTHING : incomplete(missingIn(found))}
      ${
        found === undefined || found.deliveries_unknown
          ? html`<p class="notice warn">
              Deliveries are missing: a webhook pool did not answer, or they are too many.
            </p>`
          : NOTHING
      }
      ${timeline(record.timeline, entity)}`,
      traceLink(id),
    )}
  `
}

function intentFacts(record: IntentRecord, { now }: PageContext): readonly Fact[] {
  const { intent } = record
  if (intent === null) return []
  const { quote, refund, failure } = intent
  const usd = (cents: number | undefined) =>
    cents === undefined ? undefined : amount('USD', String(cents))
  const local = quote ? currencyOfNumber(quote.local_currency) : undefined
  return [
    ['Ceiling', usd(intent.amount_usd_cents)],
    ['Quote', quote && usd(quote.amount_usd_cents)],
    ['Merchant gets', quote && local && amount(local, quote.local_amount_minor_units)],
    ['Debited', usd(intent.captured_amount_usd_cents)],
    ['Refund', refund && html`${usd(refund.amount_usd_cents)} ${badge(refund.status)}`],
    ['Failure', failure && `${failure.code} (${failure.source}): ${failure.message}`],
    ['Corridor', intent.corridor],
    ['Merchant', record.merchant_name],
    ['Destination', record.destination_masked],
    ['User', record.partner_user_id],
    ['Transaction', record.transaction_id],
    ['Created', time(intent.created_at, now)],
    ['Submitted', time(record.submitted_at, now)],
    ['Quote ends', quote && time(toRfc3339(instant(Number(quote.expires_at))), now)],
  ]
}

function payoutFacts(record: PayoutRecord, { now }: PageContext): readonly Fact[] {
  const { payout } = record
  if (payout === null) return []
  const { currency, beneficiary, rail, failure } = payout
  const fees = Object.entries(payout.fee_details)
  return [
    ['Amount', amount(currency, payout.amount)],
    ['Recipient gets', amount(currency, payout.recipient_amount)],
    ['Fee', amount(currency, payout.fee)],
    ...fees.map(([whose, fee]): Fact => [`Fee of ${whose}`, amount(currency, fee)]),
    ['Total', amount(currency, payout.total)],
    [
      'Beneficiary',
      beneficiary && `${beneficiary.name}, account ending ${beneficiary.account_last4}`,
    ],
    ['Failure', failure && `${failure.code} (${failure.source}): ${failure.message}`],
    ['Reference', payout.reference],
    ['Description', payout.description],
    ['Transaction', rail?.transaction_id],
    ['Inquiries', record.asked],
    ['Created', time(payout.created_at, now)],
    ['Submitted', time(record.submitted_at, now)],
    ['Next due', time(record.next_due_at, now)],
  ]
}

/** The processor decides whether one is possible; the page offers those that can be. */
function intentActions(context: PageContext, record: IntentRecord): Html {
  const hidden = { id: context.id }
  const { status = '' } = record.intent ?? {}
  const isSubmitted = record.submitted_at !== undefined
  const forms: ActionForm[] = []
  if (status === 'authorized' && !isSubmitted) forms.push(...reviewOf('intent', hidden.id))
  if (status === 'authorized' && isSubmitted)
    forms.push(resolveForm('intent', hidden.id, ['captured', 'failed']))
  if (status === 'captured') {
    forms.push(reverse('intent', hidden))
    if (record.intent?.refund?.status === 'requested')
      forms.push(resolveForm('intent', hidden.id, ['refund_failed']))
  }
  return offered(context, forms)
}

function payoutActions(context: PageContext, record: PayoutRecord): Html {
  const hidden = { id: context.id }
  const { status = '' } = record.payout ?? {}
  const isSubmitted = record.submitted_at !== undefined
  const forms: ActionForm[] = []
  if (status === 'created' || (status === 'processing' && !isSubmitted)) {
    forms.push(...reviewOf('payout', hidden.id))
  }
  if (status === 'processing' && isSubmitted)
    forms.push(resolveForm('payout', hidden.id, ['completed', 'failed']))
  if (status === 'completed') forms.push(reverse('payout', hidden))
  return offered(context, forms)
}

const offered = (context: PageContext, forms: readonly ActionForm[]): Html =>
  forms.length === 0
    ? empty('There is nothing to decide in this state.')
    : actions(formContext(context, `/payments/${context.id}`), 'decide', forms)

type Hidden = Readonly<Record<string, string>>

const reverse = (kind: Kind, hidden: Hidden): ActionForm => ({
  ...{ action: `reverse-${kind}`, title: 'Reverse', button: 'Record the return', hidden },
  about: 'Record that the money came back without a report of the bank.',
  fields: [EVIDENCE],
  isDangerous: true,
})
