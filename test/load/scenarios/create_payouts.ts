/**
 * Scenario: payouts to stored beneficiaries, each from its creation to the partner's knowing that
 * it is completed.
 */
import { createAwaited } from './webhook_wait.js'
import { COMPLETED, unexpected, WAITING, type Scenario } from './scenario.js'
import { BENEFICIARY_ID_WIDTH, type Fixtures } from './fixtures.js'
import { createPresignedRequests, type Signing } from '../client/presigned_requests.js'

export interface CreatePayoutsOptions extends Signing {
  readonly awaitsWebhooks: boolean
  readonly connections: number
  readonly fixtures: Fixtures
}

export const PAYOUTS_PATH = '/v1/payouts'
const ACCEPTED = 202
/** Invoices are numbered anew each so many. */
const REFERENCES = 1_000
const REFERENCE = { width: 4 }

export function createPayouts(options: CreatePayoutsOptions): Scenario {
  const { beneficiaries } = options.fixtures
  let made = 0
  const presigned = createPresignedRequests(
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
  const requests = Array.from({ length: options.connections }, () => presigned.blank())
  const awaitedWebhooks = createAwaited()
  let payouts = 0

  return {
    prepare: presigned.signAhead,
    last: presigned.last,
    begin: (connection) => {
      const request = requests[connection]
      return request !== undefined && presigned.next(request) ? request : undefined
    },
    proceed: (connection, answer) => {
      if (answer.status !== ACCEPTED) return unexpected(answer)
      payouts += 1
      if (!options.awaitsWebhooks) return COMPLETED
      const { id } = JSON.parse(answer.body.toString()) as { id: string }
      return awaitedWebhooks.wait(connection, id) ? COMPLETED : WAITING
    },
    hear: awaitedWebhooks.hear,
    abandon: awaitedWebhooks.abandon,
    acknowledged: () => ({ intents: 0, payouts, samples: [] }),
  }
}
