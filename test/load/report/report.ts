/**
 * A run's result as tables to read.
 *
 * Owns: columns and units. Does not own: the figures, the page with plots (page).
 */
import type { FinalAccounts } from '../system_under_test/accounts.js'
import { median } from '../measurement/machine.js'
import type { WindowResult } from '../measurement/measurement.js'
import { profileLines } from '../profile/tables.js'
import { isMet, isVoid, type Finding, type RunResult, type Section } from './result.js'

/** The kernel's own work for our connections is part of it. */
const QUIET_BELOW = 0.15

export function report(result: RunResult): string {
  const { sections, kind } = result
  const lines = sections.flatMap((section) =>
    sectionLines(section, kind !== 'scale' || section.scenario !== 'reads'),
  )
  return [...heading(result), ...lines, '', ...verdict(result)].join('\n')
}

function heading({ kind, startedAt, machine, settings }: RunResult): string[] {
  const { cpu: model, cores, memoryMiB, node, kernel, fileSystem, fsyncMicros } = machine
  return [
    `Causeway ${kind}, ${startedAt}`,
    `  machine   ${model}, ${cores} cores, ${memoryMiB} MiB; node ${node}, Linux ${kernel}`,
    `  disk      ${fileSystem}, fsync of 4 KiB ${fsyncMicros} µs (median)`,
    ...Object.entries(settings).map(([name, text]) => `  ${name.padEnd(9)} ${text}`),
  ]
}

/** @param withCpu what each process used, for each side */
function sectionLines(section: Section, withCpu: boolean): string[] {
  const { title, windows, findings, profile, finalAccounts } = section
  const parts = [
    windows.length === 0 ? [] : windowLines(windows),
    windows.length === 0 || !withCpu ? [] : cpuLines(windows),
    findings.map(findingLine),
    profile === undefined ? [] : profileLines(profile),
    finalAccounts === undefined ? [] : finalAccountsLines(finalAccounts),
  ]
  return ['', title, ...parts.flatMap((lines) => (lines.length === 0 ? [] : ['', ...lines]))]
}

function windowLines(windows: readonly WindowResult[]): string[] {
  const hasArrivals = windows.some(({ arrivals }) => (arrivals?.count ?? 0) > 0)
  const header = ['', 'rate/s', 'p50 ms', 'p99 ms', 'max ms', 'completed', 'failed', 'a commit']
  const more = hasArrivals ? ['webhooks/s', 'age p95 ms'] : []
  const rows = windows.map((window) => [
    `${window.side} ${window.repeat}`,
    whole(window.ratePerSecond),
    tenth(window.latency.p50),
    tenth(window.latency.p99),
    tenth(window.latency.max),
    whole(window.journeys.completed),
    whole(window.journeys.begun - window.journeys.completed),
    window.perCommit === 0 ? '' : tenth(window.perCommit),
    percent(window.elsewhere),
    ...arrivalCells(window, hasArrivals),
  ])
  return [...table([[...header, 'elsewhere', ...more], ...rows]), ...errorLines(windows)]
}

/** Why journeys failed, and how many callers gave up. */
function errorLines(windows: readonly WindowResult[]): string[] {
  return windows.flatMap(({ side, repeat, errors, journeys }) => {
    const all = { ...errors, 'gave up waiting for a connection': journeys.givenUp }
    return Object.entries(all)
      .filter(([, count]) => count > 0)
      .map(([code, count]) => `  ${side} ${repeat}: ${whole(count)} × ${code}`)
  })
}

function arrivalCells({ arrivals, seconds }: WindowResult, shown: boolean): string[] {
  if (!shown) return []
  if (arrivals === undefined || arrivals.count === 0) return ['', '']
  return [whole(arrivals.count / seconds), tenth(arrivals.age.p95)]
}

/** Medians over the windows of a side. */
function cpuLines(windows: readonly WindowResult[]): string[] {
  const sides = [...new Set(windows.map(({ side }) => side))]
  const names = [...new Set(windows.flatMap(({ cpuMicros }) => Object.keys(cpuMicros)))]
  const cell = (side: string, name: string, thread: 'main' | 'others'): string => {
    const ofSide = windows.filter((window) => window.side === side)
    return tenth(median(ofSide.map(({ cpuMicros }) => cpuMicros[name]?.[thread] ?? 0)))
  }
  const rss = (name: string): string =>
    whole(Math.max(...windows.map(({ rssMiB }) => rssMiB[name] ?? 0)))
  const rows = names.map((name) => [
    name,
    ...sides.flatMap((side) => [cell(side, name, 'main'), cell(side, name, 'others')]),
    rss(name),
  ])
  return table([
    ['CPU µs a journey', ...sides.flatMap((side) => ['', side]), 'RSS MiB'],
    ['', ...sides.flatMap(() => ['main', 'others']), 'largest'],
    ...rows,
  ])
}

export function findingLine(found: Finding): string {
  const met = isMet(found)
  const wanted = found.target === undefined ? '' : `   ${targetText(found)}`
  const verdictText = met === undefined ? '' : met ? ', met' : ', NOT met'
  return `  ${found.name.padEnd(34)} ${valueText(found).padStart(12)}${wanted}${verdictText}`
}

export function valueText({ value, unit }: Finding): string {
  if (value === Infinity) return 'never'
  if (Number.isNaN(value)) return 'none'
  return `${shown(value)} ${unit}`.trim()
}

/** A trace of something must not look like nothing. */
function shown(value: number): string {
  if (Math.abs(value) >= 100) return whole(value)
  const isTrace = Math.abs(value) < 0.005 && Math.abs(value) > 1e-6
  return isTrace ? shortly(Number(value.toPrecision(1)), 6) : value.toFixed(2)
}

export function targetText({ target, unit }: Finding): string {
  const atLeast = target?.atLeast === undefined ? [] : [`at least ${shortly(target.atLeast)}`]
  const atMost = target?.atMost === undefined ? [] : [`at most ${shortly(target.atMost)}`]
  return `target: ${[...atLeast, ...atMost].join(' and ')} ${unit}`.trim()
}

const shortly = (value: number, maximumFractionDigits = 2): string =>
  value.toLocaleString('en-US', { maximumFractionDigits })

function finalAccountsLines({ lines, audit }: FinalAccounts): string[] {
  const rows = lines.map(({ what, left, right, holds }) => [
    what,
    whole(left),
    whole(right),
    holds ? 'adds up' : 'DOES NOT ADD UP',
  ])
  return [...table(rows), `  ${audit.replaceAll('\n', '\n  ')}`]
}

function verdict(result: RunResult): string[] {
  if (isVoid(result)) {
    return [
      'void: these figures mean nothing.',
      ...result.voidBecause.map((reason) => `  ${reason}`),
    ]
  }
  return [wasQuiet(result) ? 'Everything adds up.' : NOT_QUIET]
}

export const NOT_QUIET =
  'The machine was not quiet: neither the rates nor their ratios are to be trusted.'

export const wasQuiet = ({ sections }: RunResult): boolean =>
  sections.every(({ windows }) => windows.every(({ elsewhere }) => elsewhere <= QUIET_BELOW))

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
