/**
 * Runs many scenarios concurrently in rounds: one step of each, then a barrier. Processes are
 * killed within and between rounds.
 *
 * Does not own: the scenarios and their outcomes (scenarios).
 */
import { systemPause } from '../../src/base/clock.js'
import type { SupervisedStack, StackProcess } from '../support/supervised_stack.js'
import type { ClientDriver } from './client_driver.js'
import type { Scenario } from './scenarios.js'

export interface ScenarioRun {
  readonly scenario: Scenario
  readonly client: ClientDriver
}

export interface Kills {
  readonly victim: StackProcess
  readonly isKilled: (round: number, when: 'within' | 'after') => boolean
  /** Milliseconds from the start of a round to the kill within it. */
  readonly withinAfterMs: (round: number) => number
}

/** @returns the number of kills */
export async function run(
  stack: SupervisedStack,
  runs: readonly ScenarioRun[],
  kills?: Kills,
): Promise<number> {
  const rounds = Math.max(...runs.map(({ scenario }) => scenario.steps.length))
  let killed = 0
  for (let round = 0; round < rounds; round++) {
    const steps = runs.map(
      ({ scenario, client }) => scenario.steps[round]?.(client) ?? Promise.resolve(),
    )
    const all = Promise.all(steps)
    if (kills?.isKilled(round, 'within')) {
      await systemPause(kills.withinAfterMs(round))
      await Promise.all([stack.kill(kills.victim), all])
      killed += 1
    }
    await all
    if (kills?.isKilled(round, 'after')) {
      await stack.kill(kills.victim)
      killed += 1
    }
  }
  return killed
}
