/**
 * The partner API with safe retries, for a partner's backend.
 *
 * - Without a key of the caller, an idempotent write gets a new UUID. Store a key of your own
 *   before the call to survive a crash of your program.
 */
import { callsOf } from './api_calls.js'
import { isFinalIntent, receiptsOf, sessionOf } from './app.js'
import { createCalls, type Keyed } from './calls.js'
import { connect, type Credentials } from './connection.js'
import type { HttpAnswer } from './http.js'
import { poll, type PollOptions } from './poll.js'
import { createRequester, type ClientOptions } from './request.js'
import type * as T from './types.js'

export type Client = ReturnType<typeof createClient>

const IN_PROGRESS: ReadonlySet<T.PayoutStatus> = new Set(['created', 'processing'])

export function createClient(credentials: Credentials, options: ClientOptions = {}) {
  const connection = connect(credentials, options)
  const requester = createRequester(options)
  const signed = createCalls(connection, requester)
  const unsigned = createCalls(connection.unauthenticated(), requester)
  const calls = callsOf(signed)

  return {
    ...calls,
    paymentIntents: {
      ...calls.paymentIntents,
      /**
       * Fetches the intent, less and less often, until its status is final or the time is over.
       * A webhook avoids this.
       */
      poll: (id: string, options: PollOptions = {}) => {
        const latest = () => calls.paymentIntents.get(id, options)
        return poll(requester, latest, isFinalIntent, options)
      },
    },
    payouts: {
      ...calls.payouts,
      /** As that of an intent. A payout can take days: `processing` never means failed. */
      poll: (id: string, options: PollOptions = {}) => {
        const latest = () => calls.payouts.get(id, options)
        return poll(requester, latest, ({ status }) => !IN_PROGRESS.has(status), options)
      },
    },
    /** Production rejects these. */
    sandbox: {
      ...calls.sandbox,
      /** Without a description it checks a request that this client signs. */
      checkSignature: (description?: T.SignatureDescription): Promise<T.SignatureReport> => {
        const by = description === undefined ? signed : unsigned
        return by.repeatable('POST', '/v1/sandbox/signature/check', description, {})
      },
      checkRequest: (description: T.RequestDescription): Promise<T.RequestReport> =>
        unsigned.repeatable('POST', '/v1/sandbox/request/check', description, {}),
    },
    /**
     * Operations of an app with the session token of one intent.
     *
     * @param appPackage bundle or application id, when the partner registered its apps
     */
    session: (token: string, appPackage?: string) =>
      sessionOf(connection.session(token, appPackage), requester),
    /** Operations of an app with a receipt token. */
    receipts: (token: string) => receiptsOf(connection.session(token), requester),
    /** Any other operation. Give a key only where the operation takes one: it allows retries. */
    request: (
      method: string,
      path: string,
      body?: unknown,
      keyed: Keyed = {},
    ): Promise<HttpAnswer> => requester.send(connection, { method, path, body, ...keyed }),
  }
}
