/**
 * A stopped rail that keeps its connections: submitted payments have an unknown outcome, also
 * across a kill of the processor. Once resumed, the rail must refuse expired instructions.
 */
import type { Test } from 'tap'
import { eventually } from '../support/eventually.js'
import type { SupervisedStack } from '../support/supervised_stack.js'
import { FROZEN_SCENARIO, PAYOUT_SCENARIOS, type Scenario } from './scenarios.js'
import type { Told } from './runner.js'

export interface FrozenRail {
  readonly stack: SupervisedStack
  readonly begin: (runner: string, scenarios: Readonly<Record<string, Scenario>>) => Told[]
}

/** Longer than the submission deadline of a payment. */
const FROZEN_FOR_MS = 11_000

export async function frozenRail(t: Test, { stack, begin }: FrozenRail): Promise<void> {
  const [intent, payout] = begin('the rail frozen', {
    'unknown, then refused': FROZEN_SCENARIO,
    completed: PAYOUT_SCENARIOS['completed']!,
  })
  const step = (told: Told | undefined, index: number): Promise<unknown> =>
    told?.scenario.steps[index]?.(told.client) ?? Promise.resolve()
  await step(intent, 0)
  await step(intent, 1)

  const rail = stack.pidOf('rail')
  process.kill(rail, 'SIGSTOP')
  const thawAt = performance.now() + FROZEN_FOR_MS
  await step(intent, 2)
  await step(payout, 0)
  await intent?.client.until('authorized', ({ status }) => status === 'authorized')
  await stack.kill('processor')
  await payout?.client.until('processing', ({ status }) => status === 'processing')
  await eventually('it was long enough', () => performance.now() > thawAt)
  process.kill(rail, 'SIGCONT')

  await step(intent, 3)
  await step(payout, 2)
  t.pass('the intent is refused, the payout is paid')
}
