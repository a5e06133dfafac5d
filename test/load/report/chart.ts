/**
 * One plot as SVG text.
 *
 * Owns: the drawing. Does not own: scales (axis), colours (page: they are variables, so that one
 * drawing serves light and dark), what is plotted (plots).
 */
import type { Axis } from './axis.js'

export interface Chart {
  readonly title: string
  /** Of the vertical axis. */
  readonly unit: string
  readonly x: Axis
  readonly y: Axis
  readonly series: readonly Series[]
  /** Filled and stacked upon each other, the first one lowest. */
  readonly stacked?: boolean
  /** Stretches of the horizontal axis with a name. */
  readonly bands?: readonly Band[]
}

export interface Series {
  readonly name: string
  /** From 1 to 10. */
  readonly colour: number
  /** Of several that share a colour, the further ones are paler. */
  readonly paleness?: number
  readonly dashed?: boolean
  /** Pieces that are not joined. */
  readonly pieces: readonly Piece[]
}

export type Piece = readonly (readonly [x: number, y: number])[]

export interface Band {
  readonly name: string
  readonly from: number
  readonly to: number
}

const WIDTH = 640
const HEIGHT = 260
const LEFT = 56
const RIGHT = 12
const TOP = 26
const BOTTOM = 26
const FLOOR = HEIGHT - BOTTOM
const INNER_WIDTH = WIDTH - LEFT - RIGHT
const INNER_HEIGHT = HEIGHT - TOP - BOTTOM
/** Narrower bands have no room for a name. */
const NAMED_BAND_MIN = 44

export function drawChart(chart: Chart): string {
  const series = chart.stacked === true ? stack(chart.series) : chart.series
  const shapes =
    chart.stacked === true ? areas(chart, series) : series.map((one) => line(chart, one))
  return [
    '<figure>',
    `<figcaption>${escaped(chart.title)} <small>${escaped(chart.unit)}</small></figcaption>`,
    legend(chart.series),
    `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escaped(chart.title)}">`,
    ...(chart.bands ?? []).map((band, index) => bandShape(chart, band, index)),
    ...horizontalGrid(chart),
    ...verticalTicks(chart),
    ...shapes,
    '</svg></figure>',
  ].join('\n')
}

const left = ({ x }: Chart, value: number): number => LEFT + x.place(value) * INNER_WIDTH
const top = ({ y }: Chart, value: number): number => TOP + (1 - y.place(value)) * INNER_HEIGHT
const at = (value: number): string => value.toFixed(1)

export const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

function legend(series: readonly Series[]): string {
  const items = series.map(
    ({ name, colour, dashed, paleness }) =>
      `<span><i class="${dashed === true ? 'dashed' : ''}" style="--c:var(--c${colour});` +
      `opacity:${opacity(paleness)}"></i>` +
      `${escaped(name)}</span>`,
  )
  return `<div class="legend">${items.join('')}</div>`
}

function bandShape(chart: Chart, { name, from, to }: Band, index: number): string {
  const start = left(chart, from)
  const width = left(chart, to) - start
  const label =
    width < NAMED_BAND_MIN
      ? ''
      : `<text class="band" x="${at(start + width / 2)}" y="${TOP - 9}">${escaped(name)}</text>`
  return (
    `<rect class="${index % 2 === 0 ? 'band even' : 'band'}" x="${at(start)}" y="${TOP}" ` +
    `width="${at(width)}" height="${INNER_HEIGHT}"><title>${escaped(name)}</title></rect>${label}`
  )
}

const horizontalGrid = (chart: Chart): string[] =>
  chart.y.ticks.map(({ value, label }) => {
    const y = at(top(chart, value))
    return (
      `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y}" y2="${y}"/>` +
      `<text class="y" x="${LEFT - 8}" y="${y}">${label}</text>`
    )
  })

const verticalTicks = (chart: Chart): string[] =>
  chart.x.ticks.map(({ value, label }) => {
    const x = at(left(chart, value))
    return (
      `<line class="tick" x1="${x}" x2="${x}" y1="${FLOOR}" y2="${FLOOR + 4}"/>` +
      `<text class="x" x="${x}" y="${HEIGHT - 7}">${label}</text>`
    )
  })

const opacity = (paleness = 0): string => (0.6 ** paleness).toFixed(2)

function line(chart: Chart, { name, colour, dashed, paleness, pieces }: Series): string {
  const path = pieces.map((piece) => pathOf(chart, piece)).join('')
  return (
    `<path class="line${dashed === true ? ' dashed' : ''}" style="stroke:var(--c${colour});` +
    `opacity:${opacity(paleness)}" ` +
    `d="${path}"><title>${escaped(name)}</title></path>`
  )
}

const pathOf = (chart: Chart, piece: Piece): string =>
  piece
    .map(([x, y], index) => `${index === 0 ? 'M' : 'L'}${at(left(chart, x))} ${at(top(chart, y))}`)
    .join('')

/** Each series upon the ones before it; all have the same horizontal places. */
function stack(series: readonly Series[]): readonly Series[] {
  const heights: number[][] = []
  return series.map((one) => ({
    ...one,
    pieces: one.pieces.map((piece, index) =>
      piece.map(([x, y], place): readonly [number, number] => {
        const column = (heights[index] ??= [])
        const height = (column[place] ?? 0) + y
        column[place] = height
        return [x, height]
      }),
    ),
  }))
}

/** From the top of the one below to its own top. */
function areas(chart: Chart, stacked: readonly Series[]): string[] {
  return stacked.map(({ name, colour, paleness, pieces }, index) => {
    const below = stacked[index - 1]?.pieces
    const path = pieces.map((piece, place) => {
      const floor = below?.[place] ?? piece.map(([x]): readonly [number, number] => [x, 0])
      const back = pathOf(chart, [...floor].reverse()).replace('M', 'L')
      return piece.length === 0 ? '' : `${pathOf(chart, piece)}${back}Z`
    })
    return (
      `<path class="area" style="fill:var(--c${colour});opacity:${opacity(paleness)}" ` +
      `d="${path.join('')}">` +
      `<title>${escaped(name)}</title></path>`
    )
  })
}
