/** Reports of the bank that contradict the books, and their settlement. */
import type { Discrepancy__Output as Discrepancy } from '../../../protos/types/causeway/operator/v1/Discrepancy.js'
import { actions, EVIDENCE } from '../html/action_forms.js'
import { html, NOTHING, type Content, type Html } from '../html/html.js'
import { amount, badge, idLink, time } from '../html/parts.js'
import {
  cursorOf,
  formContext,
  type ConsolePage,
  type PageContext,
} from '../session/console_page.js'
import { isResolved, listCard, name, number, resolvedFilter, rowOrName } from './list_card.js'

const SETTLEMENTS = {
  keep: 'Keep: its entries stay in suspense',
  undo: 'Undo: post the mirror entry',
  charge_partner: 'Charge the partner',
  credit_partner: 'Credit the partner',
  write_off: 'Write off: our own loss or gain',
} as const

/** Those that apply: only what was posted can be cleared, also after it was kept. */
function settlementsOf({ plan, settlement }: Discrepancy): (keyof typeof SETTLEMENTS)[] {
  const kept = settlement === undefined ? (['keep'] as const) : []
  if (plan === undefined) return [...kept]
  const partner = plan === 'discrepancy_paid' ? 'charge_partner' : 'credit_partner'
  return [...kept, 'undo', partner, 'write_off']
}

export const discrepancies: ConsolePage = {
  path: '/discrepancies',
  render: async (context) => {
    const resolved = isResolved(context)
    const list = await listCard(context, {
      title: resolved ? 'Settled' : 'Reports that contradict the books',
      call: context.clients.operator.call('ListDiscrepancies', { ...cursorOf(context), resolved }),
      caption: 'Discrepancies, oldest first',
      columns: ['Payment', name('Partner'), name('Reason'), number('Amount'), 'Since', ''],
      row: rowOrName(row),
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
        ${reportOf(report)}
      </details>`,
    currency === undefined || minor === undefined ? '' : amount(currency, minor),
    time(found.created_at, context.now),
    html`${settlement === undefined ? NOTHING : badge(settlement)} ${settleForm(found, context)}`,
  ]
}

/** Each member in a line of its own; a text that is no JSON object as it is. */
function reportOf(report: string): Html {
  const lines = membersOf(report)
  if (lines === null) return html`<code>${report}</code>`
  return html`${lines.map(
    ([name, value]) => html`<span class="line"><span class="ago">${name}</span> ${value}</span>`,
  )}`
}

function membersOf(report: string): readonly (readonly [name: string, value: string])[] | null {
  try {
    const parsed: unknown = JSON.parse(report)
    if (typeof parsed !== 'object' || parsed === null) return null
    return Object.entries(parsed).map(([name, value]) => [
      name.replaceAll('_', ' '),
      typeof value === 'string' ? value : JSON.stringify(value),
    ])
  } catch {
    return null
  }
}

function settleForm(found: Discrepancy, context: PageContext): Html {
  const { id, settlement } = found
  const isOver = settlement !== undefined && settlement !== 'keep'
  const choices = isOver ? [] : settlementsOf(found)
  if (choices.length === 0) return NOTHING
  return actions(formContext(context, '/discrepancies'), 'decide', [
    {
      ...{ action: 'resolve-discrepancy', title: 'Settle', button: 'Settle it' },
      hidden: { id },
      fields: [
        {
          ...{ name: 'settlement', label: 'Settlement' },
          choices: choices.map((each) => [each, SETTLEMENTS[each]]),
        },
        EVIDENCE,
      ],
    },
  ])
}
