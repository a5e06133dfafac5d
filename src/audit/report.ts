/** The audit's result as text for operators. */
import { instant, toRfc3339 } from '../base/clock.js'
import type { AuditReport, BrokenInvariant, CheckResult } from './audit.js'
import { FILE_OF } from './books.js'

const NAME_WIDTH = 34

/** The line printed when a check ends. */
export function checkLine({ name, outcome, rows, ms }: CheckResult): string {
  if (outcome === 'left out') return `--      ${name}`
  const word = outcome === 'ok' ? 'ok' : 'BROKEN'
  return `${word.padEnd(7)} ${name.padEnd(NAME_WIDTH)} (${rows} rows, ${ms} ms)`
}

/** The lines printed after the checks. */
export function conclusion(report: AuditReport): string {
  const { checks, notAudited, poolsReplacedAt, broken, corrupt } = report
  const lines = [
    ...notAudited.map((source) => `not audited: ${FILE_OF[source]}`),
    ...(poolsReplacedAt === null
      ? []
      : [`not audited: deliveries settled until ${toRfc3339(instant(poolsReplacedAt))}`]),
    ...corrupt.map((entity) => `corrupt: ${entity}`),
  ]
  if (broken !== null) return [...lines, ...brokenLines(broken)].join('\n')
  const done = checks.filter(({ outcome }) => outcome === 'ok')
  const rows = done.reduce((sum, check) => sum + check.rows, 0)
  const leftOut = checks.length - done.length
  const suffix = leftOut === 0 ? '' : `, ${leftOut} left out`
  return [...lines, `audit clean: ${done.length} checks over ${rows} rows${suffix}`].join('\n')
}

function brokenLines({ name, sentence, entity, found, expected, timeline }: BrokenInvariant) {
  return [
    `audit broken: ${name}`,
    `  ${sentence}`,
    `  entity    ${entity === '' ? 'all' : entity}`,
    `  found     ${found}`,
    `  expected  ${expected}`,
    ...timeline.map(
      ({ at, source, what }) => `    ${toRfc3339(instant(at))}  ${source.padEnd(11)} ${what}`,
    ),
  ]
}
