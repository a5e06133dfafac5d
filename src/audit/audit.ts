/**
 * The audit: runs the checklist in order and stops at the first violation.
 *
 * - The result is clean only when every check ran. A check that fails to run counts as broken; a
 *   check that is left out is named.
 * - A corrupt payout or intent is reported without hiding other violations: it is excluded once the
 *   files are intact, and checks that need every row are left out.
 */
import { SOURCES, type Books, type Source } from './books.js'
import type { Finding, Violation } from './check.js'
import { CHECKLIST } from './checklist.js'
import { filesAreIntact, textsAreJson } from './checks/files.js'
import { railLogExists } from './checks/rail.js'
import { timelineOf, type TimelineItem } from './timeline.js'

export interface CheckResult {
  readonly name: string
  readonly outcome: 'ok' | 'left out' | 'broken'
  readonly rows: number
  readonly ms: number
}

export interface AuditReport {
  readonly clean: boolean
  readonly checks: readonly CheckResult[]
  /** Databases, and the rail's key, that are missing, or skipped because of `live`. */
  readonly notAudited: readonly Source[]
  /** Epoch milliseconds, as the operator stated it. Null if the pools were never replaced. */
  readonly poolsReplacedAt: number | null
  readonly broken: BrokenInvariant | null
  /** Payouts and intents whose rows cannot be read. */
  readonly corrupt: readonly string[]
}

export interface BrokenInvariant extends Violation {
  readonly name: string
  readonly sentence: string
  readonly timeline: readonly TimelineItem[]
}

export interface AuditOptions {
  /** Leave out checks that compare databases. */
  readonly live: boolean
  /** The rail keeps its log on a machine of its own. */
  readonly isRailElsewhere?: boolean
  /** Milliseconds of a monotonic clock. */
  readonly stopwatch: () => number
  /** Called after each check. */
  readonly onCheck: (result: CheckResult) => void
}

export async function audit(books: Books, options: AuditOptions): Promise<AuditReport> {
  const audited = SOURCES.filter(
    (source) => books.has(source) && (source === 'processor' || !options.live),
  )
  const notAudited = SOURCES.filter((source) => !audited.includes(source))
  const poolsReplacedAt = books.poolsReplacedAt === 0 ? null : books.poolsReplacedAt
  const checks: CheckResult[] = []

  for (const check of CHECKLIST) {
    const startedAt = options.stopwatch()
    const lacksRows = check.needsEveryRow === true && books.corrupt.size > 0
    const isElsewhere = check === railLogExists && options.isRailElsewhere === true
    const isLeftOut =
      lacksRows || isElsewhere || check.reads.some((source) => !audited.includes(source))
    const { rows, broken } = isLeftOut ? NOT_CHECKED : await findingOf(check, books)
    const isCorrupt = check === textsAreJson && books.corrupt.size > 0
    const outcome = broken !== null || isCorrupt ? 'broken' : isLeftOut ? 'left out' : 'ok'
    const ms = Math.round(options.stopwatch() - startedAt)
    const result: CheckResult = { name: check.name, outcome, rows, ms }
    checks.push(result)
    options.onCheck(result)
    if (broken !== null) {
      const { name, sentence } = check
      return reportOf({ name, sentence, ...broken })
    }
    if (check === filesAreIntact) await books.excludeCorrupt()
  }
  const [entity] = books.corrupt
  if (entity === undefined) return reportOf(null)
  const { name, sentence } = textsAreJson
  return reportOf({ name, sentence, entity, found: 'a corrupt row', expected: 'JSON' })

  async function reportOf(found: Omit<BrokenInvariant, 'timeline'> | null): Promise<AuditReport> {
    const common = { checks, notAudited, poolsReplacedAt, corrupt: [...books.corrupt] }
    if (found === null) return { clean: true, ...common, broken: null }
    const timeline = await timelineOf(books, found.entity)
    return { clean: false, ...common, broken: { ...found, timeline } }
  }
}

const NOT_CHECKED = { rows: 0, broken: null }

/** A check that throws, for instance on a damaged file, counts as broken. */
export async function findingOf<Rows>(
  check: { run(books: Rows): Promise<Finding> },
  books: Rows,
): Promise<Finding> {
  try {
    return await check.run(books)
  } catch (error) {
    const found = `could not be checked: ${error instanceof Error ? error.message : String(error)}`
    return { rows: 0, broken: { entity: '', found, expected: 'readable rows' } }
  }
}
