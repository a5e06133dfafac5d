/**
 * A run's result as one HTML page, with the run before beside it.
 *
 * - The page is one file: style, charts and figures are in it, and it may load nothing.
 * - What a chart shows is in a table too, but for its course.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { raw } from 'hono/html'
import { projectRoot } from '../../../src/base/project_root.js'
import { html, NOTHING, type Content, type Html } from '../../../src/console/html/html.js'
import type { WindowResult } from '../measured_window.js'
import { fixed, targetText, valueText, verdict } from '../report.js'
import { isMet, isVoid, type Finding, type RunResult, type Section } from '../result.js'
import { latencyChart, rateChart, sidesOf, type Chart } from './charts.js'

const FOLDER = join(projectRoot(), 'test/load/report_page')
const UPLOT = join(projectRoot(), 'node_modules/uplot/dist')

type Before<T> = T | undefined

/** @param before the run that is shown beside it, if there is one */
export function reportPage(result: RunResult, before?: RunResult): string {
  const style = [join(UPLOT, 'uPlot.min.css'), join(FOLDER, 'page.css')].map(textOf).join('\n')
  const scripts = [join(UPLOT, 'uPlot.iife.min.js'), join(FOLDER, 'page.js')].map(textOf)
  const sources = scripts.map((text) => `'sha256-${hashOf(text)}'`).join(' ')
  const policy = `default-src 'none'; style-src 'unsafe-inline'; script-src ${sources}`
  const title = `Causeway ${result.kind}, ${moment(result)}`
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta http-equiv="Content-Security-Policy" content="${policy}" />
        <title>${title}</title>
        <style>
          ${inline(style)}
        </style>
      </head>
      <body>
        <main>
          <h1>Causeway ${result.kind}, <time>${moment(result)}</time> UTC</h1>
          ${verdictOf(result, before)}
          ${result.sections.map((section) => sectionOf(section, sameIn(before, section)))}
          ${runsTable(result, before)}
        </main>
        ${scripts.map((text) => inline(`<script>${text}</script>`))}
      </body>
    </html> `
  return String(page)
}

const textOf = (file: string): string => readFileSync(file, 'utf8')
/** Not escaped: it is ours, and has no end tag. */
const inline = (text: string): Html => raw(text)
const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64')
const moment = ({ startedAt }: RunResult): string => startedAt.replace('T', ' ').slice(0, 19)

const sameIn = (before: Before<RunResult>, { title }: Section): Before<Section> =>
  before?.sections.find((one) => one.title === title)

function verdictOf(result: RunResult, before: Before<RunResult>): Html {
  const [first = '', ...rest] = verdict(result)
  const others = before === undefined ? [] : differencesOf(result, before)
  const beside = before === undefined ? 'There is no earlier run beside it.' : besideOf(before)
  const tone = isVoid(result) ? 'bad' : first.startsWith('Everything') ? 'good' : 'warn'
  return html`<div class="verdict ${tone}">
    <strong>${first}</strong>
    ${rest.map((line) => html`<p>${line}</p>`)}
    <p class="hint">
      ${beside}
      ${
        others.length === 0
          ? NOTHING
          : html`<em>Not comparable, these differ: ${others.join(', ')}.</em>`
      }
    </p>
  </div>`
}

const besideOf = (before: RunResult): string => `Beside it is the run of ${moment(before)} UTC.`

interface Column {
  readonly title: string
  readonly isNumber: boolean
}
const text = (title: string): Column => ({ title, isNumber: false })
const number = (title: string): Column => ({ title, isNumber: true })

/** A column in which no row has anything is left out. */
function table(
  caption: string,
  all: readonly Column[],
  allRows: readonly (readonly Content[])[],
): Html {
  const isUsed = (_of: unknown, at: number): boolean => allRows.some((row) => row[at] !== '')
  const columns = all.filter(isUsed)
  const rows = allRows.map((row) => row.filter(isUsed))
  const kind = (at: number): string => (columns[at]?.isNumber === true ? 'number' : 'text')
  return html`<div class="table" tabindex="0" role="group" aria-label="${caption}">
    <table>
      <caption>
        ${caption}
      </caption>
      <thead>
        <tr>
          ${columns.map(({ title }, at) => html`<th scope="col" class="${kind(at)}">${title}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr>
              ${row.map((cell, at) => html`<td class="${kind(at)}">${cell}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}

/** They differ from run to run. */
const MEASURED = ['started', 'fsync']

/** The machine and the settings, which have to be the same for the figures to be comparable. */
const factsOf = (run: RunResult): Readonly<Record<string, string>> => ({
  started: moment(run),
  machine: `${run.machine.cpu}, ${run.machine.cores} cores, ${run.machine.memoryMiB} MiB`,
  versions: `node ${run.machine.node}, Linux ${run.machine.kernel}`,
  disk: run.machine.fileSystem,
  fsync: `${run.machine.fsyncMicros} µs for 4 KiB (median)`,
  ...run.settings,
})

function differencesOf(result: RunResult, before: RunResult): readonly string[] {
  const former = factsOf(before)
  return Object.entries(factsOf(result))
    .filter(([name, value]) => !MEASURED.includes(name) && former[name] !== value)
    .map(([name]) => name)
}

function runsTable(result: RunResult, before: Before<RunResult>): Html {
  const former = before && factsOf(before)
  const others = before === undefined ? [] : differencesOf(result, before)
  const rows = Object.entries(factsOf(result)).map(([name, value]) => {
    const was = former?.[name] ?? ''
    return [name, value, others.includes(name) ? html`<em>${was}</em>` : was]
  })
  return html`<section>
    <h2>Conditions</h2>
    ${table('Machine and settings', ['Setting', 'This run', 'Before'].map(text), rows)}
  </section>`
}

function sectionOf(section: Section, before: Before<Section>): Html {
  const { title, windows } = section
  const charts = sidesOf(windows).flatMap((side) => {
    const [own, former] = [windows, before?.windows ?? []].map((all) =>
      all.filter((window) => window.side === side),
    )
    return [rateChart(side, own!, former!), latencyChart(side, own!, former!)]
  })
  return html`<section>
    <h2>${title}</h2>
    ${findingsTable(section, before)}
    ${charts.length === 0 ? NOTHING : html`<div class="charts">${charts.map(figure)}</div>`}
    ${
      windows.length === 0
        ? NOTHING
        : html`${windowsTable(windows, before)} ${operationsTable(windows, before)}
          ${errorsTable(windows, before)}`
    }
    ${accountsOf(section)}
  </section>`
}

const figure = (chart: Chart): Html =>
  html`<figure>
    <figcaption>${chart.title}</figcaption>
    <div class="chart" data-chart="${JSON.stringify(chart)}"></div>
  </figure>`

/** A ratio is one row: the least and the greatest are its spread. */
function findingsTable({ findings }: Section, before: Before<Section>): Html {
  if (findings.length === 0) return NOTHING
  const columns = [
    ...[text('Figure'), number('Value'), text('Least to greatest')],
    ...[number('Before'), text('Target')],
  ]
  const isSpread = ({ name }: Finding): boolean => /, (least|greatest) of \d+$/.test(name)
  const rows = findings
    .filter((found) => !isSpread(found))
    .map((found) => {
      const was = before?.findings.find(({ name }) => name === found.name)
      const spread = findings.filter((one) => isSpread(one) && isOf(one, found))
      const met = isMet(found)
      const target = html`<span class="${met === true ? 'good' : 'bad'}"
        >${targetText(found)}</span
      >`
      return [
        ...[found.name, html`<strong>${valueText(found)}</strong>`],
        ...[spread.map(valueText).join(' to '), was === undefined ? '' : valueText(was)],
        met === undefined ? '' : target,
      ]
    })
  return table('What the run was made for', columns, rows)
}

const isOf = (spread: Finding, { name }: Finding): boolean =>
  spread.name.slice(0, spread.name.lastIndexOf(',')) === name

const nameOf = ({ side, repeat }: WindowResult): string => `${side} ${repeat}`

/** The window of the earlier run that is beside it. */
const peerOf = (before: Before<Section>, { side, repeat }: WindowResult): Before<WindowResult> =>
  before?.windows.find((one) => one.side === side && one.repeat === repeat)

function windowsTable(windows: readonly WindowResult[], before: Before<Section>): Html {
  const offered = ({ isOpenLoop, samples }: WindowResult): string =>
    isOpenLoop ? fixed(mean(samples.map(({ offeredPerSecond }) => offeredPerSecond))) : ''
  const rows = windows.map((window) => {
    const { ratePerSecond, latency, journeys, perCommit } = window
    const was = peerOf(before, window)
    return [
      ...[nameOf(window), offered(window), fixed(ratePerSecond)],
      ...[latency.p50, latency.p99, latency.p999].map((ms) => fixed(ms, 1)),
      ...[fixed(journeys.completed), fixed(journeys.begun - journeys.completed)],
      perCommit === 0 ? '' : fixed(perCommit, 1),
      ...(was === undefined ? ['', ''] : [fixed(was.ratePerSecond), fixed(was.latency.p99, 1)]),
    ]
  })
  const columns = [
    text('Window'),
    ...['Offered /s', 'Achieved /s', 'p50 ms', 'p99 ms', 'p99.9 ms', 'Completed'].map(number),
    ...['Not completed', 'In a commit', 'Achieved before', 'p99 before'].map(number),
  ]
  return table('Windows, as they were measured', columns, rows)
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)

function operationsTable(windows: readonly WindowResult[], before: Before<Section>): Html {
  const slowest = Math.max(
    ...windows.flatMap(({ operations }) => Object.values(operations).map(({ p999 }) => p999)),
  )
  const rows = windows.flatMap((window) =>
    Object.entries(window.operations).map(([name, { count, p50, p90, p99, p999, max }]) => {
      const was = peerOf(before, window)?.operations[name]
      return [
        ...[name, nameOf(window), fixed(count)],
        ...[p50, p90, p99].map((ms) => fixed(ms, 1)),
        html`${bar(p999 / slowest)}${fixed(p999, 1)}`,
        fixed(max, 1),
        ...(was === undefined ? ['', ''] : [fixed(was.p99, 1), fixed(was.p999, 1)]),
      ]
    }),
  )
  if (rows.length === 0) return NOTHING
  const columns = [
    ...[text('Operation'), text('Window'), number('Count')],
    ...['p50', 'p90', 'p99', 'p99.9', 'max', 'p99 before', 'p99.9 before'].map(number),
  ]
  return table(
    'Latency by operation, in ms, from due until the last answer or webhook',
    columns,
    rows,
  )
}

const errorsOf = ({ errors, journeys }: WindowResult): readonly (readonly [string, number])[] =>
  Object.entries({ ...errors, 'got no connection in time': journeys.abandoned })
    .filter(([, count]) => count > 0)
    .toSorted(([, one], [, other]) => other - one)

function errorsTable(windows: readonly WindowResult[], before: Before<Section>): Html {
  const most = Math.max(...windows.flatMap((window) => errorsOf(window).map(([, count]) => count)))
  const rows = windows.flatMap((window) => {
    const peer = peerOf(before, window)
    const former = peer === undefined ? undefined : Object.fromEntries(errorsOf(peer))
    return errorsOf(window).map(([code, count]) => [
      ...[code, nameOf(window), html`${bar(count / most)}${fixed(count)}`],
      former === undefined ? '' : fixed(former[code] ?? 0),
    ])
  })
  if (rows.length === 0) return html`<p class="hint">No journey failed.</p>`
  const columns = [text('Error'), text('Window'), number('Journeys'), number('Before')]
  return table('Errors by code', columns, rows)
}

const bar = (share: number): Html =>
  html`<span
    class="bar"
    style="inline-size: ${Math.max(0, Math.min(60, share * 60)).toFixed(1)}px"
  ></span>`

function accountsOf({ accounts }: Section): Html {
  if (accounts === undefined) return NOTHING
  const rows = accounts.lines.map(({ what, left, right, holds }) => [
    ...[what, fixed(left), fixed(right)],
    html`<span class="${holds ? 'good' : 'bad'}">${holds ? 'adds up' : 'DOES NOT ADD UP'}</span>`,
  ])
  const columns = [text('Account'), number('Left'), number('Right'), text('Result')]
  return html`<details>
    <summary>Accounts and audit</summary>
    ${table('Accounts', columns, rows)}
    <pre>${accounts.audit}</pre>
  </details>`
}
