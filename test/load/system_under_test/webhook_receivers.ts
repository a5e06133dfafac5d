/**
 * The partner's webhook receivers: a thread of their own with one listener, an address for each
 * endpoint.
 *
 * Owns: the messages to and from that thread, registering the endpoints. Does not own: what happens
 * in it (receiver_thread).
 */
import { once } from 'node:events'
import { MessageChannel, Worker, type MessagePort } from 'node:worker_threads'
import { connect } from '../../../src/client/index.js'
import { credentialsOf, type Sandbox } from '../../../src/operations/sandbox.js'
import type { LatencyMs } from '../client/latency.js'

/** While they are ill, `slow` answers after two seconds, `dead` takes everything and never does. */
export type Manner = 'prompt' | 'slow' | 'dead'

export interface EndpointPlan {
  readonly manner: Manner
  /** Empty: all that are not opt-in. */
  readonly events: readonly string[]
}

export interface Endpoint {
  readonly id: string
}

/** What an endpoint saw. */
export interface Seen {
  /** Deliveries that came, also repeated ones. */
  readonly came: number
  /** Events that it answered 2xx. */
  readonly answered: number
  /** Of those that were looked at: a wrong signature, or what could not be read. */
  readonly faults: number
}

/** Of the prompt endpoints, since it was asked before; the age is from the event's own time. */
export interface Arrivals {
  readonly count: number
  readonly age: LatencyMs
}

/** Each is counted for itself: what a sample takes is not missing in the window. */
export type Span = 'sample' | 'window'

export type ReceiverOrder =
  | { readonly kind: 'serve'; readonly endpoints: readonly ServedEndpoint[] }
  | { readonly kind: 'fall_ill' }
  | { readonly kind: 'recover' }
  | { readonly kind: 'tell'; readonly ports: readonly MessagePort[] }
  | { readonly kind: 'seen' }
  | { readonly kind: 'arrivals'; readonly of: Span }

export interface ServedEndpoint {
  readonly path: string
  readonly manner: Manner
  readonly secret: string
}

export type ReceiverAnswer =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'served' }
  | { readonly kind: 'seen'; readonly seen: readonly Seen[] }
  | { readonly kind: 'arrivals'; readonly arrivals: Arrivals }

export interface Receiver {
  /** Registers these endpoints with the partner of a stack. */
  register(sandbox: Sandbox, plans: readonly EndpointPlan[]): Promise<readonly Endpoint[]>
  /** Ports at which clients hear of every payment that has ended. */
  ports(clients: number): readonly MessagePort[]
  /** From now on each endpoint has its manner; before, all are prompt. */
  fallIll(): void
  /** As after a restart: what hung is cut off. */
  recover(): void
  /** By endpoint, in the order in which they were registered. */
  seen(): Promise<readonly Seen[]>
  arrivals(of: Span): Promise<Arrivals>
  stop(): Promise<void>
}

export async function startReceiver(): Promise<Receiver> {
  const thread = new Worker(new URL('./receiver_thread.js', import.meta.url))
  const [listening] = (await once(thread, 'message')) as [ReceiverAnswer]
  const port = listening.kind === 'listening' ? listening.port : 0

  const ask = async (
    order: ReceiverOrder,
    transfer: MessagePort[] = [],
  ): Promise<ReceiverAnswer> => {
    const answered = once(thread, 'message') as Promise<[ReceiverAnswer]>
    thread.postMessage(order, transfer)
    return (await answered)[0]
  }
  let asked: Promise<unknown> = Promise.resolve()
  /** Answers come in the order of the questions, one at a time. */
  const inTurn = <T>(question: () => Promise<T>): Promise<T> => {
    const turn = asked.then(question)
    asked = turn.catch(() => undefined)
    return turn
  }

  return {
    register: (sandbox, plans) =>
      inTurn(async () => {
        const registered = await registerAll(sandbox, plans, port)
        await ask({ kind: 'serve', endpoints: registered.map(({ served }) => served) })
        return registered.map(({ endpoint }) => endpoint)
      }),
    ports: (clients) => {
      const channels = Array.from({ length: clients }, () => new MessageChannel())
      const ours = channels.map(({ port1 }) => port1)
      thread.postMessage({ kind: 'tell', ports: ours } satisfies ReceiverOrder, ours)
      return channels.map(({ port2 }) => port2)
    },
    fallIll: () => thread.postMessage({ kind: 'fall_ill' } satisfies ReceiverOrder),
    recover: () => thread.postMessage({ kind: 'recover' } satisfies ReceiverOrder),
    seen: () =>
      inTurn(async () => {
        const answer = await ask({ kind: 'seen' })
        return answer.kind === 'seen' ? answer.seen : []
      }),
    arrivals: (of) =>
      inTurn(async () => {
        const answer = await ask({ kind: 'arrivals', of })
        if (answer.kind !== 'arrivals') throw new Error(`${answer.kind} was not asked for`)
        return answer.arrivals
      }),
    stop: async () => {
      await thread.terminate()
    },
  }
}

/** What is not delivered yet ends as a dead letter. */
export async function unregister(sandbox: Sandbox, endpoints: readonly Endpoint[]): Promise<void> {
  const partner = connect(credentialsOf(sandbox, 'Service'))
  for (const { id } of endpoints) await partner.request('DELETE', `/v1/webhook_endpoints/${id}`)
}

interface Registered {
  readonly endpoint: Endpoint
  readonly served: ServedEndpoint
}

/** One after the other, so that their order is that of their ids. */
async function registerAll(
  sandbox: Sandbox,
  plans: readonly EndpointPlan[],
  port: number,
): Promise<readonly Registered[]> {
  const partner = connect(credentialsOf(sandbox, 'Service'))
  const all: Registered[] = []
  for (const [index, { manner, events }] of plans.entries()) {
    const path = `/hooks/${index}`
    const url = `http://127.0.0.1:${port}${path}`
    const answer = await partner.request('POST', '/v1/webhook_endpoints', {
      url,
      enabled_events: events,
    })
    if (answer.status !== 201) throw new Error(`no endpoint: ${answer.status} ${answer.text}`)
    const { id, secret } = answer.body as { id: string; secret: string }
    all.push({ endpoint: { id }, served: { path, manner, secret } })
  }
  return all
}
