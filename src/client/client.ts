/**
 * The partner API with safe retries, for a partner's backend.
 *
 * - Without a key of the caller, an idempotent write gets a new UUID. Store a key of your own
 *   before the call to survive a crash of your program.
 */
import { randomUUID } from 'node:crypto'
import { receiptsOf, sessionOf } from './app.js'
import { connect, type Credentials } from './connection.js'
import type { HttpAnswer } from './http.js'
import { cursorList, numberedList, onlyPage } from './pagination.js'
import { createRequester, pathOf, type ApiRequest, type ClientOptions } from './request.js'
import type * as T from './types.js'

export interface Keyed {
  /** 1 to 255 printable ASCII characters; default: a new UUID. */
  readonly idempotencyKey?: string
}

export type Client = ReturnType<typeof createClient>

const INTENTS = '/v1/payment_intents'
const BENEFICIARIES = '/v1/beneficiaries'
const PAYOUTS = '/v1/payouts'
const ENDPOINTS = '/v1/webhook_endpoints'
const EVENTS = '/v1/events'

const keyOf = ({ idempotencyKey = randomUUID() }: Keyed = {}): { idempotencyKey: string } => ({
  idempotencyKey,
})
/** A repetition changes nothing more, or makes one more token or quote. */
const REPEATABLE = { isRepeatable: true }

export function createClient(credentials: Credentials, options: ClientOptions = {}) {
  const connection = connect(credentials, options)
  const requester = createRequester(options)

  const call = async <Answer>(request: ApiRequest): Promise<Answer> =>
    (await requester.send(connection, request)).body as Answer
  const get = <Answer>(path: string): Promise<Answer> => call({ method: 'GET', path })
  const post = <Answer>(
    path: string,
    body?: object,
    more: Pick<ApiRequest, 'idempotencyKey' | 'isRepeatable'> = {},
  ): Promise<Answer> => call({ method: 'POST', path, body, ...more })

  return {
    paymentIntents: {
      create: (intent: T.CreateIntent, keyed?: Keyed) =>
        post<T.CreatedPaymentIntent>(INTENTS, intent, keyOf(keyed)),
      get: (id: string) => get<T.PaymentIntent>(pathOf(INTENTS, id)),
      list: (filter: T.IntentFilter = {}) => cursorList<T.PaymentIntent>(get, INTENTS, filter),
      cancel: (id: string) => post<T.PaymentIntent>(pathOf(INTENTS, id, '/cancel')),
      /** Answered before the money is back: the intent becomes `refunded` when it arrives. */
      refund: (id: string, keyed?: Keyed) =>
        post<T.PaymentIntent>(pathOf(INTENTS, id, '/refund'), undefined, keyOf(keyed)),
      newSession: (id: string, user: T.NewSession) =>
        post<T.SessionToken>(pathOf(INTENTS, id, '/session'), user, REPEATABLE),
      receiptToken: (id: string) =>
        post<T.ReceiptToken>(pathOf(INTENTS, id, '/receipt_token'), undefined, REPEATABLE),
    },
    beneficiaries: {
      create: (beneficiary: T.CreateBeneficiary) => post<T.Beneficiary>(BENEFICIARIES, beneficiary),
      get: (id: string) => get<T.Beneficiary>(pathOf(BENEFICIARIES, id)),
      disable: (id: string) =>
        post<T.Beneficiary>(pathOf(BENEFICIARIES, id, '/disable'), undefined, REPEATABLE),
      list: (filter: T.PageFilter = {}) => cursorList<T.Beneficiary>(get, BENEFICIARIES, filter),
    },
    payouts: {
      create: (payout: T.CreatePayout, keyed?: Keyed) =>
        post<T.Payout>(PAYOUTS, payout, keyOf(keyed)),
      get: (id: string) => get<T.Payout>(pathOf(PAYOUTS, id)),
      /** Today every payout refuses it with `payout_not_cancelable`. */
      cancel: (id: string) => post<T.Payout>(pathOf(PAYOUTS, id, '/cancel')),
      list: (filter: T.PayoutFilter = {}) => cursorList<T.Payout>(get, PAYOUTS, filter),
    },
    account: () => get<T.Account>('/v1/account'),
    balances: async () => (await get<{ data: readonly T.Balance[] }>('/v1/balances')).data,
    balanceTransactions: {
      list: (filter: T.PageFilter = {}) =>
        cursorList<T.BalanceTransaction>(get, '/v1/balance_transactions', filter),
    },
    fx: {
      quote: (quote: T.CreateFxQuote) => post<T.FxQuote>('/v1/fx/quotes', quote, REPEATABLE),
      convert: (quoteId: string, keyed?: Keyed) =>
        post<T.FxConversion>('/v1/fx/conversions', { quote_id: quoteId }, keyOf(keyed)),
    },
    webhookEndpoints: {
      /** The same key gives the same endpoint with its secret again. */
      create: (endpoint: T.CreateWebhookEndpoint, keyed?: Keyed) =>
        post<T.WebhookEndpointWithSecret>(ENDPOINTS, endpoint, keyOf(keyed)),
      get: (id: string) => get<T.WebhookEndpoint>(pathOf(ENDPOINTS, id)),
      /** All endpoints; there is one page. */
      list: () => onlyPage<T.WebhookEndpoint>(get, ENDPOINTS),
      update: (id: string, changes: T.UpdateWebhookEndpoint) =>
        call<T.WebhookEndpoint>({
          ...{ method: 'PATCH', path: pathOf(ENDPOINTS, id), body: changes },
          ...REPEATABLE,
        }),
      delete: (id: string) =>
        call<T.WebhookEndpoint>({ method: 'DELETE', path: pathOf(ENDPOINTS, id) }),
      enable: (id: string) =>
        post<T.WebhookEndpoint>(pathOf(ENDPOINTS, id, '/enable'), undefined, REPEATABLE),
      disable: (id: string) =>
        post<T.WebhookEndpoint>(pathOf(ENDPOINTS, id, '/disable'), undefined, REPEATABLE),
      /** A repetition replaces the scheduled secret. */
      rotateSecret: (id: string, rotation?: T.RotateSecret) =>
        post<T.RotatedWebhookEndpoint>(pathOf(ENDPOINTS, id, '/rotate_secret'), rotation),
      test: (id: string) => post<T.NumberedEvent>(pathOf(ENDPOINTS, id, '/test')),
      deliveries: (id: string, filter: T.PageFilter = {}) =>
        cursorList<T.Delivery>(get, pathOf(ENDPOINTS, id, '/deliveries'), filter),
      recover: (id: string, since: string) =>
        post<T.Recovery>(pathOf(ENDPOINTS, id, '/recover'), { since }, REPEATABLE),
    },
    events: {
      /** Ends at the newest event; store the last `sequence` and continue `after` it later. */
      list: (filter: T.EventFilter = {}) =>
        numberedList<T.NumberedEvent, T.EventPage>(get, EVENTS, filter),
      resend: (id: string, to?: T.ResendEvent) =>
        post<T.ResentEvent>(pathOf(EVENTS, id, '/resend'), to, REPEATABLE),
    },
    /** Production rejects these. */
    sandbox: {
      deposit: (deposit: T.CreateDeposit, keyed?: Keyed) =>
        post<T.Deposit>('/v1/funding/deposits', deposit, keyOf(keyed)),
      simulatePayout: (id: string, outcome: T.SimulatedOutcome['outcome']) =>
        post<T.Payout>(pathOf('/v1/sandbox/payouts', id, '/simulate'), { outcome }),
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
