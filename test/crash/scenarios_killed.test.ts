/**
 * Every scenario of an intent and a payout has the same outcome with kill -9 at each of its steps
 * as without kills.
 *
 * - A run with kills is compared with the run without, and that one with the scenarios' expected
 *   outcomes.
 * - Calls hit by a kill are counted; a run without hits fails.
 */
import t from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { connectOperator } from '../../src/operations/operator_client.js'
import { assertCleanAudit } from '../support/audit.js'
import { operatorAccessOf } from '../support/callers.js'
import { eventually } from '../support/eventually.js'
import { partnerOf, type HttpAnswer, type Partner } from '../support/partner.js'
import { receiverOf } from '../support/receiver.js'
import { startSupervisedStack } from '../support/supervised_stack.js'
import { openBank } from './bank.js'
import { createClientDriver } from './client_driver.js'
import { frozenRail } from './frozen_rail.js'
import { outcomesOf, type Outcome } from './outcomes.js'
import { INTENT_SCENARIOS, LATE_SCENARIOS, PAYOUT_SCENARIOS, type Scenario } from './scenarios.js'
import { run, type Kills, type ScenarioRun } from './runner.js'

const DEADLINE_S = 60
const SETTLED_WITHIN_MS = 60_000

const stack = await startSupervisedStack({
  RAIL_DELAY_MS: '400',
  RATE_LIMIT: 'off',
  RAIL_SUBMIT_TTL_S: '10',
  INTENT_TTL_S: String(DEADLINE_S),
  REVIEW_TTL_S: String(DEADLINE_S),
})
t.teardown(() => stack.stop())
const operator = connectOperator(operatorAccessOf(stack), systemClock)
t.teardown(() => operator.close())
const bank = await openBank(stack.dataDir)
t.teardown(() => bank.close())
const partner = partnerOf(stack.sandbox)
const receiver = await receiverOf(partner)
t.teardown(() => receiver.close())
let hits = 0

const counting = (call: Promise<HttpAnswer>): Promise<HttpAnswer> =>
  call.then(
    (answer) => {
      if (answer.status >= 500) hits += 1
      return answer
    },
    (error: unknown) => {
      hits += 1
      throw error
    },
  )
const watched: Partner = {
  ...partner,
  request: (...given) => counting(partner.request(...given)),
  session: (token) => {
    const app = partner.session(token)
    return { request: (...given) => counting(app.request(...given)) }
  },
}

const startRuns = (runner: string, scenarios: Readonly<Record<string, Scenario>>): ScenarioRun[] =>
  Object.entries(scenarios).map(([name, scenario]) => {
    const ending = scenario.user ?? ''
    const parts = { partner: watched, operator, bank }
    return {
      scenario,
      client: createClientDriver({ name: `${name}, ${runner}`, ending, ...parts }),
    }
  })

const everyScenario = (runner: string): ScenarioRun[] => [
  ...startRuns(runner, INTENT_SCENARIOS),
  ...startRuns(`${runner} payout`, PAYOUT_SCENARIOS),
]

const idsOf = (runs: readonly ScenarioRun[]): string[] =>
  runs.flatMap(({ client }) => client.entities)
const expectedOf = (runs: readonly ScenarioRun[]): Scenario['expected'] =>
  runs.flatMap(({ scenario }) => scenario.expected)

/** Waits until every event of these entities is delivered. */
async function outcomes(runs: readonly ScenarioRun[]): Promise<Outcome[]> {
  const ids = idsOf(runs)
  return eventually(
    'every event has reached the receiver',
    async () => {
      const found = await outcomesOf({ dataDir: stack.dataDir, partner, receiver }, ids)
      const isDelivered = ({ events, received }: Outcome): boolean =>
        events.every(({ type }) => isOptional(type) || received.includes(type))
      return found.every(isDelivered) && found
    },
    SETTLED_WITHIN_MS,
    500,
  )
}
const isOptional = (type: string): boolean => type === 'payment_intent.authorized'

/** Status, events and executions; the deliveries only when they differ from the events. */
function summaryOf(runs: readonly ScenarioRun[], found: readonly Outcome[]): object[] {
  const ids = idsOf(runs)
  return found.map(({ status, events, executions, received }, index) => {
    const prefix = ids[index]?.startsWith('pi_') ? 'payment_intent.' : 'payout.'
    const types = events.map(({ type }) => type)
    const expected = types.filter((type) => !isOptional(type)).sort()
    return {
      status,
      events: types.map((type) => type.replace(prefix, '')),
      executions,
      ...(String(received) === String(expected) ? {} : { received }),
    }
  })
}

const late = startRuns('late', LATE_SCENARIOS)
for (const { scenario, client } of late) await scenario.steps[0]?.(client)
const deadline = systemClock.now() + DEADLINE_S * 1_000

const baseline = everyScenario('in baselineOutcomes')
await run(stack, baseline)
const baselineOutcomes = await outcomes(baseline)

t.test('without kills every scenario has its expected outcome', (t) => {
  t.same(summaryOf(baseline, baselineOutcomes), expectedOf(baseline))
  t.end()
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
    const before = hits
    const withinAfterMs = (round: number): number => 4 + 7 * round
    const kills = await run(stack, runs, { victim, isKilled, withinAfterMs })
    const found = await outcomes(runs)
    let at = 0
    for (const { client, scenario } of runs) {
      const range = [at, (at += scenario.expected.length)] as const
      t.same(found.slice(...range), baselineOutcomes.slice(...range), client.name)
    }
    t.comment(`${kills} kills, ${hits - before} failed calls`)
    t.ok(victim === 'rail' || hits > before, 'calls were hit')
  })
}

t.test('a stopped rail: outcome unknown, then refused', (t) => frozenRail(t, { stack, startRuns }))

t.test('a deadline passes while the processor is down', async (t) => {
  await eventually('the deadline is near', () => systemClock.now() > deadline - 300, 90_000)
  await stack.kill('processor')
  await run(stack, late.map(withoutFirstStep))
  t.same(summaryOf(late, await outcomes(late)), expectedOf(late))
})

const withoutFirstStep = ({ scenario, client }: ScenarioRun): ScenarioRun => ({
  client,
  scenario: { ...scenario, steps: scenario.steps.slice(1) },
})

t.test('the audit is clean after all runs', async (t) => {
  const { body } = await partner.request('GET', '/v1/balances')
  const { data } = body as { data: { currency: string; reserved: string }[] }
  t.same(
    data.filter(({ reserved }) => reserved !== '0'),
    [],
    'nothing stays reserved',
  )
  await assertCleanAudit(t, stack.dataDir)
})
