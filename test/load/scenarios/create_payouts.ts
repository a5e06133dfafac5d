/**
 * Scenario: payouts to stored beneficiaries, each from its creation to the partner's knowing that
 * it is completed.
 */
import { createAwaited } from './awaited.js'
import { COMPLETED, unexpected, WAITING, type Scenario } from './scenario.js'
import { BENEFICIARY_ID_WIDTH, type Stock } from './stock.js'
import { createSupply, type Signing } from '../client/supply.js'

export interface CreatePayoutsOptions extends Signing {
  readonly awaitsWebhooks: boolean
  readonly lanes: number
  readonly stock: Stock
}

export const PAYOUTS_PATH = '/v1/payouts'
const ACCEPTED = 202
/** Invoices are numbered anew each so many. */
const REFERENCES = 1_000
const REFERENCE = { width: 4 }

export function createPayouts(options: CreatePayoutsOptions): Scenario {
  const { beneficiaries } = options.stock
  let made = 0
  const supply = createSupply(
    {
      method: 'POST',
      target: [PAYOUTS_PATH],
      body: [
        '{"amount":"125000","currency":"VND","beneficiary_id":"',
        { width: BENEFICIARY_ID_WIDTH },
        '","reference":"invoice ',
        REFERENCE,
        '","metadata":{"order":"from the load tool"}}',
      ],
      withKey: true,
      fields: () => {
        made += 1
        const reference = String(made % REFERENCES).padStart(REFERENCE.width, '0')
        return [beneficiaries[made % beneficiaries.length] ?? '', reference]
      },
    },
    options,
  )
  const requests = Array.from({ length: options.lanes }, () => supply.blank())
  const awaited = createAwaited()
  let payouts = 0

  return {
    prepare: supply.signAhead,
    last: supply.last,
    begin: (lane) => {
      const request = requests[lane]
      return request !== undefined && supply.next(request) ? request : undefined
    },
    proceed: (lane, answer) => {
      if (answer.status !== ACCEPTED) return unexpected(answer)
      payouts += 1
      if (!options.awaitsWebhooks) return COMPLETED
      const { id } = JSON.parse(answer.body.toString()) as { id: string }
      return awaited.wait(lane, id) ? COMPLETED : WAITING
    },
    hear: awaited.hear,
    abandon: awaited.abandon,
    acknowledged: () => ({ intents: 0, payouts, samples: [] }),
  }
}
