/** The ledger as sums, the rates, the routes and their rails, what is not submitted to these. */
import type { RateRecord__Output as RateRecord } from '../../../protos/types/causeway/operator/v1/RateRecord.js'
import type { Route__Output as Route } from '../../../protos/types/causeway/operator/v1/Route.js'
import type { RouteRail__Output as RouteRail } from '../../../protos/types/causeway/operator/v1/RouteRail.js'
import type { TrialBalanceLine__Output as Line } from '../../../protos/types/causeway/operator/v1/TrialBalanceLine.js'
import { html, type Content, type Html } from '../html/html.js'
import type { RailState } from '../figures/rails.js'
import {
  amount,
  badge,
  card,
  commandLine,
  incomplete,
  longText,
  spanText,
  table,
  time,
} from '../html/parts.js'
import { missingIn, part, type ConsolePage, type PageContext } from '../session/console_page.js'
import { entriesPath } from './entries.js'
import { listCard, number, rowOrName } from './list_card.js'
import { submissionsCard } from './submissions.js'

export const money: ConsolePage = {
  path: '/money',
  render: async (context) => {
    const { operator } = context.clients
    const listed = operator.call('ListRoutes', {})
    const [balance, rates, changes, rails, routes, pauses] = await Promise.all([
      part('The trial balance', operator.call('TrialBalance', {}), (found) =>
        card(
          'Trial balance',
          html`${incomplete(missingIn(found))} ${balanceTable(found.lines)}
          ${commandLine('trial-balance')}`,
          found.balanced ? badge('the books balance', 'good') : badge('NOT BALANCED', 'bad'),
        ),
      ),
      part('The rates', operator.call('ListRates', {}), (found) =>
        card(
          'Rates',
          html`${table({
            caption: 'Price of one US dollar',
            columns: [
              'Currency',
              'Environment',
              number('For one US dollar'),
              'Since',
              'Set by',
              number('Before'),
            ],
            rows: found.data.map((known) => rowOrName(rateRow)(known, context)),
            empty: 'No rates are set.',
          })}
          ${commandLine('rates list')}`,
        ),
      ),
      rateChanges(context),
      part('The rails', listed, (found) => railsCard(found.rails, context)),
      part('The routes', listed, (found) =>
        card(
          'Routes',
          html`${table({
            caption: 'Routes with their fees and bounds',
            columns: [
              'Route',
              'For',
              'State',
              'Our fee',
              'Fee of the rail',
              'Bounds',
              'Review from',
            ],
            rows: found.data.map(routeRow),
            empty: 'No route is set.',
          })}
          ${table({
            caption: 'The rails of new payments',
            columns: ['Route', 'Rail', 'State', 'Chosen by', 'Since'],
            rows: found.rails.map((rail) => rowOrName(railRow)(rail, context)),
            empty: 'No rail carries a route.',
          })}
          ${commandLine('routes list')}`,
        ),
      ),
      submissionsCard(context, listed),
    ])
    return {
      title: 'Money',
      body: html`${balance} ${rates} ${changes} ${rails} ${routes} ${pauses}`,
    }
  },
}

function rateRow(known: RateRecord, { now }: PageContext): readonly (Html | string)[] {
  const { currency, environment, rate, set_at: since, is_too_old: isTooOld } = known
  return [
    ...[currency, environment, rate],
    html`${since === '' ? 'built in' : time(since, now)} ${isTooOld && badge('too old', 'bad')}`,
    ...[known.set_by ?? '', known.before ?? ''],
  ]
}

const RATE_CHANGES_SHOWN = 20

/** The newest ones: the action log keeps all of them. */
async function rateChanges(context: PageContext): Promise<Html> {
  const { partners } = context.clients
  const changes = ['set_rate', 'remove_rate'].map((action) =>
    partners.call('ListActions', { action, limit: RATE_CHANGES_SHOWN }),
  )
  const newest = Promise.all(changes).then((lists) => ({
    ...lists[0]!,
    data: lists
      .flatMap(({ data }) => data)
      .toSorted((one, other) => (one.at > other.at ? -1 : 1))
      .slice(0, RATE_CHANGES_SHOWN),
  }))
  return listCard(context, {
    title: 'Changes of rates',
    call: newest,
    caption: 'Changes of rates, newest first',
    columns: ['Time', 'Operator', 'Change', 'Rate', 'Reason'],
    row: rowOrName(({ at, actor, action, subject, reason, evidence }) => [
      ...[time(at, context.now), actor, action === 'set_rate' ? 'set' : badge('removed', 'warn')],
      ...[longText(subject), html`${reason} <span class="ago line">${evidence}</span>`],
    ]),
    empty: 'No operator has changed a rate.',
    command: 'actions --action set_rate',
  })
}

/** Each rail once: what it carries, and how the processors reach it. */
function railsCard(routes: readonly RouteRail[], { figures }: PageContext): Html {
  const names = new Set([...routes.map(({ rail }) => rail), ...figures.rails.map((r) => r.name)])
  return card(
    'Rails',
    table({
      caption: 'Rails with their health',
      columns: [
        ...['Rail', 'Link', 'Carries', 'Not now'],
        ...[number('Messages to it'), number('Reports')],
      ],
      rows: [...names].toSorted().map((rail) => {
        const carried = routes.filter((route) => route.rail === rail)
        const seen = figures.rails.find(({ name }) => name === rail)
        const stopped = carried.filter(({ state }) => state !== 'up')
        return [
          html`<strong>${rail}</strong>`,
          linkOf(carried, seen),
          carried.length === 1 ? '1 route' : `${carried.length} routes`,
          stopped.map(({ route, state }) => html`<span class="line">${route}: ${state}</span>`),
          ...[seen === undefined ? '' : String(seen.instructions), seen && String(seen.reports)],
        ]
      }),
      empty: 'No rail is known.',
    }),
  )
}

function linkOf(carried: readonly RouteRail[], seen: RailState | undefined): Content {
  if (seen !== undefined && seen.downMs > 0) {
    return html`${badge('down', 'bad')} <span class="ago line">for ${spanText(seen.downMs)}</span>`
  }
  if (carried.some(({ state }) => state === 'down')) return badge('down', 'bad')
  return badge('up', 'good')
}

/** The balances of all tenants together, by environment. The page of a partner has its own. */
function balanceTable(lines: readonly Line[]): Html {
  const sums = new Map<string, { line: Line; environment: string; sum: bigint }>()
  for (const line of lines) {
    const environment = line.tenant.slice(line.tenant.lastIndexOf('_') + 1)
    const account = line.account.slice(line.account.lastIndexOf(':') + 1)
    const key = `${environment} ${line.currency} ${account}`
    const known = sums.get(key) ?? { line: { ...line, account }, environment, sum: 0n }
    sums.set(key, { ...known, sum: known.sum + BigInt(line.balance) })
  }
  const inOrder = [...sums].sort(([one], [other]) => (one < other ? -1 : 1))
  return table({
    caption: 'Sums of the accounts of all partners',
    columns: ['Account', number('Sum')],
    rows: inOrder.map(([, { line, environment, sum }]) => [
      html`<a href="${entriesPath(environment, line.account, line.currency)}">${line.account}</a>
        <span class="ago">${environment}</span>`,
      amount(line.currency, String(sum)),
    ]),
    isNarrow: true,
    empty: 'No money has moved yet.',
  })
}

function routeRow(route: Route): readonly Content[] {
  const { tenant, country, currency, platform_bps: bps } = route
  const money = (minor: string | undefined): Content =>
    minor === undefined ? '' : amount(currency, minor)
  const bounds =
    (route.amount_min ?? route.amount_max) !== undefined &&
    html`${money(route.amount_min)} to ${money(route.amount_max)}`
  return [
    `${country} ${currency}`,
    tenant ? `${tenant.partner_id}, ${tenant.environment}` : forAll(route),
    badge(route.enabled ? 'enabled' : 'disabled'),
    html`${money(route.platform_fixed)} + ${bps / 100} %, ${route.handling.replace('_', ' ')}`,
    money(route.rail_fixed),
    bounds,
    money(route.review_from),
  ]
}

/** Until one is set for all, production has no route. */
const forAll = ({ included }: Route): string =>
  included === true ? 'built in, sandbox only' : 'all partners'

function railRow(
  { route, rail, state, actor, set_at: since }: RouteRail,
  { now }: PageContext,
): Content[] {
  const shown =
    state === 'not_carried'
      ? badge('not carried: no new payments', 'bad')
      : badge(state, state === 'up' ? 'good' : state === 'paused' ? 'warn' : 'bad')
  return [route, rail, shown, actor ?? 'the file', since === undefined ? '' : time(since, now)]
}
