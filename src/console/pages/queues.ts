/** What waits for a decision: held payouts, orphan executions, unknown outcomes, requests. */
import type { ApprovalRequest__Output as ApprovalRequest } from '../../../protos/types/causeway/operator/v1/ApprovalRequest.js'
import type { HeldPayout__Output as HeldPayout } from '../../../protos/types/causeway/operator/v1/HeldPayout.js'
import type { OrphanRecord__Output as Orphan } from '../../../protos/types/causeway/operator/v1/OrphanRecord.js'
import type { UnknownOutcome__Output as Unknown } from '../../../protos/types/causeway/operator/v1/UnknownOutcome.js'
import { actions, reviewOf } from '../html/action_forms.js'
import { html, NOTHING, type Content, type Html } from '../html/html.js'
import {
  amount,
  badge,
  card,
  commandLine,
  idLink,
  incomplete,
  pager,
  table,
  time,
} from '../html/parts.js'
import {
  cursorOf,
  formContext,
  missingIn,
  part,
  type Page,
  type PageContext,
} from '../session/page.js'

export const review: Page = {
  path: '/review',
  render: async (context) => {
    const { operator, recovery } = context.clients
    const held = operator.call('ListHeldPayouts', cursorOf(context))
    const orphans = recovery.call('ListOrphans', {})
    return {
      title: 'Review queue',
      body: html`
        ${await part(
          'The held payouts',
          held,
          (list) =>
            html`${incomplete(missingIn(list))}
            ${card(
              'Held payouts',
              html`${table({
                caption: 'Payouts held for review, oldest first',
                columns: [
                  'Payout',
                  'Partner',
                  { title: 'Amount', isNumber: true },
                  'To',
                  'Fails',
                  '',
                ],
                rows: list.data.map((each) => heldRow(each, context)),
                empty: 'No payout waits for a decision.',
              })}
              ${pager('/review', list.next_cursor)} ${commandLine('payout held')}`,
            )}`,
        )}
        ${await part('The orphan executions', orphans, (list) =>
          card(
            'Orphan executions',
            html`${table({
              caption: 'Executed or accepted at the bank, but not in the books',
              columns: ['Instruction', { title: 'Amount', isNumber: true }, 'At the bank', 'Holds'],
              rows: list.data.map((each) => orphanRow(each, context)),
              empty: 'The bank has executed nothing that the books lack.',
            })}
            ${commandLine('recovery orphans')}`,
          ),
        )}
      `,
    }
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
  render: async (context) => {
    const list = context.clients.operator.call('ListUnknownOutcomes', cursorOf(context))
    return {
      title: 'Unknown outcomes',
      live: await part(
        'The unknown outcomes',
        list,
        (found) =>
          html`${incomplete(missingIn(found))}
          ${card(
            'Submitted, and not answered by the bank',
            html`${table({
              caption: 'Instructions and recalls without a final outcome, oldest first',
              columns: [
                ...[
                  'Payment',
                  'Partner',
                  { title: 'Amount', isNumber: true },
                  'Since',
                  'Inquiries',
                ],
                'Next inquiry',
              ],
              rows: found.data.map((each) => unknownRow(each, context)),
              empty: 'Every instruction has its final answer.',
            })}
            ${pager('/unknown', found.next_cursor)} ${commandLine('outcomes unknown')}`,
          )}`,
      ),
    }
  },
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
    const resolved = context.query.get('resolved') === 'yes'
    const list = context.clients.approvals.call('List', { resolved })
    return {
      title: 'Second operator',
      body: html`${filters(resolved)}
      ${await part(
        'The requests',
        list,
        (found) =>
          html`${incomplete(missingIn(found))}
          ${card(
            resolved ? 'Decided and expired' : 'Changes that wait for a second operator',
            html`${table({
              caption: 'Requests of operators',
              columns: [
                'Change',
                { title: 'Amount', isNumber: true },
                'Requested',
                'Until',
                'Reason',
                '',
              ],
              rows: found.data.map((each) => requestRow(each, context)),
              empty: resolved ? 'Nothing was requested yet.' : 'Nothing waits for approval.',
            })}
            ${commandLine(resolved ? 'approvals list --resolved' : 'approvals list')}`,
          )}`,
      )}`,
    }
  },
}

const filters = (resolved: boolean): Html =>
  html`<p class="filters">
    <a class="button" href="/approvals" ${resolved ? NOTHING : html`aria-current="true"`}
      >Pending</a
    >
    <a
      class="button"
      href="/approvals?resolved=yes"
      ${resolved ? html`aria-current="true"` : NOTHING}
      >Decided</a
    >
  </p>`

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
