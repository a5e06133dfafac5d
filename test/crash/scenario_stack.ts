/**
 * A supervised stack on which the scenarios run, and the comparison of their outcomes.
 *
 * Does not own: the scenarios (scenarios), their kills (runner).
 */
import type { Test } from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { connectOperator } from '../../src/operations/calls/operator_client.js'
import { operatorAccessOf } from '../support/callers.js'
import { throughEachCall } from '../support/each_call.js'
import { eventually } from '../support/eventually.js'
import { eventPrefixOf } from '../support/lifecycle.js'
import type { Partner } from '../support/partner.js'
import { receiverOf } from '../support/receiver.js'
import { startSupervisedStack, type SupervisedStack } from '../support/supervised_stack.js'
import { openBank } from './bank.js'
import { createClientDriver } from './client_driver.js'
import { outcomesOf, type Outcome } from './outcomes.js'
import type { Scenario } from './scenarios.js'
import type { ScenarioRun } from './runner.js'

export interface ScenarioStack {
  readonly stack: SupervisedStack
  readonly partner: Partner
  /** Calls of the clients that failed so far. */
  hits(): number
  startRuns(runner: string, scenarios: Readonly<Record<string, Scenario>>): ScenarioRun[]
  /** Waits until every event of these runs is delivered. */
  outcomes(runs: readonly ScenarioRun[]): Promise<Outcome[]>
}

const SETTLED_WITHIN_MS = 60_000

/** `t` stops it. */
export async function startScenarioStack(
  t: Pick<Test, 'teardown' | 'setTimeout'>,
  settings: Readonly<Record<string, string>> = {},
): Promise<ScenarioStack> {
  const given = {
    RAIL_DELAY_MS: '400',
    RATE_LIMIT: 'off',
    // On a busy machine a start takes so long that with shorter ones a payment could end as failed,
    // and a second scan could be no duplicate.
    RAIL_SUBMIT_TTL_S: '3600',
    DUPLICATE_SCAN_WINDOW_S: '3600',
    ...settings,
  }
  const stack = await startSupervisedStack(given, t)
  const { partner } = stack
  const operator = connectOperator(operatorAccessOf(stack), systemClock)
  t.teardown(() => operator.close())
  const bank = await openBank(stack.dataDir)
  t.teardown(() => bank.close())
  const receiver = await receiverOf(partner)
  t.teardown(() => receiver.close())
  let hits = 0

  const watched = throughEachCall(partner, async (call) => {
    const answer = await call().catch((error: unknown) => {
      hits += 1
      throw error
    })
    if (answer.status >= 500) hits += 1
    return answer
  })

  return {
    stack,
    partner,
    hits: () => hits,
    startRuns: (runner, scenarios) =>
      Object.entries(scenarios).map(([name, scenario]) => {
        const ending = scenario.user ?? ''
        const parts = { partner: watched, operator, bank }
        return {
          scenario,
          client: createClientDriver({ name: `${name}, ${runner}`, ending, ...parts }),
        }
      }),
    outcomes: (runs) =>
      eventually(
        'every event has reached the receiver',
        async () => {
          const found = await outcomesOf({ dataDir: stack.dataDir, partner, receiver }, idsOf(runs))
          const isDelivered = ({ events, received }: Outcome): boolean =>
            events.every(({ type }) => isOptional(type) || received.includes(type))
          return found.every(isDelivered) && found
        },
        SETTLED_WITHIN_MS,
        500,
      ),
  }
}

const idsOf = (runs: readonly ScenarioRun[]): string[] =>
  runs.flatMap(({ client }) => client.entities)

const isOptional = (type: string): boolean => type === 'payment_intent.authorized'

export const expectedOf = (runs: readonly ScenarioRun[]): Scenario['expected'] =>
  runs.flatMap(({ scenario }) => scenario.expected)

/** Status, events and executions; the deliveries only when they differ from the events. */
export function summaryOf(runs: readonly ScenarioRun[], found: readonly Outcome[]): object[] {
  const ids = idsOf(runs)
  return found.map(({ status, events, executions, received }, index) => {
    const prefix = eventPrefixOf(ids[index] ?? '')
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
