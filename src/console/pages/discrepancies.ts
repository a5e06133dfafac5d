/** Reports of the bank that contradict the books, and their settlement. */
import type { Discrepancy__Output as Discrepancy } from '../../../protos/types/causeway/operator/v1/Discrepancy.js'
import { actions, EVIDENCE } from '../html/action_forms.js'
import { html, type Content } from '../html/html.js'
import { amount, badge, idLink, time } from '../html/parts.js'
import { cursorOf, formContext, type Page, type PageContext } from '../session/page.js'
import { isResolved, listCard, number, resolvedFilter } from './list_card.js'

const SETTLEMENTS = [
  ['keep', 'Keep: its entries stay in suspense'],
  ['undo', 'Undo: post the mirror entry'],
  ['charge_partner', 'Charge the partner, for a payment'],
  ['credit_partner', 'Credit the partner, for a return'],
  ['write_off', 'Write off: our own loss or gain'],
] as const

export const discrepancies: Page = {
  path: '/discrepancies',
  render: async (context) => {
    const resolved = isResolved(context)
    const list = await listCard(context, {
      title: resolved ? 'Settled' : 'Reports that contradict the books',
      call: context.clients.operator.call('ListDiscrepancies', { ...cursorOf(context), resolved }),
      caption: 'Discrepancies, oldest first',
      columns: ['Payment', 'Partner', 'Reason', number('Amount'), 'Since', ''],
      row,
      empty: resolved ? 'Nothing was settled yet.' : 'The bank and the books agree.',
      path: resolved ? '/discrepancies?resolved=yes' : '/discrepancies',
      command: resolved ? 'discrepancy list --resolved' : 'discrepancy list',
    })
    return {
      title: 'Discrepancies',
      body: html`${resolvedFilter('/discrepancies', resolved, ['Open', 'Settled'])} ${list}`,
    }
  },
}

function row(found: Discrepancy, context: PageContext): readonly Content[] {
  const { id, entity, tenant, reason, currency, amount: minor, report, settlement } = found
  return [
    html`${idLink(entity)} <span class="ago id">${id}</span>`,
    tenant ?? 'unknown',
    html`${reason}
      <details class="report">
        <summary>Report of the bank</summary>
        <code>${report}</code>
      </details>`,
    currency === undefined || minor === undefined ? '' : amount(currency, minor),
    time(found.created_at, context.now),
    settlement === undefined
      ? actions(formContext(context, '/discrepancies'), 'decide', [
          {
            ...{ action: 'resolve-discrepancy', title: 'Settle', button: 'Settle it' },
            hidden: { id },
            fields: [{ name: 'settlement', label: 'Settlement', choices: SETTLEMENTS }, EVIDENCE],
          },
        ])
      : badge(settlement),
  ]
}
