/** The summaries of several rails as one: the same as that of one rail with all movements. */
import t from 'tap'
import { instant } from '../../src/base/clock.js'
import { createMovementTally, type Moved } from '../../src/base/movements.js'
import type { MovementSummary, SummaryAnswer } from '../../src/rails/rail.js'
import { mergedSummaries } from '../../src/rails/summaries.js'

const figuresOf = (moved: readonly Moved[]) => {
  const tally = createMovementTally()
  for (const each of moved) tally.add(each)
  return tally.figures()
}
const paid = (instruction: string, currency: string, amount: bigint): Moved => ({
  ...{ instruction, movement: 'executed', currency, amount },
})
const summary = (
  moved: readonly Moved[],
  { accepted = figuresOf([]), newest = null }: Partial<MovementSummary> = {},
): SummaryAnswer => ({
  kind: 'summary',
  summary: { ...figuresOf(moved), accepted, newest },
})

const ONE = [paid('a', 'THB', 5n), paid('b', 'VND', 70n)]
const OTHER = [paid('c', 'THB', 2n)]

t.test('figures are added, also beyond the digest', async (t) => {
  t.match(mergedSummaries([summary(ONE), summary(OTHER)]), {
    summary: { ...figuresOf([...ONE, ...OTHER]), accepted: figuresOf([]) },
  })
  const many = Array.from({ length: 20 }, (_, i) => paid(`p${i}`, 'THB', 1n))
  t.match(mergedSummaries(many.map((each) => summary([each]))), {
    summary: { digest: figuresOf(many).digest },
  })
})

t.test('the newest movement is that of any rail', async (t) => {
  const newest = (instruction: string, at: number) =>
    summary([], { newest: { instruction, movement: 'executed', at: instant(at) } })
  const merged = mergedSummaries([newest('a', 5), newest('b', 9), summary([]), newest('c', 7)])
  t.match(merged, { summary: { newest: { instruction: 'b' } } })
  t.match(mergedSummaries([summary([])]), { summary: { newest: null } })
})

t.test('what one rail does not tell is not known of all', async (t) => {
  const unknown: SummaryAnswer = { kind: 'unknown', reason: 'bank_b: the rail did not answer' }
  t.same(mergedSummaries([summary(ONE), unknown]), unknown)
  const silent = summary(OTHER, { accepted: null })
  t.match(mergedSummaries([summary(ONE), silent]), { summary: { accepted: null } })
})
