/**
 * Whether a statement can be right: compares its figures with those of the rail itself.
 *
 * Owns: the rule, the faults as texts. Does not own: reading the statement (the operator's CLI),
 * the figures of the rail (the rail), what a release does without a right statement
 * (operators/recovery_release).
 *
 * - A statement is right when it has every movement of the rail from before the newest submission
 *   of the books, and from its own first line, to its own last line; and when the newest movement
 *   of this shard is not later than that line. What the books have lost was submitted, and so
 *   executed, after their newest submission.
 * - It has also each instruction of this shard that the rail has accepted and not executed: the
 *   rail may execute it after the release. An instruction that the rail refused is in no statement
 *   and in no figures of the rail.
 */
import { HOUR, instant, plus, toRfc3339, type Instant } from '../../base/clock.js'
import { countIn, type MovementFigures } from '../../base/movements.js'
import type { MovementPeriod, SummaryAnswer } from '../../rails/rail.js'

/** The figures of a statement. */
export interface StatementFigures extends MovementFigures {
  /** Figures of this shard's instructions that it shows as accepted and not executed. */
  readonly accepted: MovementFigures
  /** The first and the last time of its lines. Null if it has none. */
  readonly span: { readonly first: Instant; readonly last: Instant } | null
}

export interface StatementCheck {
  /** Sentences without their full stop. Empty if the statement can be right. */
  readonly faults: readonly string[]
  /** What the rail has in the period of the statement, and has accepted. Null if not known. */
  readonly rail: Pick<MovementFigures, 'sums'> | null
}

export interface StatementChecker {
  check(statement: StatementFigures): Promise<StatementCheck>
  /** A statement begins at this time at the latest. Null if it must have everything. */
  beginsBefore(): Promise<Instant | null>
  /** What the rail moved last, as a phrase. Null if nothing, or if it is not known. */
  newestAtRail(): Promise<string | null>
}

/** The clocks of the rail and of this machine differ by less. */
const CLOCKS_DIFFER_MS = HOUR

const START = instant(0)
const END = instant(Number.MAX_SAFE_INTEGER)

export function createStatementChecker(
  newestSubmission: () => Promise<number | null>,
  summarize: (period: MovementPeriod) => Promise<SummaryAnswer>,
): StatementChecker {
  const beginsBefore = async (): Promise<Instant | null> => {
    const newest = await newestSubmission()
    return newest === null ? null : plus(instant(newest), -CLOCKS_DIFFER_MS)
  }
  return {
    beginsBefore,
    check: async (statement) => {
      const period = periodOf(statement, (await beginsBefore()) ?? START)
      const answer = await summarize(period)
      if (answer.kind === 'unknown') {
        return { faults: [`${answer.reason}, so nothing proves the statement`], rail: null }
      }
      const { newest, accepted, ...moved } = answer.summary
      const faults = [
        differenceOf(statement, moved, period),
        acceptedFault(statement.accepted, accepted),
      ]
      if (newest !== null && newest.at >= period.to) {
        faults.push(`it ends before the newest movement of the rail, ${phraseOf(newest)}`)
      }
      const rail = { sums: [...moved.sums, ...(accepted?.sums ?? [])] }
      return { faults: faults.filter((fault) => fault !== null), rail }
    },
    newestAtRail: async () => {
      const answer = await summarize({ from: START, to: START })
      const newest = answer.kind === 'summary' ? answer.summary.newest : null
      return newest === null ? null : phraseOf(newest)
    },
  }
}

const phraseOf = (newest: { instruction: string; movement: string; at: Instant }): string =>
  `${newest.instruction}, ${newest.movement} at ${toRfc3339(newest.at)}`

function periodOf({ span }: StatementFigures, beginsBefore: Instant): MovementPeriod {
  if (span === null) return { from: beginsBefore, to: END }
  return { from: instant(Math.min(span.first, beginsBefore)), to: plus(span.last, 1) }
}

function differenceOf(
  statement: MovementFigures,
  rail: MovementFigures,
  period: MovementPeriod,
): string | null {
  if (statement.digest === rail.digest) return null
  const since = period.from === START ? '' : ` since ${toRfc3339(period.from)}`
  const [stated, moved] = [countIn(statement), countIn(rail)]
  const until = period.to === END ? '' : ' until its last line'
  if (stated !== moved) {
    return `it has ${movements(stated)}, and the rail made ${moved}${since}${until}`
  }
  return `its ${movements(stated)} are not those that the rail made${since}${until}`
}

function acceptedFault(statement: MovementFigures, rail: MovementFigures | null): string | null {
  if (rail === null) {
    return 'the rail does not report what it has accepted and not executed'
  }
  if (statement.digest === rail.digest) return null
  const [stated, open] = [countIn(statement), countIn(rail)]
  const what = stated === 1 ? '1 accepted instruction' : `${stated} accepted instructions`
  if (stated !== open) return `it has ${what}, and the rail has ${open}`
  return `its ${what} are not those that the rail has`
}

const movements = (count: number): string => (count === 1 ? '1 movement' : `${count} movements`)

/** Without a rail. */
export const NO_STATEMENTS = createStatementChecker(
  () => Promise.resolve(null),
  () => Promise.resolve({ kind: 'unknown', reason: 'there is no rail' }),
)
