/** Statements of a release for tests of other things: each is taken as right. */
import { createMovementTally } from '../../src/base/movements.js'
import type {
  RailCheck,
  ReleaseFindings,
} from '../../src/processor/commands/operators/recovery_release.js'
import type { StatementChecker } from '../../src/processor/recovery/statement_check.js'
import { storedFigures } from '../../src/processor/recovery/statement_figures.js'

const NO_LINES = createMovementTally().figures()

/** A statement without lines. */
export const RELEASE: RailCheck = {
  statement: 'day.csv sha256 00',
  figures: storedFigures({ ...NO_LINES, accepted: NO_LINES, span: null }),
  railChecked: false,
  incomplete: false,
}

export const NO_FINDINGS: ReleaseFindings = { behind: [], faults: [], isBusChecked: true }

export const EVERY_STATEMENT_IS_RIGHT: StatementChecker = {
  check: () => Promise.resolve({ faults: [], rail: { sums: [] } }),
  beginsBefore: () => Promise.resolve(null),
  newestAtRail: () => Promise.resolve(null),
}
