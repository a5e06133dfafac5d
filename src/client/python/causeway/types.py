"""Types of the partner API's requests and answers, as dictionaries.

Amounts in minor units are decimal digits of a signed 64-bit integer, `usd_cents` are whole US
cents, timestamps are RFC 3339 in UTC with milliseconds. A class that ends in `Required` holds the
members that are always present.
"""

from __future__ import annotations

from typing import Dict, List, Literal, Mapping, Optional, TypedDict, Union

# More values can come where the guide says so: keep a branch for others.
Corridor = Literal["th_promptpay", "vn_vietqr"]
IntentStatus = Literal[
    "created",
    "authorized",
    "captured",
    "failed",
    "expired",
    "refunded",
    "cancelled",
]
PayoutStatus = Literal["created", "processing", "completed", "failed", "reversed"]
ReceiptStatus = Literal["pending", "captured", "failed", "refunded"]
RefundStatus = Literal["requested", "refused", "done"]
BeneficiaryStatus = Literal["active", "disabled"]
FailureCode = Literal[
    "rejected",
    "account_closed",
    "account_not_found",
    "name_mismatch",
    "destination_refused",
    "unsupported_destination",
    "amount_refused",
    "compliance_rejected",
    "expired",
    "rail_unavailable",
    "review_rejected",
    "payment_review_rejected",
    "review_expired",
    "returned_by_bank",
    "not_carried_out",
    "returned",
]
FailureSource = Literal["rail", "review", "service"]
BalanceAccount = Literal["available", "reserved"]
BalanceTransactionType = Literal[
    "deposit",
    "deposit_corrected",
    "withdrawal",
    "conversion",
    "payout_accepted",
    "payout_completed",
    "payout_failed",
    "payout_reversed",
    "intent_confirmed",
    "intent_captured",
    "intent_failed",
    "intent_cancelled",
    "intent_refunded",
    "discrepancy_credited",
    "discrepancy_charged",
]
EndpointStatus = Literal["enabled", "disabled", "deleted"]
DisabledReason = Literal["by_partner", "by_operator", "gone", "failing"]
DeliveryStatus = Literal["pending", "waiting", "delivered", "dead"]
CheckResult = Literal["passed", "failed", "not_made"]
SimulatedOutcome = Literal["completed", "failed", "reversed"]
PaymentIntentEventType = Literal[
    "payment_intent.authorized",
    "payment_intent.captured",
    "payment_intent.failed",
    "payment_intent.expired",
    "payment_intent.cancelled",
    "payment_intent.refunded",
    "payment_intent.refund_failed",
]
PayoutEventType = Literal[
    "payout.created",
    "payout.processing",
    "payout.completed",
    "payout.failed",
    "payout.reversed",
]
BalanceEventType = Literal["balance.low"]
WebhookEndpointEventType = Literal[
    "webhook_endpoint.disabled",
    "webhook_endpoint.deliveries_dead",
    "webhook_endpoint.test",
]
EventType = Union[
    PaymentIntentEventType, PayoutEventType, BalanceEventType, WebhookEndpointEventType
]
EventSubscription = Union[Literal["*"], EventType]
Environment = Literal["sandbox", "production"]
PartnerStatus = Literal["active", "suspended"]
KeyStatus = Literal["active", "revoked"]
FeeHandling = Literal["on_top", "deducted"]
QrKind = Literal["static", "dynamic"]
BeneficiaryType = Literal["bank_account"]


class _KycAttestationRequired(TypedDict):
    verified: bool
    method: str
    verified_at: str


class KycAttestation(_KycAttestationRequired, total=False):
    id_type: str
    id_country: str


class SanctionsAttestation(TypedDict):
    clean: bool
    screened_at: str


class CreateIntent(TypedDict):
    """`amount_usd_cents` is the ceiling; the quote is debited."""

    partner_user_id: str
    amount_usd_cents: int
    corridor: Corridor
    kyc_attestation: KycAttestation
    sanctions_attestation: SanctionsAttestation


class NewSession(TypedDict):
    """Repeats the user and both attestations of the intent."""

    partner_user_id: str
    kyc_attestation: KycAttestation
    sanctions_attestation: SanctionsAttestation


class Quote(TypedDict):
    """`local_currency` is ISO 4217, numeric; `expires_at` is in epoch milliseconds."""

    quote_id: str
    quote_version: int
    amount_usd_cents: int
    local_amount_minor_units: str
    local_currency: str
    expires_at: int


class Failure(TypedDict):
    code: FailureCode
    message: str
    source: FailureSource
    retryable: bool
    occurred_at: str


class _RefundRequired(TypedDict):
    status: RefundStatus
    amount_usd_cents: int
    requested_at: str


class Refund(_RefundRequired, total=False):
    """`status` is `requested`, `refused` or `done`."""

    failed_at: str
    refunded_at: str


class _PaymentIntentRequired(TypedDict):
    intent_id: str
    status: IntentStatus
    amount_usd_cents: int
    corridor: Corridor
    created_at: str


class PaymentIntent(_PaymentIntentRequired, total=False):
    """`amount_usd_cents` is the ceiling, `captured_amount_usd_cents` the debit.

    A member that does not apply is absent.
    """

    authorized_at: str
    captured_at: str
    captured_amount_usd_cents: int
    failed_at: str
    expired_at: str
    cancelled_at: str
    refunded_at: str
    quote: Quote
    failure: Failure
    refund: Refund


class SessionToken(TypedDict):
    """Never put the token into a URL or a log; `session_expires_at` is in epoch seconds."""

    intent_id: str
    session_token: str
    session_expires_at: int


class CreatedPaymentIntent(_PaymentIntentRequired):
    session_token: str
    session_expires_at: int


class ReceiptToken(TypedDict):
    """`receipt_token_expires_at` is in epoch seconds."""

    receipt_token: str
    receipt_token_expires_at: int


class ReceiptRefund(TypedDict):
    amount_usd_cents: int
    refunded_at: str


class _ReceiptRequired(TypedDict):
    intent_id: str
    status: ReceiptStatus
    amount_usd_cents: int
    corridor: Corridor
    local_amount: str
    local_amount_minor_units: str
    local_currency: str
    merchant_name: str
    destination_masked: str
    created_at: str


class Receipt(_ReceiptRequired, total=False):
    """`local_amount` is in whole units of the local currency."""

    captured_at: str
    refund: ReceiptRefund


class _ScanRequired(TypedDict):
    qr_payload: str


class Scan(_ScanRequired, total=False):
    """`qr_payload` is the unchanged text of the QR code; the amount is required without one."""

    local_amount_minor_units: str
    duplicate_confirmed: bool


class Merchant(TypedDict):
    scheme: str
    name: str
    city: str
    country: str
    mcc: str


class ScanResult(TypedDict):
    intent_id: str
    status: IntentStatus
    merchant: Merchant
    qr_kind: QrKind
    quote: Quote


class CreateBeneficiary(TypedDict):
    type: BeneficiaryType
    name: str
    destination_country: str
    currency: str
    account_number: str
    bank_code: str


class Beneficiary(TypedDict):
    id: str
    type: BeneficiaryType
    name: str
    destination_country: str
    currency: str
    bank_code: str
    account_last4: str
    status: BeneficiaryStatus
    created_at: str


class _CreatePayoutRequired(TypedDict):
    amount: str
    currency: str
    reference: str


class _CreatePayoutCommon(_CreatePayoutRequired, total=False):
    description: str
    metadata: Dict[str, str]


class CreatePayoutToId(_CreatePayoutCommon):
    """To an existing beneficiary."""

    beneficiary_id: str


class CreatePayoutToNew(_CreatePayoutCommon):
    """To a beneficiary that the payout creates."""

    beneficiary: CreateBeneficiary


# Exactly one form of beneficiary.
CreatePayout = Union[CreatePayoutToId, CreatePayoutToNew]


class PayoutBeneficiary(TypedDict):
    id: str
    name: str
    account_last4: str


class PayoutRail(TypedDict):
    type: str
    transaction_id: Optional[str]


class _PayoutRequired(TypedDict):
    id: str
    status: PayoutStatus
    amount: str
    recipient_amount: str
    currency: str
    fee_details: Dict[str, str]
    fee: str
    total: str
    reference: str
    beneficiary: PayoutBeneficiary
    rail: PayoutRail
    metadata: Dict[str, str]
    created_at: str
    processing_at: Optional[str]
    completed_at: Optional[str]
    failed_at: Optional[str]
    reversed_at: Optional[str]
    failure: Optional[Failure]


class Payout(_PayoutRequired, total=False):
    description: str


class PayoutTerms(TypedDict):
    """`fee_handling` is `on_top` or `deducted`; without a limit its amount is None."""

    country: str
    currency: str
    fee_handling: FeeHandling
    platform_fixed: str
    platform_bps: int
    rail_fixed: str
    refund_fees_on_reversal: bool
    amount_min: Optional[str]
    amount_max: Optional[str]


class Terms(TypedDict):
    quote_spread_bps: int
    payouts: List[PayoutTerms]


class Limits(TypedDict):
    requests_per_second: int
    amount_usd_cents: int
    active_keys: int
    webhook_endpoints: int


class CorridorSettings(TypedDict):
    corridor: Corridor
    enabled: bool
    currency: str
    minimum: str
    user_limit_payment: str
    user_limit_day: str
    user_limit_month: str


class KeySettings(TypedDict):
    """`status` is `active` or `revoked`; `revoked_at` is in the future when the key expires."""

    key_id: str
    status: KeyStatus
    created_at: str
    revoked_at: Optional[str]


class BalanceAlert(TypedDict):
    currency: str
    threshold: str


class EndpointDeliveries(TypedDict):
    """`dead_deliveries` is None while it is not known yet."""

    id: str
    dead_deliveries: Optional[int]
    newest_dead_at: Optional[str]


class Account(TypedDict):
    """Your own settings in one environment."""

    partner_id: str
    environment: Environment
    status: PartnerStatus
    created_at: str
    terms: Terms
    limits: Limits
    corridors: List[CorridorSettings]
    keys: List[KeySettings]
    allowed_ips: List[str]
    packages: List[str]
    balance_alerts: List[BalanceAlert]
    webhook_endpoints: List[EndpointDeliveries]


class Balance(TypedDict):
    currency: str
    available: str
    reserved: str


class BalanceTransaction(TypedDict):
    """`amount` is signed, `balance` is after the change, `account` is `available` or `reserved`."""

    id: str
    currency: str
    amount: str
    balance: str
    account: BalanceAccount
    type: BalanceTransactionType
    entity: str
    created_at: str


class CreateDeposit(TypedDict):
    currency: str
    amount: str


class Deposit(TypedDict):
    id: str
    currency: str
    amount: str
    created_at: str


class CreateFxQuote(TypedDict):
    sell_currency: str
    sell_amount: str
    buy_currency: str


class FxQuote(TypedDict):
    id: str
    sell_currency: str
    sell_amount: str
    buy_currency: str
    buy_amount: str
    created_at: str
    expires_at: str


class FxConversion(TypedDict):
    id: str
    quote_id: str
    sell_currency: str
    sell_amount: str
    buy_currency: str
    buy_amount: str
    created_at: str


class UpdateWebhookEndpoint(TypedDict, total=False):
    """At least one member. An empty list of events is every type except opt-in types."""

    url: str
    description: str
    enabled_events: List[EventSubscription]
    api_version: str


class _CreateWebhookEndpointRequired(TypedDict):
    url: str


class CreateWebhookEndpoint(_CreateWebhookEndpointRequired, total=False):
    description: str
    enabled_events: List[EventSubscription]
    api_version: str


class NextKey(TypedDict):
    key_id: str
    activate_at: str


class _WebhookEndpointRequired(TypedDict):
    id: str
    url: str
    description: str
    enabled_events: List[EventSubscription]
    api_version: str
    status: EndpointStatus
    disabled_reason: Optional[DisabledReason]
    key_id: str
    created_at: str


class _WebhookEndpointKeys(_WebhookEndpointRequired, total=False):
    next_key: NextKey


class WebhookEndpoint(_WebhookEndpointKeys, total=False):
    """`key_id` names the secret that signs now, `next_key` a scheduled one.

    The members about dead deliveries are only in `webhook_endpoint.deliveries_dead`.
    """

    dead_deliveries: int
    newest_dead_at: str
    newest_dead_event_id: str


class WebhookEndpointWithSecret(_WebhookEndpointRequired):
    """The secret is shown only once."""

    secret: str


class RotatedWebhookEndpoint(_WebhookEndpointKeys):
    """`key_id` and `secret` are the new ones; keep the old ones too until `activate_at`."""

    secret: str
    activate_at: str


class RotateSecret(TypedDict, total=False):
    """By default the new secret signs in an hour."""

    activate_at: str


class DeliveryAttempt(TypedDict):
    """`status` is the HTTP status of your answer, `reply` its first 4 KiB."""

    number: int
    at: str
    status: Optional[int]
    reason: str
    latency_ms: int
    reply: str


class DeliverySummary(TypedDict):
    """`status` is `pending`, `waiting`, `delivered` or `dead`."""

    id: str
    event_id: str
    event_type: EventType
    endpoint_id: str
    status: DeliveryStatus


class Delivery(DeliverySummary):
    next_attempt_at: Optional[str]
    ended_at: Optional[str]
    reason: Optional[str]
    request_id: Optional[str]
    attempts: List[DeliveryAttempt]


class Recovery(TypedDict):
    """`redriven` is the number of retried deliveries; call again when it `has_more`."""

    endpoint_id: str
    since: str
    redriven: int
    has_more: bool


class LowBalance(TypedDict):
    currency: str
    available: str
    reserved: str
    threshold: str


class _PaymentIntentData(TypedDict):
    payment_intent: PaymentIntent


class _PayoutData(TypedDict):
    payout: Payout


class _BalanceData(TypedDict):
    balance: LowBalance


class _WebhookEndpointData(TypedDict):
    webhook_endpoint: WebhookEndpoint


class _Event(TypedDict):
    id: str
    webhook_event_id: str
    api_version: str
    created_at: str


class PaymentIntentEvent(_Event):
    type: PaymentIntentEventType
    webhook_event_type: PaymentIntentEventType
    data: _PaymentIntentData


class PayoutEvent(_Event):
    type: PayoutEventType
    webhook_event_type: PayoutEventType
    data: _PayoutData


class BalanceEvent(_Event):
    type: BalanceEventType
    webhook_event_type: BalanceEventType
    data: _BalanceData


class WebhookEndpointEvent(_Event):
    type: WebhookEndpointEventType
    webhook_event_type: WebhookEndpointEventType
    data: _WebhookEndpointData


# Its `type` tells which one it is.
WebhookEvent = Union[PaymentIntentEvent, PayoutEvent, BalanceEvent, WebhookEndpointEvent]


class NumberedEvent(TypedDict):
    """`sequence` numbers your events of one environment from 1."""

    sequence: int
    event: WebhookEvent


class ResendEvent(TypedDict, total=False):
    """By default every endpoint that received the event or subscribes to it."""

    endpoint_id: str


class ResentEvent(TypedDict):
    event_id: str
    deliveries: List[DeliverySummary]


class SignatureCheck(TypedDict, total=False):
    """`result` is `passed`, `failed` or `not_made`; only failed checks have a `help`."""

    check: str
    result: CheckResult
    help: str


class SignatureReport(TypedDict):
    """`canonical_request` is the text that the service signs."""

    valid: bool
    checks: List[SignatureCheck]
    canonical_request: Optional[str]
    body_sha256: str
    server_time: str


class _RequestDescription(TypedDict):
    method: str
    path: str


class RequestDescription(_RequestDescription, total=False):
    headers: Mapping[str, str]
    body: str


class _Refused(TypedDict):
    status: int
    code: str
    message: str


class RequestRefusal(_Refused, total=False):
    pointer: str
    rule: str


class RequestReport(TypedDict):
    """`refusal` is the answer that the request would get."""

    accepted: bool
    refusal: Optional[RequestRefusal]
    checks: List[SignatureCheck]
    canonical_request: Optional[str]
    body_sha256: str
    server_time: str
