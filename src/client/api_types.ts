/** Types of requests and answers, made from gateway/openapi.json by `make openapi`. */
interface components {
  schemas: {
    /**
     * @description Whole US cents.
     * @example 1250
     */
    readonly UsdCents: number
    /**
     * Format: int64
     * @description Minor units of the currency: a signed 64-bit integer as decimal text, without
     * plus sign or leading zeros. Do not parse it into a floating-point number.
     * @example 125000
     */
    readonly MinorUnits: string
    /**
     * Format: date-time
     * @description RFC 3339, UTC, with milliseconds.
     * @example 2026-11-21T04:35:40.123Z
     */
    readonly Timestamp: string
    /**
     * @description Seconds since 1970.
     * @example 1795235740
     */
    readonly EpochSeconds: number
    /**
     * @description Milliseconds since 1970.
     * @example 1795235740123
     */
    readonly EpochMilliseconds: number
    /**
     * @description ISO 4217, three capital letters.
     * @example THB
     */
    readonly Currency: string
    /**
     * @description ISO 4217, three digits: `764` is THB, `704` is VND.
     * @example 764
     */
    readonly NumericCurrency: string
    /** @description Country and QR scheme: Thailand with PromptPay, or Vietnam with VietQR. */
    readonly Corridor: 'th_promptpay' | 'vn_vietqr'
    /**
     * @description `created`: no money has moved. `authorized`: confirmed, USD reserved.
     * `captured`: the merchant has the money. `failed`: the USD are available again. `cancelled`,
     * `expired`: ended before any payment. `refunded`: the money came back.
     */
    readonly IntentStatus:
      'created' | 'authorized' | 'captured' | 'failed' | 'expired' | 'refunded' | 'cancelled'
    /**
     * @description `created`: held for review. `processing`: queued, sent, or with an outcome that
     * is not known yet. `completed`: the recipient has the money. `failed`: it will not be paid.
     * `reversed`: completed, then returned.
     */
    readonly PayoutStatus: 'created' | 'processing' | 'completed' | 'failed' | 'reversed'
    /** @description More types can be added. */
    readonly EventType:
      | 'payment_intent.authorized'
      | 'payment_intent.captured'
      | 'payment_intent.failed'
      | 'payment_intent.expired'
      | 'payment_intent.cancelled'
      | 'payment_intent.refunded'
      | 'payment_intent.refund_failed'
      | 'payout.created'
      | 'payout.processing'
      | 'payout.completed'
      | 'payout.failed'
      | 'payout.reversed'
      | 'balance.low'
      | 'webhook_endpoint.disabled'
      | 'webhook_endpoint.deliveries_dead'
      | 'webhook_endpoint.test'
    /** @description An event type; `*` selects all that are not opt-in. */
    readonly EventSubscription:
      | '*'
      | 'payment_intent.authorized'
      | 'payment_intent.captured'
      | 'payment_intent.failed'
      | 'payment_intent.expired'
      | 'payment_intent.cancelled'
      | 'payment_intent.refunded'
      | 'payment_intent.refund_failed'
      | 'payout.created'
      | 'payout.processing'
      | 'payout.completed'
      | 'payout.failed'
      | 'payout.reversed'
      | 'balance.low'
      | 'webhook_endpoint.disabled'
      | 'webhook_endpoint.deliveries_dead'
      | 'webhook_endpoint.test'
    /** @description Why a payment failed or came back. Texts are constant. */
    readonly Failure: {
      /** @description Branch on it. More codes can be added. */
      readonly code:
        | 'rejected'
        | 'account_closed'
        | 'account_not_found'
        | 'name_mismatch'
        | 'destination_refused'
        | 'unsupported_destination'
        | 'amount_refused'
        | 'compliance_rejected'
        | 'expired'
        | 'rail_unavailable'
        | 'review_rejected'
        | 'payment_review_rejected'
        | 'review_expired'
        | 'returned_by_bank'
        | 'not_carried_out'
        | 'returned'
      /** @description For people. */
      readonly message: string
      /** @description Where the failure arose. */
      readonly source: 'rail' | 'review' | 'service'
      /** @description Whether a new payment to the same account can succeed. */
      readonly retryable: boolean
      readonly occurred_at: components['schemas']['Timestamp']
    }
    /** @description A QR payment. A member that does not apply is absent. */
    readonly PaymentIntent: {
      /** @description Opaque. */
      readonly intent_id: string
      readonly status: components['schemas']['IntentStatus']
      /** @description The ceiling that the create asked for; it never changes. */
      readonly amount_usd_cents: components['schemas']['UsdCents']
      readonly corridor: components['schemas']['Corridor']
      readonly created_at: components['schemas']['Timestamp']
      /** @description Present after a scan. */
      readonly quote?: components['schemas']['Quote']
      /** @description When the payment was confirmed. */
      readonly authorized_at?: components['schemas']['Timestamp']
      /** @description When the merchant was paid; it stays after a refund. */
      readonly captured_at?: components['schemas']['Timestamp']
      /**
       * @description The debit: the quote's amount. Present exactly when `captured_at` is. Book
       * this amount.
       */
      readonly captured_amount_usd_cents?: components['schemas']['UsdCents']
      readonly failed_at?: components['schemas']['Timestamp']
      readonly expired_at?: components['schemas']['Timestamp']
      readonly cancelled_at?: components['schemas']['Timestamp']
      /** @description When the money came back. */
      readonly refunded_at?: components['schemas']['Timestamp']
      /** @description Present when the payment failed. */
      readonly failure?: components['schemas']['Failure']
      /** @description Present when a refund was requested or the bank returned it. */
      readonly refund?: components['schemas']['IntentRefund']
    }
    /** @description Intents that match the filters. */
    readonly PaymentIntentPage: {
      /** @description Newest first. A page can hold fewer items than `limit`. */
      readonly data: readonly components['schemas']['PaymentIntent'][]
      /** @description Pass it as `cursor` to get the next page; `null` ends the list. */
      readonly next_cursor: string | null
    }
    /** @description The price of the scanned payment, valid for five minutes. */
    readonly Quote: {
      /** @description Send it with the confirm, so that only this amount can be paid. */
      readonly quote_id: string
      /** @description Increases with each scan. */
      readonly quote_version: number
      /** @description What the payment debits, at most the ceiling. */
      readonly amount_usd_cents: components['schemas']['UsdCents']
      /** @description What the merchant receives. */
      readonly local_amount_minor_units: components['schemas']['MinorUnits']
      readonly local_currency: components['schemas']['NumericCurrency']
      /** @description In milliseconds since 1970. */
      readonly expires_at: components['schemas']['EpochMilliseconds']
    }
    /**
     * @description The progress of a refund: the service asks the receiving bank to return the
     * money.
     */
    readonly IntentRefund: {
      /** @description `refused`: the bank declined, and it can be requested again. */
      readonly status: 'requested' | 'refused' | 'done'
      readonly amount_usd_cents: components['schemas']['UsdCents']
      readonly requested_at: components['schemas']['Timestamp']
      /** @description Present once `done`. */
      readonly refunded_at?: components['schemas']['Timestamp']
      /** @description Present while `refused`. */
      readonly failed_at?: components['schemas']['Timestamp']
    }
    /** @description The intent with its session token. */
    readonly CreatedPaymentIntent: {
      /** @description Opaque. */
      readonly intent_id: string
      readonly status: components['schemas']['IntentStatus']
      /** @description The ceiling that the create asked for; it never changes. */
      readonly amount_usd_cents: components['schemas']['UsdCents']
      readonly corridor: components['schemas']['Corridor']
      readonly created_at: components['schemas']['Timestamp']
      /** @description Secret bearer token of this intent. Never put it in a URL or a log. */
      readonly session_token: string
      /** @description When the token expires, in seconds since 1970. */
      readonly session_expires_at: components['schemas']['EpochSeconds']
    }
    /** @description Another session token of the same intent. */
    readonly SessionToken: {
      /** @description Opaque. */
      readonly intent_id: string
      /** @description Secret bearer token of this intent. Never put it in a URL or a log. */
      readonly session_token: string
      /** @description When the token expires, in seconds since 1970. */
      readonly session_expires_at: components['schemas']['EpochSeconds']
    }
    /** @description A token that opens every receipt of the intent's user. */
    readonly ReceiptToken: {
      /** @description Bearer token for receipts only; it can be used repeatedly. */
      readonly receipt_token: string
      /** @description Five minutes later, in seconds since 1970. */
      readonly receipt_token_expires_at: components['schemas']['EpochSeconds']
    }
    /** @description The receipt of a payment at fetch time. */
    readonly Receipt: {
      /** @description Opaque. */
      readonly intent_id: string
      /** @description `cancelled` and `expired` intents are `failed`. */
      readonly status: 'pending' | 'captured' | 'failed' | 'refunded'
      /**
       * @description What the user pays: 0 before the confirm and when the payment did not take
       * place.
       */
      readonly amount_usd_cents: components['schemas']['UsdCents']
      readonly corridor: components['schemas']['Corridor']
      /**
       * @description What the merchant receives in whole units, digits only.
       * @example 250
       */
      readonly local_amount: string
      /** @description The same amount, exactly. */
      readonly local_amount_minor_units: components['schemas']['MinorUnits']
      readonly local_currency: components['schemas']['NumericCurrency']
      /** @description From the scanned code; empty before a scan. */
      readonly merchant_name: string
      /** @description The last characters of the account; empty before a scan. */
      readonly destination_masked: string
      readonly created_at: components['schemas']['Timestamp']
      /** @description Present while `captured`. */
      readonly captured_at?: components['schemas']['Timestamp']
      /** @description Present when `refunded`. */
      readonly refund?: {
        readonly amount_usd_cents: components['schemas']['UsdCents']
        readonly refunded_at: components['schemas']['Timestamp']
      }
    }
    /** @description The merchant of the code, and the quote to show to the user. */
    readonly ScanResult: {
      /** @description Opaque. */
      readonly intent_id: string
      readonly status: components['schemas']['IntentStatus']
      /** @description From the code; a member is empty when the code lacks it. */
      readonly merchant: {
        /** @description QR scheme. */
        readonly scheme: string
        /** @description Name of the merchant. */
        readonly name: string
        /** @description City of the merchant. */
        readonly city: string
        /** @description ISO 3166, two letters. */
        readonly country: string
        /** @description ISO 18245 merchant category code. */
        readonly mcc: string
      }
      /** @description A `dynamic` code is made for one payment. */
      readonly qr_kind: 'static' | 'dynamic'
      readonly quote: components['schemas']['Quote']
    }
    /** @description A bank account to pay out to. */
    readonly Beneficiary: {
      /** @description `ben_…` */
      readonly id: string
      /**
       * @description The only type.
       * @constant
       */
      readonly type: 'bank_account'
      /** @description The account holder. */
      readonly name: string
      /** @description ISO 3166, two capital letters. */
      readonly destination_country: string
      readonly currency: components['schemas']['Currency']
      /** @description As used by the country's banks. */
      readonly bank_code: string
      /**
       * @description The last four characters of the account number.
       * @example 4567
       */
      readonly account_last4: string
      /** @description A disabled beneficiary takes no new payouts. */
      readonly status: 'active' | 'disabled'
      readonly created_at: components['schemas']['Timestamp']
    }
    /** @description Beneficiaries, including disabled ones. */
    readonly BeneficiaryPage: {
      /** @description Newest first. A page can hold fewer items than `limit`. */
      readonly data: readonly components['schemas']['Beneficiary'][]
      /** @description Pass it as `cursor` to get the next page; `null` ends the list. */
      readonly next_cursor: string | null
    }
    /** @description A payout. Account numbers are never returned. */
    readonly Payout: {
      /** @description `pout_…` */
      readonly id: string
      readonly status: components['schemas']['PayoutStatus']
      /** @description What was requested. */
      readonly amount: components['schemas']['MinorUnits']
      /** @description What the recipient gets. */
      readonly recipient_amount: components['schemas']['MinorUnits']
      readonly currency: components['schemas']['Currency']
      /**
       * @description The parts of the fee: the platform's, under the service's name, and `rail`.
       */
      readonly fee_details: {
        readonly rail: components['schemas']['MinorUnits']
      } & {
        readonly [key: string]: components['schemas']['MinorUnits']
      }
      /** @description The sum of `fee_details`. */
      readonly fee: components['schemas']['MinorUnits']
      /** @description What the balance pays: `recipient_amount` plus `fee`. */
      readonly total: components['schemas']['MinorUnits']
      /** @description As sent, trimmed. */
      readonly reference: string
      /** @description The account as it was when the payout was accepted. */
      readonly beneficiary: {
        /** @description `ben_…` */
        readonly id: string
        /** @description The account holder. */
        readonly name: string
        /**
         * @description The last four characters of the account number.
         * @example 4567
         */
        readonly account_last4: string
      }
      /** @description How it is paid. */
      readonly rail: {
        /**
         * @description The kind of rail.
         * @example bank_transfer
         */
        readonly type: string
        /** @description The bank network's id, once known. */
        readonly transaction_id: string | null
      }
      /** @description As sent; `{}` when absent. */
      readonly metadata: {
        readonly [key: string]: string
      }
      readonly created_at: components['schemas']['Timestamp']
      /** @description When the payout became `processing`; `null` until then. */
      readonly processing_at: components['schemas']['Timestamp'] | null
      /** @description When the payout became `completed`; `null` until then. */
      readonly completed_at: components['schemas']['Timestamp'] | null
      /** @description When the payout became `failed`; `null` until then. */
      readonly failed_at: components['schemas']['Timestamp'] | null
      /** @description When the payout became `reversed`; `null` until then. */
      readonly reversed_at: components['schemas']['Timestamp'] | null
      /** @description Present once `failed` or `reversed`. */
      readonly failure: components['schemas']['Failure'] | null
      /** @description As sent; absent when it was not. */
      readonly description?: string
    }
    /** @description Payouts that fit the filters. */
    readonly PayoutPage: {
      /** @description Newest first. A page can hold fewer items than `limit`. */
      readonly data: readonly components['schemas']['Payout'][]
      /** @description Pass it as `cursor` to get the next page; `null` ends the list. */
      readonly next_cursor: string | null
    }
    /** @description The balance of one currency. */
    readonly Balance: {
      readonly currency: components['schemas']['Currency']
      /** @description What new payments can use. */
      readonly available: components['schemas']['MinorUnits']
      /** @description What accepted payouts and confirmed intents hold. */
      readonly reserved: components['schemas']['MinorUnits']
    }
    /** @description The balances of all currencies. */
    readonly Balances: {
      /** @description By currency. */
      readonly data: readonly components['schemas']['Balance'][]
    }
    /** @description Test funds that were credited. */
    readonly Deposit: {
      /** @description `dep_…` */
      readonly id: string
      readonly currency: components['schemas']['Currency']
      readonly amount: components['schemas']['MinorUnits']
      readonly created_at: components['schemas']['Timestamp']
    }
    /** @description Both amounts of a conversion, valid for a minute. */
    readonly FxQuote: {
      /** @description `fxq_…` */
      readonly id: string
      readonly sell_currency: components['schemas']['Currency']
      /** @description In minor units of the currency sold. */
      readonly sell_amount: components['schemas']['MinorUnits']
      readonly buy_currency: components['schemas']['Currency']
      /** @description In minor units of the currency bought, rounded down. */
      readonly buy_amount: components['schemas']['MinorUnits']
      readonly created_at: components['schemas']['Timestamp']
      readonly expires_at: components['schemas']['Timestamp']
    }
    /** @description A conversion: sold and bought in one step. */
    readonly FxConversion: {
      /** @description `fxc_…` */
      readonly id: string
      /** @description `fxq_…` */
      readonly quote_id: string
      readonly sell_currency: components['schemas']['Currency']
      /** @description In minor units of the currency sold. */
      readonly sell_amount: components['schemas']['MinorUnits']
      readonly buy_currency: components['schemas']['Currency']
      /** @description In minor units of the currency bought, rounded down. */
      readonly buy_amount: components['schemas']['MinorUnits']
      readonly created_at: components['schemas']['Timestamp']
    }
    /** @description One change of `available` or `reserved`. */
    readonly BalanceTransaction: {
      /** @description `btx_…` */
      readonly id: string
      readonly currency: components['schemas']['Currency']
      /** @description Signed: negative when the balance fell. */
      readonly amount: components['schemas']['MinorUnits']
      /** @description After the change. */
      readonly balance: components['schemas']['MinorUnits']
      /** @description Which of the two changed. */
      readonly account: 'available' | 'reserved'
      /** @description The reason. More reasons can be added. */
      readonly type:
        | 'deposit'
        | 'deposit_corrected'
        | 'withdrawal'
        | 'conversion'
        | 'payout_accepted'
        | 'payout_completed'
        | 'payout_failed'
        | 'payout_reversed'
        | 'intent_confirmed'
        | 'intent_captured'
        | 'intent_failed'
        | 'intent_cancelled'
        | 'intent_refunded'
        | 'discrepancy_credited'
        | 'discrepancy_charged'
      /** @description The id of the payment, deposit, withdrawal or conversion. */
      readonly entity: string
      readonly created_at: components['schemas']['Timestamp']
    }
    /** @description Changes of the balances. */
    readonly BalanceTransactionPage: {
      /** @description Newest first. A page can hold fewer items than `limit`. */
      readonly data: readonly components['schemas']['BalanceTransaction'][]
      /** @description Pass it as `cursor` to get the next page; `null` ends the list. */
      readonly next_cursor: string | null
    }
    /** @description A secret that does not sign yet. */
    readonly NextWebhookKey: {
      /** @description The id of the new secret. */
      readonly key_id: string
      /** @description From then on the new secret signs. */
      readonly activate_at: components['schemas']['Timestamp']
    }
    /** @description A URL that receives events. */
    readonly WebhookEndpoint: {
      /** @description `we_…` */
      readonly id: string
      /**
       * Format: uri
       * @description Where events are sent.
       */
      readonly url: string
      /** @description Your own note. */
      readonly description: string
      /** @description The types that are sent. */
      readonly enabled_events: readonly components['schemas']['EventSubscription'][]
      /**
       * @description Version of the bodies.
       * @example 2026-11-01
       */
      readonly api_version: string
      /**
       * @description A disabled endpoint holds its events. `deleted` only in the answer to a
       * delete.
       */
      readonly status: 'enabled' | 'disabled' | 'deleted'
      /** @description `gone`: it answered 410. `failing`: no 2xx for five days. */
      readonly disabled_reason: 'by_partner' | 'by_operator' | 'gone' | 'failing' | null
      /** @description The secret that signs now. */
      readonly key_id: string
      readonly created_at: components['schemas']['Timestamp']
      /** @description Present while a new secret is scheduled. */
      readonly next_key?: components['schemas']['NextWebhookKey']
      /** @description Dead deliveries. Only in `webhook_endpoint.deliveries_dead`. */
      readonly dead_deliveries?: number
      /** @description When the newest died. Likewise. */
      readonly newest_dead_at?: components['schemas']['Timestamp']
      /** @description Their newest event. Likewise. */
      readonly newest_dead_event_id?: string
    }
    /** @description The endpoint with its secret. */
    readonly CreatedWebhookEndpoint: {
      /** @description `we_…` */
      readonly id: string
      /**
       * Format: uri
       * @description Where events are sent.
       */
      readonly url: string
      /** @description Your own note. */
      readonly description: string
      /** @description The types that are sent. */
      readonly enabled_events: readonly components['schemas']['EventSubscription'][]
      /**
       * @description Version of the bodies.
       * @example 2026-11-01
       */
      readonly api_version: string
      /**
       * @description A disabled endpoint holds its events. `deleted` only in the answer to a
       * delete.
       */
      readonly status: 'enabled' | 'disabled' | 'deleted'
      /** @description `gone`: it answered 410. `failing`: no 2xx for five days. */
      readonly disabled_reason: 'by_partner' | 'by_operator' | 'gone' | 'failing' | null
      /** @description The secret that signs now. */
      readonly key_id: string
      readonly created_at: components['schemas']['Timestamp']
      /** @description Verifies webhooks. Shown only here. */
      readonly secret: string
    }
    /** @description The endpoint with its new secret. `key_id` is the id of the new secret. */
    readonly RotatedWebhookEndpoint: {
      /** @description `we_…` */
      readonly id: string
      /**
       * Format: uri
       * @description Where events are sent.
       */
      readonly url: string
      /** @description Your own note. */
      readonly description: string
      /** @description The types that are sent. */
      readonly enabled_events: readonly components['schemas']['EventSubscription'][]
      /**
       * @description Version of the bodies.
       * @example 2026-11-01
       */
      readonly api_version: string
      /**
       * @description A disabled endpoint holds its events. `deleted` only in the answer to a
       * delete.
       */
      readonly status: 'enabled' | 'disabled' | 'deleted'
      /** @description `gone`: it answered 410. `failing`: no 2xx for five days. */
      readonly disabled_reason: 'by_partner' | 'by_operator' | 'gone' | 'failing' | null
      /** @description The secret that signs now. */
      readonly key_id: string
      readonly created_at: components['schemas']['Timestamp']
      /** @description Verifies webhooks. Shown only here. */
      readonly secret: string
      /** @description From then on the new secret signs. */
      readonly activate_at: components['schemas']['Timestamp']
      /** @description Present while a new secret is scheduled. */
      readonly next_key?: components['schemas']['NextWebhookKey']
    }
    /** @description All endpoints; there is no next page. */
    readonly WebhookEndpointList: {
      /** @description At most 16. */
      readonly data: readonly components['schemas']['WebhookEndpoint'][]
    }
    /**
     * @description What happened. The body of a webhook, and the `event` of a listed event, byte
     * for byte. More types can be added: ignore those that you do not know.
     */
    readonly Event:
      | components['schemas']['PaymentIntentEvent']
      | components['schemas']['PayoutEvent']
      | components['schemas']['BalanceEvent']
      | components['schemas']['WebhookEndpointEvent']
    /** @description A payment changed. */
    readonly PaymentIntentEvent: {
      /** @description `evt_…` */
      readonly id: string
      /** @description What happened. */
      readonly type:
        | 'payment_intent.authorized'
        | 'payment_intent.captured'
        | 'payment_intent.failed'
        | 'payment_intent.expired'
        | 'payment_intent.cancelled'
        | 'payment_intent.refunded'
        | 'payment_intent.refund_failed'
      /** @description The same as `id`: deduplicate by it. */
      readonly webhook_event_id: string
      /** @description The same as `type`. */
      readonly webhook_event_type:
        | 'payment_intent.authorized'
        | 'payment_intent.captured'
        | 'payment_intent.failed'
        | 'payment_intent.expired'
        | 'payment_intent.cancelled'
        | 'payment_intent.refunded'
        | 'payment_intent.refund_failed'
      /**
       * @description Version of this body.
       * @example 2026-11-01
       */
      readonly api_version: string
      readonly created_at: components['schemas']['Timestamp']
      /** @description The object as it was then. */
      readonly data: {
        readonly payment_intent: components['schemas']['PaymentIntent']
      }
    }
    /** @description A payout changed. */
    readonly PayoutEvent: {
      /** @description `evt_…` */
      readonly id: string
      /** @description What happened. */
      readonly type:
        | 'payout.created'
        | 'payout.processing'
        | 'payout.completed'
        | 'payout.failed'
        | 'payout.reversed'
      /** @description The same as `id`: deduplicate by it. */
      readonly webhook_event_id: string
      /** @description The same as `type`. */
      readonly webhook_event_type:
        | 'payout.created'
        | 'payout.processing'
        | 'payout.completed'
        | 'payout.failed'
        | 'payout.reversed'
      /**
       * @description Version of this body.
       * @example 2026-11-01
       */
      readonly api_version: string
      readonly created_at: components['schemas']['Timestamp']
      /** @description The object as it was then. */
      readonly data: {
        readonly payout: components['schemas']['Payout']
      }
    }
    /** @description A balance fell below its threshold. */
    readonly BalanceEvent: {
      /** @description `evt_…` */
      readonly id: string
      /** @description What happened. */
      readonly type: 'balance.low'
      /** @description The same as `id`: deduplicate by it. */
      readonly webhook_event_id: string
      /** @description The same as `type`. */
      readonly webhook_event_type: 'balance.low'
      /**
       * @description Version of this body.
       * @example 2026-11-01
       */
      readonly api_version: string
      readonly created_at: components['schemas']['Timestamp']
      /** @description The object as it was then. */
      readonly data: {
        readonly balance: components['schemas']['LowBalance']
      }
    }
    /** @description About an endpoint. */
    readonly WebhookEndpointEvent: {
      /** @description `evt_…` */
      readonly id: string
      /** @description What happened. */
      readonly type:
        'webhook_endpoint.disabled' | 'webhook_endpoint.deliveries_dead' | 'webhook_endpoint.test'
      /** @description The same as `id`: deduplicate by it. */
      readonly webhook_event_id: string
      /** @description The same as `type`. */
      readonly webhook_event_type:
        'webhook_endpoint.disabled' | 'webhook_endpoint.deliveries_dead' | 'webhook_endpoint.test'
      /**
       * @description Version of this body.
       * @example 2026-11-01
       */
      readonly api_version: string
      readonly created_at: components['schemas']['Timestamp']
      /** @description The object as it was then. */
      readonly data: {
        readonly webhook_endpoint: components['schemas']['WebhookEndpoint']
      }
    }
    /** @description A balance that fell below its threshold. */
    readonly LowBalance: {
      readonly currency: components['schemas']['Currency']
      readonly available: components['schemas']['MinorUnits']
      readonly reserved: components['schemas']['MinorUnits']
      readonly threshold: components['schemas']['MinorUnits']
    }
    /** @description An event with its number. */
    readonly NumberedEvent: {
      /** @description Numbers your events without gaps. */
      readonly sequence: number
      readonly event: components['schemas']['Event']
    }
    /** @description Events after a number, oldest first. */
    readonly EventList: {
      /** @description Oldest first. */
      readonly data: readonly components['schemas']['NumberedEvent'][]
      /** @description Pass it as `after`. */
      readonly next_after: number
      /** @description False: poll again later. */
      readonly has_more: boolean
      /**
       * @description Present when events after the given number are no longer kept: the last one of
       * these.
       */
      readonly begins_after?: number
    }
    /** @description The delivery of one event to one endpoint, with its attempts. */
    readonly Delivery: {
      /** @description `dlv_…` */
      readonly id: string
      /** @description `evt_…` */
      readonly event_id: string
      readonly event_type: components['schemas']['EventType']
      /** @description `we_…` */
      readonly endpoint_id: string
      /**
       * @description `pending`: not attempted yet, or held. `waiting`: the last attempt failed.
       * `dead`: no further attempts.
       */
      readonly status: 'pending' | 'waiting' | 'delivered' | 'dead'
      /** @description `null` when no attempt is planned. */
      readonly next_attempt_at: components['schemas']['Timestamp'] | null
      /** @description When it was delivered or given up. */
      readonly ended_at: components['schemas']['Timestamp'] | null
      /** @description Why it is `dead`; else `null`. */
      readonly reason: string | null
      /** @description The request that caused the event; `null` when none did. */
      readonly request_id: string | null
      /** @description Oldest first. */
      readonly attempts: readonly components['schemas']['DeliveryAttempt'][]
    }
    /** @description One request to your endpoint. */
    readonly DeliveryAttempt: {
      /** @description Counts from 1. */
      readonly number: number
      readonly at: components['schemas']['Timestamp']
      /** @description HTTP status; `null` without an answer. */
      readonly status: number | null
      /** @description `http_` and the status, `timeout`, `target_refused` or a network error. */
      readonly reason: string
      /** @description Milliseconds. */
      readonly latency_ms: number
      /** @description The first 4 KiB of your answer. */
      readonly reply: string
    }
    /** @description Deliveries, newest events first. */
    readonly DeliveryPage: {
      /** @description Newest first. A page can hold fewer items than `limit`. */
      readonly data: readonly components['schemas']['Delivery'][]
      /** @description Pass it as `cursor` to get the next page; `null` ends the list. */
      readonly next_cursor: string | null
    }
    /** @description A delivery without its attempts. */
    readonly DeliveryBrief: {
      /** @description `dlv_…` */
      readonly id: string
      /** @description `evt_…` */
      readonly event_id: string
      readonly event_type: components['schemas']['EventType']
      /** @description `we_…` */
      readonly endpoint_id: string
      /**
       * @description `pending`: not attempted yet, or held. `waiting`: the last attempt failed.
       * `dead`: no further attempts.
       */
      readonly status: 'pending' | 'waiting' | 'delivered' | 'dead'
    }
    /** @description The deliveries of an event that is sent again. */
    readonly ResentEvent: {
      /** @description `evt_…` */
      readonly event_id: string
      /** @description One for each endpoint. */
      readonly deliveries: readonly components['schemas']['DeliveryBrief'][]
    }
    /** @description What a recovery retries. */
    readonly RecoveredDeliveries: {
      /** @description `we_…` */
      readonly endpoint_id: string
      readonly since: components['schemas']['Timestamp']
      /** @description The number of retried deliveries. */
      readonly redriven: number
      /** @description True: call again. */
      readonly has_more: boolean
    }
    /** @description What is configured for you in one environment. */
    readonly Account: {
      /** @description Your id. */
      readonly partner_id: string
      /** @description The environment of the request. */
      readonly environment: 'sandbox' | 'production'
      /** @description `suspended`: new work is a 403. */
      readonly status: 'active' | 'suspended'
      readonly created_at: components['schemas']['Timestamp']
      /** @description Prices and payout destinations. */
      readonly terms: {
        /** @description The spread of quotes and conversions, in basis points. */
        readonly quote_spread_bps: number
        /** @description One for each destination. */
        readonly payouts: readonly components['schemas']['PayoutTerms'][]
      }
      /** @description Your limits. */
      readonly limits: {
        /** @description Of a key. */
        readonly requests_per_second: number
        /** @description The highest ceiling of an intent. */
        readonly amount_usd_cents: components['schemas']['UsdCents']
        /** @description The most active signing keys. */
        readonly active_keys: number
        /** @description The most webhook endpoints. */
        readonly webhook_endpoints: number
      }
      /** @description All corridors. */
      readonly corridors: readonly components['schemas']['CorridorTerms'][]
      /** @description Newest first, without secrets. */
      readonly keys: readonly components['schemas']['SigningKey'][]
      /**
       * @description Source addresses of signed production requests. Any may send them if it is
       * empty.
       */
      readonly allowed_ips: readonly string[]
      /** @description App packages of session requests. Any may send them if it is empty. */
      readonly packages: readonly string[]
      /** @description Your alerts. */
      readonly balance_alerts: readonly {
        readonly currency: components['schemas']['Currency']
        readonly threshold: components['schemas']['MinorUnits']
      }[]
      /** @description All endpoints, oldest first. */
      readonly webhook_endpoints: readonly {
        /** @description `we_…` */
        readonly id: string
        /** @description Without further attempts until you ask for them. `null`: not known yet. */
        readonly dead_deliveries: number | null
        /** @description When the newest died. `null`: none. */
        readonly newest_dead_at: components['schemas']['Timestamp'] | null
      }[]
    }
    /** @description Terms of payouts to one destination. */
    readonly PayoutTerms: {
      /** @description ISO 3166, two capital letters. */
      readonly country: string
      readonly currency: components['schemas']['Currency']
      /**
       * @description `on_top`: `total` is the amount plus the fee. `deducted`: the recipient gets
       * the amount minus the fee.
       */
      readonly fee_handling: 'on_top' | 'deducted'
      /** @description Fixed part of the platform fee. */
      readonly platform_fixed: components['schemas']['MinorUnits']
      /** @description Proportional part of the platform fee, in basis points. */
      readonly platform_bps: number
      /** @description The rail fee. */
      readonly rail_fixed: components['schemas']['MinorUnits']
      /** @description Whether a reversed payout returns its fee. */
      readonly refund_fees_on_reversal: boolean
      /** @description `null`: no limit. */
      readonly amount_min: components['schemas']['MinorUnits'] | null
      /** @description `null`: no limit. */
      readonly amount_max: components['schemas']['MinorUnits'] | null
    }
    /** @description A corridor and the limits of each of your users there. */
    readonly CorridorTerms: {
      readonly corridor: components['schemas']['Corridor']
      /** @description Whether you can create intents for it. */
      readonly enabled: boolean
      readonly currency: components['schemas']['Currency']
      /** @description The smallest payment. */
      readonly minimum: components['schemas']['MinorUnits']
      /** @description One payment. */
      readonly user_limit_payment: components['schemas']['MinorUnits']
      /** @description A calendar day, local time. */
      readonly user_limit_day: components['schemas']['MinorUnits']
      /** @description A calendar month, local time. */
      readonly user_limit_month: components['schemas']['MinorUnits']
    }
    /** @description A signing key without its secret. */
    readonly SigningKey: {
      /** @description Sent as `X-Service-Key-Id`. */
      readonly key_id: string
      /** @description A revoked key never authenticates again. */
      readonly status: 'active' | 'revoked'
      readonly created_at: components['schemas']['Timestamp']
      /** @description In the future: when it expires. `null`: not scheduled. */
      readonly revoked_at: components['schemas']['Timestamp'] | null
    }
    /** @description One check of a request or its signature. */
    readonly RequestCheck: {
      /** @description Name of the check. */
      readonly check: string
      /** @description `not_made`: it depends on a failed check. */
      readonly result: 'passed' | 'failed' | 'not_made'
      /** @description Only for failed checks. */
      readonly help?: string
    }
    /** @description Which checks a signature passes. */
    readonly SignatureReport: {
      /** @description All checks passed. Nonces are not looked up. */
      readonly valid: boolean
      /** @description In their order. */
      readonly checks: readonly components['schemas']['RequestCheck'][]
      /** @description The text that the service signs; `null` while a part is missing. */
      readonly canonical_request: string | null
      /** @description Lower-case hex; empty without a body. */
      readonly body_sha256: string
      readonly server_time: components['schemas']['Timestamp']
    }
    /** @description Which checks a request passes. */
    readonly RequestReport: {
      /** @description All checks passed. Nonces, states and balances are not looked up. */
      readonly accepted: boolean
      /** @description The answer that the request would get; `null` when it is accepted. */
      readonly refusal: {
        /** @description HTTP status. */
        readonly status: number
        /** @description Error code. */
        readonly code: string
        /** @description As in the sandbox. */
        readonly message: string
        /** @description The part at fault: a JSON pointer into the body, or `query/limit`. */
        readonly pointer?: string
        /** @description The rule that it breaks. */
        readonly rule?: string
      } | null
      /** @description In their order. */
      readonly checks: readonly components['schemas']['RequestCheck'][]
      /** @description The text that the service signs; `null` while a part is missing. */
      readonly canonical_request: string | null
      /** @description Lower-case hex; empty without a body. */
      readonly body_sha256: string
      readonly server_time: components['schemas']['Timestamp']
    }
    /** @description Your confirmation that you know the user. */
    readonly KycAttestation: {
      /** @description Must be true, else 403. */
      readonly verified: boolean
      /** @description Your name of the KYC method. */
      readonly method: string
      /**
       * Format: date-time
       * @description When you verified the user.
       */
      readonly verified_at: string
      /** @description The kind of government id; never its number. */
      readonly id_type?: string
      /** @description ISO 3166 country of that id. */
      readonly id_country?: string
    }
    /** @description Your confirmation that you screened the user for sanctions. */
    readonly SanctionsAttestation: {
      /** @description Must be true, else 403. */
      readonly clean: boolean
      /**
       * Format: date-time
       * @description When you screened the user last.
       */
      readonly screened_at: string
    }
    /** @description A bank account. */
    readonly BeneficiaryRequest: {
      /**
       * @description The only type.
       * @constant
       */
      readonly type: 'bank_account'
      /** @description The account holder. No control characters. */
      readonly name: string
      /** @description ISO 3166, two capital letters. */
      readonly destination_country: string
      /** @description ISO 4217: the currency of the account. */
      readonly currency: string
      /** @description Letters and digits. Never returned. */
      readonly account_number: string
      /** @description As used by the country's banks. No control characters. */
      readonly bank_code: string
    }
    readonly CreatePaymentIntentRequest: {
      /** @description The payer: the same for the same person, never a government id. */
      readonly partner_user_id: string
      /** @description The ceiling in US cents; the quote is debited. */
      readonly amount_usd_cents: number
      readonly corridor: components['schemas']['Corridor']
      readonly kyc_attestation: components['schemas']['KycAttestation']
      readonly sanctions_attestation: components['schemas']['SanctionsAttestation']
    }
    readonly CreateSessionTokenRequest: {
      /** @description The user that the intent was created for. */
      readonly partner_user_id: string
      readonly kyc_attestation: components['schemas']['KycAttestation']
      readonly sanctions_attestation: components['schemas']['SanctionsAttestation']
    }
    readonly ScanRequest: {
      /** @description The text of the code as read, unchanged. */
      readonly qr_payload: string
      /**
       * Format: int64
       * @description Required when the code has no amount; otherwise absent or equal to it.
       */
      readonly local_amount_minor_units?: string | number
      /** @description True after the user confirmed that a repeated payment is intended. */
      readonly duplicate_confirmed?: boolean
    }
    readonly ConfirmRequest: {
      /** @description The quote that the user saw. */
      readonly quote_id?: string
      /** @description Its version. */
      readonly quote_version?: number
    }
    readonly CreatePayoutRequest: {
      /**
       * Format: int64
       * @description In minor units of `currency`.
       */
      readonly amount: string
      /** @description ISO 4217: the currency of the beneficiary, and of the balance that pays. */
      readonly currency: string
      /** @description An existing beneficiary. */
      readonly beneficiary_id?: string
      /** @description A new beneficiary. */
      readonly beneficiary?: components['schemas']['BeneficiaryRequest']
      /** @description 1 to 255 characters after trimming; no control characters. */
      readonly reference: string
      /** @description Your own note. */
      readonly description?: string
      /** @description Texts of your own by name. Returned, not used. */
      readonly metadata?: {
        readonly [key: string]: string
      }
    }
    readonly CreateDepositRequest: {
      /** @description ISO 4217. */
      readonly currency: string
      /**
       * Format: int64
       * @description In minor units.
       */
      readonly amount: string
    }
    readonly CreateFxQuoteRequest: {
      /** @description ISO 4217. */
      readonly sell_currency: string
      /**
       * Format: int64
       * @description In minor units.
       */
      readonly sell_amount: string
      /** @description ISO 4217. */
      readonly buy_currency: string
    }
    readonly CreateFxConversionRequest: {
      /** @description `id` of the conversion quote. */
      readonly quote_id: string
    }
    readonly CreateWebhookEndpointRequest: {
      /**
       * Format: uri
       * @description Without user and fragment; in production https only.
       */
      readonly url: string
      /** @description Your own note. */
      readonly description?: string
      /** @description `["*"]`, an empty list or none selects all types that are not opt-in. */
      readonly enabled_events?: readonly components['schemas']['EventSubscription'][]
      /** @description Version of the bodies. There is one, `2026-11-01`. */
      readonly api_version?: string
    }
    readonly UpdateWebhookEndpointRequest: {
      /**
       * Format: uri
       * @description Without user and fragment; in production https only.
       */
      readonly url?: string
      /** @description Your own note. */
      readonly description?: string
      /** @description `["*"]`, an empty list or none selects all types that are not opt-in. */
      readonly enabled_events?: readonly components['schemas']['EventSubscription'][]
      /** @description Version of the bodies. There is one, `2026-11-01`. */
      readonly api_version?: string
    }
    readonly RotateWebhookSecretRequest: {
      /**
       * Format: date-time
       * @description When the new secret begins to sign; at most 30 days ahead. Default: in an
       * hour.
       */
      readonly activate_at?: string
    }
    readonly RecoverWebhookEndpointRequest: {
      /**
       * Format: date-time
       * @description Events created from then on.
       */
      readonly since: string
    }
    readonly ResendEventRequest: {
      /**
       * @description Default: every endpoint that received the event, or that subscribes to it and
       * existed when it was created. Name a later one.
       */
      readonly endpoint_id?: string
    }
    readonly SimulatePayoutRequest: {
      /** @description What the sandbox bank reports. */
      readonly outcome: 'completed' | 'failed' | 'reversed'
    }
    readonly CheckSignatureRequest: {
      /** @description As signed. */
      readonly method: string
      /** @description As signed; a query is cut. */
      readonly path: string
      /** @description Your key id. */
      readonly key_id: string
      /** @description As in its header. */
      readonly timestamp: string
      /** @description As in its header. */
      readonly nonce: string
      /** @description As in its header. */
      readonly signature: string
      /** @description The body as text. */
      readonly body?: string
      /** @description The hash that you signed; empty without a body. */
      readonly body_sha256?: string
    }
    readonly CheckRequestRequest: {
      /** @description As sent. */
      readonly method: string
      /** @description As sent, with the query. */
      readonly path: string
      /** @description By name: signature or `Authorization`, and `Idempotency-Key`. */
      readonly headers?: {
        readonly [key: string]: string
      }
      /** @description The body as text. */
      readonly body?: string
    }
  }
  responses: never
  parameters: never
  requestBodies: never
  headers: never
  pathItems: never
}
export type UsdCents = components['schemas']['UsdCents']
export type MinorUnits = components['schemas']['MinorUnits']
export type Timestamp = components['schemas']['Timestamp']
export type EpochSeconds = components['schemas']['EpochSeconds']
export type EpochMilliseconds = components['schemas']['EpochMilliseconds']
export type Currency = components['schemas']['Currency']
export type NumericCurrency = components['schemas']['NumericCurrency']
export type Corridor = components['schemas']['Corridor']
export type IntentStatus = components['schemas']['IntentStatus']
export type PayoutStatus = components['schemas']['PayoutStatus']
export type EventType = components['schemas']['EventType']
export type EventSubscription = components['schemas']['EventSubscription']
export type Failure = components['schemas']['Failure']
export type PaymentIntent = components['schemas']['PaymentIntent']
export type PaymentIntentPage = components['schemas']['PaymentIntentPage']
export type Quote = components['schemas']['Quote']
export type IntentRefund = components['schemas']['IntentRefund']
export type CreatedPaymentIntent = components['schemas']['CreatedPaymentIntent']
export type SessionToken = components['schemas']['SessionToken']
export type ReceiptToken = components['schemas']['ReceiptToken']
export type Receipt = components['schemas']['Receipt']
export type ScanResult = components['schemas']['ScanResult']
export type Beneficiary = components['schemas']['Beneficiary']
export type BeneficiaryPage = components['schemas']['BeneficiaryPage']
export type Payout = components['schemas']['Payout']
export type PayoutPage = components['schemas']['PayoutPage']
export type Balance = components['schemas']['Balance']
export type Balances = components['schemas']['Balances']
export type Deposit = components['schemas']['Deposit']
export type FxQuote = components['schemas']['FxQuote']
export type FxConversion = components['schemas']['FxConversion']
export type BalanceTransaction = components['schemas']['BalanceTransaction']
export type BalanceTransactionPage = components['schemas']['BalanceTransactionPage']
export type NextWebhookKey = components['schemas']['NextWebhookKey']
export type WebhookEndpoint = components['schemas']['WebhookEndpoint']
export type CreatedWebhookEndpoint = components['schemas']['CreatedWebhookEndpoint']
export type RotatedWebhookEndpoint = components['schemas']['RotatedWebhookEndpoint']
export type WebhookEndpointList = components['schemas']['WebhookEndpointList']
export type Event = components['schemas']['Event']
export type PaymentIntentEvent = components['schemas']['PaymentIntentEvent']
export type PayoutEvent = components['schemas']['PayoutEvent']
export type BalanceEvent = components['schemas']['BalanceEvent']
export type WebhookEndpointEvent = components['schemas']['WebhookEndpointEvent']
export type LowBalance = components['schemas']['LowBalance']
export type NumberedEvent = components['schemas']['NumberedEvent']
export type EventList = components['schemas']['EventList']
export type Delivery = components['schemas']['Delivery']
export type DeliveryAttempt = components['schemas']['DeliveryAttempt']
export type DeliveryPage = components['schemas']['DeliveryPage']
export type DeliveryBrief = components['schemas']['DeliveryBrief']
export type ResentEvent = components['schemas']['ResentEvent']
export type RecoveredDeliveries = components['schemas']['RecoveredDeliveries']
export type Account = components['schemas']['Account']
export type PayoutTerms = components['schemas']['PayoutTerms']
export type CorridorTerms = components['schemas']['CorridorTerms']
export type SigningKey = components['schemas']['SigningKey']
export type RequestCheck = components['schemas']['RequestCheck']
export type SignatureReport = components['schemas']['SignatureReport']
export type RequestReport = components['schemas']['RequestReport']
export type KycAttestation = components['schemas']['KycAttestation']
export type SanctionsAttestation = components['schemas']['SanctionsAttestation']
export type BeneficiaryRequest = components['schemas']['BeneficiaryRequest']
export type CreatePaymentIntentRequest = components['schemas']['CreatePaymentIntentRequest']
export type CreateSessionTokenRequest = components['schemas']['CreateSessionTokenRequest']
export type ScanRequest = components['schemas']['ScanRequest']
export type ConfirmRequest = components['schemas']['ConfirmRequest']
export type CreatePayoutRequest = components['schemas']['CreatePayoutRequest']
export type CreateDepositRequest = components['schemas']['CreateDepositRequest']
export type CreateFxQuoteRequest = components['schemas']['CreateFxQuoteRequest']
export type CreateFxConversionRequest = components['schemas']['CreateFxConversionRequest']
export type CreateWebhookEndpointRequest = components['schemas']['CreateWebhookEndpointRequest']
export type UpdateWebhookEndpointRequest = components['schemas']['UpdateWebhookEndpointRequest']
export type RotateWebhookSecretRequest = components['schemas']['RotateWebhookSecretRequest']
export type RecoverWebhookEndpointRequest = components['schemas']['RecoverWebhookEndpointRequest']
export type ResendEventRequest = components['schemas']['ResendEventRequest']
export type SimulatePayoutRequest = components['schemas']['SimulatePayoutRequest']
export type CheckSignatureRequest = components['schemas']['CheckSignatureRequest']
export type CheckRequestRequest = components['schemas']['CheckRequestRequest']
