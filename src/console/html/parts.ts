/** The parts that pages are made of: cards, facts, tables, badges, times, amounts. */
import { instant, toRfc3339, type Instant, DAY, HOUR, MINUTE, SECOND } from '../../base/clock.js'
import { formatWireAmount } from '../../operations/cli/amounts.js'
import { html, NOTHING, type Content, type Html } from './html.js'

export type Tone = 'good' | 'bad' | 'warn' | 'info' | 'plain'

/** The tone of every state that a badge can show; others are plain. */
const TONES: Readonly<Record<string, Tone>> = {
  captured: 'good',
  completed: 'good',
  delivered: 'good',
  active: 'good',
  enabled: 'good',
  approved: 'good',
  authorized: 'info',
  processing: 'info',
  pending: 'info',
  delivering: 'info',
  waiting: 'warn',
  held: 'warn',
  retiring: 'warn',
  open: 'warn',
  refunded: 'warn',
  reversed: 'warn',
  failed: 'bad',
  dead: 'bad',
  disabled: 'bad',
  suspended: 'bad',
  revoked: 'bad',
  rejected: 'bad',
}

export const badge = (text: string, tone: Tone = TONES[text] ?? 'plain'): Html =>
  html`<span class="badge ${tone}">${text}</span>`

export const card = (title: string, content: Content, aside: Content = NOTHING): Html => html`
  <section class="card">
    <header>
      <h2>${title}</h2>
      ${aside}
    </header>
    ${content}
  </section>
`

export type Fact = readonly [label: string, value: Content]

/** A fact without a value is left out. */
export const facts = (all: readonly Fact[]): Html =>
  html`<dl class="facts">
    ${all
      .filter(([, value]) => !isEmpty(value))
      .map(
        ([label, value]) =>
          html`<div>
            <dt>${label}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
  </dl>`

const isEmpty = (value: Content): boolean =>
  value === '' || value === undefined || value === null || value === false

export interface Column {
  readonly title: string
  /** Amounts and counts. */
  readonly isNumber?: boolean
  /** Short names of ours, such as types of events: they are not broken. */
  readonly isName?: boolean
}

export interface Table {
  /** For readers of the screen. */
  readonly caption: string
  readonly columns: readonly (string | Column)[]
  readonly rows: readonly (readonly Content[])[]
  /** Its few short columns fit on a narrow screen too. */
  readonly isNarrow?: boolean
  /** Said in place of the table without rows. */
  readonly empty: string
}

/** On a narrow screen each row of a wide one is a block; each cell has its column's title. */
export function table({ caption, columns, rows, isNarrow = false, empty: text }: Table): Html {
  if (rows.length === 0) return empty(text)
  const heads = columns.map((column) => (typeof column === 'string' ? { title: column } : column))
  const classOf = ({ isNumber = false, isName = false }: Column): string =>
    isNumber ? 'number' : isName ? 'text name' : 'text'
  return html`
    <table class="${isNarrow ? 'narrow' : 'wide'}">
      <caption class="unseen">
        ${caption}
      </caption>
      <thead>
        <tr>
          ${heads.map((head) => html`<th scope="col" class="${classOf(head)}">${head.title}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr>
              ${row.map((cell, i) => {
                const head = heads[i] ?? { title: '' }
                return html`<td class="${classOf(head)}" data-title="${head.title}">
                  <div>${cell}</div>
                </td>`
              })}
            </tr>`,
        )}
      </tbody>
    </table>
  `
}

const SHOWN_WHOLE = 160
const SHOWN_OF_LONG = 80

/** A text with links that can be long, such as the evidence of a change: it opens. */
export const longText = (text: string): Content =>
  text.length <= SHOWN_WHOLE
    ? linked(text)
    : html`<details class="report">
        <summary>${text.slice(0, SHOWN_OF_LONG)}…</summary>
        <code class="whole">${text}</code>
      </details>`

export const empty = (text: string): Html => html`<p class="empty">${text}</p>`

/** The next page of a list. @param path with its query, without the cursor */
export function pager(path: string, cursor: string | undefined): Html {
  if (cursor === undefined || cursor === '') return NOTHING
  const joint = path.includes('?') ? '&' : '?'
  const href = `${path}${joint}cursor=${encodeURIComponent(cursor)}`
  return html`<p class="pager"><a class="button" href="${href}">Next page</a></p>`
}

export const amount = (currency: string, minor: string): Html =>
  html`<span class="amount">${formatWireAmount(currency, minor)}</span>`

/** A time as a partner and an operator write it, and how long ago it was. */
export function time(at: string | undefined, now?: Instant): Content {
  if (at === undefined || at === '') return undefined
  const [day, rest = ''] = at.split('T')
  const clock = rest.replace(/(\.\d+)?Z$/, '')
  const ago = now === undefined ? '' : agoText(now - Date.parse(at))
  return html`<time datetime="${at}" title="${at}"><span class="day">${day}</span> ${clock}</time>${
      ago === '' ? NOTHING : html` <span class="ago">${ago}</span>`
    }`
}

export function agoText(elapsedMs: number): string {
  if (Math.abs(elapsedMs) < SECOND) return 'now'
  const isPast = elapsedMs >= 0
  const text = spanText(Math.abs(elapsedMs))
  return isPast ? `${text} ago` : `in ${text}`
}

const UNITS = [
  [DAY, 'd'],
  [HOUR, 'h'],
  [MINUTE, 'min'],
  [SECOND, 's'],
] as const

export function spanText(milliseconds: number): string {
  if (Number.isNaN(milliseconds)) return ''
  const [size, unit] = UNITS.find(([each]) => milliseconds >= each) ?? [SECOND, 's']
  return `${Math.floor(milliseconds / size)} ${unit}`
}

export const clockText = (at: Instant): string => toRfc3339(instant(at)).slice(11, 19)

export const isPayment = (id: string): boolean => /^(pi|pout)_[0-9A-HJKMNP-TV-Z]{26}$/.test(id)

/** Ids of ours are not broken in a table; those of banks and partners can be longer. */
const OWN_ID_MAX = 36

/** An id that leads to its page, or to what is known of it. */
export function idLink(id: string): Html {
  const path = isPayment(id) ? `/payments/${id}` : `/search?q=${encodeURIComponent(id)}`
  return html`<a class="${id.length > OWN_ID_MAX ? 'id long' : 'id'}" href="${path}">${id}</a>`
}

const PAYMENT_ID = /\b((?:pi|pout)_[0-9A-HJKMNP-TV-Z]{26})\b/

/** A text of ours with links for the payments that it names. */
export const linked = (text: string): Content =>
  text.split(PAYMENT_ID).map((piece, i) => (i % 2 === 1 ? idLink(piece) : piece))

/** The command that shows or does the same. */
export const commandLine = (command: string): Html => html`
  <div class="command">
    <code>make ops ARGS="${command}"</code>
    <button type="button" class="quiet" data-copy='make ops ARGS="${command}"'>Copy</button>
  </div>
`

/** Part of a page whose call was refused, failed or had no answer. */
export const failure = (what: string, error: unknown): Html => html`
  <p class="notice bad" role="alert">
    <strong>${what} cannot be shown.</strong> ${error instanceof Error ? error.message : ''}
  </p>
`

/** Says which shards an answer lacks. */
export const incomplete = (missing: readonly string[]): Html =>
  missing.length === 0
    ? NOTHING
    : html`<p class="notice bad" role="alert">
        <strong>Incomplete.</strong> ${missing.join(', ')} did not answer.
      </p>`
