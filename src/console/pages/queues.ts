/** What waits for a decision: held payouts, orphan executions, unknown outcomes, requests. */
import type { ApprovalRequest__Output as ApprovalRequest } from '../../../protos/types/causeway/operator/v1/ApprovalRequest.js'
import type { HeldPayout__Output as HeldPayout } from '../../../protos/types/causeway/operator/v1/HeldPayout.js'
import type { OrphanRecord__Output as Orphan } from '../../../protos/types/causeway/operator/v1/OrphanRecord.js'
import type { UnknownOutcome__Output as Unknown } from '../../../protos/types/causeway/operator/v1/UnknownOutcome.js'
import { actions, reviewOf } from '../html/action_forms.js'
import { html, NOTHING, type Content } from '../html/html.js'
import { amount, badge, idLink, time } from '../html/parts.js'
import { cursorOf, formContext, type Page, type PageContext } from '../session/page.js'
import { isResolved, listCard, number, resolvedFilter } from './list_card.js'

export const review: Page = {
  path: '/review',
  render: async (context) => {
    const { operator, recovery } = context.clients
    const held = listCard(context, {
      title: 'Held payouts',
      call: operator.call('ListHeldPayouts', cursorOf(context)),
      caption: 'Payouts held for review, oldest first',
      columns: ['Payout', 'Partner', number('Amount'), 'To', 'Fails', ''],
      row: heldRow,
      empty: 'No payout waits for a decision.',
      path: '/review',
      command: 'payout held',
    })
    const orphans = listCard(context, {
      title: 'Orphan executions',
      call: recovery.call('ListOrphans', {}),
      caption: 'Executed or accepted at the bank, but not in the books',
      columns: ['Instruction', number('Amount'), 'At the bank', 'Holds'],
      row: orphanRow,
      empty: 'The bank has executed nothing that the books lack.',
      command: 'recovery orphans',
    })
    return { title: 'Review queue', body: html`${await held} ${await orphans}` }
  },
}

function heldRow(held: HeldPayout, context: PageContext): readonly Content[] {
  const { payout, tenant, deadline, corrupt, orphan } = held
  if (payout === null) return [idLink(corrupt ?? ''), tenant, '', 'corrupt row', '', '']
  const { id, currency, beneficiary, reference } = payout
  const to = html`${beneficiary?.name}
    <span class="ago">${reference}</span>
    ${orphan === undefined ? NOTHING : html`<span class="line">equals ${idLink(orphan)}</span>`}`
  return [
    ...[idLink(id), tenant, amount(currency, payout.amount), to, time(deadline, context.now)],
    actions(formContext(context, '/review'), 'decide', reviewOf('payout', id)),
  ]
}

function orphanRow(orphan: Orphan, { now }: PageContext): readonly Content[] {
  const account = orphan.account_last4 === undefined ? '' : `account ending ${orphan.account_last4}`
  return [
    html`${idLink(orphan.instruction_id)} <span class="ago">${orphan.reference}</span>`,
    amount(orphan.currency, orphan.amount),
    html`${badge(orphan.state)} ${time(orphan.executed_at, now)}
      <span class="ago">${account}</span>`,
    orphan.held.map((id) => html`<span class="line">${idLink(id)}</span>`),
  ]
}

export const unknown: Page = {
  path: '/unknown',
  render: async (context) => ({
    title: 'Unknown outcomes',
    live: await listCard(context, {
      title: 'Submitted, and not answered by the bank',
      call: context.clients.operator.call('ListUnknownOutcomes', cursorOf(context)),
      caption: 'Instructions and recalls without a final outcome, oldest first',
      columns: ['Payment', 'Partner', number('Amount'), 'Since', 'Inquiries', 'Next inquiry'],
      row: unknownRow,
      empty: 'Every instruction has its final answer.',
      path: '/unknown',
      command: 'outcomes unknown',
    }),
  }),
}

function unknownRow(found: Unknown, { now }: PageContext): readonly Content[] {
  const { entity, tenant, kind, asked } = found
  const late = found.over_24h ? badge('over 24 h', 'bad') : NOTHING
  return [
    html`${idLink(entity)} ${kind === 'recall' ? badge('recall', 'info') : NOTHING}`,
    tenant,
    amount(found.currency, found.amount),
    html`${time(found.since, now)} ${late}`,
    asked === 0 ? 'none yet' : html`${asked}, last ${time(found.last_inquiry_at, now)}`,
    time(found.next_inquiry_at, now),
  ]
}

export const approvals: Page = {
  path: '/approvals',
  render: async (context) => {
    const resolved = isResolved(context)
    const list = await listCard(context, {
      title: resolved ? 'Decided and expired' : 'Changes that wait for a second operator',
      call: context.clients.approvals.call('List', { resolved }),
      caption: 'Requests of operators',
      columns: ['Change', number('Amount'), 'Requested', 'Until', 'Reason', ''],
      row: requestRow,
      empty: resolved ? 'Nothing was requested yet.' : 'Nothing waits for approval.',
      command: resolved ? 'approvals list --resolved' : 'approvals list',
    })
    return {
      title: 'Second operator',
      body: html`${resolvedFilter('/approvals', resolved, ['Pending', 'Decided'])} ${list}`,
    }
  },
}

function requestRow(request: ApprovalRequest, context: PageContext): readonly Content[] {
  const { id, operation, subject, currency, amount: minor, status } = request
  const { evidence } = JSON.parse(request.arguments) as { readonly evidence?: string }
  const decided =
    request.decided_by === undefined
      ? NOTHING
      : html`by ${request.decided_by}: ${request.decision_reason}`
  return [
    html`<strong>${operation}</strong> ${subject} <span class="ago id">${id}</span>`,
    currency === undefined || minor === undefined ? '' : amount(currency, minor),
    html`${request.requested_by} ${time(request.requested_at, context.now)}`,
    time(request.expires_at, context.now),
    html`${request.reason} <span class="ago">${evidence}</span>`,
    status === 'pending'
      ? actions(formContext(context, '/approvals'), 'decide', reviewOf('request', id))
      : html`${badge(status)} ${decided}`,
  ]
}
