/**
 * Steps on one time axis, each as a bar in a row of a table.
 *
 * - The axis is compressed: between two moments it has the logarithm of their distance, so a step
 *   of milliseconds is seen beside one of days. The columns tell the times as they are.
 */
import { DAY, HOUR, MINUTE, SECOND, type Instant } from '../../base/clock.js'
import { html, NOTHING, type Html } from './html.js'
import { empty, table } from './parts.js'

export interface Step {
  readonly kind: keyof typeof KINDS
  readonly name: string
  readonly detail: string
  /** Epoch milliseconds, like `to`. */
  readonly from: number
  /** Null if it goes on. */
  readonly to: number | null
  readonly isFailed?: boolean
}

export interface Waterfall {
  /** In the order of their beginnings. */
  readonly steps: readonly Step[]
  readonly now: Instant
  readonly caption: string
}

const KINDS = {
  state: 'State',
  rail: 'Rail',
  ledger: 'Ledger',
  webhooks: 'Webhooks',
  operator: 'Operator',
  discrepancy: 'Discrepancy',
} as const

const WIDTH = 1_000
/** A moment is a mark of this width. */
const MARK = 8

export function waterfall({ steps, now, caption }: Waterfall): Html {
  const [first] = steps
  if (first === undefined) return empty('Nothing has happened yet.')
  const end = (step: Step): number => step.to ?? Math.max(now, step.from)
  const toX = axisOf(steps.flatMap((step) => [step.from, end(step)]))
  return html`<div class="waterfall">
    ${table({
      caption,
      columns: [
        'Step',
        'On the axis',
        { title: 'After', isNumber: true },
        { title: 'Took', isNumber: true },
      ],
      rows: steps.map((step) => [
        html`<span class="kind">${KINDS[step.kind]}</span> ${step.name}
          ${step.detail === '' ? NOTHING : html`<span class="ago line">${step.detail}</span>`}`,
        bar(step, toX(step.from), toX(end(step))),
        `+${durationText(step.from - first.from)}`,
        tookText(step, now),
      ]),
      empty: '',
    })}
    <p class="hint">
      The axis is logarithmic between two moments; the columns tell the times as they are.
    </p>
  </div>`
}

function bar({ kind, to, isFailed = false }: Step, from: number, until: number): Html {
  const width = Math.max(MARK, until - from)
  const tone = isFailed ? 'failed' : to === null ? 'open' : ''
  return html`<svg
    class="bar ${kind} ${tone}"
    viewBox="0 0 ${WIDTH + MARK} 10"
    preserveAspectRatio="none"
    aria-hidden="true"
  >
    <rect class="track" width="${WIDTH + MARK}" height="10"></rect>
    <rect x="${Math.round(from)}" width="${Math.round(width)}" height="10"></rect>
  </svg>`
}

/** Where a moment is on the axis, from 0 to WIDTH. */
function axisOf(moments: readonly number[]): (moment: number) => number {
  const sorted = [...new Set(moments)].sort((one, other) => one - other)
  const distances = new Map<number, number>()
  let at = 0
  sorted.forEach((moment, i) => {
    if (i > 0) at += Math.log10(1 + moment - sorted[i - 1]!) + 1
    distances.set(moment, at)
  })
  return (moment) => (at === 0 ? 0 : ((distances.get(moment) ?? 0) / at) * WIDTH)
}

function tookText({ kind, from, to }: Step, now: Instant): string {
  if (to === null) return `${durationText(Math.max(0, now - from))} so far`
  const isMoment = kind !== 'webhooks' && to === from
  return isMoment ? '' : durationText(to - from)
}

/** With the precision that its size deserves: `7 ms`, `1.25 s`, `3 min 20 s`, `2 d 4 h`. */
function durationText(milliseconds: number): string {
  if (milliseconds < SECOND) return `${milliseconds} ms`
  if (milliseconds < MINUTE) return `${Number((milliseconds / SECOND).toFixed(2))} s`
  const [size, unit, small, smallUnit] =
    milliseconds < HOUR
      ? ([MINUTE, 'min', SECOND, 's'] as const)
      : milliseconds < DAY
        ? ([HOUR, 'h', MINUTE, 'min'] as const)
        : ([DAY, 'd', HOUR, 'h'] as const)
  const rest = Math.floor((milliseconds % size) / small)
  return `${Math.floor(milliseconds / size)} ${unit}${rest === 0 ? '' : ` ${rest} ${smallUnit}`}`
}
