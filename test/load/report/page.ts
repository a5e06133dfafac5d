/**
 * A run's result as one page: figures, plots, what it adds up to.
 *
 * Owns: the page. Does not own: its style (page_style), the plots (plots, chart), the figures'
 * words (report).
 *
 * W1. The page is one file and asks the network for nothing.
 */
import type { Reckoning } from '../site/accounts.js'
import { drawChart, escaped } from './chart.js'
import { STYLE } from './page_style.js'
import { plotsOf } from './plots.js'
import { targetText, valueText } from './report.js'
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
${result.sections.map(sectionOf).join('\n')}
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

const sectionOf = (section: Section): string => `<section>
<h2>${escaped(section.scenario)}</h2>
<p>${escaped(section.title)}</p>
<div class="tiles">${section.findings.map(tile).join('')}</div>
<div class="plots">${plots(section)}</div>
${section.reckoning === undefined ? '' : reckoningOf(section.reckoning)}
</section>`

const plots = (section: Section): string =>
  section.windows.length === 0 ? '' : plotsOf(section).map(drawChart).join('\n')

function tile(found: Finding): string {
  const met = isMet(found)
  const mark = met === undefined ? '' : met ? 'met' : 'missed'
  const target =
    met === undefined ? '' : `<em>${escaped(targetText(found))}: ${met ? 'met' : 'not met'}</em>`
  return `<div class="tile ${mark}"><span>${escaped(found.name)}</span><b>${escaped(
    valueText(found),
  )}</b>${target}</div>`
}

function reckoningOf({ lines, audit }: Reckoning): string {
  const rows = lines.map(
    ({ what, left, right, holds }) =>
      `<tr class="${holds ? '' : 'missed'}"><td>${escaped(what)}</td>` +
      `<td>${left.toLocaleString('en-US')}</td><td>${right.toLocaleString('en-US')}</td>` +
      `<td>${holds ? 'adds up' : 'does not add up'}</td></tr>`,
  )
  return `<table>${rows.join('')}</table><pre>${escaped(audit)}</pre>`
}
