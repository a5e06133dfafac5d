/** What operators have done, newest first. */
import type { Action__Output as Action } from '../../../protos/types/causeway/operator/v1/Action.js'
import { html, NOTHING, type Content } from '../html/html.js'
import { amount, isPayment, idLink, time } from '../html/parts.js'
import { cursorOf, type Page, type PageContext } from '../session/page.js'
import { listCard, number } from './list_card.js'

export const actionLog: Page = {
  path: '/actions',
  render: async (context) => ({
    title: 'Action log',
    body: await listCard(context, {
      title: 'Newest first',
      call: context.clients.partners.call('ListActions', cursorOf(context)),
      caption: 'Actions of operators, newest first',
      columns: ['Time', 'Operator', 'Action', 'Subject', number('Amount'), 'Reason'],
      row,
      empty: 'No operator has changed anything yet.',
      path: '/actions',
      command: 'actions',
    }),
  }),
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
