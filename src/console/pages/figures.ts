/** The figures of the overview: lines of the last 15 minutes, and what was refused in them. */
import type { Point, BooksPoint } from '../figures/points.js'
import { KEPT_MS, READ_EVERY_MS, type FiguresState } from '../figures/figures.js'
import { html, NOTHING, type Html } from '../html/html.js'
import { lineChart, type Chart, type Line } from '../html/line_chart.js'
import { card, clockText, empty, incomplete, table } from '../html/parts.js'
import type { PageContext } from '../session/console_page.js'
import { number } from './list_card.js'

const REFUSALS_SHOWN = 10
const GAP_MS = 2.5 * READ_EVERY_MS

export function figuresOf({ figures, now }: PageContext): Html {
  const { isKnown, missing, points } = figures
  const hint = hintOf(figures)
  if (!isKnown) return card('The last 15 minutes', empty(hint))
  // The time of the newest point: a page that has nothing new is not sent again.
  const to = points.at(-1)?.at ?? now
  const times = { from: to - KEPT_MS, to, gapMs: GAP_MS, moments: points.map(({ at }) => at) }
  return html`${incomplete(missing)}
  ${card(
    'The last 15 minutes',
    html`<div class="charts">
        ${chartsOf(points).map((chart) => lineChart({ ...chart, ...times }))}
      </div>
      ${refusalsOf(points)}`,
    hint === '' ? NOTHING : html`<span class="hint">${hint}</span>`,
  )}`
}

function hintOf({ isKnown, points }: FiguresState): string {
  const [first] = points
  if (!isKnown) return 'CONSOLE_METRICS names no ops port to draw.'
  if (first === undefined) return 'The first figures come in some seconds.'
  return `kept since ${clockText(first.at)} UTC`
}

type Drawn = Pick<Chart, 'title' | 'about' | 'unit' | 'lines' | 'total'>

function chartsOf(points: readonly Point[]): readonly Drawn[] {
  const shards = [...new Set(points.flatMap(({ books }) => [...books.keys()]))].toSorted()
  const names = shards.length === 0 ? [''] : shards
  const byShard = (value: (books: BooksPoint) => number | null): readonly Line[] =>
    names.map((name) => ({
      name,
      values: points.map(({ books }) => {
        const own = books.get(name)
        return own === undefined ? null : value(own)
      }),
    }))
  const rate = (title: string, about: string, value: (books: BooksPoint) => number): Drawn => {
    const lines = byShard(value)
    const total = lines.reduce((sum, { values }) => sum + (values.at(-1) ?? 0), 0)
    return { title, about, unit: 'rate', lines, ...(names.length > 1 ? { total } : {}) }
  }
  const quantiles = (values: (point: Point) => Point['calls'] | undefined): readonly Line[] =>
    (['p50', 'p99'] as const).map((name) => ({
      name,
      values: points.map((point) => values(point)?.[name] ?? null),
    }))
  const [only = ''] = names
  return [
    rate('Created', 'Payment intents and payouts a second', ({ created }) => created),
    rate('Captured', 'QR payments a second', ({ captured }) => captured),
    rate('Paid out', 'Payouts completed a second', ({ paidOut }) => paidOut),
    {
      ...{ title: 'Calls', about: 'Time until partners are answered', unit: 'seconds' },
      lines: quantiles(({ calls }) => calls),
    },
    {
      ...{ title: 'Commits', unit: 'seconds' },
      ...(names.length > 1
        ? { about: 'p99 until a batch is on disk', lines: byShard(({ commits }) => commits.p99) }
        : {
            about: 'Time until a batch is on disk',
            lines: quantiles(({ books }) => books.get(only)?.commits),
          }),
    },
    {
      ...{ title: 'Outbox', about: 'Oldest undelivered event, read every 15 s' },
      ...{ unit: 'age', lines: byShard(({ outboxAge }) => outboxAge) },
    },
  ]
}

function refusalsOf(points: readonly Point[]): Html {
  const sums = new Map<string, number>()
  for (const { refusals } of points)
    for (const [code, count] of refusals) sums.set(code, (sums.get(code) ?? 0) + count)
  const sorted = [...sums].toSorted(([, one], [, other]) => other - one)
  const more = sorted.length - REFUSALS_SHOWN
  const share = (count: number): Html =>
    html`<svg class="share" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
      <rect
        width="${Math.max(1, Math.round((count / (sorted[0]?.[1] ?? 1)) * 100))}"
        height="10"
      ></rect>
    </svg>`
  return html`<section class="refusals" aria-label="Refusals">
    <h3>Refusals by code</h3>
    ${table({
      caption: 'Refusals in the last 15 minutes, by code',
      columns: ['Code', '', number('Times')],
      rows: sorted
        .slice(0, REFUSALS_SHOWN)
        .map(([code, count]) => [
          html`<code>${code}</code>`,
          share(count),
          count.toLocaleString('en-US'),
        ]),
      isNarrow: true,
      empty: 'Nothing was refused.',
    })}
    ${more > 0 && html`<p class="hint">and ${more} more codes</p>`}
  </section>`
}
