/** Signed requests that are sent several times: each is accepted once. */
import { eventually } from '../support/eventually.js'
import type { Partner } from '../support/partner.js'
import { sendOnce } from '../support/raw_requests.js'
import { createRecorder, type Operation } from './history.js'
import { signedRequest } from './models.js'
import { faultsOf, type Race, type Racers } from './race.js'

const PATH = '/v1/balances'
const ANSWERED_WITHIN_MS = 30_000

type Outcome = 'accepted' | 'refused'

export interface RepeatedRequest {
  readonly signedAt: number
  /** Sends the same signed bytes. Undefined if it may have been accepted. */
  send(baseUrl: string): Promise<Outcome | undefined>
  /** Why its history is impossible; empty if it is not. */
  faults(): readonly string[]
}

export interface Sending {
  /** Takes answers that no race explains. */
  readonly surprises: string[]
  /** The partner makes more calls than its rate limit allows. */
  readonly isLimited?: boolean
  /** Makes one call; another one can hold it back. */
  readonly make?: <T>(call: () => Promise<T>) => Promise<T>
}

export function signOnce(
  name: string,
  partner: Partner,
  { surprises, isLimited = false, make = (call) => call() }: Sending,
): RepeatedRequest {
  const headers = Object.entries(partner.sign('GET', PATH, '').headers)
  const recorder = createRecorder<'send', Outcome>()
  return {
    signedAt: performance.now(),
    send: (baseUrl) =>
      recorder.record('send', async () => {
        const request = { method: 'GET', path: PATH, headers }
        const { status, text } = await make(() => sendOnce(baseUrl, request))
        if (status >= 500 || (isLimited && status === 429)) return undefined
        if (status !== 200 && status !== 401) surprises.push(`${name}: ${status} ${text}`)
        return status === 200 ? 'accepted' : 'refused'
      }),
    faults: () => faultsOf(name, signedRequest, withOneUnknown(recorder.operations)),
  }
}

/** All sends without an answer allow what the first of them does: from then on it may be used. */
function withOneUnknown(sent: readonly Operation<'send', Outcome>[]) {
  const unknown = sent.filter(({ output }) => output === undefined)
  const [first] = unknown.sort((one, other) => one.calledAt - other.calledAt)
  return sent.filter((each) => each.output !== undefined || each === first)
}

/**
 * All clients send the same signed bytes, each until an answer.
 *
 * @param baseUrlOf the address that a client calls
 */
export function nonceRace(
  { partners, rounds, surprises }: Racers,
  baseUrlOf: (client: number) => string,
): Race {
  const requests = Array.from({ length: rounds }, (_, round) =>
    signOnce(`signed request ${round}`, partners[0], { surprises }),
  )
  const outcomes = new Set<Outcome>()
  return {
    run: async (client) => {
      for (const { send } of requests) {
        const again = (): Promise<Outcome | undefined> => send(baseUrlOf(client))
        outcomes.add(await eventually('a signed request is answered', again, ANSWERED_WITHIN_MS))
      }
    },
    faults: () => requests.flatMap((request) => request.faults()),
    hasEveryOutcome: () => outcomes.has('accepted') && outcomes.has('refused'),
  }
}
