/**
 * What turns on small and on large books say about each other.
 *
 * Owns: the figures that are compared, and their bounds. Does not own: the turns (scale).
 *
 * - Ratios are of the medians of the turns' own figures. A p99 over all turns is that of the
 *   worst one: a neighbour who takes the machine for a moment is then taken for the books. That
 *   median is nobody's latency; it is only good to be compared with the other one.
 * - What a journey costs is the CPU time of all processes of the stack, the client left out.
 */
import { median } from './measurement/machine.js'
import type { WindowResult } from './measurement/measurement.js'
import { finding, type Finding } from './report/result.js'

export const READY_WITHIN = { atMost: 3 }
const FLAT = { atMost: 1.2 }
const RSS_WITHIN = { atMost: 512 }

type Figure = (window: WindowResult) => number

const rate: Figure = ({ ratePerSecond }) => ratePerSecond
const p50: Figure = ({ latency }) => latency.p50
const p99: Figure = ({ latency }) => latency.p99

/** Of the processes whose name begins so; of all but the client without one. */
const cpu =
  (process = ''): Figure =>
  ({ cpuMicros }) =>
    Object.entries(cpuMicros)
      .filter(([name]) => name.startsWith(process) && name !== 'client')
      .reduce((sum, [, { main, others }]) => sum + main + others, 0)

export function readFindings(windows: readonly WindowResult[]): readonly Finding[] {
  const { small, ratio } = sides(windows)
  return [
    finding('p50, small', small(p50), 'ms'),
    finding('p99, small', small(p99), 'ms'),
    finding('CPU a read, small', small(cpu()), 'µs'),
    finding('p50, large / small', ratio(p50), '×'),
    finding('p99, large / small', ratio(p99), '×', FLAT),
    finding('CPU a read, large / small', ratio(cpu()), '×', FLAT),
  ]
}

/** @param noun what a journey is called */
export function writeFindings(windows: readonly WindowResult[], noun: string): readonly Finding[] {
  const { small, ratio } = sides(windows)
  const name = `CPU a ${noun}`
  return [
    finding('rate, small', small(rate), '/s'),
    finding('p99, small', small(p99), 'ms'),
    finding(`${name}, small`, small(cpu()), 'µs'),
    finding('rate, large / small', ratio(rate), '×'),
    finding('p99, large / small', ratio(p99), '×'),
    finding('gateway, large / small', ratio(cpu('gateway')), '×'),
    finding('processor, large / small', ratio(cpu('processor')), '×'),
    finding(`${name}, large / small`, ratio(cpu()), '×', FLAT),
  ]
}

export function memoryFindings(windows: readonly WindowResult[]): readonly Finding[] {
  const largest = (side: string): number =>
    Math.max(
      ...windows
        .filter((window) => window.side === side)
        .map(({ rssMiB }) => rssMiB['processor'] ?? 0),
    )
  return [
    finding('small', largest('small'), 'MiB'),
    finding('large', largest('large'), 'MiB', RSS_WITHIN),
  ]
}

function sides(windows: readonly WindowResult[]) {
  const of = (side: string, figure: Figure): number =>
    median(windows.filter((window) => window.side === side).map(figure))
  return {
    small: (figure: Figure): number => of('small', figure),
    ratio: (figure: Figure): number => of('large', figure) / of('small', figure),
  }
}
