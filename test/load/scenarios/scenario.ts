/**
 * The interface between the load loop and the simulated partners.
 *
 * - A journey is one request or several, each made from the answer before, and perhaps a webhook.
 *   A connection has at most one journey in progress.
 * - A request that depends on an answer carries its session token; all others are presigned.
 * - A scenario checks every answer: an unexpected one fails its journey under a code.
 */
import type { HttpResponse } from '../client/http_socket.js'

export interface Scenario {
  /** Signs this many journeys ahead. @param continues more are signed once these are used up */
  prepare(journeys: number, continues: boolean): void
  /** The first request of the connection's next journey; undefined when there is none left. */
  begin(connection: number): Buffer | undefined
  /** What the connection's journey is, for the latencies by operation. */
  operation(connection: number): string
  /** The next step after the answer to the connection's request. */
  proceed(connection: number, response: HttpResponse): Next
}

/** The requests acknowledged so far; scenarios count into it. */
export type Accepted = ReturnType<typeof nothingAccepted>
export const nothingAccepted = () => ({
  ...{ intents: 0, payouts: 0 },
  /** A sample of intents that stay unchanged, to be read back. */
  samples: [] as string[],
})

export type Next =
  | Buffer
  | { readonly kind: 'completed' }
  | { readonly kind: 'failed'; readonly code: string }
  | { readonly kind: 'awaits_webhook'; readonly entity: string }

export const COMPLETED: Next = { kind: 'completed' }

/** Status and error code of the service, for instance `503 configuration_error`. */
export function unexpected({ status, body }: HttpResponse): Next {
  const [, code = ''] = /^{"error":{"code":"(\w+)"/.exec(body.toString()) ?? []
  return { kind: 'failed', code: `${status} ${code}`.trim() }
}
