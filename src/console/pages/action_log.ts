/** What operators have done, newest first. */
import type { Action__Output as Action } from '../../../protos/types/causeway/operator/v1/Action.js'
import { html, NOTHING, type Content } from '../html/html.js'
import {
  amount,
  card,
  commandLine,
  incomplete,
  isPayment,
  idLink,
  pager,
  table,
  time,
} from '../html/parts.js'
import { cursorOf, missingIn, part, type Page, type PageContext } from '../session/page.js'

export const actionLog: Page = {
  path: '/actions',
  render: async (context) => {
    const list = context.clients.partners.call('ListActions', cursorOf(context))
    return {
      title: 'Action log',
      body: await part(
        'The action log',
        list,
        (found) =>
          html`${incomplete(missingIn(found))}
          ${card(
            'Newest first',
            html`${table({
              caption: 'Actions of operators, newest first',
              columns: [
                'Time',
                'Operator',
                'Action',
                'Subject',
                { title: 'Amount', isNumber: true },
                'Reason',
              ],
              rows: found.data.map((each) => row(each, context)),
              empty: 'No operator has changed anything yet.',
            })}
            ${pager('/actions', found.next_cursor)} ${commandLine('actions')}`,
          )}`,
      ),
    }
  },
}

function row(action: Action, { now }: PageContext): readonly Content[] {
  const { at, actor, subject, currency, amount: minor, reason, evidence, approval } = action
  return [
    time(at, now),
    actor,
    action.action,
    isPayment(subject) ? idLink(subject) : subject,
    currency === undefined || minor === undefined ? '' : amount(currency, minor),
    html`${reason} ${evidence === undefined ? NOTHING : html`<span class="ago">${evidence}</span>`}
    ${approval === undefined ? NOTHING : html`<span class="ago id">${approval}</span>`}`,
  ]
}
