/**
 * A supervised stack whose demo partner pays, and another one races with itself, until the final
 * checks.
 */
import { createSeededRandom } from '../fuzz/seeded_random.js'
import { partnerOf } from '../support/partner.js'
import { operatorsOf } from '../support/operators.js'
import { receiverOf } from '../support/receiver.js'
import { startSupervisedStack } from '../support/supervised_stack.js'
import { runFinalChecks, type RacedChecks } from './final_checks.js'
import { startRacedCalls } from './raced_calls.js'
import { everyOutcome, startPayers } from './payers.js'

/** Connections of the partner that races. */
const RACERS = 3

export interface StackLoad {
  readonly payers: number
  readonly seed: number
  /** The waits after a payment and after a race. Default: as fast as it goes. */
  readonly pausesMs?: { readonly payer: number; readonly race: number }
  readonly settings?: Readonly<Record<string, string>>
}

export async function startStackUnderLoad(load: StackLoad) {
  const settings = { RAIL_DELAY_MS: '100', RATE_LIMIT: 'off', ...load.settings }
  const stack = await startSupervisedStack(settings)
  const { partner } = stack
  const receiver = await receiverOf(partner)
  const randomOf = (payer: number) => createSeededRandom(load.seed, payer + 1)
  const operators = operatorsOf(stack)
  const racer = partnerOf(stack.sandbox, await operators.createPartner('racer'))
  operators.close()
  const { base_url: baseUrl } = stack.sandbox
  const races = startRacedCalls(
    'races',
    Array.from({ length: RACERS }, () => [racer, baseUrl] as const),
    load.pausesMs?.race,
  )
  const payers = startPayers(load.payers, everyOutcome(partner, randomOf), load.pausesMs?.payer)
  return {
    stack,
    payers,
    /** Ends the load. */
    check: async (): Promise<RacedChecks> => {
      await Promise.all([payers.stop(), races.stop()])
      const checks = await runFinalChecks(stack.dataDir, partner, receiver, payers)
      return { ...checks, races: races.checked(), contradictions: races.violations }
    },
    stop: async () => {
      await receiver.close()
      await stack.stop()
    },
  }
}
