/**
 * Runs the lines of the kit one after another.
 *
 * - A line that cannot be checked is skipped, never passed.
 */
import { ACCESS } from './cases/access.js'
import { BURST } from './cases/burst.js'
import { CONTRADICTION, demandOneStory } from './cases/contradiction.js'
import { INQUIRIES } from './cases/inquiries.js'
import { INSTRUCTIONS } from './cases/instructions.js'
import { RECALLS } from './cases/recalls.js'
import { REPORTS } from './cases/reports.js'
import { RESTARTS } from './cases/restarts.js'
import { STATEMENTS } from './cases/statements.js'
import type { CheckCase } from './check_case.js'
import { Violation } from './check_link.js'
import { Skipped, type Run, type Sent } from './context.js'

const CASES: readonly CheckCase[] = [
  ...ACCESS,
  ...INSTRUCTIONS,
  ...INQUIRIES,
  ...RECALLS,
  ...REPORTS,
  ...STATEMENTS,
  ...BURST,
  ...RESTARTS,
]

/** The names and sentences of all lines, in order. */
export const LINES = [...CASES, CONTRADICTION].map(({ name, sentence }) => ({ name, sentence }))

type Outcome =
  { readonly result: 'pass' } | { readonly result: 'fail' | 'skip'; readonly reason: string }

export type LineResult = Outcome & Pick<CheckCase, 'name' | 'sentence'>

/**
 * @param only the names of the lines to run, undefined for all
 * @param onResult called after each line
 */
export async function runLines(
  run: Run,
  only: readonly string[] | undefined,
  onResult: (result: LineResult) => void,
): Promise<readonly LineResult[]> {
  const results: LineResult[] = []
  const passed: Sent[] = []
  const isWanted = ({ name }: { readonly name: string }): boolean => only?.includes(name) ?? true
  const record = (line: LineResult): void => {
    results.push(line)
    onResult(line)
  }
  for (const line of CASES.filter(isWanted)) {
    const { name, sentence } = line
    const outcome = await outcomeOf(() => runLine(line, run))
    const made = await run.endLine()
    if (outcome.result === 'pass') passed.push(...made)
    record({ name, sentence, ...outcome })
  }
  if (isWanted(CONTRADICTION)) {
    record({ ...CONTRADICTION, ...(await outcomeOf(() => demandOneStory(run, passed))) })
    await run.endLine()
  }
  return results
}

function runLine({ restarts, run: check }: CheckCase, run: Run): Promise<void> {
  if (restarts && !run.canRestart) throw new Skipped('no --restart-command')
  return check(run)
}

async function outcomeOf(check: () => Promise<void>): Promise<Outcome> {
  try {
    await check()
    return { result: 'pass' }
  } catch (error) {
    if (error instanceof Skipped) return { result: 'skip', reason: error.message }
    if (error instanceof Violation) return { result: 'fail', reason: error.message }
    throw error
  }
}
