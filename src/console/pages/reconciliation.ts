/** Reconciles a bank statement that the operator uploads, and shows the last run. */
import { formatWireAmount } from '../../operations/cli/amounts.js'
import type { BookedMovement, StatementLine } from '../../reconciliation/movement.js'
import { toRfc3339 } from '../../base/clock.js'
import { html, NOTHING, type Content, type Html } from '../html/html.js'
import { amount, badge, card, facts, idLink, table, time } from '../html/parts.js'
import type { ConsolePage, PageContext } from '../session/console_page.js'
import type { StatementRun } from '../session/statement_run.js'
import { number } from './list_card.js'

export const reconciliation: ConsolePage = {
  path: '/reconciliation',
  render: (context) =>
    Promise.resolve({
      title: 'Reconciliation',
      body: html`${runOf(context.session.statementRun)} ${uploadCard(context)}`,
    }),
}

const uploadCard = ({ session }: PageContext): Html =>
  card(
    'Compare a statement',
    html`<form class="upload" method="post" action="/statement" enctype="multipart/form-data">
        <input type="hidden" name="form_token" value="${session.formToken}" />
        <div class="field">
          <label for="statement">Statement</label>
          <input id="statement" name="statement" type="file" accept=".csv,text/csv" required />
          <small>CSV with the columns of <code>reconcile</code>, at most 32 MB</small>
        </div>
        <div class="field">
          <label for="from">First day (UTC)</label>
          <input id="from" name="from" type="date" required />
        </div>
        <div class="field">
          <label for="to">Until, exclusive</label>
          <input id="to" name="to" type="date" aria-describedby="to-hint" />
          <small id="to-hint">Empty: one day</small>
        </div>
        <div class="field">
          <label for="reason">Reason</label>
          <input id="reason" name="reason" maxlength="500" autocomplete="off" required />
          <small>Kept in the action log with your name</small>
        </div>
        <button class="primary">Compare</button>
      </form>
      <p class="hint">
        Nothing is changed. In a terminal: <code>reconcile FILE --from DAY --out FINDINGS</code>.
      </p>`,
  )

function runOf(run: StatementRun | undefined): Html {
  if (run === undefined) return NOTHING
  const { file, from, to, outcome, findings, left } = run
  const shown = table({
    caption: 'What does not match, by instruction',
    columns: ['Finding', 'Instruction', number('Bank'), number('Books'), number('Line')],
    rows: findings.map(findingRow),
    empty: 'Every line matches.',
  })
  return card(
    `Statement ${file}`,
    html`${facts([
        ['From', time(toRfc3339(from))],
        ['Until', time(toRfc3339(to))],
        ['Lines read', String(outcome.lines.good)],
        ['Outside the period', String(outcome.lines.outside)],
        ['Accepted, not executed', String(outcome.lines.accepted)],
        ['Unreadable', String(outcome.lines.bad)],
      ])}
      ${table({
        caption: 'Sums by currency and finding',
        columns: [
          ...['Currency', 'Finding', number('Lines of the bank'), number('Sum')],
          ...[number('Bookings'), number('Sum')],
        ],
        rows: outcome.sums.map(({ currency, status, stated, booked }) => [
          ...[currency, badge(status.replace('_', ' '), toneOf(status))],
          ...[stated.lines, formatWireAmount(currency, stated.amount)],
          ...[booked.lines, formatWireAmount(currency, booked.amount)],
        ]),
        empty: 'No line of the bank and no booking is in this period.',
      })}
      ${shown}
      <p>
        <a class="button" href="/statement/findings.csv" download>Findings as CSV</a>
        ${left > 0 && html`<span class="hint">${left} do not fit: use the terminal.</span>`}
      </p>`,
    outcome.clean ? badge('everything matches', 'good') : badge('NOT EVERYTHING MATCHES', 'bad'),
  )
}

const toneOf = (status: string): 'good' | 'bad' | 'plain' =>
  status === 'matched' ? 'good' : status === 'undone' ? 'plain' : 'bad'

function findingRow(finding: StatementRun['findings'][number]): readonly Content[] {
  if ('fault' in finding) {
    return [badge('unreadable', 'bad'), finding.fault, '', '', finding.line]
  }
  const { status } = finding
  const stated = 'stated' in finding ? finding.stated : undefined
  const booked = 'booked' in finding ? finding.booked : undefined
  const differs = 'differs' in finding ? `other ${finding.differs.join(', ')}` : ''
  return [
    html`${badge(status.replace('_', ' '), toneOf(status))} <span class="ago">${differs}</span>`,
    idLink(stated?.instruction ?? booked?.instruction ?? ''),
    moved(stated),
    moved(booked),
    stated?.line ?? '',
  ]
}

const moved = (side: StatementLine | BookedMovement | undefined): Content =>
  side &&
  html`${amount(side.currency, String(side.amount))}
    <span class="ago line">${side.movement}</span>
    <span class="ago line">${time(toRfc3339(side.at))}</span>`
