"""Types of the partner API's requests and answers, as dictionaries.

Made from gateway/openapi.json by `make openapi`. Amounts in minor units are decimal digits of a
signed 64-bit integer, `usd_cents` are whole US cents, timestamps are RFC 3339 in UTC with
milliseconds. A class that ends in `Required` holds the members that are always present.
"""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, TypedDict, Union

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
EventType = Literal[
    "payment_intent.authorized",
    "payment_intent.captured",
    "payment_intent.failed",
    "payment_intent.expired",
    "payment_intent.cancelled",
    "payment_intent.refunded",
    "payment_intent.refund_failed",
    "payout.created",
    "payout.processing",
    "payout.completed",
    "payout.failed",
    "payout.reversed",
    "balance.low",
    "webhook_endpoint.disabled",
    "webhook_endpoint.deliveries_dead",
    "webhook_endpoint.test",
]
EventSubscription = Literal[
    "*",
    "payment_intent.authorized",
    "payment_intent.captured",
    "payment_intent.failed",
    "payment_intent.expired",
    "payment_intent.cancelled",
    "payment_intent.refunded",
    "payment_intent.refund_failed",
    "payout.created",
    "payout.processing",
    "payout.completed",
    "payout.failed",
    "payout.reversed",
    "balance.low",
    "webhook_endpoint.disabled",
    "webhook_endpoint.deliveries_dead",
    "webhook_endpoint.test",
]
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
RefundStatus = Literal["requested", "refused", "done"]
ReceiptStatus = Literal["pending", "captured", "failed", "refunded"]
QrKind = Literal["static", "dynamic"]
BeneficiaryType = Literal["bank_account"]
BeneficiaryStatus = Literal["active", "disabled"]
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
DeliveryStatus = Literal["pending", "waiting", "delivered", "dead"]
Environment = Literal["sandbox", "production"]
PartnerStatus = Literal["active", "suspended"]
FeeHandling = Literal["on_top", "deducted"]
KeyStatus = Literal["active", "revoked"]
CheckResult = Literal["passed", "failed", "not_made"]
SimulatedOutcome = Literal["completed", "failed", "reversed"]


class Failure(TypedDict):
    """Why a payment failed or came back. Texts are constant."""

    code: FailureCode
    message: str
    source: FailureSource
    retryable: bool
    occurred_at: str


class _PaymentIntentRequired(TypedDict):
    intent_id: str
    status: IntentStatus
    amount_usd_cents: int
    corridor: Corridor
    created_at: str


class PaymentIntent(_PaymentIntentRequired, total=False):
    """A QR payment. A member that does not apply is absent."""

    quote: Quote
    authorized_at: str
    captured_at: str
    captured_amount_usd_cents: int
    failed_at: str
    expired_at: str
    cancelled_at: str
    refunded_at: str
    failure: Failure
    refund: Refund


class Quote(TypedDict):
    """The price of the scanned payment, valid for five minutes."""

    quote_id: str
    quote_version: int
    amount_usd_cents: int
    local_amount_minor_units: str
    local_currency: str
    expires_at: int


class _RefundRequired(TypedDict):
    status: RefundStatus
    amount_usd_cents: int
    requested_at: str


class Refund(_RefundRequired, total=False):
    """The progress of a refund: the service asks the receiving bank to return the money."""

    refunded_at: str
    failed_at: str


class CreatedPaymentIntent(TypedDict):
    """The intent with its session token."""

    intent_id: str
    status: IntentStatus
    amount_usd_cents: int
    corridor: Corridor
    created_at: str
    session_token: str
    session_expires_at: int


class SessionToken(TypedDict):
    """Another session token of the same intent."""

    intent_id: str
    session_token: str
    session_expires_at: int


class ReceiptToken(TypedDict):
    """A token that opens every receipt of the intent's user."""

    receipt_token: str
    receipt_token_expires_at: int


class ReceiptRefund(TypedDict):
    """Present when `refunded`."""

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
    """The receipt of a payment at fetch time."""

    captured_at: str
    refund: ReceiptRefund


class Merchant(TypedDict):
    """From the code; a member is empty when the code lacks it."""

    scheme: str
    name: str
    city: str
    country: str
    mcc: str


class ScanResult(TypedDict):
    """The merchant of the code, and the quote to show to the user."""

    intent_id: str
    status: IntentStatus
    merchant: Merchant
    qr_kind: QrKind
    quote: Quote


class Beneficiary(TypedDict):
    """A bank account to pay out to."""

    id: str
    type: BeneficiaryType
    name: str
    destination_country: str
    currency: str
    bank_code: str
    account_last4: str
    status: BeneficiaryStatus
    created_at: str


class PayoutBeneficiary(TypedDict):
    """The account as it was when the payout was accepted."""

    id: str
    name: str
    account_last4: str


class PayoutRail(TypedDict):
    """How it is paid."""

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
    """A payout. Account numbers are never returned."""

    description: str


class Balance(TypedDict):
    """The balance of one currency."""

    currency: str
    available: str
    reserved: str


class Deposit(TypedDict):
    """Test funds that were credited."""

    id: str
    currency: str
    amount: str
    created_at: str


class FxQuote(TypedDict):
    """Both amounts of a conversion, valid for a minute."""

    id: str
    sell_currency: str
    sell_amount: str
    buy_currency: str
    buy_amount: str
    created_at: str
    expires_at: str


class FxConversion(TypedDict):
    """A conversion: sold and bought in one step."""

    id: str
    quote_id: str
    sell_currency: str
    sell_amount: str
    buy_currency: str
    buy_amount: str
    created_at: str


class BalanceTransaction(TypedDict):
    """One change of `available` or `reserved`."""

    id: str
    currency: str
    amount: str
    balance: str
    account: BalanceAccount
    type: BalanceTransactionType
    entity: str
    created_at: str


class NextKey(TypedDict):
    """A secret that does not sign yet."""

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


class WebhookEndpoint(_WebhookEndpointRequired, total=False):
    """A URL that receives events."""

    next_key: NextKey
    dead_deliveries: int
    newest_dead_at: str
    newest_dead_event_id: str


class WebhookEndpointWithSecret(TypedDict):
    """The endpoint with its secret."""

    id: str
    url: str
    description: str
    enabled_events: List[EventSubscription]
    api_version: str
    status: EndpointStatus
    disabled_reason: Optional[DisabledReason]
    key_id: str
    created_at: str
    secret: str


class _RotatedWebhookEndpointRequired(TypedDict):
    id: str
    url: str
    description: str
    enabled_events: List[EventSubscription]
    api_version: str
    status: EndpointStatus
    disabled_reason: Optional[DisabledReason]
    key_id: str
    created_at: str
    secret: str
    activate_at: str


class RotatedWebhookEndpoint(_RotatedWebhookEndpointRequired, total=False):
    """The endpoint with its new secret. `key_id` is the id of the new secret."""

    next_key: NextKey


class PaymentIntentEventData(TypedDict):
    """The object as it was then."""

    payment_intent: PaymentIntent


class PaymentIntentEvent(TypedDict):
    """A payment changed."""

    id: str
    type: PaymentIntentEventType
    webhook_event_id: str
    webhook_event_type: PaymentIntentEventType
    api_version: str
    created_at: str
    data: PaymentIntentEventData


class PayoutEventData(TypedDict):
    """The object as it was then."""

    payout: Payout


class PayoutEvent(TypedDict):
    """A payout changed."""

    id: str
    type: PayoutEventType
    webhook_event_id: str
    webhook_event_type: PayoutEventType
    api_version: str
    created_at: str
    data: PayoutEventData


class BalanceEventData(TypedDict):
    """The object as it was then."""

    balance: LowBalance


class BalanceEvent(TypedDict):
    """A balance fell below its threshold."""

    id: str
    type: BalanceEventType
    webhook_event_id: str
    webhook_event_type: BalanceEventType
    api_version: str
    created_at: str
    data: BalanceEventData


class WebhookEndpointEventData(TypedDict):
    """The object as it was then."""

    webhook_endpoint: WebhookEndpoint


class WebhookEndpointEvent(TypedDict):
    """About an endpoint."""

    id: str
    type: WebhookEndpointEventType
    webhook_event_id: str
    webhook_event_type: WebhookEndpointEventType
    api_version: str
    created_at: str
    data: WebhookEndpointEventData


class LowBalance(TypedDict):
    """A balance that fell below its threshold."""

    currency: str
    available: str
    reserved: str
    threshold: str


class NumberedEvent(TypedDict):
    """An event with its number."""

    sequence: int
    event: WebhookEvent


class Delivery(TypedDict):
    """The delivery of one event to one endpoint, with its attempts."""

    id: str
    event_id: str
    event_type: EventType
    endpoint_id: str
    status: DeliveryStatus
    next_attempt_at: Optional[str]
    ended_at: Optional[str]
    reason: Optional[str]
    request_id: Optional[str]
    attempts: List[DeliveryAttempt]


class DeliveryAttempt(TypedDict):
    """One request to your endpoint."""

    number: int
    at: str
    status: Optional[int]
    reason: str
    latency_ms: int
    reply: str


class DeliverySummary(TypedDict):
    """A delivery without its attempts."""

    id: str
    event_id: str
    event_type: EventType
    endpoint_id: str
    status: DeliveryStatus


class ResentEvent(TypedDict):
    """The deliveries of an event that is sent again."""

    event_id: str
    deliveries: List[DeliverySummary]


class Recovery(TypedDict):
    """What a recovery retries."""

    endpoint_id: str
    since: str
    redriven: int
    has_more: bool


class Terms(TypedDict):
    """Prices and payout destinations."""

    quote_spread_bps: int
    payouts: List[PayoutTerms]


class Limits(TypedDict):
    """Your limits."""

    requests_per_second: int
    amount_usd_cents: int
    active_keys: int
    webhook_endpoints: int


class BalanceAlert(TypedDict):
    """Below the threshold you get `balance.low`."""

    currency: str
    threshold: str


class EndpointDeliveries(TypedDict):
    """Whether deliveries to one of your endpoints died."""

    id: str
    dead_deliveries: Optional[int]
    newest_dead_at: Optional[str]


class Account(TypedDict):
    """What is configured for you in one environment."""

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


class PayoutTerms(TypedDict):
    """Terms of payouts to one destination."""

    country: str
    currency: str
    fee_handling: FeeHandling
    platform_fixed: str
    platform_bps: int
    rail_fixed: str
    refund_fees_on_reversal: bool
    amount_min: Optional[str]
    amount_max: Optional[str]


class CorridorSettings(TypedDict):
    """A corridor and the limits of each of your users there."""

    corridor: Corridor
    enabled: bool
    currency: str
    minimum: str
    user_limit_payment: str
    user_limit_day: str
    user_limit_month: str


class KeySettings(TypedDict):
    """A signing key without its secret."""

    key_id: str
    status: KeyStatus
    created_at: str
    revoked_at: Optional[str]


class _SignatureCheckRequired(TypedDict):
    check: str
    result: CheckResult


class SignatureCheck(_SignatureCheckRequired, total=False):
    """One check of a request or its signature."""

    help: str


class SignatureReport(TypedDict):
    """Which checks a signature passes."""

    valid: bool
    checks: List[SignatureCheck]
    canonical_request: Optional[str]
    body_sha256: str
    server_time: str


class _RequestRefusalRequired(TypedDict):
    status: int
    code: str
    message: str


class RequestRefusal(_RequestRefusalRequired, total=False):
    """A refusal."""

    pointer: str
    rule: str


class RequestReport(TypedDict):
    """Which checks a request passes."""

    accepted: bool
    refusal: Optional[RequestRefusal]
    checks: List[SignatureCheck]
    canonical_request: Optional[str]
    body_sha256: str
    server_time: str


class _KycAttestationRequired(TypedDict):
    verified: bool
    method: str
    verified_at: str


class KycAttestation(_KycAttestationRequired, total=False):
    """Your confirmation that you know the user."""

    id_type: str
    id_country: str


class SanctionsAttestation(TypedDict):
    """Your confirmation that you screened the user for sanctions."""

    clean: bool
    screened_at: str


class CreateBeneficiary(TypedDict):
    """A bank account."""

    type: BeneficiaryType
    name: str
    destination_country: str
    currency: str
    account_number: str
    bank_code: str


class CreateIntent(TypedDict):
    partner_user_id: str
    amount_usd_cents: int
    corridor: Corridor
    kyc_attestation: KycAttestation
    sanctions_attestation: SanctionsAttestation


class NewSession(TypedDict):
    partner_user_id: str
    kyc_attestation: KycAttestation
    sanctions_attestation: SanctionsAttestation


class _ScanRequired(TypedDict):
    qr_payload: str


class Scan(_ScanRequired, total=False):
    local_amount_minor_units: str
    duplicate_confirmed: bool


class _CreatePayoutRequired(TypedDict):
    amount: str
    currency: str
    reference: str


class _CreatePayout(_CreatePayoutRequired, total=False):
    description: str
    metadata: Dict[str, str]


class CreatePayoutToId(_CreatePayout):
    beneficiary_id: str


class CreatePayoutToNew(_CreatePayout):
    beneficiary: CreateBeneficiary


class CreateDeposit(TypedDict):
    currency: str
    amount: str


class CreateFxQuote(TypedDict):
    sell_currency: str
    sell_amount: str
    buy_currency: str


class _CreateWebhookEndpointRequired(TypedDict):
    url: str


class CreateWebhookEndpoint(_CreateWebhookEndpointRequired, total=False):
    description: str
    enabled_events: List[EventSubscription]
    api_version: str


class UpdateWebhookEndpoint(TypedDict, total=False):
    url: str
    description: str
    enabled_events: List[EventSubscription]
    api_version: str


class RotateSecret(TypedDict, total=False):
    activate_at: str


class ResendEvent(TypedDict, total=False):
    endpoint_id: str


class _SignatureDescriptionRequired(TypedDict):
    method: str
    path: str
    key_id: str
    timestamp: str
    nonce: str
    signature: str


class SignatureDescription(_SignatureDescriptionRequired, total=False):
    body: str
    body_sha256: str


class _RequestDescriptionRequired(TypedDict):
    method: str
    path: str


class RequestDescription(_RequestDescriptionRequired, total=False):
    headers: Dict[str, str]
    body: str


WebhookEvent = Union[PaymentIntentEvent, PayoutEvent, BalanceEvent, WebhookEndpointEvent]
CreatePayout = Union[CreatePayoutToId, CreatePayoutToNew]
