/**
 * The trace of a payment as a waterfall, drawn from its history in the books.
 *
 * - It needs no collector: it is there for every payment, traced or not, and as long as the books
 *   are. What only spans know (waits in queues, commits, single attempts) is in the collector of
 *   traces, under the trace id.
 */
import type { FoundEntity__Output as Entity } from '../../../protos/types/causeway/operator/v1/FoundEntity.js'
import type { TimelineEntry__Output as Entry } from '../../../protos/types/causeway/operator/v1/TimelineEntry.js'
import { traceIdIn } from '../../base/traceparent.js'
import { Refused } from '../../operations/calls/calls.js'
import { html, NOTHING, type Html } from '../html/html.js'
import { badge, card, facts, idLink, incomplete, isPayment, time } from '../html/parts.js'
import { waterfall, type Step } from '../html/waterfall.js'
import { missingIn, type ConsolePage, type PageContext } from '../session/console_page.js'
import { noPayment } from './no_payment.js'

const NOT_FOUND = 'Trace not found'

export const trace: ConsolePage = {
  path: '/traces/:id',
  render: async (context) => {
    const { clients, id } = context
    if (!isPayment(id)) return noPayment(context, NOT_FOUND)
    try {
      const [record, found] = await Promise.all([
        recordOf(context),
        clients.operator.call('Find', { text: id }).catch(() => undefined),
      ])
      const entity = found?.data.find((each) => each.id === id)
      const missing = found === undefined ? [] : missingIn(found)
      return { title: 'Trace', live: shown(context, record, entity, missing) }
    } catch (error) {
      if (!(error instanceof Refused) || !error.code.endsWith('_not_found')) throw error
      return noPayment(context, NOT_FOUND)
    }
  },
}

/** What an intent and a payout have in common. */
interface Traced {
  readonly status: string
  readonly tenant: string
  readonly createdAt?: string | undefined
  readonly submittedAt?: string | undefined
  readonly traceparent?: string | undefined
  readonly timeline: readonly Entry[]
}

async function recordOf({ clients, id }: PageContext): Promise<Traced> {
  if (id.startsWith('pi_')) {
    const record = await clients.operator.call('ShowIntent', { intent_id: id })
    const { status = '', created_at: createdAt } = record.intent ?? {}
    return { ...record, status, createdAt, submittedAt: record.submitted_at }
  }
  const record = await clients.operator.call('ShowPayout', { payout_id: id })
  const { status = '', created_at: createdAt } = record.payout ?? {}
  return { ...record, status, createdAt, submittedAt: record.submitted_at }
}

function shown(
  { id, now }: PageContext,
  record: Traced,
  entity: Entity | undefined,
  missing: readonly string[],
): Html {
  return html`
    <div class="headline">
      ${idLink(id)} ${badge(record.status)} <span class="tenant">${record.tenant}</span>
    </div>
    ${card(
      'Details',
      facts([
        ['Trace id', traceId(record.traceparent)],
        ['Created', time(record.createdAt, now)],
        ['Created by', entity?.request_id === undefined ? undefined : idLink(entity.request_id)],
      ]),
    )}
    ${card(
      'What took how long',
      html`${incomplete(missing)}
      ${waterfall({ steps: stepsOf(record, entity), now, caption: `Steps of ${id}` })}`,
    )}
  `
}

function traceId(stored: string | undefined): Html {
  const id = traceIdIn(stored)
  return id === ''
    ? html`none: no request about it was traced`
    : html`<span class="id">${id}</span>`
}

/** In the order of their beginnings; of those with the same one, states first. */
function stepsOf(record: Traced, entity: Entity | undefined): readonly Step[] {
  const { timeline, submittedAt } = record
  const steps = [...statesOf(record), ...railOf(timeline, submittedAt)]
  for (const entry of timeline.filter(({ kind }) => kind === 'event')) {
    steps.push(webhooksOf(entry, entity))
  }
  const ledger = new Map<string, { entry: Entry; count: number }>()
  for (const entry of timeline.filter(({ kind }) => kind === 'entry')) {
    const key = `${entry.at} ${planOf(entry)}`
    const same = ledger.get(key)
    if (same === undefined) ledger.set(key, { entry, count: 1 })
    else same.count += 1
  }
  for (const { entry, count } of ledger.values()) {
    const detail = count === 1 ? '1 entry' : `${count} entries`
    steps.push({ ...moment(entry), kind: 'ledger', name: planOf(entry), detail })
  }
  for (const entry of timeline) {
    if (entry.kind !== 'action' && entry.kind !== 'discrepancy') continue
    const kind = entry.kind === 'action' ? 'operator' : 'discrepancy'
    steps.push({ ...moment(entry), kind, name: entry.text, detail: '' })
  }
  return steps.sort((one, other) => one.from - other.from)
}

const moment = ({ at }: Entry): Pick<Step, 'from' | 'to'> => ({
  from: Date.parse(at),
  to: Date.parse(at),
})

const planOf = ({ text }: Entry): string => text.split(':', 1)[0] ?? ''

const STATE_EVENT = /^(?:payment_intent|payout)\.([a-z_]+) /
/** Events that are no states: the payment stays as it was. */
const NO_STATES: ReadonlySet<string> = new Set(['refund_failed'])

/** A bar for each state, as far as its events tell; the last one has no end of its own. */
function statesOf({ timeline, createdAt }: Traced): Step[] {
  const entered = timeline.flatMap(({ kind, at, text }) => {
    const [, name = ''] = kind === 'event' ? (STATE_EVENT.exec(text) ?? []) : []
    return name === '' || NO_STATES.has(name) ? [] : [{ name, from: Date.parse(at) }]
  })
  if (createdAt !== undefined && entered[0]?.name !== 'created') {
    entered.unshift({ name: 'created', from: Date.parse(createdAt) })
  }
  return entered.map(({ name, from }, i) => {
    const to = entered[i + 1]?.from ?? from
    return { kind: 'state', name, detail: '', from, to }
  })
}

/** From the submission until the first state after it. */
function railOf(timeline: readonly Entry[], submittedAt: string | undefined): Step[] {
  if (submittedAt === undefined) return []
  const from = Date.parse(submittedAt)
  const ends = timeline.find(
    ({ kind, at, text }) =>
      kind === 'event' && Date.parse(at) > from && STATE_EVENT.test(text) && !isOnTheWay(text),
  )
  const to = ends === undefined ? null : Date.parse(ends.at)
  return [{ kind: 'rail', name: 'instruction', detail: '', from, to }]
}

const isOnTheWay = (text: string): boolean => text.includes('.processing ')

const SETTLED = /settled at (\S+)$/

function webhooksOf({ at, text }: Entry, entity: Entity | undefined): Step {
  const [type = ''] = text.split(' ', 1)
  const event = entity?.events.find(({ id }) => text.includes(id))
  const settled = SETTLED.exec(text)?.[1]
  const deliveries = event?.deliveries ?? []
  const attempts = deliveries.reduce((sum, each) => sum + each.attempts, 0)
  const dead = deliveries.filter(({ state }) => state === 'dead').length
  const tried = attempts === 1 ? '1 attempt' : `${attempts} attempts`
  const to = deliveries.length === 1 ? '1 endpoint' : `${deliveries.length} endpoints`
  return {
    kind: 'webhooks',
    name: type,
    detail:
      event === undefined
        ? 'deliveries not known'
        : deliveries.length === 0
          ? 'no endpoint'
          : `${to}, ${tried}${dead === 0 ? '' : `, ${dead} dead`}`,
    from: Date.parse(at),
    to: settled === undefined ? null : Date.parse(settled),
    isFailed: dead > 0,
  }
}

/** The link to the trace from the page of its payment. */
export const traceLink = (id: string): Html =>
  id === '' ? NOTHING : html`<a href="/traces/${id}">As a waterfall</a>`
