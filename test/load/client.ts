/**
 * The client: a thread of its own that sends the load.
 *
 * Owns: the messages to and from that thread. Does not own: what happens in it (client_thread).
 */
import { Worker } from 'node:worker_threads'
import type { Progress, Tally, Window } from './load.js'

/** What the thread is to do. */
export interface Order {
  readonly scenario: ScenarioOrder
  /** How many are signed ahead. */
  readonly journeys: number
  readonly window: Window
}

export interface ScenarioOrder {
  readonly kind: 'create_intents'
  readonly host: string
  readonly keyId: string
  readonly secret: string
  readonly withIdempotencyKey: boolean
}

export interface Outcome {
  readonly tally: Tally
  readonly samples: readonly string[]
}

/** What the thread tells. */
export type Note =
  | { readonly kind: 'signed' }
  | { readonly kind: 'opened' }
  | { readonly kind: 'closed' }
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'finished'; readonly outcome: Outcome }

export interface Client {
  /** One order at a time. */
  run(order: Order, tell: (note: Note) => void): Promise<Outcome>
  stop(): Promise<void>
}

export function startClient(): Client {
  const thread = new Worker(new URL('./client_thread.js', import.meta.url))
  const died = new Promise<never>((_, reject) => thread.once('error', reject))
  died.catch(() => undefined) // whoever runs an order hears of it
  const finished = (tell: (note: Note) => void): Promise<Outcome> =>
    new Promise((resolve) => {
      const listen = (note: Note): void => {
        tell(note)
        if (note.kind !== 'finished') return
        thread.off('message', listen)
        resolve(note.outcome)
      }
      thread.on('message', listen)
    })
  return {
    run: (order, tell) => {
      thread.postMessage(order)
      return Promise.race([finished(tell), died])
    },
    stop: async () => {
      await thread.terminate()
    },
  }
}
