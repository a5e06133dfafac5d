/**
 * What the charts of a report show: the samples of all windows of one side, one after the other,
 * and at the same places those of the run before.
 */
import type { SampleResult, WindowResult } from '../measured_window.js'

export interface Chart {
  readonly title: string
  readonly unit: string
  readonly isLogarithmic: boolean
  /** Seconds of load. */
  readonly at: readonly number[]
  readonly lines: readonly Line[]
}

export interface Line {
  readonly name: string
  /** The color, by its property in the style. */
  readonly tone: 'accent' | 'info' | 'warn' | 'bad' | 'muted'
  readonly isDashed: boolean
  /** Null between windows, and where nothing was measured. */
  readonly values: readonly (number | null)[]
}

export const sidesOf = (windows: readonly WindowResult[]): readonly string[] => [
  ...new Set(windows.filter(({ samples }) => samples.length > 0).map(({ side }) => side)),
]

type Windows = readonly WindowResult[]

export function rateChart(side: string, windows: Windows, before: Windows): Chart {
  const { at, lineOf } = positionsOf(windows, before)
  const isOpen = windows.some(({ isOpenLoop }) => isOpenLoop)
  const failed = lineOf('failed', 'bad', (one) => one.failedPerSecond + one.abandonedPerSecond)
  return {
    ...{ title: `${side}: journeys a second`, unit: '/s', isLogarithmic: false, at },
    lines: [
      ...(isOpen ? [lineOf('offered', 'info', (one) => one.offeredPerSecond)] : []),
      lineOf('achieved', 'accent', (one) => one.perSecond),
      ...(failed.values.some((value) => value !== null && value > 0) ? [failed] : []),
      ...formerOf(lineOf('achieved before', 'muted', (one) => one.perSecond, true)),
    ],
  }
}

export function latencyChart(side: string, windows: Windows, before: Windows): Chart {
  const { at, lineOf } = positionsOf(windows, before)
  return {
    ...{ title: `${side}: latency of completed journeys`, unit: 'ms', isLogarithmic: true, at },
    lines: [
      lineOf('p50', 'accent', (one) => some(one.p50)),
      lineOf('p99', 'info', (one) => some(one.p99)),
      lineOf('p99.9', 'warn', (one) => some(one.p999)),
      ...formerOf(lineOf('p99.9 before', 'muted', (one) => some(one.p999), true)),
    ],
  }
}

/** Nothing was completed: there is no latency, and no logarithm. */
const some = (ms: number): number | null => (ms > 0 ? ms : null)

/** Left out without an earlier run. */
const formerOf = (line: Line): readonly Line[] =>
  line.values.every((value) => value === null) ? [] : [line]

type Reading = (sample: SampleResult) => number | null

/** The places of all samples, and lines over them. */
function positionsOf(windows: Windows, before: Windows) {
  const at: number[] = []
  const own: (SampleResult | undefined)[] = []
  const former: (SampleResult | undefined)[] = []
  let from = 0
  for (const { repeat, samples } of windows) {
    const peers = before.find((one) => one.repeat === repeat)?.samples ?? []
    for (const sample of samples) {
      at.push(seconds(from + sample.at))
      own.push(sample)
      former.push(nearest(peers, sample.at))
    }
    from += samples.at(-1)?.at ?? 0
    at.push(seconds(from + 1)) // a gap
    own.push(undefined)
    former.push(undefined)
  }
  const lineOf = (name: string, tone: Line['tone'], read: Reading, isFormer = false): Line => ({
    ...{ name, tone, isDashed: isFormer || name === 'offered' },
    values: (isFormer ? former : own).map((sample) => (sample ? rounded(read(sample)) : null)),
  })
  return { at, lineOf }
}

const seconds = (ms: number): number => Math.round(ms) / 1_000

const rounded = (value: number | null): number | null =>
  value === null ? null : Math.round(value * 1_000) / 1_000

/** The sample of the run before at this time; undefined after its end. */
function nearest(samples: readonly SampleResult[], at: number): SampleResult | undefined {
  const first = samples.findIndex((sample) => sample.at >= at)
  const [former, next] = [samples[first === -1 ? samples.length - 1 : first - 1], samples[first]]
  if (next === undefined) return former && at - former.at < stepOf(samples) ? former : undefined
  return former && at - former.at < next.at - at ? former : next
}

const stepOf = (samples: readonly SampleResult[]): number =>
  (samples.at(-1)?.at ?? 0) / Math.max(1, samples.length)
