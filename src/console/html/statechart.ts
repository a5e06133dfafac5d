/**
 * Draws a machine as SVG: the states in columns, the current one marked.
 *
 * - A state is one column after the last state that leads to it. The longest way through the
 *   machine is the first row; other states are in the first row that is free from their source on.
 */
import type { StatechartState } from '../../../actors/statechart.js'
import { html, type Html } from './html.js'

const WIDTH = 132
const HEIGHT = 40
const GAP_X = 56
const GAP_Y = 22
const MARGIN = 6

interface Box {
  readonly name: string
  readonly column: number
  readonly row: number
}

interface Edge {
  readonly from: string
  readonly to: string
}

export interface Drawing {
  readonly states: readonly StatechartState[]
  readonly current: string
  /** States that it has been in. */
  readonly passed: readonly string[]
}

export function statechart({ states, current, passed }: Drawing): Html {
  const edges = edgesOf(states)
  const boxes = layout(states, edges)
  const columns = Math.max(...boxes.map(({ column }) => column)) + 1
  const rows = Math.max(...boxes.map(({ row }) => row)) + 1
  const width = columns * (WIDTH + GAP_X) - GAP_X + 2 * MARGIN
  const height = rows * (HEIGHT + GAP_Y) - GAP_Y + 2 * MARGIN
  const isPassed = (name: string): boolean => name === current || passed.includes(name)
  const boxOf = (name: string): Box => boxes.find((at) => at.name === name)!
  const way = boxes.filter(({ name }) => isPassed(name)).map(({ name }) => name)
  return html`
    <figure class="statechart">
      <div class="drawing" role="group" aria-label="States" tabindex="0">
        <svg
          viewBox="0 0 ${width} ${height}"
          width="${width}"
          height="${height}"
          role="img"
          aria-label="State: ${current}. Passed: ${way.join(', ')}."
        >
          <defs>
            <marker
              id="arrow"
              viewBox="0 0 8 8"
              refX="7"
              refY="4"
              markerWidth="7"
              markerHeight="7"
              orient="auto"
            >
              <path d="M0 0.5 7 4 0 7.5z"></path>
            </marker>
          </defs>
          ${edges.map(({ from, to }) => {
            const isTaken = isPassed(from) && isPassed(to)
            return html`<path
              class="edge ${isTaken ? 'taken' : ''}"
              d="${pathOf(boxOf(from), boxOf(to))}"
              marker-end="url(#arrow)"
            ></path>`
          })}
          ${boxes.map((at) => box(at, at.name === current, isPassed(at.name)))}
        </svg>
      </div>
      ${nextSteps(states, current)}
    </figure>
  `
}

function box(at: Box, isCurrent: boolean, isPassed: boolean): Html {
  const { x, y } = cornerOf(at)
  const kind = isCurrent ? 'current' : isPassed ? 'passed' : ''
  return html`<g class="state ${kind}">
    <rect x="${x}" y="${y}" width="${WIDTH}" height="${HEIGHT}" rx="8"></rect>
    <text x="${x + WIDTH / 2}" y="${y + HEIGHT / 2}">${at.name}</text>
  </g>`
}

/** What the drawing does not show: the events. */
function nextSteps(states: readonly StatechartState[], current: string): Html {
  const transitions = states.find(({ name }) => name === current)?.transitions ?? []
  const targets = [...new Set(transitions.map(({ to }) => to))].filter((to) => to !== current)
  if (targets.length === 0) return html`<figcaption>Nothing follows this state.</figcaption>`
  const steps = targets.map((target) => {
    const events = transitions.filter(({ to }) => to === target).map(({ event }) => event)
    return html`<li><b>${target}</b> by ${[...new Set(events)].join(', ')}</li>`
  })
  return html`<figcaption>
    Next
    <ul>
      ${steps}
    </ul>
  </figcaption>`
}

function edgesOf(states: readonly StatechartState[]): Edge[] {
  const edges = states.flatMap(({ name, transitions }) =>
    transitions.filter(({ to }) => to !== name).map(({ to }) => ({ from: name, to })),
  )
  return [...new Map(edges.map((edge) => [`${edge.from} ${edge.to}`, edge])).values()]
}

function layout(states: readonly StatechartState[], edges: readonly Edge[]): Box[] {
  const columns = columnsOf(states, edges)
  const main = longestWay(states, edges, columns)
  const taken = new Set<string>()
  return [...states]
    .sort((one, other) => columns.get(one.name)! - columns.get(other.name)!)
    .map(({ name }) => {
      const column = columns.get(name)!
      if (main.includes(name)) return { name, column, row: 0 }
      const sources = edges.filter(({ to }) => to === name).map(({ from }) => columns.get(from)!)
      const cells = range(Math.min(...sources) + 1, column)
      let row = 1
      while (cells.some((cell) => taken.has(`${cell} ${row}`))) row += 1
      for (const cell of cells) taken.add(`${cell} ${row}`)
      return { name, column, row }
    })
}

/** The machines have no way back to a state, so this ends. */
function columnsOf(
  states: readonly StatechartState[],
  edges: readonly Edge[],
): ReadonlyMap<string, number> {
  const columns = new Map(states.map(({ name }) => [name, 0]))
  for (const _round of states) {
    for (const { from, to } of edges) {
      columns.set(to, Math.max(columns.get(to)!, columns.get(from)! + 1))
    }
  }
  return columns
}

/** Backwards from the last column. */
function longestWay(
  states: readonly StatechartState[],
  edges: readonly Edge[],
  columns: ReadonlyMap<string, number>,
): string[] {
  const last = [...states].sort((one, other) => columns.get(other.name)! - columns.get(one.name)!)
  const way = [last[0]!.name]
  for (;;) {
    const column = columns.get(way[0]!)!
    const before = edges.find(({ from, to }) => to === way[0] && columns.get(from) === column - 1)
    if (before === undefined) return way
    way.unshift(before.from)
  }
}

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i)

const cornerOf = ({ column, row }: Box): { readonly x: number; readonly y: number } => ({
  x: MARGIN + column * (WIDTH + GAP_X),
  y: MARGIN + row * (HEIGHT + GAP_Y),
})

/** To the right, then down in the gap, then to the right. */
function pathOf(from: Box, to: Box): string {
  const start = cornerOf(from)
  const end = cornerOf(to)
  const [x1, y1] = [start.x + WIDTH, start.y + HEIGHT / 2]
  const [x2, y2] = [end.x, end.y + HEIGHT / 2]
  if (y1 === y2) return `M${x1} ${y1}H${x2}`
  const turn = x1 + GAP_X / 2
  const round = Math.sign(y2 - y1) * 8
  return `M${x1} ${y1}H${turn - 8}q8 0 8 ${round}V${y2 - round}q0 ${round} 8 ${round}H${x2}`
}
