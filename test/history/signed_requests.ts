/** Signed requests that are sent several times: each is accepted once. */
import type { Partner } from '../support/partner.js'
import { sendOnce } from '../support/raw_requests.js'
import { createRecorder } from './history.js'
import { signedRequest } from './models.js'
import { faultsOf, type Race, type Racers } from './race.js'

const PATH = '/v1/balances'

export interface RepeatedRequest {
  readonly signedAt: number
  /** Sends the same signed bytes. */
  send(baseUrl: string): Promise<unknown>
  /** Why its history is impossible; empty if it is not. */
  faults(): readonly string[]
}

/**
 * @param surprises takes answers that no race explains
 * @param make makes one call; another one can hold it back
 */
export function signOnce(
  name: string,
  partner: Partner,
  surprises: string[],
  make: <T>(call: () => Promise<T>) => Promise<T> = (call) => call(),
): RepeatedRequest {
  const headers = Object.entries(partner.sign('GET', PATH, '').headers)
  const recorder = createRecorder<'send', 'accepted' | 'refused'>()
  return {
    signedAt: performance.now(),
    send: (baseUrl) =>
      recorder.record('send', async () => {
        const request = { method: 'GET', path: PATH, headers }
        const { status, text } = await make(() => sendOnce(baseUrl, request))
        if (status >= 500 || status === 429) return undefined // perhaps before its nonce was read
        if (status !== 200 && status !== 401) surprises.push(`${name}: ${status} ${text}`)
        return status === 200 ? 'accepted' : 'refused'
      }),
    faults: () => faultsOf(name, signedRequest, recorder.operations),
  }
}

/** All clients send the same signed bytes. @param baseUrlOf the address that a client calls */
export function nonceRace(
  { partners, rounds, surprises }: Racers,
  baseUrlOf: (client: number) => string,
): Race {
  const requests = Array.from({ length: rounds }, (_, round) =>
    signOnce(`signed request ${round}`, partners[0], surprises),
  )
  return {
    run: async (client) => {
      for (const request of requests) await request.send(baseUrlOf(client))
    },
    faults: () => requests.flatMap((request) => request.faults()),
    hasEveryOutcome: () => true,
  }
}
