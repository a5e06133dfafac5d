/** The load client: it sends from its own thread, which sampling does not delay. */
import { on } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Accepted } from '../scenarios/scenario.js'
import type { ScenarioOrder } from '../scenarios/scenarios.js'
import type { Phase } from './arrival_schedule.js'
import type { Address } from './http_socket.js'
import type { Sample, Summary } from './load.js'

export interface Order extends Window {
  /** One of each partner; their journeys alternate. */
  readonly scenarios: readonly ScenarioOrder[]
  /** Number of presigned requests. */
  readonly journeys: number
  /** Whether more are signed once these are used up. */
  readonly continues: boolean
}

export interface Window {
  /** Connections take turns between them. */
  readonly addresses: readonly Address[]
  /** Each has one request out at most. */
  readonly connections: number
  /** Open loop, from the lead-in on. Undefined means closed loop. */
  readonly phases: readonly Phase[] | undefined
  readonly patienceMs?: number | undefined
  readonly leadInMs: number
  readonly measureMs: number
  readonly sampleMs: number
  /** The BroadcastChannel of WebhookNotices. */
  readonly notices: string
}

export type Outcome = Readonly<{ summary: Summary; accepted: Accepted }>

export interface Observer {
  /** The measured part begins or ends. */
  readonly edge: () => void
  /** Each `sampleMs`, from the lead-in to the end of the measured part. */
  readonly sample: (sample: Sample) => void
}

export type ThreadEvent = 'edge' | { readonly sample: Sample } | { readonly outcome: Outcome }

export type Client = ReturnType<typeof startClient>

export function startClient() {
  const thread = new Worker(new URL('./client_thread.js', import.meta.url))
  return {
    /** One command at a time. Rejects when the thread or the observer fails. */
    run: async (order: Order, observer: Observer): Promise<Outcome> => {
      const events = on(thread, 'message') as AsyncIterable<[ThreadEvent]>
      thread.postMessage(order)
      for await (const [event] of events) {
        if (event === 'edge') observer.edge()
        else if ('sample' in event) observer.sample(event.sample)
        else return event.outcome
      }
      throw new Error('the client has ended')
    },
    stop: async (): Promise<void> => void (await thread.terminate()),
  }
}
