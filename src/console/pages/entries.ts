/**
 * The entries of one account of all partners on one day, from a time of the day on.
 *
 * - Reading them is recorded in the action log, as the journal's is.
 * - What is read for a page is bounded; the journal has all of them.
 */
import { withReachedLedgers, type LedgerEntry } from '../../operations/money/ledger_client.js'
import { DAY, instant, plus, SECOND, toRfc3339, type Instant } from '../../base/clock.js'
import { parseDateTime } from '../../base/date_time.js'
import { html, NOTHING, type Html } from '../html/html.js'
import {
  amount,
  card,
  clockText,
  commandLine,
  empty,
  idLink,
  incomplete,
  table,
} from '../html/parts.js'
import { part, type ConsolePage, type PageContext } from '../session/console_page.js'
import { number } from './list_card.js'

const SHOWN_MAX = 200
/** How long entries are looked through: a page is answered within 200 ms. */
const LOOK_FOR_MS = 120
const READ_WITHIN_MS = 10 * SECOND

export const entriesPath = (environment: string, account: string, currency: string): string =>
  `/entries?${new URLSearchParams({ environment, account, currency }).toString()}`

export const entries: ConsolePage = {
  path: '/entries',
  render: async (context) => {
    const asked = askedIn(context)
    if (asked === null) {
      const text = 'Choose an account of the trial balance.'
      return { title: 'Entries', status: 404, body: card('No such account or day', empty(text)) }
    }
    const title = `Entries of ${asked.account}, ${asked.environment} ${asked.currency}`
    if (asked.begins > context.now) {
      const body = card('No entries yet', empty(`${asked.day} has not begun in UTC.`))
      return { title, status: 404, body: html`${form(asked)} ${body}` }
    }
    const found = await part('The entries', readEntries(context, asked), (read) =>
      entriesCard(context, asked, read),
    )
    return { title, body: html`${form(asked)} ${found}` }
  },
}

interface Asked {
  readonly environment: string
  readonly account: string
  readonly currency: string
  readonly day: string
  /** `HH:MM:SS` or `HH:MM`, UTC. */
  readonly since: string
  readonly begins: Instant
  readonly from: Instant
  readonly to: Instant
}

/** Null if the address of the page names no account, or no day. It can be a later one than now. */
function askedIn({ query, now }: PageContext): Asked | null {
  const parameter = (name: string, pattern: RegExp, fallback = ''): string => {
    const value = query.get(name) ?? ''
    return pattern.test(value) ? value : fallback
  }
  const environment = parameter('environment', /^(sandbox|production)$/)
  const account = parameter('account', /^[a-z_]{1,40}$/)
  const currency = parameter('currency', /^[A-Z]{3}$/)
  const day = parameter('day', /^\d{4}-\d{2}-\d{2}$/, toRfc3339(now).slice(0, 10))
  const since = parameter('since', /^\d{2}:\d{2}(:\d{2})?$/, '00:00:00')
  const [from, begun] = [parseDateTime(`${day}T${since}Z`), parseDateTime(`${day}T00:00Z`)]
  const isNamed = environment !== '' && account !== '' && currency !== ''
  if (!isNamed || from === undefined || begun === undefined) return null
  const begins = instant(begun.ms)
  const to = plus(begins, DAY)
  return { environment, account, currency, day, since, begins, from: instant(from.ms), to }
}

interface ReadEntries {
  readonly entries: readonly LedgerEntry[]
  /** Epoch milliseconds: nothing is left out before. Null means that nothing is left out. */
  readonly isWholeUntil: number | null
}

function readEntries({ clients, now }: PageContext, asked: Asked): Promise<ReadEntries> {
  const { account, currency, day, from, to } = asked
  const actor = { name: '', reason: `entries of ${account} ${currency} on ${day}, console` }
  const isAsked = (entry: LedgerEntry): boolean =>
    entry.account === account &&
    entry.currency === currency &&
    entry.tenant.endsWith(`_${asked.environment}`)
  const begunAt = performance.now()
  return withReachedLedgers(
    clients.access,
    async (sources) => {
      const all = await Promise.all(
        sources.map(async (source) => {
          const found: LedgerEntry[] = []
          for await (const batch of source.entriesOnly(actor, { from, to })) {
            found.push(...batch.entries.filter(isAsked))
            const last = batch.entries.at(-1)
            const isLong = performance.now() - begunAt > LOOK_FOR_MS
            if (last !== undefined && (found.length > SHOWN_MAX || isLong)) {
              return { found, until: Number(last.at) }
            }
          }
          return { found, until: Infinity }
        }),
      )
      const inOrder = all
        .flatMap(({ found }) => found)
        .toSorted((one, other) => Number(one.at) - Number(other.at))
      const next = inOrder[SHOWN_MAX]
      const until = Math.min(Number(next?.at ?? Infinity), ...all.map((each) => each.until))
      const shown = inOrder.slice(0, SHOWN_MAX).filter(({ at }) => Number(at) <= until)
      return { entries: shown, isWholeUntil: until === Infinity ? null : until }
    },
    plus(now, READ_WITHIN_MS),
  )
}

const form = ({ environment, account, currency, day, since }: Asked): Html =>
  html`<form class="filter two" action="/entries" aria-label="Entries">
    ${Object.entries({ environment, account, currency }).map(
      ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
    )}
    <div class="field">
      <label for="day">Day, UTC</label>
      <input id="day" name="day" type="date" value="${day}" required />
    </div>
    <div class="field">
      <label for="since">From</label>
      <input id="since" name="since" type="time" step="1" value="${since}" required />
    </div>
    <button>Show</button>
    <a class="button" href="/money">All accounts</a>
  </form>`

function entriesCard(
  { clients }: PageContext,
  asked: Asked,
  { entries: found, isWholeUntil: until }: ReadEntries,
): Html {
  return html`${incomplete(clients.access.shards?.missing ?? [])}
  ${card(
    'In order of posting',
    html`${table({
      caption: 'Entries of the account',
      columns: ['Posted', 'Partner', 'Type', 'Of', number('Amount'), number('Balance')],
      rows: found.map((entry) => [
        html`<time datetime="${timeOf(entry)}">${timeOf(entry).slice(11, 19)}</time>`,
        entry.tenant.slice(0, entry.tenant.lastIndexOf('_')),
        entry.type.replaceAll('_', ' '),
        idLink(entry.entity),
        amount(entry.currency, entry.amount),
        amount(entry.currency, entry.balance),
      ]),
      empty:
        until !== null ? 'None in what was looked through.' : 'It has no entries in this time.',
    })}
    ${
      until === null
        ? NOTHING
        : html`<p class="hint">
            There can be more after ${clockText(instant(until))}.
            ${furtherLink(asked, instant(until))} The journal has all of them.
          </p>`
    }
    ${commandLine(`journal --from ${asked.day} --out journal-${asked.day}.csv`)}`,
  )}`
}

/** From the second on that was looked through last. None if that is the one it began with. */
function furtherLink(asked: Asked, until: Instant): Html {
  const { environment, account, currency, day, from } = asked
  if (until - from < SECOND) return NOTHING
  const path = `${entriesPath(environment, account, currency)}&day=${day}&since=${clockText(until)}`
  return html`<a href="${path}">Look further</a>.`
}

const timeOf = ({ at }: LedgerEntry): string => toRfc3339(instant(Number(at)))
