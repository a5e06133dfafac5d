/**
 * Lines over the last minutes, drawn by the server: no script, and no style but that of the sheet.
 *
 * - A line is interrupted where there is no value; a value alone is a dot.
 * - Who cannot see it gets the newest and the highest value of each line.
 */
import { MINUTE } from '../../base/clock.js'
import { html, NOTHING, type Html } from './html.js'

export interface Line {
  readonly name: string
  /** In the order of their moments. Null means that there is none at this moment. */
  readonly values: readonly (number | null)[]
}

export interface Chart {
  readonly title: string
  /** What the numbers are about. */
  readonly about: string
  readonly unit: keyof typeof TEXT
  /** Shown beside the lines, if they are several that make up one number. */
  readonly total?: number | null
  readonly lines: readonly Line[]
  /** Epoch milliseconds. */
  readonly moments: readonly number[]
  readonly from: number
  readonly to: number
  /** Moments that are further apart are not connected. */
  readonly gapMs: number
}

const WIDTH = 600
const HEIGHT = 120
/** The width of a line at the highest value. */
const TOP = 4
const COLORS = 6

export const rateText = (perSecond: number): string => `${numberText(perSecond)}/s`

export function secondsText(seconds: number): string {
  if (seconds >= 60) return `${Number((seconds / 60).toFixed(1))} min`
  return seconds >= 1 ? `${numberText(seconds)} s` : `${numberText(seconds * 1_000)} ms`
}

/** Three digits, or all before the point. */
function numberText(value: number): string {
  if (value === 0) return '0'
  const digits = Math.max(0, Math.min(2, 2 - Math.floor(Math.log10(value))))
  return value.toLocaleString('en-US', { maximumFractionDigits: digits })
}

const ageText = (seconds: number): string => (seconds === 0 ? '0 s' : secondsText(seconds))

const TEXT = { rate: rateText, seconds: secondsText, age: ageText } as const
/** Less than this is not spread over the height. */
const HIGHEST_MIN = { rate: 1, seconds: 0.001, age: 1 } as const

export function lineChart(chart: Chart): Html {
  const { title, about, unit, lines, total, from, to } = chart
  const text = (value: number | null | undefined): string =>
    value === null || value === undefined ? '–' : TEXT[unit](value)
  const highest = Math.max(HIGHEST_MIN[unit], ...lines.map(highestOf))
  const isInMinutes = unit !== 'rate' && highest > 60
  const top = isInMinutes ? 60 * roundTop(highest / 60) : roundTop(highest)
  const minutes = Math.round((to - from) / MINUTE)
  return html`<figure class="chart">
    <figcaption>
      <h3>${title}</h3>
      <p class="about">${about}</p>
      ${legend(chart, text)}
    </figcaption>
    <div class="plot">
      <div class="scale" aria-hidden="true">
        <span>${text(top)}</span><span>${text(top / 2)}</span><span>0</span>
      </div>
      <svg
        viewBox="0 0 ${WIDTH} ${HEIGHT + TOP}"
        preserveAspectRatio="none"
        role="img"
        aria-label="${summaryOf(chart, text, minutes)}"
      >
        ${[0, 0.5, 1].map((share) => {
          const y = TOP + HEIGHT * share
          return html`<path class="grid" d="M0 ${y}H${WIDTH}"></path>`
        })}
        ${lines.map((line, i) => lineHtml(chart, line, { top, color: i % COLORS }))}
      </svg>
      <div class="times" aria-hidden="true"><span>${minutes} min ago</span><span>now</span></div>
    </div>
    ${total === undefined ? NOTHING : html`<span class="unseen">In all ${text(total)}.</span>`}
  </figure>`
}

type Text = (value: number | null | undefined) => string

const legend = ({ lines, total }: Chart, text: Text): Html =>
  html`<ul class="legend">
    ${total === undefined ? NOTHING : html`<li class="total">${text(total)}</li>`}
    ${lines.map(
      ({ name, values }, i) =>
        html`<li class="${lines.length === 1 ? 'only' : `line-${i % COLORS}`}">
          ${name === '' ? NOTHING : html`<span class="name">${name}</span> `}
          <strong>${text(values.at(-1))}</strong>
        </li>`,
    )}
  </ul>`

const summaryOf = ({ title, lines }: Chart, text: Text, minutes: number): string =>
  `${title}, the last ${minutes} minutes. ${lines
    .map((line) => {
      const name = line.name === '' ? '' : `${line.name}: `
      return `${name}now ${text(line.values.at(-1))}, highest ${text(highestOf(line))}.`
    })
    .join(' ')}`

const highestOf = ({ values }: Line): number =>
  values.reduce<number>((highest, value) => Math.max(highest, value ?? 0), 0)

/** 1, 2 or 5 of a power of ten, at least the value. */
function roundTop(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  const step = [1, 2, 5, 10].find((each) => each * power >= value * 0.9999) ?? 10
  return step * power
}

function lineHtml(
  chart: Chart,
  { values }: Line,
  { top, color }: { readonly top: number; readonly color: number },
): Html {
  const { moments, from, to, gapMs, lines } = chart
  const point = (i: number): string => {
    const x = ((moments[i]! - from) / (to - from)) * WIDTH
    const y = TOP + HEIGHT - (Math.min(values[i]!, top) / top) * HEIGHT
    return `${x.toFixed(1)} ${y.toFixed(1)}`
  }
  const pieces: number[][] = []
  values.forEach((value, i) => {
    if (value === null) return
    const piece = pieces.at(-1)
    const isNext = piece?.at(-1) === i - 1 && moments[i]! - moments[i - 1]! <= gapMs
    if (piece !== undefined && isNext) piece.push(i)
    else pieces.push([i])
  })
  const path = pieces
    .filter((piece) => piece.length > 1)
    .map((piece) => `M${piece.map(point).join('L')}`)
    .join('')
  const dots = pieces
    .filter((piece) => piece.length === 1)
    .map((piece) => `M${piece.map(point).join('')}h0`)
    .join('')
  const below = pieces
    .filter((piece) => piece.length > 1)
    .map((piece) => {
      const [first = '', last = ''] = [piece[0]!, piece.at(-1)!].map((i) => point(i).split(' ')[0])
      return `M${first} ${TOP + HEIGHT}L${piece.map(point).join('L')}L${last} ${TOP + HEIGHT}Z`
    })
    .join('')
  return html`${lines.length === 1 ? html`<path class="area" d="${below}"></path>` : NOTHING}
    <path class="line line-${color}" d="${path}"></path>
    <path class="line dot line-${color}" d="${dots}"></path>`
}
