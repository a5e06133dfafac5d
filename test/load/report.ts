/** A run's result as text tables. */
import type { Accounts } from './accounts.js'
import { median } from './machine.js'
import type { WindowResult } from './measured_window.js'
import { isMet, isVoid, type Finding, type RunResult, type Section } from './result.js'

/** It includes the kernel's work for the connections of the test. */
const QUIET_BELOW = 0.15

export function report(result: RunResult): string {
  const { kind, startedAt, machine, settings, sections } = result
  const { cpu, cores, memoryMiB, node, kernel, fileSystem, fsyncMicros } = machine
  return [
    `Causeway ${kind}, ${startedAt}`,
    `  machine   ${cpu}, ${cores} cores, ${memoryMiB} MiB; node ${node}, Linux ${kernel}`,
    `  disk      ${fileSystem}, fsync of 4 KiB ${fsyncMicros} µs (median)`,
    ...Object.entries(settings).map(([name, text]) => `  ${name.padEnd(9)} ${text}`),
    ...sections.flatMap(sectionLines),
    '',
    ...verdict(result),
  ].join('\n')
}

function sectionLines({ title, windows, findings, accounts }: Section): string[] {
  const parts = [
    windows.length === 0 ? [] : windowLines(windows),
    windows.length === 0 ? [] : cpuLines(windows),
    findings.map(findingLine),
    accounts === undefined ? [] : accountLines(accounts),
  ]
  return ['', title, ...parts.flatMap((lines) => (lines.length === 0 ? [] : ['', ...lines]))]
}

function windowLines(windows: readonly WindowResult[]): string[] {
  const hasArrivals = windows.some(({ arrivals }) => (arrivals?.count ?? 0) > 0)
  const header = [
    ...['', 'rate/s', 'p50 ms', 'p99 ms', 'max ms', 'completed', 'failed', 'a commit'],
    ...['elsewhere', ...(hasArrivals ? ['webhooks/s', 'age p95 ms'] : [])],
  ]
  const rows = windows.map(({ side, repeat, latency, journeys, arrivals, ...window }) => [
    `${side} ${repeat}`,
    whole(window.ratePerSecond),
    ...[latency.p50, latency.p99, latency.max].map(tenth),
    whole(journeys.completed),
    whole(journeys.begun - journeys.completed),
    window.perCommit === 0 ? '' : tenth(window.perCommit),
    `${Math.round(window.elsewhere * 100)} %`,
    ...(arrivals?.count ? [whole(arrivals.count / window.seconds), tenth(arrivals.age.p95)] : []),
  ])
  const errors = windows.flatMap(({ side, repeat, errors: codes, journeys }) =>
    Object.entries({ ...codes, 'got no connection in time': journeys.abandoned })
      .filter(([, count]) => count > 0)
      .map(([code, count]) => `  ${side} ${repeat}: ${whole(count)} × ${code}`),
  )
  return [...table([header, ...rows]), ...errors]
}

/** CPU: medians over the windows of a side. */
function cpuLines(windows: readonly WindowResult[]): string[] {
  const sides = [...new Set(windows.map(({ side }) => side))]
  const names = [...new Set(windows.flatMap(({ cpuMicros }) => Object.keys(cpuMicros)))]
  const cell = (side: string, name: string, thread: 'main' | 'others'): string => {
    const ofSide = windows.filter((window) => window.side === side)
    return tenth(median(ofSide.map(({ cpuMicros }) => cpuMicros[name]?.[thread] ?? 0)))
  }
  const rows = names.map((name) => [
    name,
    ...sides.flatMap((side) => [cell(side, name, 'main'), cell(side, name, 'others')]),
    whole(Math.max(...windows.map(({ rssMiB }) => rssMiB[name] ?? 0))),
  ])
  return table([
    ['CPU µs a journey', ...sides.flatMap((side) => ['', side]), 'RSS MiB'],
    ['', ...sides.flatMap(() => ['main', 'others']), 'largest'],
    ...rows,
  ])
}

function findingLine(found: Finding): string {
  const met = isMet(found)
  const target = met === undefined ? '' : `   ${targetText(found)}, ${met ? 'met' : 'NOT met'}`
  return `  ${found.name.padEnd(38)} ${valueText(found).padStart(12)}${target}`
}

/** Formats a value below 0.01 as such, not as 0. */
function valueText({ value, unit }: Finding): string {
  if (value === Infinity) return 'never'
  if (Number.isNaN(value)) return 'none'
  const isTrace = Math.abs(value) < 0.005 && Math.abs(value) > 1e-6
  const small = isTrace ? rounded(Number(value.toPrecision(1)), 6) : value.toFixed(2)
  return `${Math.abs(value) >= 100 ? whole(value) : small} ${unit}`.trim()
}

function targetText({ target, unit }: Finding): string {
  const bounds = Object.entries({ 'at least': target?.atLeast, 'at most': target?.atMost })
  const texts = bounds.flatMap(([word, bound]) =>
    bound === undefined ? [] : [`${word} ${rounded(bound)}`],
  )
  return `target: ${texts.join(' and ')} ${unit}`.trim()
}

const rounded = (value: number, maximumFractionDigits = 2): string =>
  value.toLocaleString('en-US', { maximumFractionDigits })

function accountLines({ lines, audit }: Accounts): string[] {
  const words = (holds: boolean): string => (holds ? 'adds up' : 'DOES NOT ADD UP')
  const rows = lines.map(({ what, left, right, holds }) => {
    return [what, whole(left), whole(right), words(holds)]
  })
  return [...table(rows), `  ${audit.replaceAll('\n', '\n  ')}`]
}

function verdict(result: RunResult): string[] {
  if (isVoid(result)) {
    return ['void: these figures do not count.', ...result.voidBecause.map((why) => `  ${why}`)]
  }
  const quiet = result.sections.every(({ windows }) =>
    windows.every(({ elsewhere }) => elsewhere <= QUIET_BELOW),
  )
  const notQuiet = 'The machine was not quiet: rates and their ratios are not reliable.'
  return [quiet ? 'Everything adds up.' : notQuiet]
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
