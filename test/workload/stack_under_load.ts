/** A supervised stack whose demo partner pays, until the final checks. */
import { createSeededRandom } from '../fuzz/seeded_random.js'
import { partnerOf } from '../support/partner.js'
import { receiverOf } from '../support/receiver.js'
import { startSupervisedStack, type SupervisedStack } from '../support/supervised_stack.js'
import { runFinalChecks, type FinalChecks } from './final_checks.js'
import { everyOutcome, startPayers, type Payers } from './payers.js'

export interface StackUnderLoad {
  readonly stack: SupervisedStack
  readonly payers: Payers
  /** Ends the load. */
  check(): Promise<FinalChecks>
  stop(): Promise<void>
}

export interface StackLoad {
  readonly payers: number
  readonly seed: number
  readonly settings?: Readonly<Record<string, string>>
}

export async function startStackUnderLoad(load: StackLoad): Promise<StackUnderLoad> {
  const settings = { RAIL_DELAY_MS: '100', RATE_LIMIT: 'off', ...load.settings }
  const stack = await startSupervisedStack(settings)
  const partner = partnerOf(stack.sandbox)
  const receiver = await receiverOf(partner)
  const randomOf = (payer: number) => createSeededRandom(load.seed, payer + 1)
  const payers = startPayers(load.payers, everyOutcome(partner, randomOf))
  return {
    stack,
    payers,
    check: async () => {
      await payers.stop()
      return runFinalChecks(stack.dataDir, partner, receiver, payers)
    },
    stop: async () => {
      await receiver.close()
      await stack.stop()
    },
  }
}
