/** What operators have done, newest first. */
import type { Action__Output as Action } from '../../../protos/types/causeway/operator/v1/Action.js'
import { html, NOTHING, type Content, type Html } from '../html/html.js'
import { amount, longText, time } from '../html/parts.js'
import { cursorOf, type ConsolePage, type PageContext } from '../session/console_page.js'
import { listCard, name, number, rowOrName } from './list_card.js'

export const actionLog: ConsolePage = {
  path: '/actions',
  render: async (context) => {
    const filters = filtersIn(context)
    const list = await listCard(context, {
      title: 'Newest first',
      call: context.clients.partners.call('ListActions', { ...filters, ...cursorOf(context) }),
      caption: 'Actions of operators, newest first',
      columns: ['Time', name('Operator'), name('Action'), 'Subject', number('Amount'), 'Reason'],
      row: rowOrName(row),
      empty: 'No such action is on this page of the log.',
      path: `/actions?${new URLSearchParams(filters).toString()}`,
      command: commandOf(filters),
    })
    return { title: 'Action log', body: html`${filterForm(filters)} ${list}` }
  },
}

const FILTERS = [
  ['by', 'Operator', '--by'],
  ['action', 'Action', '--action'],
  ['subject', 'Subject', '--subject'],
] as const
type Filters = Partial<Record<(typeof FILTERS)[number][0], string>>

const filtersIn = ({ query }: PageContext): Filters =>
  Object.fromEntries(
    FILTERS.flatMap(([name]) => {
      const value = query.get(name)?.trim() ?? ''
      return value === '' ? [] : [[name, value]]
    }),
  )

const filterForm = (filters: Filters): Html =>
  html`<form class="filter" action="/actions" role="search" aria-label="Actions">
    ${FILTERS.map(
      ([name, label]) =>
        html`<div class="field">
          <label for="filter-${name}">${label}</label>
          <input
            id="filter-${name}"
            name="${name}"
            value="${filters[name] ?? ''}"
            maxlength="256"
            autocomplete="off"
            spellcheck="false"
          />
        </div>`,
    )}
    <button>Filter</button>
    <a class="button" href="/actions">All</a>
  </form>`

/** Without what a shell would read. */
const commandOf = (filters: Filters): string =>
  FILTERS.reduce((command, [name, , flag]) => {
    const value = filters[name] ?? ''
    return /^[\w.:@-]+$/.test(value) ? `${command} ${flag} ${value}` : command
  }, 'actions')

function row(action: Action, { now }: PageContext): readonly Content[] {
  const { at, actor, subject, currency, amount: minor, reason, evidence, approval } = action
  return [
    time(at, now),
    actor,
    action.action,
    longText(subject),
    currency === undefined || minor === undefined ? '' : amount(currency, minor),
    html`${reason}
    ${evidence === undefined ? NOTHING : html`<span class="ago line">${longText(evidence)}</span>`}
    ${approval === undefined ? NOTHING : html`<span class="ago id long">${approval}</span>`}`,
  ]
}
