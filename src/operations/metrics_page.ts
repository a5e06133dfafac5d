/**
 * Generates `src/METRICS.md` from the metric families in the code (`make metrics`); a test checks
 * that it is current.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../base/project_root.js'
import { FAMILIES, FAMILY_GROUPS, type FamilyName } from '../metrics/families.js'

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
const code = (text: string): string => `\`${text}\``

const familyRow = (name: FamilyName): string => {
  const { type, labels, help } = FAMILIES[name]
  return row([code(name), type, labels.map(code).join(', '), help])
}

export const metricsPage = (): string =>
  [
    '# Metrics',
    '',
    'Every metric family, in the text format of Prometheus at `/metrics` of `OPS_PORT`. On the',
    'page of a stack every sample has the label `process`: `gateway-1`, `processor`, `webhooks`,',
    '`rail`, `supervisor`; `/metrics?process=NAME` is the page of one of them. A process without',
    'the supervisor serves its own page, with the same label. What to look into is in',
    '[Health and metrics](operations/guide/metrics.md).',
    '',
    '- Counters and histograms start at 0 with their process, so use `rate()` and `increase()`.',
    '  What is open, held, unknown or owed is read from the books: a restart does not change it.',
    '- Histograms have fixed buckets: add them over processes, then take `histogram_quantile()`.',
    '- Durations are in seconds, sizes in bytes, amounts in major units of their currency.',
    '',
    'This page is generated from `src/metrics/` by `make metrics`.',
    ...FAMILY_GROUPS.flatMap(({ title, processes, names }) => [
      '',
      `## ${title}`,
      '',
      `Processes: ${processes.map(code).join(', ')}.`,
      '',
      row(['name', 'type', 'labels', 'meaning']),
      '|---|---|---|---|',
      ...names.map(familyRow),
    ]),
    '',
  ].join('\n')

if (process.argv[2] === 'write') {
  writeFileSync(join(projectRoot(), 'src/METRICS.md'), metricsPage())
}
