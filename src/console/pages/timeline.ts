/**
 * The history of a payment as one list: events with their deliveries, ledger entries, operators'
 * actions, discrepancies.
 */
import type { FoundDelivery__Output as Delivery } from '../../../protos/types/causeway/operator/v1/FoundDelivery.js'
import type { FoundEntity__Output as Entity } from '../../../protos/types/causeway/operator/v1/FoundEntity.js'
import type { TimelineEntry__Output as Entry } from '../../../protos/types/causeway/operator/v1/TimelineEntry.js'
import { html, NOTHING, type Html } from '../html/html.js'
import { amount, badge, empty, idLink, time } from '../html/parts.js'

const KINDS: Readonly<Record<string, string>> = {
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
    <span class="what">${kind === 'entry' ? entryText(text) : text}</span>
    ${
      event?.request_id === undefined
        ? NOTHING
        : html`<span class="by">by request ${idLink(event.request_id)}</span>`
    }
    ${event === undefined ? NOTHING : deliveries(event.deliveries)}
  </li>`
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
          ({ id, endpoint_id: endpoint, state, attempts, reason }) =>
            html`<li>
              ${badge(state)} ${idLink(id)} to ${idLink(endpoint)},
              ${attempts === 1 ? '1 attempt' : `${attempts} attempts`}${reason && `: ${reason}`}
            </li>`,
        )}
      </ul>`

/** The states that its events tell of: `payment_intent.captured`. */
export const statesIn = (entries: readonly Entry[]): string[] =>
  entries
    .filter(({ kind }) => kind === 'event')
    .map(({ text }) => /^[a-z_]+\.([a-z_]+) /.exec(text)?.[1] ?? '')
