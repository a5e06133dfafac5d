/**
 * The interface between the load loop and the simulated partners, and a mix of several scenarios.
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
  /** The next step after the answer to the connection's request. */
  proceed(connection: number, response: HttpResponse): Next
  accepted(): Accepted
}

/** The requests acknowledged so far. */
export interface Accepted {
  readonly intents: number
  readonly payouts: number
  /** A sample of intents that stay unchanged, to be read back. */
  readonly samples: readonly string[]
}

export type Next =
  | Buffer
  | { readonly kind: 'completed' }
  | { readonly kind: 'failed'; readonly code: string }
  | { readonly kind: 'awaits_webhook'; readonly entity: string }

export const COMPLETED: Next = { kind: 'completed' }
export const NOTHING_ACCEPTED: Accepted = { intents: 0, payouts: 0, samples: [] }

export const acceptedBy = (all: readonly Accepted[]): Accepted => ({
  intents: all.reduce((sum, { intents }) => sum + intents, 0),
  payouts: all.reduce((sum, { payouts }) => sum + payouts, 0),
  samples: all.flatMap(({ samples }) => samples),
})

/**
 * Several scenarios as one. The proportions hold over every run of journeys: parts alternate by
 * weight, nothing is random.
 */
export function createWorkloadMix(
  parts: readonly { readonly weight: number; readonly scenario: Scenario }[],
): Scenario {
  const total = parts.reduce((sum, { weight }) => sum + weight, 0)
  const credits = parts.map(() => 0)
  const current = new Map<number, Scenario>()

  /** The part that is furthest behind its share is next. */
  const choose = (): Scenario => {
    for (const [index, { weight }] of parts.entries()) credits[index]! += weight
    const best = credits.indexOf(Math.max(...credits))
    credits[best]! -= total
    return parts[best]!.scenario
  }
  return {
    prepare: (journeys, continues) => {
      for (const { weight, scenario } of parts) {
        scenario.prepare(Math.ceil((journeys * weight) / total) + 1, continues)
      }
    },
    begin: (connection) => {
      const scenario = choose()
      current.set(connection, scenario)
      return scenario.begin(connection)
    },
    proceed: (connection, response) => {
      const scenario = current.get(connection)
      if (scenario === undefined) throw new Error(`connection ${connection} has no journey`)
      return scenario.proceed(connection, response)
    },
    accepted: () => acceptedBy(parts.map(({ scenario }) => scenario.accepted())),
  }
}

/** Status and error code of the service, for instance `503 configuration_error`. */
export function unexpected({ status, body }: HttpResponse): Next {
  const [, code = ''] = /^{"error":{"code":"(\w+)"/.exec(body.toString()) ?? []
  return { kind: 'failed', code: `${status} ${code}`.trim() }
}
