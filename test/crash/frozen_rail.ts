/**
 * A stopped rail that keeps its connections: submitted payments have an unknown outcome, also after
 * a kill of the processor. Once resumed, the rail must refuse expired instructions.
 */
import type { Test } from 'tap'
import { eventually } from '../support/eventually.js'
import type { SupervisedStack } from '../support/supervised_stack.js'
import { FROZEN_SCENARIO, PAYOUT_SCENARIOS, type Scenario } from './scenarios.js'
import type { ScenarioRun } from './runner.js'

export interface FrozenRail {
  readonly stack: SupervisedStack
  readonly startRuns: (
    runner: string,
    scenarios: Readonly<Record<string, Scenario>>,
  ) => ScenarioRun[]
}

/** Longer than the submission deadline of a payment. */
const FROZEN_FOR_MS = 11_000

export async function frozenRail(t: Test, { stack, startRuns }: FrozenRail): Promise<void> {
  const [intent, payout] = startRuns('the rail frozen', {
    'unknown, then refused': FROZEN_SCENARIO,
    completed: PAYOUT_SCENARIOS['completed']!,
  })
  const step = (run: ScenarioRun | undefined, index: number): Promise<unknown> =>
    run?.scenario.steps[index]?.(run.client) ?? Promise.resolve()
  await step(intent, 0)
  await step(intent, 1)

  const rail = stack.pidOf('rail')
  process.kill(rail, 'SIGSTOP')
  await step(intent, 2)
  await step(payout, 0)
  const resumeAt = performance.now() + FROZEN_FOR_MS
  await intent?.client.until('authorized', ({ status }) => status === 'authorized')
  await stack.kill('processor')
  await payout?.client.until('processing', ({ status }) => status === 'processing')
  await eventually('the submission deadline has passed', () => performance.now() > resumeAt)
  process.kill(rail, 'SIGCONT')

  await step(intent, 3)
  await step(payout, 2)
  t.pass('the intent is refused, the payout is paid')
}
