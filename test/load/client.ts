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
  /** One order at a time. Rejects when the thread fails, or `tell` does. */
  run(order: Order, tell: (note: Note) => void): Promise<Outcome>
  stop(): Promise<void>
}

export function startClient(): Client {
  const thread = new Worker(new URL('./client_thread.js', import.meta.url))
  return {
    run: (order, tell) =>
      new Promise((resolve, reject) => {
        const listen = (note: Note): void => {
          try {
            tell(note)
          } catch (error) {
            reject(error instanceof Error ? error : new Error(String(error)))
          }
          if (note.kind !== 'finished') return
          thread.off('message', listen)
          thread.off('error', reject)
          resolve(note.outcome)
        }
        thread.on('message', listen)
        thread.on('error', reject)
        thread.postMessage(order)
      }),
    stop: async () => {
      await thread.terminate()
    },
  }
}
