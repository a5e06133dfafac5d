/** Partners, and one partner with its keys and balances. */
import type { CallUsage__Output as CallUsage } from '../../../protos/types/causeway/operator/v1/CallUsage.js'
import type { KeyRecord__Output as Key } from '../../../protos/types/causeway/operator/v1/KeyRecord.js'
import type { PartnerUsage__Output as Usage } from '../../../protos/types/causeway/operator/v1/PartnerUsage.js'
import type { PartnerRecord__Output as Partner } from '../../../protos/types/causeway/operator/v1/PartnerRecord.js'
import type { Instant } from '../../base/clock.js'
import { callFacts } from '../../operations/partners/usage.js'
import { actions, type ActionForm } from '../html/action_forms.js'
import { html, NOTHING, type Content, type Html } from '../html/html.js'
import { amount, badge, card, commandLine, empty, facts, table, time } from '../html/parts.js'
import {
  formContext,
  part,
  type Content as PageContent,
  type ConsolePage,
  type PageContext,
} from '../session/console_page.js'
import { listCard, number, rowOrName } from './list_card.js'
import { noPartner } from './no_partner.js'
import { statementLinks } from './statement.js'

const ENVIRONMENTS = ['sandbox', 'production'] as const
/** Partners on a page, which are all that the search of the browser finds. */
const PARTNERS_MAX = 500
/** A page is answered within 200 ms. */
const USAGE_WITHIN_MS = 60

export const partners: ConsolePage = {
  path: '/partners',
  render: async (context) => ({
    title: 'Partners',
    body: await listCard(context, {
      title: 'All partners',
      call: context.clients.partners.call('List', {}).then((answer) => ({
        ...answer,
        data: answer.data.slice(0, PARTNERS_MAX),
        rest: answer.data.length - PARTNERS_MAX,
      })),
      caption: 'Partners, oldest first',
      columns: ['Partner', 'State', 'Corridors', 'Addresses', 'Requests per second', 'Since'],
      row: rowOrName(partnerRow),
      empty: 'There are no partners yet.',
      hint: ({ rest }) => rest > 0 && html`<p class="hint">${rest} more: use the terminal.</p>`,
      command: 'partner list',
    }),
  }),
}

const stateOf = ({ suspended }: Partner): Html => badge(suspended ? 'suspended' : 'active')

const rateOf = ({ rate_limit_per_second: rate }: Partner): string =>
  rate === 0 ? 'default' : String(rate)

const partnerRow = (partner: Partner): readonly Content[] => [
  html`<a href="/partners/${partner.partner_id}">${partner.partner_id}</a>`,
  stateOf(partner),
  partner.corridors.join(', ') || 'none',
  partner.allowed_ips.join(', ') || 'any',
  rateOf(partner),
  time(partner.created_at),
]

export const partner: ConsolePage = {
  path: '/partners/:id',
  render: async (context): Promise<PageContent> => {
    const { clients, id } = context
    const list = await clients.partners.call('List', {})
    const found = list.data.find(({ partner_id: name }) => name === id)
    if (found === undefined) return noPartner(id, list)
    const terms = found.corrupt === undefined ? termsOf(found, context) : corruptTerms(found)
    const sections = ENVIRONMENTS.map((environment) => environmentOf(context, environment))
    return {
      title: id,
      body: html`${card('Terms', terms)} ${await Promise.all(sections)}`,
    }
  },
}

const backTo = ({ id }: PageContext): string => `/partners/${id}`

function termsOf(found: Partner, context: PageContext): Html {
  const hidden = { id: context.id }
  const change: ActionForm = found.suspended
    ? { action: 'resume-partner', title: 'Resume', button: 'Resume the partner', hidden }
    : {
        ...{ action: 'suspend-partner', title: 'Suspend', button: 'Suspend the partner', hidden },
        about: 'New payments and payouts are refused. Started ones continue.',
        isDangerous: true,
      }
  return html`${facts([
    ['State', stateOf(found)],
    ['Corridors', found.corridors.join(', ') || 'none'],
    ['Addresses in production', found.allowed_ips.join(', ') || 'any'],
    ['App ids', found.packages.join(', ') || 'any'],
    ['Requests per second and key', rateOf(found)],
    ['Since', time(found.created_at, context.now)],
  ])}
  ${actions(formContext(context, backTo(context)), 'operate', [change])}`
}

const corruptTerms = ({ corrupt }: Partner): Html =>
  empty(`${corrupt}: corrupt row. The partner is suspended until it is repaired.`)

async function environmentOf(context: PageContext, environment: string): Promise<Html> {
  const { clients, id } = context
  const tenant = { partner_id: id, environment }
  const [keys, balances, usage] = await Promise.all([
    part('The keys', clients.partners.call('ListKeys', { tenant }), ({ data }) =>
      keysOf(data, context),
    ),
    part('The balances', clients.operator.call('TrialBalance', { tenant }), ({ lines }) =>
      table({
        caption: `Accounts in ${environment}`,
        columns: ['Account', number('Balance')],
        rows: lines.map(({ account, currency, balance }) => [account, amount(currency, balance)]),
        isNarrow: true,
        empty: 'No money has moved yet.',
      }),
    ),
    part(
      'The usage',
      clients.partners.call('ShowUsage', { tenant, within_ms: USAGE_WITHIN_MS }),
      (used) => usageOf(used, context, environment),
    ),
  ])
  const issue: ActionForm = {
    ...{ action: 'issue-key', title: 'Issue a key', button: 'Issue the key' },
    about: 'Its secret is shown once. Former keys end after 14 days.',
    hidden: { id, environment },
  }
  return card(
    environment,
    html`
      <h3>Keys</h3>
      ${keys} ${actions(formContext(context, backTo(context)), 'operate', [issue])}
      ${commandLine(`key list ${id} ${environment}`)}
      <h3>Balances</h3>
      ${balances}
      <h3>Usage</h3>
      ${usage}
      <h3>Statements</h3>
      ${statementLinks(id, environment, context.now)}
    `,
  )
}

function usageOf(
  { from, kinds, calls }: Usage,
  { now, id }: PageContext,
  environment: string,
): Html {
  const rows = kinds.flatMap(({ entity, lines }) =>
    lines.map(({ state, currency, count, amount: sum }) => [
      ...[NAMES[entity] ?? entity, badge(state), String(count), amount(currency, sum)],
    ]),
  )
  const cut = kinds.flatMap(({ entity, counted_from: counted }) =>
    counted === undefined
      ? []
      : [html`<p class="hint">Of the ${NAMES[entity]} only those since ${time(counted, now)}.</p>`],
  )
  return html`
    <p class="hint">Since ${from.slice(0, 10)}.</p>
    ${table({
      caption: `Usage in ${environment}`,
      columns: ['Payments', 'State', number('Number'), number('Amount')],
      rows,
      empty: 'Nothing was paid in the last 30 days.',
    })}
    ${cut} ${calls === null ? NOTHING : callsOf(calls, now)}
    ${commandLine(`partner usage ${id} ${environment}`)}
  `
}

const callsOf = (calls: CallUsage, now: Instant): Html =>
  html`<h3>Calls of 24 hours</h3>
    ${facts(
      callFacts(calls).map(([label, text]) => [
        label,
        text === calls.since ? time(text, now) : text,
      ]),
    )}`

const NAMES: Readonly<Record<string, string>> = {
  payment_intent: 'QR payments',
  payout: 'payouts',
}

const keysOf = (keys: readonly Key[], context: PageContext): Html =>
  table({
    caption: 'Signing keys',
    columns: ['Key', 'State', 'Issued', 'Ends', ''],
    rows: keys.map((key) => rowOrName(keyRow)(key, context)),
    empty: 'There are no keys.',
  })

function keyRow(
  { key_id: key, status, created_at: issued, revoked_at: ends }: Key,
  context: PageContext,
): readonly Content[] {
  const revoke: ActionForm = {
    ...{ action: 'revoke-key', title: 'Revoke', button: 'Revoke the key' },
    about: 'At once and for good: requests that it signs are refused.',
    hidden: { key },
    isDangerous: true,
  }
  return [
    html`<span class="id">${key}</span>`,
    badge(status),
    time(issued, context.now),
    time(ends, context.now),
    status !== 'revoked' && actions(formContext(context, backTo(context)), 'operate', [revoke]),
  ]
}
