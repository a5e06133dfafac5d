/** The monthly statement of a partner, to be printed. Its CSV is that of `partner statement`. */
import { Late } from '../../operations/calls/calls.js'
import { CommandFault } from '../../operations/calls/command_fault.js'
import { withReachedLedgers, type LedgerSource } from '../../operations/money/ledger_client.js'
import {
  monthIn,
  STATEMENT_HEAD,
  statementLines,
  statementOf,
  type StatementAccount,
  type StatementMovement,
  type StatementPeriod,
} from '../../operations/money/partner_statement.js'
import { instant, plus, SECOND, toRfc3339, type Instant } from '../../base/clock.js'
import { html, NOTHING, type Content, type Html } from '../html/html.js'
import { amount, card, commandLine, empty, facts, idLink, table, time } from '../html/parts.js'
import { part, type ConsolePage, type PageContext } from '../session/console_page.js'
import type { Clients } from '../session/uplink.js'
import { number } from './list_card.js'
import { noPartner, noPartnerText } from './no_partner.js'

const MOVEMENTS_SHOWN_MAX = 1_000
/** A page is answered within 200 ms, unless the operator chooses to wait. */
const READ_WITHIN_MS = 120
const WAIT_MS = 60 * SECOND

export const statement: ConsolePage = {
  path: '/statements/:id',
  render: async (context) => {
    const { clients, id } = context
    const asked = askedIn(context.query, context.now)
    const list = await clients.partners.call('List', {})
    if (!list.data.some(({ partner_id: name }) => name === id)) return noPartner(id, list)
    const title = `Statement of ${id}, ${asked.month}`
    if (asked.period === null) {
      return { title, body: html`${form(id, asked)} ${card('No month', empty(asked.fault))}` }
    }
    const { period } = asked
    const read = readStatement(context, asked, period).catch((error: unknown) => {
      if (asked.isWaiting || !(error instanceof Late)) throw error
      return null
    })
    const found = await part('The statement', read, (whole) =>
      whole === null ? longMonth(id, asked) : statementOn(context, asked, period, whole),
    )
    return { title, body: html`${form(id, asked)} ${found}` }
  },
}

interface Asked {
  readonly month: string
  readonly environment: string
  readonly isWaiting: boolean
}

type AskedMonth = Asked &
  ({ readonly period: StatementPeriod } | { readonly period: null; readonly fault: string })

/** What the address of the page asks for: by default production, and this month. */
function askedIn(query: URLSearchParams, now: Instant): AskedMonth {
  const month = query.get('month') ?? toRfc3339(now).slice(0, 7)
  const environment = query.get('environment') === 'sandbox' ? 'sandbox' : 'production'
  const isWaiting = query.get('wait') === 'yes'
  try {
    return { month, environment, isWaiting, period: monthIn(month, now) }
  } catch (error) {
    if (!(error instanceof CommandFault)) throw error
    const fault = error.message.replace('--month MONTH', 'a month')
    return { month: '', environment, isWaiting, period: null, fault }
  }
}

function longMonth(id: string, asked: Asked): Html {
  const csv = addressOf(`/statements/${id}/statement.csv`, asked)
  const wait = `${addressOf(`/statements/${id}`, asked)}&wait=yes`
  return card(
    'This month takes longer',
    html`<p>
        There are many movements since its beginning. The CSV has all of them; the page takes up to
        a minute.
      </p>
      <p class="filters">
        <a class="button" href="${csv}" download>Statement as CSV</a>
        <a class="button" href="${wait}">Wait for the page</a>
      </p>
      ${commandLine(commandOf(id, asked))}`,
  )
}

const actorFor = ({ month }: Asked) => ({ name: '', reason: `statement of ${month}, console` })

interface TypeSum {
  readonly currency: string
  readonly type: string
  count: number
  moneyIn: bigint
  moneyOut: bigint
}

interface ReadStatement {
  readonly accounts: readonly StatementAccount[]
  /** The first ones. */
  readonly movements: readonly StatementMovement[]
  readonly count: number
  /** Sums of the available balance. */
  readonly types: readonly TypeSum[]
}

function readStatement(
  { clients, id, now }: PageContext,
  asked: Asked,
  period: StatementPeriod,
): Promise<ReadStatement> {
  const tenant = { partner_id: id, environment: asked.environment }
  const read = async (sources: readonly LedgerSource[]): Promise<ReadStatement> => {
    const movements: StatementMovement[] = []
    const types = new Map<string, TypeSum>()
    let accounts: readonly StatementAccount[] = []
    let count = 0
    for await (const found of statementOf(sources, actorFor(asked), period, tenant)) {
      if (found.kind !== 'movements') accounts = found.accounts
      else {
        count += found.movements.length
        movements.push(...found.movements.slice(0, MOVEMENTS_SHOWN_MAX - movements.length))
        for (const each of found.movements) addTo(types, each)
      }
    }
    const inOrder = [...types].sort(([one], [other]) => (one < other ? -1 : 1))
    const sums = inOrder.map(([, sum]) => sum)
    return { accounts, movements, count, types: sums }
  }
  return withReachedLedgers(
    clients.access,
    read,
    plus(now, asked.isWaiting ? WAIT_MS : READ_WITHIN_MS),
  )
}

function addTo(types: Map<string, TypeSum>, movement: StatementMovement): void {
  const { currency, type, account, amount: minor } = movement
  if (account !== 'available') return
  const key = `${currency} ${type}`
  const sum = types.get(key) ?? { currency, type, count: 0, moneyIn: 0n, moneyOut: 0n }
  sum.count += 1
  if (minor > 0n) sum.moneyIn += minor
  else sum.moneyOut -= minor
  types.set(key, sum)
}

const addressOf = (path: string, { month, environment }: Omit<Asked, 'isWaiting'>): string =>
  `${path}?${new URLSearchParams({ month, environment }).toString()}`

const form = (id: string, { month, environment }: Asked): Html =>
  html`<form class="filter two" action="/statements/${id}" aria-label="Statement">
    <div class="field">
      <label for="month">Month</label>
      <input id="month" name="month" type="month" value="${month}" required />
    </div>
    <div class="field">
      <label for="environment">Environment</label>
      <select id="environment" name="environment">
        ${['production', 'sandbox'].map(
          (each) =>
            html`<option ${each === environment ? html`selected` : NOTHING}>${each}</option>`,
        )}
      </select>
    </div>
    <button>Show</button>
    <a class="button" href="/partners/${id}">The partner</a>
  </form>`

function statementOn(
  { id, now }: PageContext,
  asked: Asked,
  { from, to, isOpen }: StatementPeriod,
  { accounts, movements, count, types }: ReadStatement,
): Html {
  const rest = count - movements.length
  const csv = addressOf(`/statements/${id}/statement.csv`, asked)
  return html`${card(
    'Balances',
    html`${facts([
      ['Partner', id],
      ['Environment', asked.environment],
      ['From', time(toRfc3339(from))],
      ['Until', html`${time(toRfc3339(to))} ${isOpen && html`(the month has not ended)`}`],
      ['Made', time(toRfc3339(now))],
      ['Movements', String(count)],
    ])}
    ${balances(accounts)}`,
  )}
  ${card('What changed the available balance', sumsByType(types))}
  ${card(
    'Movements',
    html`${table({
        caption: 'Movements in order',
        columns: ['Time', 'Type', 'Of', 'Account', number('Amount'), number('Balance')],
        rows: movements.map(movementRow),
        empty: 'None in this period.',
      })}
      ${rest > 0 && html`<p class="hint">${rest} more are in the CSV.</p>`}
      <p class="filters"><a class="button" href="${csv}" download>Statement as CSV</a></p>
      ${commandLine(commandOf(id, asked))}`,
  )}`
}

const balances = (accounts: readonly StatementAccount[]): Html =>
  table({
    caption: 'Opening and closing balances',
    columns: [
      ...['Currency', 'Account', number('Opening'), number('In'), number('Out')],
      number('Closing'),
    ],
    rows: accounts.map((each) => [
      ...[each.currency, each.account],
      ...amounts(each.currency, each.opening, each.moneyIn, each.moneyOut, each.closing),
    ]),
    empty: 'No money has moved yet.',
  })

const sumsByType = (types: readonly TypeSum[]): Html =>
  table({
    caption: 'Sums by type',
    columns: ['Currency', 'Type', number('Movements'), number('In'), number('Out')],
    rows: types.map(({ currency, type, count: lines, moneyIn, moneyOut }) => [
      ...[currency, typeText(type), lines, ...amounts(currency, moneyIn, moneyOut)],
    ]),
    empty: 'Nothing.',
  })

const amounts = (currency: string, ...minors: readonly bigint[]): readonly Content[] =>
  minors.map((minor) => amount(currency, String(minor)))

const typeText = (type: string): string => type.replaceAll('_', ' ')

const movementRow = ({ at, type, entity, ...of }: StatementMovement): readonly Content[] => [
  ...[time(toRfc3339(at)), typeText(type), idLink(entity), of.account],
  ...amounts(of.currency, of.amount, of.balance),
]

const commandOf = (id: string, { month, environment }: Asked): string =>
  `partner statement ${id} --month ${month} --environment ${environment} --out FILE`

/** The months that the page of a partner links to. */
export const statementLinks = (id: string, environment: string, now: Instant): Html =>
  html`<p class="filters">
    ${monthsBefore(now).map(
      (month) =>
        html`<a class="button" href="${addressOf(`/statements/${id}`, { month, environment })}"
          >Statement ${month}</a
        > `,
    )}
  </p>`

/** The last month and this one. */
function monthsBefore(now: Instant): readonly string[] {
  const month = toRfc3339(now).slice(0, 7)
  const before = toRfc3339(instant(Date.parse(`${month}-01`) - 1)).slice(0, 7)
  return [before, month]
}

export type StatementCsv =
  /** The CSV while it is read; it breaks off when the rest cannot be read. */
  | { readonly kind: 'csv'; readonly stream: ReadableStream<Uint8Array> }
  /** There is no such statement. */
  | { readonly kind: 'none'; readonly fault: string }

export async function statementCsv(
  { access, partners }: Clients,
  partner: string,
  query: URLSearchParams,
  now: Instant,
): Promise<StatementCsv> {
  const asked = askedIn(query, now)
  if (asked.period === null) return { kind: 'none', fault: asked.fault }
  const { period } = asked
  const list = await partners.call('List', {})
  if (!list.data.some(({ partner_id: name }) => name === partner)) {
    return { kind: 'none', fault: noPartnerText(partner, list) }
  }
  const text = new TextEncoderStream()
  const writer = text.writable.getWriter()
  const write = async (): Promise<void> => {
    const tenant = { partner_id: partner, environment: asked.environment }
    await withReachedLedgers(access, async (sources) => {
      await writer.write(STATEMENT_HEAD)
      for await (const found of statementOf(sources, actorFor(asked), period, tenant)) {
        await writer.write(statementLines(found, period))
      }
    })
    await writer.close()
  }
  write().catch((error: unknown) => writer.abort(error).catch(() => undefined))
  return { kind: 'csv', stream: text.readable }
}
