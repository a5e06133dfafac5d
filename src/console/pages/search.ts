/** Finds a payment or anything else by whatever is known of it. */
import type { FoundEntity__Output as Entity } from '../../../protos/types/causeway/operator/v1/FoundEntity.js'
import type { FoundList__Output as FoundList } from '../../../protos/types/causeway/operator/v1/FoundList.js'
import {
  isRequestId,
  linesOfRequest,
  type LoggedLine,
} from '../../operations/payments/request_logs.js'
import { html, NOTHING, type Html } from '../html/html.js'
import {
  badge,
  card,
  commandLine,
  empty,
  facts,
  idLink,
  incomplete,
  isPayment,
  table,
  time,
} from '../html/parts.js'
import { missingIn, part, type ConsolePage } from '../session/console_page.js'
import { attemptsOf } from './timeline.js'

const FOUND_BY: Readonly<Record<string, string>> = {
  id: 'its id',
  request_id: 'a request',
  event_id: 'an event',
  delivery_id: 'a delivery',
  reference: 'its reference',
  idempotency_key: 'its idempotency key',
  partner_user_id: 'its user',
}

export const search: ConsolePage = {
  path: '/search',
  render: async ({ clients, query, now, logs }) => {
    const text = (query.get('q') ?? '').trim()
    if (isPayment(text)) return { title: 'Search', redirect: `/payments/${text}` }
    if (text === '') return { title: 'Search', body: card('What can be found', empty(HELP)) }
    const found = clients.operator.call('Find', { text })
    const [result, logged] = await Promise.all([
      part('The result', found, (list) => results(text, list, now)),
      isRequestId(text)
        ? part('The log lines', linesOfRequest(logs, text), loggedCard)
        : Promise.resolve(NOTHING),
    ])
    return { title: 'Search', body: html`${result} ${logged} ${inTerminal(text)}` }
  },
}

/** Other texts need the quotes of a shell. */
const inTerminal = (text: string): Html =>
  /^[A-Za-z0-9_.:@/-]+$/.test(text)
    ? card('Same in a terminal', commandLine(`find ${text}`))
    : NOTHING

const HELP =
  'Enter an id of any kind, a request id, a reference, an idempotency key or a user of a partner.'

function results(text: string, found: FoundList, now: Parameters<typeof time>[1]): Html {
  const unknown = found.deliveries_unknown
    ? html`<p class="notice warn">
        Deliveries are missing: a webhook pool did not answer, or they are too many.
      </p>`
    : NOTHING
  const isNothing = found.data.length === 0 && found.actions.length === 0
  return html`
    ${incomplete(missingIn(found))} ${unknown} ${isNothing ? nothing(text) : NOTHING}
    ${found.data.map((entity) => result(entity, now))}
    ${
      found.actions.length === 0
        ? NOTHING
        : card(
            'What the request did',
            table({
              caption: 'Changes made by the request',
              columns: ['Time', 'Actor', 'Action', 'Subject'],
              rows: found.actions.map(({ at, actor, action, subject }) => [
                ...[time(at), actor, action, subject],
              ]),
              empty: '',
            }),
          )
    }
  `
}

const nothing = (text: string): Html =>
  card(
    'Nothing found',
    html`${empty(`${text} is not in the books.`)}
    ${
      isRequestId(text)
        ? html`<p class="hint">
            Reads and refused requests are not stored there: only the logs have them.
          </p>`
        : NOTHING
    }`,
  )

function loggedCard(logged: readonly LoggedLine[] | undefined): Html {
  if (logged === undefined) return card('In the logs', empty('This machine has no logs.'))
  return card(
    'In the logs of this machine',
    table({
      caption: 'Log lines of the request',
      columns: ['Time', 'Process', 'Message', 'Details'],
      rows: logged.map(({ at, process, message, fields }) => [
        ...[time(at), process, message],
        fields.map(
          ([name, value]) =>
            html`<span class="line"><span class="ago">${name}</span> ${value}</span>`,
        ),
      ]),
      empty:
        'No line has it. Requests without a valid signature have none; those of a gateway on ' +
        'another machine are there.',
    }),
  )
}

function result(entity: Entity, now: Parameters<typeof time>[1]): Html {
  const { id, kind, tenant, state, at, found_by: by, request_id: request, events } = entity
  const byText = FOUND_BY[by] ?? by
  return card(
    kind.replaceAll('_', ' '),
    html`${facts([
      ['Id', isPayment(id) ? idLink(id) : html`<span class="id">${id}</span>`],
      ['State', state && badge(state)],
      ['Failure', entity.failure_code],
      ['Partner', tenant],
      ['Created', time(at, now)],
      ['By request', request && idLink(request)],
      ['Found by', byText],
    ])}
    ${
      events.length === 0
        ? NOTHING
        : table({
            caption: `Events of ${id}`,
            columns: ['Time', 'Event', 'Id', 'Deliveries'],
            rows: events.map((event) => [
              time(event.at),
              event.type,
              html`<span class="id">${event.id}</span>`,
              event.deliveries.map(
                ({ state: delivered, endpoint_id: to, last_attempts: attempts }) =>
                  html`<div>${badge(delivered)} ${idLink(to)} ${attemptsOf(attempts)}</div>`,
              ),
            ]),
            empty: '',
          })
    }`,
  )
}
