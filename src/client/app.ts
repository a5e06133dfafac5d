/**
 * The operations of an app: scan, confirm and poll with the session token of one intent, and
 * receipts with a receipt token. An app never has the signing secret.
 */
import { connectApp, type BearerConnection, type Server } from './connection.js'
import { poll, type PollOptions } from './poll.js'
import {
  createRequester,
  pathOf,
  type CallOptions,
  type ClientOptions,
  type Requester,
} from './request.js'
import type { IntentStatus, PaymentIntent, Quote, Receipt, Scan, ScanResult } from './types.js'

const INTENTS = '/v1/payment_intents'

const IN_PROGRESS: ReadonlySet<IntentStatus> = new Set(['created', 'authorized'])
export const isFinalIntent = ({ status }: PaymentIntent): boolean => !IN_PROGRESS.has(status)

export type AppClient = ReturnType<typeof createAppClient>
export type Session = ReturnType<typeof sessionOf>

/** A client without a signing secret: its tokens come from the partner's backend. */
export function createAppClient(
  server: Server & { readonly appPackage?: string },
  options: ClientOptions = {},
) {
  const connection = connectApp(server, options)
  const requester = createRequester(options)
  return {
    /** Operations with the session token of one intent. */
    session: (token: string) => sessionOf(connection.session(token, server.appPackage), requester),
    /** Operations with a receipt token. */
    receipts: (token: string) => receiptsOf(connection.session(token), requester),
  }
}

export function sessionOf(connection: BearerConnection, requester: Requester) {
  const get = async (intentId: string, options: CallOptions = {}): Promise<PaymentIntent> => {
    const request = { ...options, method: 'GET', path: pathOf(INTENTS, intentId) }
    return (await requester.send(connection, request)).body as PaymentIntent
  }
  return {
    get,
    /** A new scan replaces the quote. */
    scan: async (intentId: string, scan: Scan, options: CallOptions = {}): Promise<ScanResult> => {
      const path = pathOf(INTENTS, intentId, '/scan')
      const request = { ...options, method: 'POST', path, body: scan, isRepeatable: true }
      return (await requester.send(connection, request)).body as ScanResult
    },
    /**
     * Store the key on disk before the call: only the same key makes a repeated confirm safe.
     *
     * @param quote the one that the user saw; another one is a QuoteError
     */
    confirm: async (
      intentId: string,
      idempotencyKey: string,
      quote?: Pick<Quote, 'quote_id' | 'quote_version'>,
      options: CallOptions = {},
    ): Promise<PaymentIntent> => {
      const path = pathOf(INTENTS, intentId, '/confirm')
      const body =
        quote === undefined ? {} : { quote_id: quote.quote_id, quote_version: quote.quote_version }
      const request = { ...options, method: 'POST', path, body, idempotencyKey }
      return (await requester.send(connection, request)).body as PaymentIntent
    },
    /**
     * Fetches the intent, less and less often, until its status is final or the time is over.
     *
     * @returns the latest intent: `authorized` never means failed
     */
    poll: (intentId: string, options: PollOptions = {}): Promise<PaymentIntent> =>
      poll(requester, () => get(intentId, options), isFinalIntent, options),
  }
}

export function receiptsOf(connection: BearerConnection, requester: Requester) {
  return {
    get: async (intentId: string, options: CallOptions = {}): Promise<Receipt> => {
      const path = pathOf(INTENTS, intentId, '/receipt')
      return (await requester.send(connection, { ...options, method: 'GET', path })).body as Receipt
    },
  }
}
