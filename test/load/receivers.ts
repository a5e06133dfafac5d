/** The partner's webhook receivers: a thread (receiver_thread) with a listener per endpoint. */
import { once } from 'node:events'
import { MessageChannel, Worker, type MessagePort } from 'node:worker_threads'
import type { Connection } from '../../src/client/index.js'
import type { LatencyMs } from './client/latency.js'

/**
 * Behavior of an endpoint while failures are on: `slow` answers after two seconds, `dead` accepts
 * and never answers.
 */
export type Behavior = 'healthy' | 'slow' | 'dead'

export interface EndpointPlan {
  readonly behavior: Behavior
  /** Empty: all that are not opt-in. */
  readonly events: readonly string[]
}

export type Endpoint = Readonly<Record<'id' | 'secret', string>>

/** At one endpoint: events answered 2xx, and inspected deliveries that were not valid. */
export interface Received {
  readonly answered: number
  readonly faults: number
}

/** Since the previous call: deliveries answered 2xx, their age at healthy endpoints. */
export interface Arrivals {
  readonly count: number
  readonly age: LatencyMs
}

export type ReceiverOrder =
  | { readonly kind: 'listen'; readonly behaviors: readonly Behavior[] }
  | { readonly kind: 'secrets'; readonly secrets: readonly string[] }
  | { readonly kind: 'failures'; readonly on: boolean }
  | { readonly kind: 'notify'; readonly port: MessagePort }
  | { readonly kind: 'received' | 'arrivals' }

export type ReceiverReply = readonly number[] | readonly Received[] | Arrivals | undefined
export type Receivers = Awaited<ReturnType<typeof startReceivers>>

export async function startReceivers() {
  const thread = new Worker(new URL('./receiver_thread.js', import.meta.url))
  await once(thread, 'online')
  let last: Promise<unknown> = Promise.resolve()
  /** One at a time: replies come in the order of the requests. */
  const ask = <T>(order: ReceiverOrder, transfer: MessagePort[] = []): Promise<T> => {
    const reply = last.then(async () => {
      const replied = once(thread, 'message') as Promise<[T]>
      thread.postMessage(order, transfer)
      return (await replied)[0]
    })
    last = reply.catch(() => undefined)
    return reply
  }
  return {
    /** @returns a URL for each endpoint */
    listen: async (behaviors: readonly Behavior[]): Promise<string[]> => {
      const ports = await ask<readonly number[]>({ kind: 'listen', behaviors })
      return ports.map((port, index) => `http://127.0.0.1:${port}/hooks/${index}`)
    },
    /** In the order of the endpoints. */
    useSecrets: (secrets: readonly string[]) => ask<undefined>({ kind: 'secrets', secrets }),
    /** The port that reports every ended payment to the client. */
    port: async (): Promise<MessagePort> => {
      const { port1: port, port2 } = new MessageChannel()
      await ask({ kind: 'notify', port }, [port])
      return port2
    },
    /** Off at first. Switching failures off closes the connections of failing endpoints. */
    setFailures: (on: boolean) => ask<undefined>({ kind: 'failures', on }),
    received: () => ask<readonly Received[]>({ kind: 'received' }),
    arrivals: () => ask<Arrivals>({ kind: 'arrivals' }),
    stop: async () => void (await thread.terminate()),
  }
}

/**
 * Registers the endpoints of each partner one after the other: their order is that of their ids.
 */
export async function register(
  receivers: Receivers,
  partners: readonly Connection[],
  plans: readonly EndpointPlan[],
): Promise<readonly (Endpoint & { readonly partner: Connection })[]> {
  const all = partners.flatMap((partner) => plans.map((plan) => ({ ...plan, partner })))
  const urls = await receivers.listen(all.map(({ behavior }) => behavior))
  const endpoints: (Endpoint & { readonly partner: Connection })[] = []
  for (const [index, { events, partner }] of all.entries()) {
    const body = { url: urls[index], enabled_events: events }
    const answer = await partner.request('POST', '/v1/webhook_endpoints', body)
    if (answer.status !== 201) throw new Error(`no endpoint: ${answer.status} ${answer.text}`)
    endpoints.push({ ...(answer.body as Endpoint), partner })
  }
  await receivers.useSecrets(endpoints.map(({ secret }) => secret))
  return endpoints
}
