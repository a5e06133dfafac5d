/**
 * A run's result as one page: figures, plots, what it adds up to.
 *
 * Owns: the page. Does not own: its style (page_style), the plots (plots, chart), the figures'
 * words (report).
 *
 * - The page is one file and asks the network for nothing.
 * - Several sections have an overview; the plots of many are folded, so that the figures can be
 *   compared.
 */
import type { FinalAccounts } from '../system_under_test/accounts.js'
import { drawChart, escaped } from './chart.js'
import { STYLE } from './page_style.js'
import { plotsOf } from './plots.js'
import { NOT_QUIET, targetText, valueText, wasQuiet } from './report.js'
import { isMet, isVoid, type Finding, type RunResult, type Section } from './result.js'

export function pageOf(result: RunResult): string {
  const title = `Causeway ${result.kind}, ${result.startedAt}`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<header>
<h1>Causeway <b>${result.kind}</b></h1>
<p>${escaped(result.startedAt)}</p>
${facts(result)}
</header>
${isVoid(result) ? voidNote(result) : ''}
${wasQuiet(result) ? '' : `<aside>${NOT_QUIET}</aside>`}
${result.sections.length > 1 ? overview(result) : ''}
${result.sections.map((section, index) => sectionOf(section, index, result)).join('\n')}
</body>
</html>
`
}

function facts({ machine, settings }: RunResult): string {
  const { cpu, cores, memoryMiB, node, kernel, fileSystem, fsyncMicros } = machine
  const all: Readonly<Record<string, string>> = {
    machine: `${cpu}, ${cores} cores, ${memoryMiB} MiB; node ${node}, Linux ${kernel}`,
    disk: `${fileSystem}, fsync of 4 KiB ${fsyncMicros} µs (median)`,
    ...settings,
  }
  const rows = Object.entries(all).map(
    ([name, text]) => `<dt>${escaped(name)}</dt><dd>${escaped(text)}</dd>`,
  )
  return `<dl>${rows.join('')}</dl>`
}

const voidNote = ({ voidBecause }: RunResult): string =>
  `<aside><b>void</b>: these figures mean nothing.<ul>${voidBecause
    .map((reason) => `<li>${escaped(reason)}</li>`)
    .join('')}</ul></aside>`

/** Every figure that has a target. */
function overview(result: RunResult): string {
  const rows = result.sections.flatMap((section, index) =>
    section.findings
      .filter((found) => found.target !== undefined)
      .map((found) => {
        const met = isMet(found) === true
        const cells = [found.name, valueText(found), targetText(found), met ? 'met' : 'not met']
        const link = `<td><a href="#s${index}">${escaped(headingOf(section, result))}</a></td>`
        const others = cells.map((text) => `<td>${escaped(text)}</td>`).join('')
        return `<tr class="${met ? 'met' : 'missed'}">${link}${others}</tr>`
      }),
  )
  return rows.length === 0 ? '' : `<table class="overview">${rows.join('')}</table>`
}

/** Sections of `scale` are of one scenario, many of them. */
const headingOf = ({ title, scenario }: Section, { kind }: RunResult): string =>
  kind === 'scale' ? title : scenario

const sectionOf = (section: Section, index: number, result: RunResult): string => `<section>
<h2 id="s${index}">${escaped(headingOf(section, result))}</h2>
${result.kind === 'scale' ? '' : `<p>${escaped(section.title)}</p>`}
<div class="tiles">${section.findings.map(tile).join('')}</div>
${section.windows.length === 0 ? '' : folded(plots(section), result)}
${section.finalAccounts === undefined ? '' : finalAccountsOf(section.finalAccounts)}
</section>`

const plots = (section: Section): string =>
  `<div class="plots">${plotsOf(section).map(drawChart).join('\n')}</div>`

const UNFOLDED_MAX = 8

const folded = (drawn: string, { sections }: RunResult): string =>
  sections.length <= UNFOLDED_MAX
    ? drawn
    : `<details><summary>over time</summary>${drawn}</details>`

function tile(found: Finding): string {
  const met = isMet(found)
  const mark = met === undefined ? '' : met ? 'met' : 'missed'
  const target =
    met === undefined ? '' : `<em>${escaped(targetText(found))}, ${met ? 'met' : 'not met'}</em>`
  return `<div class="tile ${mark}"><span>${escaped(found.name)}</span><b>${escaped(
    valueText(found),
  )}</b>${target}</div>`
}

function finalAccountsOf({ lines, audit }: FinalAccounts): string {
  const rows = lines.map(
    ({ what, left, right, holds }) =>
      `<tr class="${holds ? '' : 'missed'}"><td>${escaped(what)}</td>` +
      `<td>${left.toLocaleString('en-US')}</td><td>${right.toLocaleString('en-US')}</td>` +
      `<td>${holds ? 'adds up' : 'does not add up'}</td></tr>`,
  )
  return `<table>${rows.join('')}</table><pre>${escaped(audit)}</pre>`
}
