/** Reports of the bank that contradict the books, and their settlement. */
import type { Discrepancy__Output as Discrepancy } from '../../../protos/types/causeway/operator/v1/Discrepancy.js'
import { actions, EVIDENCE } from '../html/action_forms.js'
import { html, NOTHING, type Content } from '../html/html.js'
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
    const resolved = context.query.get('resolved') === 'yes'
    const request = { ...cursorOf(context), resolved }
    const list = context.clients.operator.call('ListDiscrepancies', request)
    const own = resolved ? '/discrepancies?resolved=yes' : '/discrepancies'
    return {
      title: 'Discrepancies',
      body: html`
        <p class="filters">
          <a class="button" href="/discrepancies" ${resolved ? NOTHING : html`aria-current="true"`}
            >Open</a
          >
          <a
            class="button"
            href="/discrepancies?resolved=yes"
            ${resolved ? html`aria-current="true"` : NOTHING}
            >Settled</a
          >
        </p>
        ${await part(
          'The discrepancies',
          list,
          (found) =>
            html`${incomplete(missingIn(found))}
            ${card(
              resolved ? 'Settled' : 'The bank and the books differ',
              html`${table({
                caption: 'Discrepancies, oldest first',
                columns: [
                  'Payment',
                  'Partner',
                  'Reason',
                  { title: 'Amount', isNumber: true },
                  'Since',
                  '',
                ],
                rows: found.data.map((each) => row(each, context)),
                empty: resolved ? 'Nothing was settled yet.' : 'The bank and the books agree.',
              })}
              ${pager(own, found.next_cursor)}
              ${commandLine(resolved ? 'discrepancy list --resolved' : 'discrepancy list')}`,
            )}`,
        )}
      `,
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
