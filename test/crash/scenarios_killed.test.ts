/**
 * Every scenario of an intent and a payout has the same outcome with kill -9 at each of its steps
 * as without kills.
 *
 * - A run with kills is compared with the run without, and that one with the scenarios' expected
 *   outcomes.
 * - Calls hit by a kill are counted; a run without hits fails.
 */
import t from 'tap'
import { assertCleanAudit } from '../support/audit.js'
import { patience } from '../support/patience.js'
import { reservedOf } from '../workload/final_checks.js'
import { INTENT_SCENARIOS, PAYOUT_SCENARIOS } from './scenarios.js'
import { expectedOf, startScenarioStack, summaryOf } from './scenario_stack.js'
import { run, type Kills, type ScenarioRun } from './runner.js'

const { stack, partner, hits, startRuns, outcomes } = await startScenarioStack(t)

const everyScenario = (runner: string): ScenarioRun[] => [
  ...startRuns(runner, INTENT_SCENARIOS),
  ...startRuns(`${runner} payout`, PAYOUT_SCENARIOS),
]

const baseline = everyScenario('in baselineOutcomes')
await run(stack, baseline)
const baselineOutcomes = await outcomes(baseline)

t.test('without kills every scenario has its expected outcome', async (t) => {
  t.same(summaryOf(baseline, baselineOutcomes), expectedOf(baseline))
})

type KillPlan = Pick<Kills, 'victim' | 'isKilled'>

const KILL_PLANS: Readonly<Record<string, KillPlan>> = {
  'kill -9 of the processor within and after every step': {
    victim: 'processor',
    isKilled: () => true,
  },
  'kill -9 of the rail within or after every step': {
    victim: 'rail',
    isKilled: (round, when) => (when === 'within') === (round % 2 === 0),
  },
}

for (const [name, { victim, isKilled }] of Object.entries(KILL_PLANS)) {
  t.test(name, async (t) => {
    const runs = everyScenario(`${victim} killed`)
    const before = hits()
    const withinAfterMs = (round: number): number => 4 + 7 * round
    const kills = await run(stack, runs, { victim, isKilled, withinAfterMs })
    const found = await outcomes(runs)
    let at = 0
    for (const { client, scenario } of runs) {
      const range = [at, (at += scenario.expected.length)] as const
      t.same(found.slice(...range), baselineOutcomes.slice(...range), client.name)
    }
    t.comment(`${kills} kills, ${hits() - before} failed calls`)
    t.ok(victim === 'rail' || hits() > before, 'some calls failed because of a kill')
  })
}

t.test('the audit is clean after all runs', async (t) => {
  t.same(await reservedOf(partner, patience(0)), [], 'no reserved balance is left')
  await assertCleanAudit(t, stack.dataDir)
})
