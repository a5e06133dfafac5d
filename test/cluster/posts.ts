/**
 * Posts of webhooks beyond one for each event, at endpoints that take every event: at least once is
 * the promise, once the rule. Each tenant has a dead endpoint beside its healthy one, whose retries
 * must not repeat the posts to the healthy one.
 */
import type { Partner } from '../support/partner.js'
import { receiverOf, type TestReceiver } from '../support/receiver.js'

export interface Posts {
  /** Those beyond one since the last call. */
  takeRepeated(): number
  /** The sums of all endpoints. */
  total(): { readonly events: number; readonly posts: number }
}

export function createPosts(receivers: readonly Pick<TestReceiver, 'deliveries'>[]): Posts {
  const seen = receivers.map(() => new Set<string>())
  const read = receivers.map(() => 0)
  return {
    takeRepeated: () => {
      let repeated = 0
      for (const [index, { deliveries }] of receivers.entries()) {
        const events = seen[index]!
        for (const { eventId } of deliveries.slice(read[index])) {
          if (events.has(eventId)) repeated += 1
          events.add(eventId)
        }
        read[index] = deliveries.length
      }
      return repeated
    },
    total: () => ({
      events: seen.reduce((sum, { size }) => sum + size, 0),
      posts: read.reduce((sum, count) => sum + count, 0),
    }),
  }
}

/** An endpoint that takes no event. @returns what removes it, so that events can settle */
export async function deadEndpointOf(partner: Partner): Promise<() => Promise<void>> {
  const { endpointId, close } = await receiverOf(partner, () => 503)
  return async () => {
    const path = `/v1/webhook_endpoints/${endpointId}`
    const { status, text } = await partner.request('DELETE', path)
    if (status >= 300) throw new Error(`${path} was not deleted: ${status} ${text}`)
    await close()
  }
}
