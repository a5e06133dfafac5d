/** A webhook receiver that is registered with a stack and answers as the test decides. */
import { systemClock } from '../../src/base/clock.js'
import {
  openReceiver,
  type ReceivedWebhook,
  type Receiver,
} from '../../src/operations/partners/webhook_receiver.js'
import { isDocumentedEvent } from './documented_answers.js'
import { eventually } from './eventually.js'
import type { Partner } from './partner.js'

export type { ReceivedWebhook, Receiver } from '../../src/operations/partners/webhook_receiver.js'

export interface TestReceiver extends Receiver {
  readonly endpointId: string
  /** Accepts signatures of this key too. */
  trust(keyId: string, secret: string): void
  /** Resolves with the first matching delivery. */
  until(
    what: string,
    matches: (delivery: ReceivedWebhook) => boolean,
    withinMs?: number,
  ): Promise<ReceivedWebhook>
}

interface CreatedEndpoint {
  readonly id: string
  readonly key_id: string
  readonly secret: string
}

/** Opens a receiver and registers it as an endpoint of this partner. */
export async function receiverOf(
  partner: Partner,
  answer: (delivery: ReceivedWebhook) => number | Promise<number> = () => 200,
): Promise<TestReceiver> {
  const secrets = new Map<string, string>()
  const receiver = await openReceiver({
    clock: systemClock,
    brand: 'Service',
    port: 0,
    secretOf: (keyId) => secrets.get(keyId),
    answer: (delivery) => (isDocumentedEvent(delivery.body) ? answer(delivery) : 500),
  })
  const url = `${receiver.url}/hooks?from=causeway`
  const created = await partner.request('POST', '/v1/webhook_endpoints', { url })
  if (created.status !== 201) throw new Error(`endpoint refused: ${created.status} ${created.text}`)
  const endpoint = created.body as CreatedEndpoint
  secrets.set(endpoint.key_id, endpoint.secret)
  return {
    ...receiver,
    endpointId: endpoint.id,
    trust: (keyId, secret) => void secrets.set(keyId, secret),
    until: (what, matches, withinMs) =>
      eventually(what, () => receiver.deliveries.find(matches), withinMs),
  }
}
