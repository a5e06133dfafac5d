/**
 * The history of a payment as one list: requests, states, the rail's instruction and reports,
 * ledger entries, events with their deliveries and attempts, operators' actions, discrepancies, the
 * next timer.
 */
import type { FoundAttempt__Output as Attempt } from '../../../protos/types/causeway/operator/v1/FoundAttempt.js'
import type { FoundDelivery__Output as Delivery } from '../../../protos/types/causeway/operator/v1/FoundDelivery.js'
import type { FoundEntity__Output as Entity } from '../../../protos/types/causeway/operator/v1/FoundEntity.js'
import type { TimelineEntry__Output as Entry } from '../../../protos/types/causeway/operator/v1/TimelineEntry.js'
import { html, NOTHING, type Html } from '../html/html.js'
import { amount, badge, empty, idLink, time } from '../html/parts.js'

const KINDS: Readonly<Record<string, string>> = {
  request: 'Request',
  state: 'State',
  rail: 'Rail',
  timer: 'Timer',
  event: 'Event',
  entry: 'Ledger',
  action: 'Operator',
  discrepancy: 'Discrepancy',
}

/** @param found the payment with its events' deliveries. Absent if they are not known */
export function timeline(entries: readonly Entry[], found: Entity | undefined): Html {
  if (entries.length === 0) return empty('Nothing has happened yet.')
  return html`<ol class="timeline">
    ${entries.map((entry) => item(entry, found))}
  </ol>`
}

function item({ at, kind, text }: Entry, found: Entity | undefined): Html {
  const event = found?.events.find(({ id }) => text.includes(id))
  return html`<li class="${kind in KINDS ? kind : 'other'}">
    ${time(at)} <span class="kind">${KINDS[kind] ?? kind}</span>
    <span class="what">${textOf(kind, text)}</span>
    ${
      event?.request_id === undefined
        ? NOTHING
        : html`<span class="by">by request ${idLink(event.request_id)}</span>`
    }
    ${event === undefined ? NOTHING : deliveries(event.deliveries)}
  </li>`
}

function textOf(kind: string, text: string): Html | string {
  if (kind === 'entry') return entryText(text)
  if (kind === 'event') return eventText(text)
  if (kind === 'state') return badge(text)
  if (kind === 'request') return requestText(text)
  return text
}

const REQUEST = /^(.+ by )(req_[0-9A-Z]+)$/

function requestText(text: string): Html | string {
  const [, what = '', id = ''] = REQUEST.exec(text) ?? []
  return id === '' ? text : html`${what}${idLink(id)}`
}

const EVENT = /^(\S+) (evt_\S+), sequence ([0-9]+), (?:(open)|settled at (\S+))$/

/** `payout.created evt_…, sequence 2, settled at 2026-11-25T20:47:52.858Z`. */
function eventText(text: string): Html | string {
  const [, type = '', id = '', sequence = '', open = '', settled = ''] = EVENT.exec(text) ?? []
  if (type === '') return text
  return html`${type}
    <span class="about"
      ><span class="id">${id}</span>, number ${sequence} of the partner,
      ${open === '' ? html`settled ${time(settled)}` : 'not settled'}</span
    >`
}

const ENTRY = /^(.*): \S+?:([A-Z]{3}):(\S+) (-?[0-9]+), balance (-?[0-9]+)$/

/** `intent_captured: demo_sandbox:USD:fx 695, balance 695`, in major units. */
function entryText(text: string): Html | string {
  const [, plan = '', currency = '', account = '', minor = '', balance = ''] =
    ENTRY.exec(text) ?? []
  if (plan === '') return text
  return html`${plan}: ${account} ${amount(currency, minor)}
    <span class="ago">balance ${amount(currency, balance)}</span>`
}

const deliveries = (all: readonly Delivery[]): Html =>
  all.length === 0
    ? NOTHING
    : html`<ul class="deliveries">
        ${all.map(
          ({ id, endpoint_id: endpoint, state, reason, last_attempts: attempts }) =>
            html`<li>
              ${badge(state)} ${idLink(id)} to ${idLink(endpoint)}${reason && `: ${reason}`}
              ${attemptsOf(attempts)}
            </li>`,
        )}
      </ul>`

/** Each attempt with what the receiver answered. */
export const attemptsOf = (attempts: readonly Attempt[]): Html =>
  attempts.length === 0
    ? NOTHING
    : html`<ol class="attempts">
        ${attempts.map(
          ({ number, at, status, reason, latency_ms: latency, reply }) =>
            html`<li>
              ${number}. ${time(at)} ${status ?? reason} in ${latency} ms
              ${reply === '' ? NOTHING : html`<q>${reply}</q>`}
            </li>`,
        )}
      </ol>`

/** The states that its events tell of: `payment_intent.captured`. */
export const statesIn = (entries: readonly Entry[]): string[] =>
  entries
    .filter(({ kind }) => kind === 'event')
    .map(({ text }) => /^[a-z_]+\.([a-z_]+) /.exec(text)?.[1] ?? '')
