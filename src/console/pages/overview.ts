/** What needs a person now, whether the service works, how fast: the first page, kept current. */
import type { RouteRail__Output as RouteRail } from '../../../protos/types/causeway/operator/v1/RouteRail.js'
import { html, NOTHING, type Html } from '../html/html.js'
import { card, empty, failure, incomplete, spanText, type Tone } from '../html/parts.js'
import { figuresOf } from './figures.js'
import { missingIn, type ConsolePage, type PageContext } from '../session/console_page.js'
import { isTokenRejected, ofShard } from '../session/uplink.js'

export const overview: ConsolePage = {
  path: '/',
  render: async (context) => {
    const [books, boxes] = await Promise.all([booksOf(context), boxesOf(context)])
    return { title: 'Overview', live: html`${books} ${boxes} ${figuresOf(context)}` }
  },
}

/** A number that should be small. */
interface Box {
  readonly title: string
  readonly href: string
  readonly value: string
  readonly tone: Tone
  readonly about?: string
  readonly missing?: readonly string[]
}

/** A count of which only the first page is known. */
const LIST_MAX = 100
const countOf = (list: { readonly data: readonly unknown[]; readonly next_cursor?: string }) =>
  list.next_cursor === undefined ? String(list.data.length) : `${list.data.length}+`

const toneOf = (count: number, bad: Tone): Tone => (count === 0 ? 'good' : bad)

async function boxesOf(context: PageContext): Promise<Html> {
  const { operator, webhooks, approvals, recovery } = context.clients
  const limit = { limit: LIST_MAX }
  const deliveries = webhooks.call('Status', {})
  const all = await Promise.all([
    box('Unknown outcomes', '/unknown', operator.call('ListUnknownOutcomes', limit), (list) => {
      const late = list.data.filter(({ over_24h }) => over_24h).length
      const [oldest] = list.data.map(({ since }) => Date.parse(since)).sort((a, b) => a - b)
      return {
        value: countOf(list),
        tone: late > 0 ? 'bad' : toneOf(list.data.length, 'warn'),
        about:
          late > 0
            ? `${late} for more than 24 h`
            : oldest === undefined
              ? 'Every instruction is answered'
              : `Oldest ${spanText(context.now - oldest)}`,
      }
    }),
    box('Held for review', '/review', heldPayments(context), (list) => ({
      value: countOf(list),
      tone: toneOf(list.data.length, 'warn'),
      about: list.data.length === 0 ? 'Nothing waits' : 'Payments wait for a decision',
    })),
    box('Second operator', '/approvals', approvals.call('List', { resolved: false }), (list) => ({
      value: String(list.data.length),
      tone: toneOf(list.data.length, 'warn'),
      about: list.data.length === 0 ? 'No requests' : 'Requests wait for approval',
    })),
    box('Discrepancies', '/discrepancies', operator.call('ListDiscrepancies', limit), (list) => ({
      value: countOf(list),
      tone: toneOf(list.data.length, 'bad'),
      about: list.data.length === 0 ? 'Bank and books agree' : 'Open',
    })),
    box('Orphan executions', '/review', recovery.call('ListOrphans', limit), (list) => ({
      value: countOf(list),
      tone: toneOf(list.data.length, 'bad'),
      about: list.data.length === 0 ? 'None' : 'Executed, but not in the books',
    })),
    box('Webhooks waiting', '/webhooks', deliveries, (status) => ({
      value: String(status.open),
      tone: status.open_breakers.length > 0 ? 'bad' : 'plain',
      about:
        status.oldest_open_at === undefined
          ? 'None waits'
          : `Oldest ${spanText(context.now - Date.parse(status.oldest_open_at))}`,
    })),
    box('Dead deliveries', '/webhooks', deliveries, (status) => ({
      value: String(status.dead),
      tone: toneOf(status.dead, 'bad'),
      about: status.dead === 0 ? 'None' : 'Not retried',
    })),
    box('Submissions', '/money', submissions(context), stateOfSubmissions),
  ])
  const missing = [...new Set(all.flatMap((each) => each.missing ?? []))]
  return html`
    ${incomplete(missing)}
    <section aria-label="Work that waits">
      <ul class="boxes">
        ${all.map(boxHtml)}
      </ul>
    </section>
  `
}

/** Payouts and intents. */
async function heldPayments({ clients: { operator, recovery } }: PageContext) {
  const limit = { limit: LIST_MAX }
  const [payouts, intents] = await Promise.all([
    operator.call('ListHeldPayouts', limit),
    recovery.call('ListHeldIntents', limit),
  ])
  const next = payouts.next_cursor ?? intents.next_cursor
  return {
    ...payouts,
    data: [...payouts.data, ...intents.data],
    ...(next === undefined ? {} : { next_cursor: next }),
  }
}

/** The pauses, and the rails of the routes. */
async function submissions({ clients: { operator } }: PageContext) {
  const [pauses, { rails }] = await Promise.all([
    operator.call('ListSubmissionPauses', {}),
    operator.call('ListRoutes', {}),
  ])
  return { ...pauses, rails }
}

interface Submissions {
  readonly data: readonly unknown[]
  readonly rails: readonly RouteRail[]
}

function stateOfSubmissions({ data, rails }: Submissions): Pick<Box, 'value' | 'tone' | 'about'> {
  const routesIn = (state: string) => rails.filter((each) => each.state === state)
  const down = new Set(routesIn('down').map(({ rail }) => rail))
  if (down.size > 0) {
    return { value: `${down.size} down`, tone: 'bad', about: `No link to ${[...down].join(', ')}` }
  }
  const lost = routesIn('not_carried').map(({ route }) => route)
  if (lost.length > 0) {
    return { value: `${lost.length} down`, tone: 'bad', about: `No rail for ${lost.join(', ')}` }
  }
  if (data.length > 0)
    return { value: `${data.length} paused`, tone: 'warn', about: 'Payments wait' }
  return { value: 'on', tone: 'good', about: 'All are sent to their rail' }
}

async function box<T extends object>(
  title: string,
  href: string,
  call: Promise<T>,
  content: (answer: T) => Pick<Box, 'value' | 'tone' | 'about'>,
): Promise<Box> {
  try {
    const answer = await call
    const missing = missingIn(answer)
    const known = { title, href, ...content(answer), missing }
    const isGood = missing.length > 0 && known.tone === 'good'
    return isGood ? { ...known, tone: 'plain', about: 'In the books that answered' } : known
  } catch (error) {
    if (isTokenRejected(error)) throw error
    return { title, href, value: '?', tone: 'bad', about: 'No answer' }
  }
}

const boxHtml = ({ title, href, value, tone, about }: Box): Html => html`
  <li>
    <a class="box ${tone}" href="${href}" id="box-${title.replaceAll(' ', '-')}">
      <span class="title">${title}</span>
      <strong>${value}</strong>
      <span class="about">${about}</span>
    </a>
  </li>
`

/** Whether each shard takes payments. */
async function booksOf(context: PageContext): Promise<Html> {
  const { access } = context.clients
  const names = access.shards === undefined ? [''] : [...access.shards.reached.keys()]
  const lines = await Promise.all(names.map((name) => bookLine(context, name)))
  const missing = access.shards?.missing ?? []
  if (names.length === 0) return card('Books', empty('No processor answers.'))
  return html`<ul class="books">
    ${lines} ${missing.map((name) => statusLine(name, 'bad', 'no processor serves it'))}
  </ul>`
}

async function bookLine({ clients, figures }: PageContext, shard: string): Promise<Html> {
  const name = shard === '' ? 'Books' : shard
  try {
    const state = await ofShard(clients, shard, (recovery) => recovery.call('Show', {}))
    if (state.unverified !== undefined) return statusLine(name, 'bad', state.unverified)
    if (!state.active) {
      const fault = figures.writeFaults.get(shard)
      if (fault !== undefined) return statusLine(name, 'bad', `take no payments: ${fault}`)
      return statusLine(name, 'good', 'take payments')
    }
    const what =
      state.stops === 'submissions'
        ? 'submit nothing to the bank'
        : 'are in recovery mode: reads only'
    return statusLine(name, 'bad', `${what} (${state.cause ?? ''})`)
  } catch (error) {
    if (isTokenRejected(error)) throw error
    return html`<li>${failure(name, error)}</li>`
  }
}

const statusLine = (name: string, tone: Tone, text: string): Html =>
  html`<li class="${tone}"><strong>${name}</strong> ${text === '' ? NOTHING : text}</li>`
