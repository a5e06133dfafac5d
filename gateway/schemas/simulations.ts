/**
 * The body that forces a sandbox payout's outcome.
 */
import { checkOf } from '../decode/body.js'

const OUTCOMES = ['completed', 'failed', 'reversed'] as const

export interface SimulatePayoutBody {
  readonly outcome: (typeof OUTCOMES)[number]
}

export const checkSimulatePayout = checkOf<SimulatePayoutBody>({
  type: 'object',
  additionalProperties: false,
  required: ['outcome'],
  properties: { outcome: { enum: OUTCOMES } },
})
