/** The audit's result as text for operators. */
import { instant, toRfc3339 } from '../base/clock.js'
import { toVisibleText } from '../base/visible_text.js'
import type { AuditReport, BrokenInvariant, CheckResult } from './audit.js'
import { FILE_OF } from './books.js'
import type { ClusterReport } from './cluster_audit.js'
import type { BrokenUnion, UnionReport } from './union.js'

const NAME_WIDTH = 34

/** The line printed when a check ends. */
export function checkLine({ name, outcome, rows, ms }: CheckResult): string {
  if (outcome === 'left out') return `--      ${name}`
  const word = outcome === 'ok' ? 'ok' : 'BROKEN'
  return `${word.padEnd(7)} ${name.padEnd(NAME_WIDTH)} (${rows} rows, ${ms} ms)`
}

/** The lines printed after the checks of one store. */
export function conclusion(report: AuditReport): string {
  const { checks, notAudited, poolsReplacedAt, broken, corrupt } = report
  const lines = [
    ...notAudited.map((source) => `not audited: ${FILE_OF[source]}`),
    ...(poolsReplacedAt === null
      ? []
      : [`not audited: deliveries settled until ${toRfc3339(instant(poolsReplacedAt))}`]),
    ...corrupt.map((entity) => `corrupt: ${toVisibleText(entity)}`),
  ]
  if (broken !== null) return [...lines, ...brokenLines(broken)].join('\n')
  return [...lines, `audit clean: ${cleanChecks(checks)}`].join('\n')
}

/** The lines printed after the checks of the union. */
export function unionConclusion({ checks, broken }: UnionReport): string {
  if (broken.length === 0) return `union clean: ${cleanChecks(checks)}`
  return broken.flatMap((each) => violationLines('union broken', each)).join('\n')
}

/** The last line of a cluster's audit. */
export function clusterConclusion({ clean, shards, union }: ClusterReport): string {
  const size = shards.length === 1 ? '1 shard' : `${shards.length} shards`
  if (clean) return `audit clean: ${size} and their union`
  const broken = shards.filter(({ report }) => !report.clean).map(({ shard }) => shard)
  return `audit broken: ${[...broken, ...(union.clean ? [] : ['union'])].join(', ')}`
}

function cleanChecks(checks: readonly CheckResult[]): string {
  const done = checks.filter(({ outcome }) => outcome === 'ok')
  const rows = done.reduce((sum, check) => sum + check.rows, 0)
  const leftOut = checks.length - done.length
  const suffix = leftOut === 0 ? '' : `, ${leftOut} left out`
  return `${done.length} checks over ${rows} rows${suffix}`
}

function violationLines(title: string, violation: BrokenUnion): readonly string[] {
  const { name, sentence, entity, found, expected } = violation
  return [
    `${title}: ${name}`,
    `  ${sentence}`,
    `  entity    ${entity === '' ? 'all' : entity}`,
    `  found     ${found}`,
    `  expected  ${expected}`,
  ].map(toVisibleText)
}

function brokenLines(broken: BrokenInvariant): readonly string[] {
  return [
    ...violationLines('audit broken', broken),
    ...broken.timeline.map(
      ({ at, source, what }) =>
        `    ${toRfc3339(instant(at))}  ${source.padEnd(11)} ${toVisibleText(what)}`,
    ),
  ]
}
