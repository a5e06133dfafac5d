/**
 * Every scenario of an intent and a payout has the same outcome with kill -9 at each of its steps
 * as without kills.
 *
 * - A run with kills is compared with the run without, and that one with the scenarios' expected
 *   outcomes.
 * - Calls hit by a kill are counted: a run without hits would prove nothing.
 */
import t from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { connectOperator } from '../../src/operations/operator_client.js'
import { assertCleanAudit } from '../support/audit.js'
import { eventually } from '../support/eventually.js'
import { partnerOf, type HttpAnswer, type Partner } from '../support/partner.js'
import { receiverOf } from '../support/receiver.js'
import { startSupervisedStack } from '../support/supervised_stack.js'
import { openBank } from './bank.js'
import { createClientDriver } from './client_driver.js'
import { frozenRail } from './frozen_rail.js'
import { outcomesOf, type Outcome } from './outcomes.js'
import { INTENT_SCENARIOS, LATE_SCENARIOS, PAYOUT_SCENARIOS, type Scenario } from './scenarios.js'
import { run, type Kills, type Told } from './runner.js'

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
const operator = connectOperator(stack.sandbox, systemClock)
t.teardown(() => operator.close())
const bank = await openBank(stack.dataDir)
t.teardown(() => bank.close())
const partner = partnerOf(stack.sandbox)
const receiver = await receiverOf(partner)
t.teardown(() => receiver.close())
let hits = 0

const counting = (asked: Promise<HttpAnswer>): Promise<HttpAnswer> =>
  asked.then(
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

const begin = (runner: string, scenarios: Readonly<Record<string, Scenario>>): Told[] =>
  Object.entries(scenarios).map(([name, scenario]) => {
    const ending = scenario.user ?? ''
    const parts = { partner: watched, operator, bank }
    return {
      scenario,
      client: createClientDriver({ name: `${name}, ${runner}`, ending, ...parts }),
    }
  })

const everyScenario = (runner: string): Told[] => [
  ...begin(runner, INTENT_SCENARIOS),
  ...begin(`${runner} payout`, PAYOUT_SCENARIOS),
]

const idsOf = (told: readonly Told[]): string[] => told.flatMap(({ client }) => client.entities)
const endingsOf = (told: readonly Told[]): Scenario['ends'] =>
  told.flatMap(({ scenario }) => scenario.ends)

/** All that will ever be told of these entities has been told. */
async function outcomes(told: readonly Told[]): Promise<Outcome[]> {
  const ids = idsOf(told)
  return eventually(
    'every event has reached the receiver',
    async () => {
      const found = await outcomesOf({ dataDir: stack.dataDir, partner, receiver }, ids)
      const isTold = ({ events, received }: Outcome): boolean =>
        events.every(({ type }) => isOptional(type) || received.includes(type))
      return found.every(isTold) && found
    },
    SETTLED_WITHIN_MS,
    500,
  )
}
const isOptional = (type: string): boolean => type === 'payment_intent.authorized'

/** The rest of what can be seen of an outcome, in short. */
function ended(told: readonly Told[], found: readonly Outcome[]): object[] {
  const ids = idsOf(told)
  return found.map(({ status, events, executions, received }, index) => {
    const prefix = ids[index]?.startsWith('pi_') ? 'payment_intent.' : 'payout.'
    const types = events.map(({ type }) => type)
    const wanted = types.filter((type) => !isOptional(type)).sort()
    return {
      status,
      events: types.map((type) => type.replace(prefix, '')),
      executions,
      ...(String(received) === String(wanted) ? {} : { received }),
    }
  })
}

const late = begin('late', LATE_SCENARIOS)
for (const { scenario, client } of late) await scenario.steps[0]?.(client)
const deadline = systemClock.now() + DEADLINE_S * 1_000

const inPeace = everyScenario('in peace')
await run(stack, inPeace)
const peace = await outcomes(inPeace)

t.test('without kills every scenario has its expected outcome', (t) => {
  t.same(ended(inPeace, peace), endingsOf(inPeace))
  t.end()
})

type Killing = Pick<Kills, 'victim' | 'isKilled'>

const KILLINGS: Readonly<Record<string, Killing>> = {
  'kill -9 of the processor within and after every step': {
    victim: 'processor',
    isKilled: () => true,
  },
  'kill -9 of the rail within or after every step': {
    victim: 'rail',
    isKilled: (round, when) => (when === 'within') === (round % 2 === 0),
  },
}

for (const [name, { victim, isKilled }] of Object.entries(KILLINGS)) {
  t.test(name, async (t) => {
    const told = everyScenario(`${victim} killed`)
    const before = hits
    const withinAfterMs = (round: number): number => 4 + 7 * round
    const kills = await run(stack, told, { victim, isKilled, withinAfterMs })
    const found = await outcomes(told)
    let at = 0
    for (const { client, scenario } of told) {
      const range = [at, (at += scenario.ends.length)] as const
      t.same(found.slice(...range), peace.slice(...range), client.name)
    }
    t.comment(`${kills} kills, ${hits - before} calls lost or refused by them`)
    t.ok(victim === 'rail' || hits > before, 'calls were hit')
  })
}

t.test('a stopped rail: outcome unknown, then refused', (t) => frozenRail(t, { stack, begin }))

t.test('a deadline passes while the processor is down', async (t) => {
  await eventually('the deadline is near', () => systemClock.now() > deadline - 300, 90_000)
  await stack.kill('processor')
  await run(stack, late.map(afterItsFirst))
  t.same(ended(late, await outcomes(late)), endingsOf(late))
})

const afterItsFirst = ({ scenario, client }: Told): Told => ({
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
