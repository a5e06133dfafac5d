/**
 * The scenarios by name.
 *
 * Owns: which there are, and what each is given. Does not own: what they do (their own files).
 */
import type { Clock } from '../../../src/base/clock.js'
import type { Random } from '../../../src/base/random.js'
import { createIntents } from './create_intents.js'
import { createPayouts } from './create_payouts.js'
import { createWorkloadMix } from './workload_mix.js'
import { payByQr } from './pay_by_qr.js'
import { createReads } from './reads.js'
import type { Scenario } from './scenario.js'
import type { Fixtures } from './fixtures.js'

export const SCENARIOS = {
  creates: 'signed durable creates of intents',
  lifecycle: 'QR payment: create, scan, confirm, captured, webhook answered',
  payouts: 'payout: create, completed, webhook answered',
  reads: 'signed GETs of intents, payouts, balances and pages of lists',
  mixed: '40 % reads, 35 % creates, 15 % payouts, 10 % QR payments',
  webhooks: 'payouts whose three events go to ten endpoints',
} as const
export type ScenarioName = keyof typeof SCENARIOS

export const isScenario = (name: string): name is ScenarioName => Object.hasOwn(SCENARIOS, name)

/** What a thread needs to play a scenario; plain data. */
export interface ScenarioOrder {
  readonly name: ScenarioName
  readonly host: string
  readonly keyId: string
  readonly secret: string
  readonly withIdempotencyKey: boolean
  /** Journeys of payments end with their webhook. Without it, with the last answer. */
  readonly awaitsWebhooks: boolean
  readonly fixtures: Fixtures
  /** Of `reads`: one kind alone. */
  readonly onlyRead?: string
}

export interface ScenarioOptions extends ScenarioOrder {
  readonly connections: number
  readonly clock: Clock
  readonly random: Random
}

export function createScenario(options: ScenarioOptions): Scenario {
  switch (options.name) {
    case 'creates':
      return createIntents(options)
    case 'lifecycle':
      return payByQr(options)
    case 'payouts':
      return createPayouts(options)
    // What counts there is what the receivers hear, so nobody waits for it.
    case 'webhooks':
      return createPayouts({ ...options, awaitsWebhooks: false })
    case 'reads':
      return createReads(options)
    case 'mixed':
      return createWorkloadMix(options.connections, [
        { weight: 40, scenario: createReads(options) },
        { weight: 35, scenario: createIntents(options) },
        { weight: 15, scenario: createPayouts(options) },
        { weight: 10, scenario: payByQr(options) },
      ])
  }
}
