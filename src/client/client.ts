/**
 * The partner API with safe retries, for a partner's backend.
 *
 * - Without a key of the caller, an idempotent write gets a new UUID. Store a key of your own
 *   before the call to survive a crash of your program.
 */
import { randomUUID } from 'node:crypto'
import { isFinalIntent, receiptsOf, sessionOf } from './app.js'
import { connect, type Credentials } from './connection.js'
import type { HttpAnswer } from './http.js'
import { cursorList, numberedList, onlyPage } from './pagination.js'
import { poll, type PollOptions } from './poll.js'
import {
  createRequester,
  pathOf,
  type ApiRequest,
  type CallOptions,
  type ClientOptions,
} from './request.js'
import { responseOf, withDetails } from './response_details.js'
import type * as T from './types.js'

export interface Keyed extends CallOptions {
  /** 1 to 255 printable ASCII characters; default: a new UUID. */
  readonly idempotencyKey?: string
}

export type Client = ReturnType<typeof createClient>

const INTENTS = '/v1/payment_intents'
const BENEFICIARIES = '/v1/beneficiaries'
const PAYOUTS = '/v1/payouts'
const ENDPOINTS = '/v1/webhook_endpoints'
const EVENTS = '/v1/events'

const keyOf = (options: Keyed = {}): Keyed => ({
  ...options,
  idempotencyKey: options.idempotencyKey ?? randomUUID(),
})
const IN_PROGRESS: ReadonlySet<T.PayoutStatus> = new Set(['created', 'processing'])
/** A repetition changes nothing more, or makes one more token or quote. */
const REPEATABLE = { isRepeatable: true }

export function createClient(credentials: Credentials, options: ClientOptions = {}) {
  const connection = connect(credentials, options)
  const requester = createRequester(options)

  const call = async <Answer>(request: ApiRequest): Promise<Answer> =>
    (await requester.send(connection, request)).body as Answer
  const get = <Answer>(path: string, options: CallOptions = {}): Promise<Answer> =>
    call({ ...options, method: 'GET', path })
  const post = <Answer>(
    path: string,
    body?: object,
    more: Omit<ApiRequest, 'method' | 'path' | 'body'> = {},
  ): Promise<Answer> => call({ ...more, method: 'POST', path, body })
  /** Sent again after an unknown outcome. */
  const repeat = <Answer>(path: string, body?: object, options: CallOptions = {}) =>
    post<Answer>(path, body, { ...options, ...REPEATABLE })
  const list = <Item>(path: string, filter: object, options: CallOptions = {}) =>
    cursorList<Item>((page) => get(page, options), path, filter)

  return {
    paymentIntents: {
      create: (intent: T.CreateIntent, keyed?: Keyed) =>
        post<T.CreatedPaymentIntent>(INTENTS, intent, keyOf(keyed)),
      get: (id: string, options?: CallOptions) =>
        get<T.PaymentIntent>(pathOf(INTENTS, id), options),
      list: (filter: T.IntentFilter = {}, options?: CallOptions) =>
        list<T.PaymentIntent>(INTENTS, filter, options),
      cancel: (id: string, options?: CallOptions) =>
        post<T.PaymentIntent>(pathOf(INTENTS, id, '/cancel'), undefined, options),
      /** Answered before the money is back: the intent becomes `refunded` when it arrives. */
      refund: (id: string, keyed?: Keyed) =>
        post<T.PaymentIntent>(pathOf(INTENTS, id, '/refund'), undefined, keyOf(keyed)),
      /**
       * Fetches the intent, less and less often, until its status is final or the time is over.
       * A webhook avoids this.
       */
      poll: (id: string, options: PollOptions = {}) => {
        const latest = () => get<T.PaymentIntent>(pathOf(INTENTS, id), options)
        return poll(requester, latest, isFinalIntent, options)
      },
      newSession: (id: string, user: T.NewSession, options?: CallOptions) =>
        repeat<T.SessionToken>(pathOf(INTENTS, id, '/session'), user, options),
      receiptToken: (id: string, options?: CallOptions) =>
        repeat<T.ReceiptToken>(pathOf(INTENTS, id, '/receipt_token'), undefined, options),
    },
    beneficiaries: {
      create: (beneficiary: T.CreateBeneficiary, options?: CallOptions) =>
        post<T.Beneficiary>(BENEFICIARIES, beneficiary, options),
      get: (id: string, options?: CallOptions) =>
        get<T.Beneficiary>(pathOf(BENEFICIARIES, id), options),
      disable: (id: string, options?: CallOptions) =>
        repeat<T.Beneficiary>(pathOf(BENEFICIARIES, id, '/disable'), undefined, options),
      list: (filter: T.PageFilter = {}, options?: CallOptions) =>
        list<T.Beneficiary>(BENEFICIARIES, filter, options),
    },
    payouts: {
      create: (payout: T.CreatePayout, keyed?: Keyed) =>
        post<T.Payout>(PAYOUTS, payout, keyOf(keyed)),
      get: (id: string, options?: CallOptions) => get<T.Payout>(pathOf(PAYOUTS, id), options),
      /** As that of an intent. A payout can take days: `processing` never means failed. */
      poll: (id: string, options: PollOptions = {}) => {
        const latest = () => get<T.Payout>(pathOf(PAYOUTS, id), options)
        return poll(requester, latest, ({ status }) => !IN_PROGRESS.has(status), options)
      },
      /** Today every payout refuses it with `payout_not_cancelable`. */
      cancel: (id: string, options?: CallOptions) =>
        post<T.Payout>(pathOf(PAYOUTS, id, '/cancel'), undefined, options),
      list: (filter: T.PayoutFilter = {}, options?: CallOptions) =>
        list<T.Payout>(PAYOUTS, filter, options),
    },
    account: (options?: CallOptions) => get<T.Account>('/v1/account', options),
    balances: async (options?: CallOptions) => {
      const page = await get<{ data: readonly T.Balance[] }>('/v1/balances', options)
      return withDetails(page.data, responseOf(page))
    },
    balanceTransactions: {
      list: (filter: T.PageFilter = {}, options?: CallOptions) =>
        list<T.BalanceTransaction>('/v1/balance_transactions', filter, options),
    },
    fx: {
      quote: (quote: T.CreateFxQuote, options?: CallOptions) =>
        repeat<T.FxQuote>('/v1/fx/quotes', quote, options),
      convert: (quoteId: string, keyed?: Keyed) =>
        post<T.FxConversion>('/v1/fx/conversions', { quote_id: quoteId }, keyOf(keyed)),
    },
    webhookEndpoints: {
      /** The same key gives the same endpoint with its secret again. */
      create: (endpoint: T.CreateWebhookEndpoint, keyed?: Keyed) =>
        post<T.WebhookEndpointWithSecret>(ENDPOINTS, endpoint, keyOf(keyed)),
      get: (id: string, options?: CallOptions) =>
        get<T.WebhookEndpoint>(pathOf(ENDPOINTS, id), options),
      /** All endpoints; there is one page. */
      list: (options?: CallOptions) =>
        onlyPage<T.WebhookEndpoint>((path) => get(path, options), ENDPOINTS),
      update: (id: string, changes: T.UpdateWebhookEndpoint, options?: CallOptions) =>
        call<T.WebhookEndpoint>({
          ...{ ...options, method: 'PATCH', path: pathOf(ENDPOINTS, id), body: changes },
          ...REPEATABLE,
        }),
      delete: (id: string, options?: CallOptions) =>
        call<T.WebhookEndpoint>({ ...options, method: 'DELETE', path: pathOf(ENDPOINTS, id) }),
      enable: (id: string, options?: CallOptions) =>
        repeat<T.WebhookEndpoint>(pathOf(ENDPOINTS, id, '/enable'), undefined, options),
      disable: (id: string, options?: CallOptions) =>
        repeat<T.WebhookEndpoint>(pathOf(ENDPOINTS, id, '/disable'), undefined, options),
      /** A repetition replaces the scheduled secret. */
      rotateSecret: (id: string, rotation?: T.RotateSecret, options?: CallOptions) =>
        post<T.RotatedWebhookEndpoint>(pathOf(ENDPOINTS, id, '/rotate_secret'), rotation, options),
      test: (id: string, options?: CallOptions) =>
        post<T.NumberedEvent>(pathOf(ENDPOINTS, id, '/test'), undefined, options),
      deliveries: (id: string, filter: T.PageFilter = {}, options?: CallOptions) =>
        list<T.Delivery>(pathOf(ENDPOINTS, id, '/deliveries'), filter, options),
      recover: (id: string, since: string, options?: CallOptions) =>
        repeat<T.Recovery>(pathOf(ENDPOINTS, id, '/recover'), { since }, options),
    },
    events: {
      /** Ends at the newest event; store the last `sequence` and continue `after` it later. */
      list: (filter: T.EventFilter = {}, options?: CallOptions) =>
        numberedList<T.NumberedEvent, T.EventPage>((path) => get(path, options), EVENTS, filter),
      resend: (id: string, to?: T.ResendEvent, options?: CallOptions) =>
        repeat<T.ResentEvent>(pathOf(EVENTS, id, '/resend'), to, options),
    },
    /** Production rejects these. */
    sandbox: {
      deposit: (deposit: T.CreateDeposit, keyed?: Keyed) =>
        post<T.Deposit>('/v1/funding/deposits', deposit, keyOf(keyed)),
      simulatePayout: (id: string, outcome: T.SimulatedOutcome['outcome'], options?: CallOptions) =>
        post<T.Payout>(pathOf('/v1/sandbox/payouts', id, '/simulate'), { outcome }, options),
      /** Without a description it checks a request that this client signs. */
      checkSignature: async (description?: T.SignatureDescription) => {
        const by = description === undefined ? connection : connection.unauthenticated()
        const path = '/v1/sandbox/signature/check'
        const request = { method: 'POST', path, body: description, ...REPEATABLE }
        return (await requester.send(by, request)).body as T.SignatureReport
      },
      checkRequest: async (description: T.RequestDescription) => {
        const path = '/v1/sandbox/request/check'
        const request = { method: 'POST', path, body: description, ...REPEATABLE }
        const { body } = await requester.send(connection.unauthenticated(), request)
        return body as T.RequestReport
      },
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
