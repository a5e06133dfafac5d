/** A run's result as text tables. */
import { table, terminalText } from '../../src/operations/cli/terminal.js'
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
  return [
    ...['', title],
    ...(windows.length === 0 ? [] : ['', ...windowLines(windows), '', cpuTable(windows)]),
    ...(findings.length === 0 ? [] : ['', findingTable(findings)]),
    ...(accounts === undefined ? [] : ['', accountsTable(accounts)]),
  ]
}

function windowLines(windows: readonly WindowResult[]): string[] {
  const hasArrivals = windows.some(({ arrivals }) => (arrivals?.count ?? 0) > 0)
  const header = [
    ...['', 'rate/s', 'p50 ms', 'p99 ms', 'max ms', 'completed', 'failed', 'a commit'],
    ...['subscribed', 'elsewhere', ...(hasArrivals ? ['webhooks/s', 'age p95 ms'] : [])],
  ]
  const rows = windows.map(({ side, repeat, latency, journeys, arrivals, ...window }) => [
    `${side} ${repeat}`,
    fixed(window.ratePerSecond),
    ...[latency.p50, latency.p99, latency.max].map((ms) => fixed(ms, 1)),
    fixed(journeys.completed),
    fixed(journeys.begun - journeys.completed),
    window.perCommit === 0 ? '' : fixed(window.perCommit, 1),
    Number.isNaN(window.subscribedShare) ? '' : `${fixed(window.subscribedShare * 100)} %`,
    `${fixed(window.elsewhere * 100)} %`,
    ...(arrivals?.count
      ? [fixed(arrivals.count / window.seconds), fixed(arrivals.age.p95, 1)]
      : []),
  ])
  const errors = windows.flatMap(({ side, repeat, errors: codes, journeys }) =>
    Object.entries({ ...codes, 'got no connection in time': journeys.abandoned })
      .filter(([, count]) => count > 0)
      .map(([code, count]) => `  ${side} ${repeat}: ${fixed(count)} × ${code}`),
  )
  return [numberTable([header, ...rows]), ...errors]
}

/** CPU: medians over the windows of a side. */
function cpuTable(windows: readonly WindowResult[]): string {
  const sides = [...new Set(windows.map(({ side }) => side))]
  const names = [...new Set(windows.flatMap(({ cpuMicros }) => Object.keys(cpuMicros)))]
  const cell = (side: string, name: string, thread: 'main' | 'others'): string => {
    const ofSide = windows.filter((window) => window.side === side)
    return fixed(median(ofSide.map(({ cpuMicros }) => cpuMicros[name]?.[thread] ?? 0)), 1)
  }
  const rows = names.map((name) => [
    name,
    ...sides.flatMap((side) => [cell(side, name, 'main'), cell(side, name, 'others')]),
    fixed(Math.max(...windows.map(({ rssMiB }) => rssMiB[name] ?? 0))),
  ])
  return numberTable([
    ['CPU µs a journey', ...sides.flatMap((side) => ['', side]), 'RSS MiB'],
    ['', ...sides.flatMap(() => ['main', 'others']), 'largest'],
    ...rows,
  ])
}

const findingTable = (findings: readonly Finding[]): string =>
  tableText(
    findings.map((found) => [`  ${found.name}`, valueText(found), labelled(targetText(found))]),
    [1],
  )

/** Formats a value below 0.01 as such, not as 0. */
export function valueText({ value, unit }: Finding): string {
  if (value === Infinity) return 'never'
  if (Number.isNaN(value)) return 'none'
  const isTrace = Math.abs(value) < 0.005 && Math.abs(value) > 1e-6
  const small = isTrace ? value.toPrecision(1) : fixed(value, 2)
  return `${Math.abs(value) >= 100 ? fixed(value) : small} ${unit}`.trim()
}

const labelled = (target: string): string => (target === '' ? '' : `target: ${target}`)

export function targetText(found: Finding): string {
  const { target, unit } = found
  if (target === undefined) return ''
  const [word, bound] =
    'atLeast' in target ? ['at least', target.atLeast] : ['at most', target.atMost]
  const text = `${word} ${bound.toLocaleString('en-US')} ${unit}`.trim()
  return `${text}, ${isMet(found) ? 'met' : 'NOT met'}`
}

function accountsTable({ lines, audit }: Accounts): string {
  const rows = lines.map(({ what, left, right, holds }) => {
    return [what, fixed(left), fixed(right), holds ? 'adds up' : 'DOES NOT ADD UP']
  })
  return `${numberTable(rows)}\n  ${audit.replaceAll('\n', '\n  ')}`
}

export function verdict(result: RunResult): string[] {
  if (isVoid(result)) {
    return ['void: these figures do not count.', ...result.voidBecause.map((why) => `  ${why}`)]
  }
  const windows = result.sections.flatMap((section) => section.windows)
  return windows.every(({ elsewhere }) => elsewhere <= QUIET_BELOW)
    ? ['Everything adds up.']
    : ['The machine was not quiet: rates and their ratios are not reliable.']
}

/** The first column to the left, the others to the right. */
const numberTable = (rows: readonly (readonly string[])[]): string =>
  tableText(
    rows.map(([name = '', ...numbers]) => [`  ${name}`, ...numbers]),
    (rows[0] ?? []).map((_, column) => column).slice(1),
  )

const tableText = (...given: Parameters<typeof table>): string => terminalText([table(...given)])

export const fixed = (value: number, digits = 0): string =>
  value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
