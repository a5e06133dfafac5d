/**
 * Deadlines take effect that pass while a process is down: of intents and reviews the processor, of
 * submissions the rail.
 */
import t from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { assertCleanAudit } from '../support/audit.js'
import { eventually } from '../support/eventually.js'
import { patience } from '../support/patience.js'
import { reservedOf } from '../workload/final_checks.js'
import { frozenRail } from './frozen_rail.js'
import { LATE_SCENARIOS } from './scenarios.js'
import { expectedOf, startScenarioStack, summaryOf } from './scenario_stack.js'
import { run, type ScenarioRun } from './runner.js'

/** The shortest time that the settings allow. */
const DEADLINE_S = 60

const { stack, partner, startRuns, outcomes } = await startScenarioStack(t, {
  INTENT_TTL_S: String(DEADLINE_S),
  REVIEW_TTL_S: String(DEADLINE_S),
  RAIL_SUBMIT_TTL_S: '10',
})

const steps =
  (from: number, to?: number) =>
  ({ scenario, client }: ScenarioRun): ScenarioRun => ({
    client,
    scenario: { ...scenario, steps: scenario.steps.slice(from, to) },
  })

t.test('a deadline passes while the processor is down', async (t) => {
  const late = startRuns('late', LATE_SCENARIOS)
  await run(stack, late.map(steps(0, 1)))
  const deadline = systemClock.now() + DEADLINE_S * 1_000
  await eventually('the deadline is near', () => systemClock.now() > deadline - 300, 90_000)
  await stack.kill('processor')
  await run(stack, late.map(steps(1)))
  t.same(summaryOf(late, await outcomes(late)), expectedOf(late))
})

t.test('a stopped rail: outcome unknown, then refused', (t) => frozenRail(t, { stack, startRuns }))

t.test('the audit is clean', async (t) => {
  t.same(await reservedOf(partner, patience(0)), [], 'no reserved balance is left')
  await assertCleanAudit(t, stack.dataDir)
})
