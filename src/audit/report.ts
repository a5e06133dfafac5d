/** What the audit says, for people and for machines. */
import { instant, toRfc3339 } from '../base/clock.js'
import type { BrokenInvariant, Checked, Verdict } from './audit.js'
import { FILE_OF } from './books.js'

const NAME_WIDTH = 34

/** One line a check, as it is done. */
export function checkLine({ name, outcome, rows, ms }: Checked): string {
  if (outcome === 'left out') return `--      ${name}`
  const word = outcome === 'ok' ? 'ok' : 'BROKEN'
  return `${word.padEnd(7)} ${name.padEnd(NAME_WIDTH)} (${rows} rows, ${ms} ms)`
}

/** What comes after the checks. */
export function conclusion(verdict: Verdict): string {
  const { checks, notAudited, poolsReplacedAt, broken, corrupt } = verdict
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
  const rest = leftOut === 0 ? '' : `, ${leftOut} left out`
  return [...lines, `audit clean: ${done.length} checks over ${rows} rows${rest}`].join('\n')
}

function brokenLines({ name, sentence, entity, found, expected, timeline }: BrokenInvariant) {
  return [
    `audit broken: ${name}`,
    `  ${sentence}`,
    `  of        ${entity === '' ? 'the whole' : entity}`,
    `  found     ${found}`,
    `  expected  ${expected}`,
    ...timeline.map(
      ({ at, source, what }) => `    ${toRfc3339(instant(at))}  ${source.padEnd(11)} ${what}`,
    ),
  ]
}
