/** The load client: it sends from its own thread, which sampling does not delay. */
import { Worker, type MessagePort } from 'node:worker_threads'
import type { Accepted } from '../scenarios/scenario.js'
import type { ScenarioOrder } from '../scenarios/scenarios.js'
import type { Sample, Summary } from './load.js'
import type { Observer, Window } from './window.js'

export interface Order {
  /** One of each partner; their journeys alternate. */
  readonly scenarios: readonly ScenarioOrder[]
  /** Number of presigned requests. */
  readonly journeys: number
  /** Whether more are signed once these are used up. */
  readonly continues: boolean
  readonly window: Window
}

export interface Outcome {
  readonly summary: Summary
  readonly accepted: Accepted
}

export type ThreadOrder =
  | { readonly kind: 'webhooks_from'; readonly port: MessagePort }
  | { readonly kind: 'run'; readonly order: Order }

export type ThreadEvent =
  | { readonly kind: 'opened' | 'closed' }
  | { readonly kind: 'sample'; readonly sample: Sample }
  | { readonly kind: 'finished'; readonly outcome: Outcome }

export type Client = ReturnType<typeof startClient>

export function startClient() {
  const thread = new Worker(new URL('./client_thread.js', import.meta.url))
  const tell = (order: ThreadOrder, transfer: MessagePort[] = []): void =>
    thread.postMessage(order, transfer)
  return {
    /** One command at a time. Rejects when the thread or the observer fails. */
    run: (order: Order, observer: Observer) =>
      new Promise<Outcome>((resolve, reject) => {
        const end = (settle: () => void): void => {
          thread.off('message', listen)
          thread.off('error', reject)
          settle()
        }
        const listen = (event: ThreadEvent): void => {
          try {
            if (event.kind === 'finished') end(() => resolve(event.outcome))
            else if (event.kind === 'sample') observer.sample(event.sample)
            else observer[event.kind]()
          } catch (error) {
            end(() => reject(error instanceof Error ? error : new Error(String(error))))
          }
        }
        thread.on('message', listen)
        thread.on('error', reject)
        tell({ kind: 'run', order })
      }),
    /** The port that reports webhooks. */
    hearFrom: (port: MessagePort): void => tell({ kind: 'webhooks_from', port }, [port]),
    stop: async (): Promise<void> => void (await thread.terminate()),
  }
}
