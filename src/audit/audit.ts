/**
 * The audit: goes down the checklist until something is broken.
 *
 * - It is clean only when every check has run to its end. What cannot be read is broken; what is
 *   left out is named.
 * - A corrupt payout or intent is found, and named, without hiding the rest: it is set apart once
 *   the files are whole, and checks that need every row are left out.
 */
import { SOURCES, type Books, type Source } from './books.js'
import type { Broken, Check } from './check.js'
import { CHECKLIST } from './checklist.js'
import { filesAreWhole, textsAreJson } from './checks/files.js'
import { timelineOf, type TimelineItem } from './timeline.js'

export interface Checked {
  readonly name: string
  readonly outcome: 'ok' | 'left out' | 'broken'
  readonly rows: number
  readonly ms: number
}

export interface Verdict {
  readonly clean: boolean
  readonly checks: readonly Checked[]
  /** Databases that were not looked at: they are not there, or it was not asked for. */
  readonly notAudited: readonly Source[]
  /** Epoch milliseconds, as the operator stated it; null: the pools were never replaced. */
  readonly poolsReplacedAt: number | null
  readonly broken: BrokenInvariant | null
  /** Payouts and intents whose rows cannot be read. */
  readonly corrupt: readonly string[]
}

export interface BrokenInvariant extends Broken {
  readonly name: string
  readonly sentence: string
  readonly timeline: readonly TimelineItem[]
}

export interface AuditOptions {
  /** Leave out what compares databases. */
  readonly live: boolean
  /** Milliseconds of a steady clock. */
  readonly stopwatch: () => number
  /** Told of each check when it is done. */
  readonly tell: (checked: Checked) => void
}

export async function audit(books: Books, options: AuditOptions): Promise<Verdict> {
  const audited = SOURCES.filter(
    (source) => books.has(source) && (source === 'processor' || !options.live),
  )
  const notAudited = SOURCES.filter((source) => !audited.includes(source))
  const poolsReplacedAt = books.poolsReplacedAt === 0 ? null : books.poolsReplacedAt
  const checks: Checked[] = []

  for (const check of CHECKLIST) {
    const startedAt = options.stopwatch()
    const isBlind = check.needsEveryRow === true && books.corrupt.size > 0
    const isLeftOut = isBlind || check.reads.some((source) => !audited.includes(source))
    const { rows, broken } = isLeftOut ? NOT_LOOKED : await finding(check, books)
    const isCorrupt = check === textsAreJson && books.corrupt.size > 0
    const outcome = broken !== null || isCorrupt ? 'broken' : isLeftOut ? 'left out' : 'ok'
    const ms = Math.round(options.stopwatch() - startedAt)
    const checked: Checked = { name: check.name, outcome, rows, ms }
    checks.push(checked)
    options.tell(checked)
    if (broken !== null) {
      const { name, sentence } = check
      return verdictOf({ name, sentence, ...broken })
    }
    if (check === filesAreWhole) await books.setCorruptApart()
  }
  const [entity] = books.corrupt
  if (entity === undefined) return verdictOf(null)
  const { name, sentence } = textsAreJson
  return verdictOf({ name, sentence, entity, found: 'a corrupt row', expected: 'JSON' })

  async function verdictOf(found: Omit<BrokenInvariant, 'timeline'> | null): Promise<Verdict> {
    const corrupt = [...books.corrupt]
    const what = { checks, notAudited, poolsReplacedAt, corrupt }
    if (found === null) return { clean: true, ...what, broken: null }
    const timeline = await timelineOf(books, found.entity)
    return { clean: false, ...what, broken: { ...found, timeline } }
  }
}

const NOT_LOOKED = { rows: 0, broken: null }

/** A check that cannot be carried out, on a damaged file for instance, has found something. */
async function finding(check: Check, books: Books): ReturnType<Check['run']> {
  try {
    return await check.run(books)
  } catch (error) {
    const found = `could not be checked: ${error instanceof Error ? error.message : String(error)}`
    return { rows: 0, broken: { entity: '', found, expected: 'rows that can be read' } }
  }
}
