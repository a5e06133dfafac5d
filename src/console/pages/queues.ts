/** Payments whose outcome is unknown, and changes that wait for a second operator. */
import type { ApprovalRequest__Output as ApprovalRequest } from '../../../protos/types/causeway/operator/v1/ApprovalRequest.js'
import type { UnknownOutcome__Output as Unknown } from '../../../protos/types/causeway/operator/v1/UnknownOutcome.js'
import {
  actions,
  actionsByRole,
  inquireForm,
  resolveForm,
  reviewOf,
  type ActionForm,
} from '../html/action_forms.js'
import { html, NOTHING, type Content, type Html } from '../html/html.js'
import { amount, badge, idLink, linked, time } from '../html/parts.js'
import {
  cursorOf,
  formContext,
  type ConsolePage,
  type PageContext,
} from '../session/console_page.js'
import { isResolved, listCard, number, resolvedFilter, rowOrName } from './list_card.js'

export const unknown: ConsolePage = {
  path: '/unknown',
  render: async (context) => ({
    title: 'Unknown outcomes',
    body: await listCard(context, {
      title: 'Submitted, and not answered by the bank',
      call: context.clients.operator.call('ListUnknownOutcomes', cursorOf(context)),
      caption: 'Instructions and recalls without a final outcome, oldest first',
      columns: ['Payment', number('Amount'), 'Since', 'Last inquiry', 'Next inquiry', ''],
      row: rowOrName(unknownRow),
      empty: 'Every instruction has its final answer.',
      path: '/unknown',
      command: 'outcomes unknown',
    }),
  }),
}

function unknownRow(found: Unknown, context: PageContext): readonly Content[] {
  const { now } = context
  const { entity, tenant, kind, asked } = found
  const late = found.over_24h ? badge('over 24 h', 'bad') : NOTHING
  return [
    html`${idLink(entity)} ${kind === 'recall' ? badge('recall', 'info') : NOTHING}
      <span class="ago line">${tenant}</span>`,
    amount(found.currency, found.amount),
    html`${time(found.since, now)} ${late}`,
    asked === 0
      ? 'none yet'
      : html`${time(found.last_inquiry_at, now)} <span class="ago line">number ${asked}</span>`,
    time(found.next_inquiry_at, now),
    actionsByRole(formContext(context, '/unknown'), [
      ['operate', inquireForm(entity)],
      ['decide', resolveOf(entity, kind)],
    ]),
  ]
}

function resolveOf(entity: string, kind: string): ActionForm {
  if (kind === 'recall') return resolveForm('intent', entity, ['refund_failed'])
  return entity.startsWith('pi_')
    ? resolveForm('intent', entity, ['captured', 'failed'])
    : resolveForm('payout', entity, ['completed', 'failed'])
}

export const approvals: ConsolePage = {
  path: '/approvals',
  render: async (context) => {
    const resolved = isResolved(context)
    const list = await listCard(context, {
      title: resolved ? 'Decided and expired' : 'Changes that wait for a second operator',
      call: context.clients.approvals.call('List', { resolved }),
      caption: 'Requests of operators',
      columns: [
        ...['Change', number('Amount'), 'Requested', 'Until', 'Reason'],
        resolved ? 'Decision' : '',
      ],
      row: rowOrName(requestRow),
      empty: resolved ? 'Nothing was requested yet.' : 'Nothing waits for approval.',
      command: resolved ? 'approvals list --resolved' : 'approvals list',
    })
    return {
      title: 'Second operator',
      body: html`${resolvedFilter('/approvals', resolved, ['Pending', 'Decided'])} ${list}`,
    }
  },
}

/** An operator can only withdraw a request of their own. */
function decisionsOf({ id, requested_by: requester }: ApprovalRequest, context: PageContext): Html {
  const form = formContext(context, '/approvals')
  if (requester !== context.session.name) return actions(form, 'decide', reviewOf('request', id))
  const withdraw: ActionForm = {
    ...{ action: 'reject-request', title: 'Withdraw', button: 'Withdraw it', hidden: { id } },
    about: 'The change is not made.',
    isDangerous: true,
  }
  return html`<p class="hint">Another operator approves it.</p>
    ${actions(form, 'decide', [withdraw])}`
}

function requestRow(request: ApprovalRequest, context: PageContext): readonly Content[] {
  const { id, operation, subject, currency, amount: minor, status } = request
  const { evidence } = JSON.parse(request.arguments) as { readonly evidence?: string }
  const decided =
    request.decided_by === undefined
      ? NOTHING
      : html`by ${request.decided_by}: ${request.decision_reason}`
  return [
    html`<strong>${operation}</strong> <span class="line">${linked(subject)}</span>
      <span class="ago id">${id}</span>`,
    currency === undefined || minor === undefined ? '' : amount(currency, minor),
    html`${request.requested_by}
      <span class="line">${time(request.requested_at, context.now)}</span>`,
    time(request.expires_at, context.now),
    html`${request.reason} <span class="ago line">${evidence}</span>`,
    status === 'pending' ? decisionsOf(request, context) : html`${badge(status)} ${decided}`,
  ]
}
