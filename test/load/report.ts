/**
 * A benchmark's result as a table to read.
 *
 * Owns: columns and units. Does not own: the figures (bench).
 */
import type { BenchResult, BenchSettings } from './bench.js'
import { median } from './machine.js'
import type { Side, WindowResult } from './measurement.js'

const SIDE_NAMES: Readonly<Record<Side, string>> = {
  ceiling: 'ceiling (gateway alone)',
  creates: 'signed durable creates',
}

/** The kernel's own work for our connections is part of it. */
const QUIET_BELOW = 0.15

export function report(result: BenchResult): string {
  return [
    ...heading(result),
    '',
    ...rates(result),
    '',
    ...cpu(result),
    '',
    ...verdict(result),
  ].join('\n')
}

function heading({ startedAt, machine, settings }: BenchResult): string[] {
  const { cpu: model, cores, memoryMiB, node, kernel, fileSystem, fsyncMicros } = machine
  return [
    `Causeway bench, ${startedAt}`,
    `  machine   ${model}, ${cores} cores, ${memoryMiB} MiB; node ${node}, Linux ${kernel}`,
    `  disk      ${fileSystem}, fsync of 4 KiB ${fsyncMicros} µs (median)`,
    `  load      ${loadText(settings)}`,
  ]
}

function loadText(settings: BenchSettings): string {
  const { seconds, inFlight, repeat, ratePerSecond, withIdempotencyKey } = settings
  const loop =
    ratePerSecond === undefined
      ? `closed loop, ${inFlight} in flight`
      : `open loop, ${ratePerSecond}/s on at most ${inFlight} connections`
  const key = withIdempotencyKey ? 'a new Idempotency-Key each' : 'no Idempotency-Key'
  return `${loop}; ${repeat} × ${seconds} s a side, in turns; ${key}`
}

function rates({ windows, summary }: BenchResult): string[] {
  const header = ['', 'rate/s', 'p50 ms', 'p99 ms', 'max ms', 'answered', 'a commit', 'elsewhere']
  const rows = windows.map((window) => [
    `${window.side} ${window.repeat}`,
    whole(window.ratePerSecond),
    tenth(window.latency.p50),
    tenth(window.latency.p99),
    tenth(window.latency.max),
    whole(window.requests.answered),
    window.perCommit === 0 ? '' : whole(window.perCommit),
    percent(window.elsewhere),
  ])
  const medians = (['ceiling', 'creates'] as const).map((side) => {
    const { ratePerSecond, latency } = summary[side]
    const { p50, p99, max } = latency
    return [SIDE_NAMES[side], whole(ratePerSecond), tenth(p50), tenth(p99), tenth(max)]
  })
  return table([header, ...rows, [], ...medians])
}

/** Medians over the windows of a side. */
function cpu({ windows, summary }: BenchResult): string[] {
  const of = (side: Side): WindowResult[] => windows.filter((window) => window.side === side)
  const names = Object.keys(windows[0]?.cpuMicros ?? {})
  const cell = (side: Side, name: string, thread: 'main' | 'others'): string =>
    tenth(median(of(side).map(({ cpuMicros }) => cpuMicros[name]?.[thread] ?? 0)))
  const rss = (name: string): string =>
    whole(Math.max(...windows.map(({ rssMiB }) => rssMiB[name] ?? 0)))
  const rows = names.map((name) => [
    name,
    cell('ceiling', name, 'main'),
    cell('ceiling', name, 'others'),
    cell('creates', name, 'main'),
    cell('creates', name, 'others'),
    rss(name),
  ])
  return table([
    ['CPU µs a request', 'ceiling', '', 'creates', '', 'RSS MiB'],
    ['', 'main', 'others', 'main', 'others', 'largest'],
    ...rows,
    ['all together', tenth(summary.ceiling.cpuMicros), '', tenth(summary.creates.cpuMicros)],
  ])
}

function verdict({ windows, ratio, readBack, settings, voidBecause }: BenchResult): string[] {
  if (voidBecause.length > 0) {
    return ['VOID: these figures mean nothing.', ...voidBecause.map((reason) => `  ${reason}`)]
  }
  const answered = windows.reduce((sum, { requests }) => sum + requests.answered, 0)
  const elsewhere = Math.max(...windows.map((window) => window.elsewhere))
  const checked = `${whole(answered)} answers, all 201; ${readBack} intents read back`
  return [
    checked,
    ...(elsewhere > QUIET_BELOW
      ? ['The machine was not quiet: neither the rates nor their ratio are to be trusted.']
      : []),
    ...(settings.ratePerSecond === undefined ? [`creates / ceiling = ${ratio.toFixed(2)}`] : []),
  ]
}

/** The first column to the left, the others to the right. */
function table(rows: readonly (readonly string[])[]): string[] {
  const columns = Math.max(...rows.map((row) => row.length))
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  )
  const pad = (text: string, column: number): string =>
    column === 0 ? text.padEnd(widths[0] ?? 0) : text.padStart(widths[column] ?? 0)
  return rows.map((row) => `  ${row.map(pad).join('  ')}`.trimEnd())
}

const whole = (value: number): string => Math.round(value).toLocaleString('en-US')
const tenth = (value: number): string => value.toFixed(1)
const percent = (share: number): string => `${Math.round(share * 100)} %`
