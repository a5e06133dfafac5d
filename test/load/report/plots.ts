/**
 * Which plots a section has.
 *
 * Owns: turning windows into series. Does not own: drawing (chart), the page around it (page).
 *
 * - The windows of a section stand one after the other on one axis, each in a band with its name,
 *   as they were played; nothing joins one to the next.
 */
import { linear, logarithmic, nines, time, type Axis } from './axis.js'
import type { Band, Chart, Piece, Series } from './chart.js'
import type { IntervalResult, WindowResult } from '../measurement/measurement.js'
import type { Section } from './result.js'
import type { Sample } from '../measurement/sampler.js'

const COLOUR_OF_PROCESS: Readonly<Record<string, number>> = {
  gateway: 1,
  processor: 2,
  webhooks: 3,
  rail: 4,
  nats: 5,
  client: 8,
  ceiling: 6,
  'baseline gateway': 7,
  'baseline processor': 9,
}
const OTHER_COLOUR = 10
/** Sides of other names take the colours after these, in their order. */
const COLOUR_OF_SIDE: Readonly<Record<string, number>> = {
  service: 1,
  head: 1,
  base: 8,
  ceiling: 8,
  baseline: 2,
}
const SIDE_COLOURS = [3, 2, 4, 5, 6]

export function plotsOf(section: Section): readonly Chart[] {
  const timeline = timelineOf(section.windows)
  return [
    throughput(timeline),
    latencies(timeline),
    curves(section.windows),
    ...commits(timeline),
    processors(timeline),
    perProcess(timeline, 'Memory', 'MiB resident', ({ rssMiB }) => rssMiB),
    ...arrivals(timeline),
    ...(section.windows.length === 1
      ? [perProcess(timeline, 'Open files and sockets', '', ({ handles }) => handles)]
      : []),
  ]
}

/** Where each window begins. */
interface Timeline {
  readonly x: Axis
  readonly bands: readonly Band[]
  readonly placed: readonly { readonly window: WindowResult; readonly from: number }[]
}

const GAP_SHARE = 0.01

function timelineOf(windows: readonly WindowResult[]): Timeline {
  const lengthOf = ({ intervalSamples, samples }: WindowResult): number =>
    Math.max(intervalSamples.at(-1)?.at ?? 0, samples.at(-1)?.at ?? 0)
  const gap = GAP_SHARE * windows.reduce((sum, window) => sum + lengthOf(window), 0)
  let from = 0
  const placed = windows.map((window) => {
    const place = { window, from }
    from += lengthOf(window) + gap
    return place
  })
  const bands = placed.map((place) => ({
    name: windows.length === 1 ? '' : `${place.window.side} ${place.window.repeat}`,
    from: place.from,
    to: place.from + lengthOf(place.window),
  }))
  return { x: time(Math.max(1_000, from - gap)), bands, placed }
}

const ofPulses = (
  { placed }: Timeline,
  of: (intervalSample: IntervalResult) => number,
): readonly Piece[] =>
  placed.map(({ window, from }) =>
    window.intervalSamples.map((intervalSample) => [from + intervalSample.at, of(intervalSample)]),
  )

const ofSamples = ({ placed }: Timeline, of: (sample: Sample) => number): readonly Piece[] =>
  placed.map(({ window, from }) => window.samples.map((sample) => [from + sample.at, of(sample)]))

const greatest = (series: readonly Series[]): number =>
  Math.max(0, ...series.flatMap(({ pieces }) => pieces.flat().map(([, y]) => y)))
const least = (series: readonly Series[]): number =>
  Math.min(
    Infinity,
    ...series.flatMap(({ pieces }) => pieces.flat().map(([, y]) => (y > 0 ? y : Infinity))),
  )
const isThere = ({ pieces }: Series): boolean => pieces.some((p) => p.some(([, y]) => y > 0))

function throughput(timeline: Timeline): Chart {
  const [completed, ...bad]: readonly [Series, ...Series[]] = [
    { name: 'completed', colour: 1, pieces: ofPulses(timeline, ({ perSecond }) => perSecond) },
    {
      name: 'failed',
      colour: 4,
      pieces: ofPulses(timeline, (intervalSample) => intervalSample.failedPerSecond),
    },
    {
      name: 'gave up',
      colour: 5,
      dashed: true,
      pieces: ofPulses(timeline, (intervalSample) => intervalSample.givenUpPerSecond),
    },
  ]
  const series = [completed, ...bad.filter(isThere)]
  const { x, bands } = timeline
  return {
    title: 'Throughput',
    unit: 'journeys / s',
    x,
    y: linear(greatest(series)),
    series,
    bands,
  }
}

/** A sample in which nothing was completed has no latency. */
function latencies(timeline: Timeline): Chart {
  const percentile = (name: 'p50' | 'p90' | 'p99', colour: number): Series => ({
    name,
    colour,
    pieces: ofPulses(timeline, (intervalSample) => intervalSample[name]).map((piece) =>
      piece.filter(([, ms]) => ms > 0),
    ),
  })
  const series = [percentile('p50', 3), percentile('p90', 2), percentile('p99', 4)]
  const y = logarithmic(least(series), greatest(series))
  return { title: 'Latency', unit: 'ms', x: timeline.x, y, series, bands: timeline.bands }
}

function curves(windows: readonly WindowResult[]): Chart {
  const sides = [...new Set(windows.map(({ side }) => side))]
  const series = sides.map((side, index): Series => ({
    name: side,
    colour: COLOUR_OF_SIDE[side] ?? SIDE_COLOURS[index % SIDE_COLOURS.length] ?? 1,
    pieces: windows.filter((window) => window.side === side).map(({ curve }) => curve),
  }))
  const furthest = Math.max(90, ...windows.flatMap(({ curve }) => curve.map(([p]) => p)))
  return {
    title: 'Latency by share of journeys',
    unit: 'ms',
    x: nines(furthest),
    y: logarithmic(least(series), greatest(series)),
    series,
  }
}

function commits(timeline: Timeline): readonly Chart[] {
  const series: Series = {
    name: 'commands in a commit',
    colour: 2,
    pieces: ofSamples(timeline, (sample) =>
      sample.commits === 0 ? 0 : sample.commands / sample.commits,
    ).map((piece) => piece.filter(([, size]) => size > 0)),
  }
  if (!isThere(series)) return []
  const { x, bands } = timeline
  const y = linear(greatest([series]))
  return [{ title: 'Commit group size', unit: 'commands / fsync', x, y, series: [series], bands }]
}

function processNames({ placed }: Timeline): readonly string[] {
  const found = placed.flatMap(({ window }) => Object.keys(window.samples[0]?.cpu ?? {}))
  const names = [...new Set(found)]
  const placeOf = (name: string): number => {
    const place = Object.keys(COLOUR_OF_PROCESS).indexOf(name.replace(/-[0-9]+$/, ''))
    return place < 0 ? Infinity : place
  }
  return names.toSorted((one, other) => placeOf(one) - placeOf(other))
}

/** The second of a kind is paler than the first. */
function shadeOf(name: string): Pick<Series, 'colour' | 'paleness'> {
  const [, kind = name, number = '1'] = /^(.*)-([0-9]+)$/.exec(name) ?? []
  return { colour: COLOUR_OF_PROCESS[kind] ?? OTHER_COLOUR, paleness: Number(number) - 1 }
}

function processSeries(
  timeline: Timeline,
  of: (sample: Sample) => Readonly<Record<string, number>>,
): readonly Series[] {
  return processNames(timeline).map((name) => ({
    name,
    ...shadeOf(name),
    pieces: ofSamples(timeline, (sample) => of(sample)[name] ?? 0),
  }))
}

const SHOWN_FROM = 0.01

function processors(timeline: Timeline): Chart {
  const series = processSeries(timeline, ({ cpu }) => cpu).filter(
    (one) => greatest([one]) >= SHOWN_FROM,
  )
  const tops = timeline.placed.flatMap(({ window }) =>
    window.samples.map(({ cpu }) => Object.values(cpu).reduce((sum, share) => sum + share, 0)),
  )
  const { x, bands } = timeline
  const y = linear(Math.max(1, ...tops))
  return { title: 'CPU by process', unit: 'cores', x, y, series, stacked: true, bands }
}

function perProcess(
  timeline: Timeline,
  title: string,
  unit: string,
  of: (sample: Sample) => Readonly<Record<string, number>>,
): Chart {
  const series = processSeries(timeline, of)
  const { x, bands } = timeline
  return { title, unit, x, y: linear(greatest(series)), series, bands }
}

function arrivals(timeline: Timeline): readonly Chart[] {
  const count: Series = {
    name: 'deliveries',
    colour: 3,
    pieces: timeline.placed.map(({ window, from }) =>
      window.samples.map(({ at, arrivals: came }, index) => {
        const since = at - (window.samples[index - 1]?.at ?? 0)
        return [from + at, ((came?.count ?? 0) * 1_000) / since]
      }),
    ),
  }
  if (!isThere(count)) return []
  const age = (name: 'p50' | 'p95', colour: number): Series => ({
    name,
    colour,
    pieces: ofSamples(timeline, (sample) => sample.arrivals?.age[name] ?? 0).map((piece) =>
      piece.filter(([, ms]) => ms > 0),
    ),
  })
  const ages = [age('p50', 3), age('p95', 4)]
  const { x, bands } = timeline
  const y = logarithmic(least(ages), greatest(ages))
  return [
    {
      title: 'Webhooks received',
      unit: 'deliveries / s',
      x,
      y: linear(greatest([count])),
      series: [count],
      bands,
    },
    { title: 'Age of webhooks', unit: 'ms since the event', x, y, series: ages, bands },
  ]
}
