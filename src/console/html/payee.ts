/** Who else was paid where a payment goes: counts by status, and the last ones. */
import type { PayeeRecord__Output as Payee } from '../../../protos/types/causeway/operator/v1/PayeeRecord.js'
import type { Instant } from '../../base/clock.js'
import { html, NOTHING, type Content, type Html } from './html.js'
import { amount, badge, empty, idLink, table, time } from './parts.js'

/** In one cell of a list. A payee that was paid before is less likely to be a mistake. */
export function payeeSummary(payee: Payee | null, now: Instant): Html {
  if (payee === null || payee.payee === '') return NOTHING
  const [last] = payee.last
  if (last === undefined) return badge('paid for the first time', 'warn')
  return html`${countsOf(payee)}
    <span class="ago line">last ${amount(last.currency, last.amount)}</span>
    <span class="ago line">${time(last.created_at, now)}</span>`
}

const countsOf = ({ counts, more }: Payee): Content => [
  ...counts.map(
    ({ status, count }, i) =>
      html`${i > 0 && ', '}<span class="whole-word">${count} ${status}</span>`,
  ),
  more && ', and older ones',
]

/** The content of a card. */
export function payeeDetails(payee: Payee, now: Instant): Html {
  if (payee.payee === '') return empty('Nothing was scanned yet.')
  if (payee.counted === 0) return empty(`No other payment went to ${payee.payee}.`)
  return html`<p>To ${payee.payee}: ${countsOf(payee)}.</p>
    ${table({
      caption: 'The last other payments to the same account',
      columns: ['Payment', 'State', { title: 'Amount', isNumber: true }, 'Created'],
      rows: payee.last.map(({ id, status, currency, amount: minor, created_at: at }) => [
        ...[idLink(id), badge(status), amount(currency, minor), time(at, now)],
      ]),
      empty: '',
    })}`
}
