/**
 * Calls of signed requests, made from the operations in src/api by `make openapi`.
 */
import type * as T from './api_types.js'
import type { Calls, Keyed } from './calls.js'
import type { PageFilter } from './pagination.js'
import type { CreatePayout } from './payout_request.js'
import { pathOf, type CallOptions } from './request.js'

export interface ListPaymentIntentsFilter {
  /** Only intents in this status. */
  readonly status?:
    'created' | 'authorized' | 'captured' | 'failed' | 'expired' | 'refunded' | 'cancelled'
  /** Only intents of this corridor. */
  readonly corridor?: 'th_promptpay' | 'vn_vietqr'
  /** Only intents of this user. */
  readonly partner_user_id?: string
  /** Exclusive. RFC 3339 with an offset. */
  readonly created_after?: string
  /** Exclusive, later than `created_after`. RFC 3339 with an offset. */
  readonly created_before?: string
  /** The most items of a page. */
  readonly limit?: number
  /** `next_cursor` of the previous page, with the same filters. */
  readonly cursor?: string
}

export interface ListPayoutsFilter {
  /** Only payouts in this status. */
  readonly status?: 'created' | 'processing' | 'completed' | 'failed' | 'reversed'
  /** Exact match. */
  readonly reference?: string
  /** Exact match. */
  readonly beneficiary_id?: string
  /** Exclusive. RFC 3339 with an offset. */
  readonly created_after?: string
  /** Exclusive, later than `created_after`. RFC 3339 with an offset. */
  readonly created_before?: string
  /** The most items of a page. */
  readonly limit?: number
  /** `next_cursor` of the previous page, with the same filters. */
  readonly cursor?: string
}

export interface ListEventsFilter {
  /** `next_after` of the previous answer; 0 begins at the oldest event. */
  readonly after?: number
  /** The most items of a page. */
  readonly limit?: number
}

export const callsOf = (call: Calls) => ({
  /** Returns what is available and what is reserved in each currency. */
  balances: (options?: CallOptions) => call.items<T.Balance>('/v1/balances', options),
  /**
   * Returns what is configured for you in this environment: terms, limits, corridors, keys, source
   * addresses, app packages and balance alerts. Secrets are never shown.
   */
  account: (options?: CallOptions) =>
    call.once<T.Account>('GET', '/v1/account', undefined, options),
  paymentIntents: {
    /**
     * Creates an intent with a ceiling in US cents and its first session token. Pass both to your
     * app, which scans the code and confirms. The same `Idempotency-Key` with the same body returns
     * the first answer byte for byte, token included.
     */
    create: (intent: T.CreatePaymentIntentRequest, keyed?: Keyed) =>
      call.keyed<T.CreatedPaymentIntent>('POST', '/v1/payment_intents', intent, keyed),
    /**
     * Lists intents, newest first. Filters combine. A page with a `status` or `corridor` searches
     * at most 2,000 intents, so it can be short or empty before the end.
     */
    list: (filter: ListPaymentIntentsFilter = {}, options?: CallOptions) =>
      call.cursorList<T.PaymentIntent>('/v1/payment_intents', filter, options),
    /**
     * Returns the current intent. Your backend signs; your app uses the session token of this
     * intent, also after a confirm consumed it, until it expires. Poll after one second, then
     * multiply the delay by 1.5 up to 15 seconds.
     */
    get: (id: string, options?: CallOptions) =>
      call.once<T.PaymentIntent>('GET', pathOf('/v1/payment_intents', id), undefined, options),
    /**
     * Creates a session token when the earlier one expired. Scan, quote and deadline of the intent
     * are unchanged, and earlier tokens stay valid until they expire. Each call creates a token.
     */
    newSession: (id: string, user: T.CreateSessionTokenRequest, options?: CallOptions) =>
      call.repeatable<T.SessionToken>(
        'POST',
        pathOf('/v1/payment_intents', id, '/session'),
        user,
        options,
      ),
    /**
     * Cancels an intent before its payment is submitted to the bank, which normally happens at once
     * after a confirm.
     */
    cancel: (id: string, options?: CallOptions) =>
      call.once<T.PaymentIntent>(
        'POST',
        pathOf('/v1/payment_intents', id, '/cancel'),
        undefined,
        options,
      ),
    /**
     * Asks the receiving bank to return a captured payment, within 90 days and in full. The intent
     * stays `captured` until the money arrives: then it is `refunded`, at the amount of its quote.
     * The bank can decline, and an answer can take days.
     */
    refund: (id: string, keyed?: Keyed) =>
      call.keyed<T.PaymentIntent>(
        'POST',
        pathOf('/v1/payment_intents', id, '/refund'),
        undefined,
        keyed,
      ),
    /**
     * Creates a token that opens every receipt of the intent's user for five minutes, and nothing
     * else.
     */
    receiptToken: (id: string, options?: CallOptions) =>
      call.repeatable<T.ReceiptToken>(
        'POST',
        pathOf('/v1/payment_intents', id, '/receipt_token'),
        undefined,
        options,
      ),
  },
  beneficiaries: {
    /** Stores a bank account to pay out to. Each call creates one. */
    create: (beneficiary: T.BeneficiaryRequest, options?: CallOptions) =>
      call.once<T.Beneficiary>('POST', '/v1/beneficiaries', beneficiary, options),
    /** Lists beneficiaries, newest first, including disabled ones. */
    list: (filter: PageFilter = {}, options?: CallOptions) =>
      call.cursorList<T.Beneficiary>('/v1/beneficiaries', filter, options),
    /** Returns the beneficiary, also when it is disabled. */
    get: (id: string, options?: CallOptions) =>
      call.once<T.Beneficiary>('GET', pathOf('/v1/beneficiaries', id), undefined, options),
    /** Closes the beneficiary to new payouts, permanently. Payouts in progress continue. */
    disable: (id: string, options?: CallOptions) =>
      call.repeatable<T.Beneficiary>(
        'POST',
        pathOf('/v1/beneficiaries', id, '/disable'),
        undefined,
        options,
      ),
  },
  payouts: {
    /**
     * Reserves `total` from your balance in the same currency and pays the beneficiary. Name one by
     * `beneficiary_id`, or send one inline: exactly one of the two. A rejected payout leaves no
     * trace and does not use up the key. An accepted one keeps its fees, amounts and account. The
     * same `Idempotency-Key` with the same body returns the original payout with status 200 and
     * `Idempotent-Replayed: true`.
     */
    create: (payout: CreatePayout, keyed?: Keyed) =>
      call.keyed<T.Payout>('POST', '/v1/payouts', payout, keyed),
    /** Lists payouts, newest first. Filters combine. */
    list: (filter: ListPayoutsFilter = {}, options?: CallOptions) =>
      call.cursorList<T.Payout>('/v1/payouts', filter, options),
    /** Returns the current payout. */
    get: (id: string, options?: CallOptions) =>
      call.once<T.Payout>('GET', pathOf('/v1/payouts', id), undefined, options),
    /** Payouts cannot be cancelled: the answer is always 409 `payout_not_cancelable`. */
    cancel: (id: string, options?: CallOptions) =>
      call.once<never>('POST', pathOf('/v1/payouts', id, '/cancel'), undefined, options),
  },
  balanceTransactions: {
    /** Lists each change of `available` and `reserved` with its reason, newest first. */
    list: (filter: PageFilter = {}, options?: CallOptions) =>
      call.cursorList<T.BalanceTransaction>('/v1/balance_transactions', filter, options),
  },
  sandbox: {
    /**
     * Credits test funds at once. Sandbox only: production answers 400, and deposits arrive by bank
     * transfer. Without an `Idempotency-Key` each call credits.
     */
    deposit: (deposit: T.CreateDepositRequest, keyed?: Keyed) =>
      call.keyed<T.Deposit>('POST', '/v1/funding/deposits', deposit, keyed),
    /**
     * Makes the sandbox bank report an outcome of a payout. Sandbox only: production answers 400.
     */
    simulatePayout: (
      id: string,
      outcome: T.SimulatePayoutRequest['outcome'],
      options?: CallOptions,
    ) =>
      call.once<T.Payout>(
        'POST',
        pathOf('/v1/sandbox/payouts', id, '/simulate'),
        { outcome: outcome },
        options,
      ),
  },
  fx: {
    /** Fixes both amounts of a conversion between two of your balances for a minute. */
    quote: (quote: T.CreateFxQuoteRequest, options?: CallOptions) =>
      call.repeatable<T.FxQuote>('POST', '/v1/fx/quotes', quote, options),
    /** Sells and buys in one step at a quote, which can be used once. */
    convert: (quoteId: T.CreateFxConversionRequest['quote_id'], keyed?: Keyed) =>
      call.keyed<T.FxConversion>('POST', '/v1/fx/conversions', { quote_id: quoteId }, keyed),
  },
  webhookEndpoints: {
    /**
     * Registers a URL that receives your events as signed POSTs. The answer has the secret that
     * verifies them: store it, it is not shown again but for a repetition with the same
     * `Idempotency-Key`. You can have 16 endpoints.
     */
    create: (endpoint: T.CreateWebhookEndpointRequest, keyed?: Keyed) =>
      call.keyed<T.CreatedWebhookEndpoint>('POST', '/v1/webhook_endpoints', endpoint, keyed),
    /** Lists all endpoints, without pages and without a query. */
    list: (options?: CallOptions) =>
      call.onlyPage<T.WebhookEndpoint>('/v1/webhook_endpoints', options),
    /** Returns the current endpoint, without its secret. */
    get: (id: string, options?: CallOptions) =>
      call.once<T.WebhookEndpoint>('GET', pathOf('/v1/webhook_endpoints', id), undefined, options),
    /**
     * Changes the members that the body names; at least one. A changed filter applies to later
     * events.
     */
    update: (id: string, changes: T.UpdateWebhookEndpointRequest, options?: CallOptions) =>
      call.repeatable<T.WebhookEndpoint>(
        'PATCH',
        pathOf('/v1/webhook_endpoints', id),
        changes,
        options,
      ),
    /** Stops all deliveries to it, permanently. */
    delete: (id: string, options?: CallOptions) =>
      call.once<T.WebhookEndpoint>(
        'DELETE',
        pathOf('/v1/webhook_endpoints', id),
        undefined,
        options,
      ),
    /** Resumes deliveries; events that were held are delivered. */
    enable: (id: string, options?: CallOptions) =>
      call.repeatable<T.WebhookEndpoint>(
        'POST',
        pathOf('/v1/webhook_endpoints', id, '/enable'),
        undefined,
        options,
      ),
    /**
     * Holds its events until it is enabled. Your other endpoints get `webhook_endpoint.disabled`.
     */
    disable: (id: string, options?: CallOptions) =>
      call.repeatable<T.WebhookEndpoint>(
        'POST',
        pathOf('/v1/webhook_endpoints', id, '/disable'),
        undefined,
        options,
      ),
    /**
     * Creates a secret that signs from `activate_at` on. Keep both secrets until then, and let the
     * key id of each webhook choose. Another rotation before that replaces the new secret.
     */
    rotateSecret: (id: string, rotation?: T.RotateWebhookSecretRequest, options?: CallOptions) =>
      call.once<T.RotatedWebhookEndpoint>(
        'POST',
        pathOf('/v1/webhook_endpoints', id, '/rotate_secret'),
        rotation,
        options,
      ),
    /**
     * Sends `webhook_endpoint.test` to this endpoint alone, whatever its filter, along the path of
     * all events.
     */
    test: (id: string, options?: CallOptions) =>
      call.once<T.NumberedEvent>(
        'POST',
        pathOf('/v1/webhook_endpoints', id, '/test'),
        undefined,
        options,
      ),
    /**
     * Lists the deliveries of an endpoint with their attempts, newest events first. Delivered ones
     * are kept for eight days, dead ones for thirty.
     */
    deliveries: (id: string, filter: PageFilter = {}, options?: CallOptions) =>
      call.cursorList<T.Delivery>(
        pathOf('/v1/webhook_endpoints', id, '/deliveries'),
        filter,
        options,
      ),
    /**
     * Retries everything that is `waiting` or `dead` for events created since a time. While
     * `has_more` is true, call again.
     */
    recover: (id: string, since: T.RecoverWebhookEndpointRequest['since'], options?: CallOptions) =>
      call.repeatable<T.RecoveredDeliveries>(
        'POST',
        pathOf('/v1/webhook_endpoints', id, '/recover'),
        { since: since },
        options,
      ),
  },
  events: {
    /**
     * Lists your events after a number, oldest first. Pass `next_after` of the answer as `after` of
     * the next call and you miss no event, however many arrive meanwhile.
     */
    list: (filter: ListEventsFilter = {}, options?: CallOptions) =>
      call.numberedList<T.NumberedEvent, T.EventList>('/v1/events', filter, options),
    /**
     * Delivers an event again, whatever its outcome. Deliveries in progress are left alone, so a
     * repeated call sends once.
     */
    resend: (id: string, to?: T.ResendEventRequest, options?: CallOptions) =>
      call.repeatable<T.ResentEvent>('POST', pathOf('/v1/events', id, '/resend'), to, options),
  },
})
