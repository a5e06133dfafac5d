/** Payments that are held until an operator decides, and executions that the books lack. */
import type { HeldIntent__Output as HeldIntent } from '../../../protos/types/causeway/operator/v1/HeldIntent.js'
import type { HeldPayout__Output as HeldPayout } from '../../../protos/types/causeway/operator/v1/HeldPayout.js'
import type { OrphanRecord__Output as Orphan } from '../../../protos/types/causeway/operator/v1/OrphanRecord.js'
import { actions, EVIDENCE, reviewOf, type ActionForm } from '../html/action_forms.js'
import { html, NOTHING, type Content, type Html } from '../html/html.js'
import { agoText, amount, badge, idLink, time } from '../html/parts.js'
import { payeeSummary } from '../html/payee.js'
import {
  cursorOf,
  formContext,
  type ConsolePage,
  type PageContext,
} from '../session/console_page.js'
import { listCard, number, rowOrName } from './list_card.js'

/** Held payouts on a page, each with the payments to the same account. */
const HELD_MAX = 20

export const review: ConsolePage = {
  path: '/review',
  render: async (context) => {
    const { operator, recovery } = context.clients
    const lists = [
      listCard(context, {
        title: 'Held payouts',
        call: operator.call('ListHeldPayouts', {
          ...{ ...cursorOf(context), limit: HELD_MAX, with_payees: true },
        }),
        caption: 'Payouts held for review, oldest first',
        columns: ['Payout', 'To', number('Amount'), 'Others to this account', ''],
        row: heldRow,
        empty: 'No payout waits for a decision.',
        path: '/review',
        command: 'payout held',
      }),
      listCard(context, {
        title: 'Held intents',
        call: recovery.call('ListHeldIntents', {}),
        caption: 'Payment intents held because they equal an orphan execution, oldest first',
        columns: ['Intent', 'To', number('Amount'), 'Equals', ''],
        row: intentRow,
        empty: 'No intent waits for a decision.',
        command: 'intent held',
      }),
      listCard(context, {
        title: 'Orphan executions',
        call: recovery.call('ListOrphans', {}),
        caption: 'Executed or accepted at the bank, but not in the books',
        columns: ['Instruction', number('Amount'), 'At the bank', 'Holds', ''],
        row: rowOrName(orphanRow),
        empty: 'The bank has executed nothing that the books lack.',
        command: 'recovery orphans',
      }),
    ]
    return { title: 'Review queue', body: html`${await Promise.all(lists)}` }
  },
}

interface Held {
  readonly id: string
  readonly tenant: string
  readonly createdAt: string
  /** When it fails without a decision. */
  readonly deadline: string
}

const idCell = ({ id, tenant, createdAt, deadline }: Held, { now }: PageContext): Html =>
  html`${idLink(id)} <span class="ago line">${tenant}</span>
    <span class="ago line">held ${agoText(now - Date.parse(createdAt))}</span>
    <span class="ago line">fails ${time(deadline, now)}</span>`

function heldRow(held: HeldPayout, context: PageContext): readonly Content[] {
  const { payout, tenant, deadline, corrupt, orphan, payee, cause } = held
  if (payout === null) return [idLink(corrupt ?? ''), 'corrupt row', '', '', '']
  const { id, currency, beneficiary, reference, created_at: createdAt } = payout
  const to = html`${beneficiary?.name}
    <span class="ago line">account ending ${beneficiary?.account_last4}</span>
    <span class="ago line">${reference}</span>
    ${orphan === undefined ? NOTHING : html`<span class="line">equals ${idLink(orphan)}</span>`}
    ${cause === undefined ? NOTHING : html`<span class="line">${cause}</span>`}`
  return [
    ...[idCell({ id, tenant, createdAt, deadline }, context), to],
    ...[amount(currency, payout.amount), payeeSummary(payee, context.now)],
    actions(formContext(context, '/review'), 'decide', reviewOf('payout', id)),
  ]
}

function intentRow(held: HeldIntent, context: PageContext): readonly Content[] {
  const { intent_id: id, tenant, created_at: createdAt, currency, orphan, deadline } = held
  const to = html`${held.merchant_name} <span class="ago line">${held.destination_masked}</span>`
  return [
    ...[idCell({ id, tenant, createdAt, deadline }, context), to],
    ...[amount(currency, held.amount), idLink(orphan)],
    actions(formContext(context, '/review'), 'decide', reviewOf('intent', id)),
  ]
}

function orphanRow(orphan: Orphan, context: PageContext): readonly Content[] {
  const { instruction_id: id, reference, account_last4: last4, held } = orphan
  return [
    html`${idLink(id)} <span class="ago line">${reference}</span>`,
    amount(orphan.currency, orphan.amount),
    html`${badge(orphan.state)}
      <span class="line">${time(orphan.executed_at, context.now)}</span>
      <span class="ago line">${last4 === undefined ? '' : `account ending ${last4}`}</span>`,
    held.map((each) => html`<span class="line">${idLink(each)}</span>`),
    actions(formContext(context, '/review'), 'decide', resolutionsOf(id, held)),
  ]
}

const resolutionsOf = (id: string, held: readonly string[]): ActionForm[] => [
  {
    ...{ action: 'match-orphan', title: 'Match', button: 'It paid this payment' },
    about: 'The payment ends as paid, without a submission to the bank.',
    hidden: { id },
    fields: [
      held.length === 0
        ? { name: 'payment', label: 'Held payment', hint: 'pout_… or pi_…' }
        : { name: 'payment', label: 'Held payment', choices: held.map((each) => [each, each]) },
      EVIDENCE,
    ],
    isDangerous: true,
  },
  {
    ...{ action: 'dismiss-orphan', title: 'Dismiss', button: 'It belongs to no payment' },
    about: 'It holds no further payment. Payments that it holds still wait for a decision.',
    hidden: { id },
    fields: [EVIDENCE],
    isDangerous: true,
  },
]
