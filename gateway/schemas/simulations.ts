/**
 * The body that forces a sandbox payout's outcome.
 */
import { SIMULATED_OUTCOMES, type SimulatedOutcome } from '../../src/rails/rail.js'
import { checkOf } from '../decode/body.js'

export interface SimulatePayoutBody {
  readonly outcome: SimulatedOutcome
}

export const checkSimulatePayout = checkOf<SimulatePayoutBody>({
  type: 'object',
  additionalProperties: false,
  required: ['outcome'],
  properties: { outcome: { enum: SIMULATED_OUTCOMES } },
})
