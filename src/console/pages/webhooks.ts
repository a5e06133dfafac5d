/** Webhook endpoints by health, deliveries that are not retried, messages that are no events. */
import type { DeadLetter__Output as DeadLetter } from '../../../protos/types/causeway/operator/v1/DeadLetter.js'
import type { EndpointOverview__Output as Endpoint } from '../../../protos/types/causeway/operator/v1/EndpointOverview.js'
import { actions, type ActionForm } from '../html/action_forms.js'
import { html, NOTHING, type Content } from '../html/html.js'
import { badge, card, commandLine, facts, idLink, incomplete, time } from '../html/parts.js'
import {
  cursorOf,
  formContext,
  missingIn,
  part,
  type ConsolePage,
  type PageContext,
} from '../session/console_page.js'
import { listCard, name, number } from './list_card.js'

/** Endpoints on a page. Those with the most open and dead deliveries come first. */
const ENDPOINTS_MAX = 200

export const webhooks: ConsolePage = {
  path: '/webhooks',
  render: async (context) => {
    const client = context.clients.webhooks
    const [status, endpoints, dead] = await Promise.all([
      part('The state of the pools', client.call('Status', {}), (found) =>
        card(
          'Delivery',
          html`${incomplete(missingIn(found))}
          ${facts([
            ['Pools', found.pools],
            ['In flight', String(found.in_flight)],
            ['Waiting', String(found.open)],
            ['Oldest waiting', time(found.oldest_open_at, context.now)],
            ['Dead', String(found.dead)],
            ['Open circuit breakers', String(found.open_breakers.length)],
            ['Poison messages', String(found.poison)],
            ['Corrupt rows', found.corrupt === 0 ? '' : badge(String(found.corrupt), 'bad')],
          ])}
          ${commandLine('webhooks status')}`,
        ),
      ),
      listCard(context, {
        title: 'Endpoints',
        call: client.call('ListEndpoints', {}).then(worstFirst),
        caption: 'Webhook endpoints, those with failures first',
        columns: ['Endpoint', 'State', number('Waiting'), number('Dead'), ''],
        row: endpointRow,
        empty: 'No partner has an endpoint.',
        hint: ({ rest }) =>
          rest > 0 && html`<p class="hint">${rest} more without more failures.</p>`,
        command: 'webhooks endpoints',
      }),
      listCard(context, {
        title: 'Dead deliveries',
        call: client.call('ListDead', cursorOf(context)),
        caption: 'Deliveries that are not retried, newest first',
        columns: ['Delivery', name('Event'), 'Why', 'Ended', ''],
        row: deadRow,
        empty: 'Every delivery has arrived, or is still tried.',
        hint: ({ data }) =>
          data.length > 0 &&
          html`<p class="hint">
            An event leads to its attempts, with what the receivers answered.
          </p>`,
        path: '/webhooks',
        command: 'webhooks dead',
      }),
    ])
    return { title: 'Webhooks', body: html`${status} ${endpoints} ${dead}` }
  },
}

const worstFirst = <A extends { readonly data: readonly Endpoint[] }>(answer: A) => ({
  ...answer,
  data: [...answer.data]
    .sort((one, other) => badnessOf(other) - badnessOf(one))
    .slice(0, ENDPOINTS_MAX),
  rest: answer.data.length - ENDPOINTS_MAX,
})

const badnessOf = ({ counters, status }: Endpoint): number =>
  (counters?.dead ?? 0) +
  (counters?.open ?? 0) +
  (counters?.breaker_open === true ? 1_000_000 : 0) +
  (status === 'enabled' ? 0 : 1)

function endpointRow(endpoint: Endpoint, context: PageContext): readonly Content[] {
  const { id, tenant, url, status, disabled_reason: why, counters } = endpoint
  const isBroken = counters?.breaker_open === true
  const since = counters?.failing_since
  const failing =
    since === undefined ? NOTHING : html`<span class="ago">failing since ${time(since)}</span>`
  return [
    html`${idLink(id)} <span class="line">${url}</span> <span class="ago line">${tenant}</span>`,
    html`${badge(status)} ${why} ${isBroken ? badge('open breaker', 'bad') : NOTHING} ${failing}`,
    counters?.open ?? 'unknown',
    counters?.dead ?? 'unknown',
    actions(formContext(context, '/webhooks'), 'operate', endpointForms(endpoint)),
  ]
}

function endpointForms({ id, status, counters }: Endpoint): ActionForm[] {
  const hidden = { id }
  const redrive: ActionForm = {
    ...{ action: 'redrive', title: 'Redrive', button: 'Send them again', hidden },
    about: 'Its dead and waiting deliveries are sent again.',
  }
  const enable: ActionForm = {
    action: 'enable-endpoint',
    title: 'Enable',
    button: 'Enable it',
    hidden,
  }
  const disable: ActionForm = {
    ...{ action: 'disable-endpoint', title: 'Disable', button: 'Disable it', hidden },
    about: 'Its deliveries wait until it is enabled.',
    isDangerous: true,
  }
  const hasDead = (counters?.dead ?? 0) > 0
  return [...(hasDead ? [redrive] : []), status === 'enabled' ? disable : enable]
}

function deadRow(dead: DeadLetter, context: PageContext): readonly Content[] {
  const { id, endpoint_id: endpoint, event_id: event, event_type: type, reason, tries } = dead
  return [
    html`${idLink(id)} <span class="ago line">to ${idLink(endpoint)}, ${dead.tenant}</span>`,
    html`<a href="/search?q=${event}">${type}</a> `,
    `${reason} after ${tries === 1 ? '1 attempt' : `${tries} attempts`}`,
    time(dead.ended_at, context.now),
    actions(formContext(context, '/webhooks'), 'operate', [
      {
        ...{ action: 'redrive', title: 'Redrive', button: 'Send it again' },
        hidden: { delivery: id },
      },
    ]),
  ]
}
