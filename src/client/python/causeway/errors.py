"""Errors of a request: the class follows the `code`, not the HTTP status."""

from __future__ import annotations

from enum import Enum
from typing import Any, Dict, Mapping, Optional, Type

from .retry import is_2xx

UNKNOWN = "unknown"


class CausewayError(Exception):
    """Every error of this package."""


class ApiError(CausewayError):
    """An answer with an error. Branch on the class or on `code`; quote `request_id` to support.

    `code` equals an `ErrorCode`, or is a newer one, or `unknown` when the answer is not the service's.
    `headers` are those of the answer, with names in lower case.
    `idempotency_key` is the key that was sent, also a generated one.
    `retryable` tells whether the identical request can succeed later, with the same key.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        request_id: str,
        idempotency_key: Optional[str] = None,
        retry_after_s: Optional[float] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        super().__init__(f"{status} {code}: {message} ({request_id})")
        self.status = status
        self.code = code
        self.message = message
        self.request_id = request_id
        self.headers = headers or {}
        self.idempotency_key = idempotency_key
        self.retry_after_s = retry_after_s
        self.retryable = code in _RETRYABLE or (code == UNKNOWN and _is_outcome_unknown(status))


class InvalidRequestError(ApiError):
    """The request is invalid; sending it again changes nothing."""


class AuthenticationError(ApiError):
    """Signature, key, token or clock."""


class RequestNotPermittedError(ApiError):
    """The partner, the corridor or the user may not do this."""


class NotFoundError(ApiError):
    """Unknown, or not yours."""


class ConflictError(ApiError):
    """The state of the object does not allow it."""


class IdempotencyConflictError(ConflictError):
    """The Idempotency-Key is bound to another request."""


class QuoteError(ConflictError):
    """The quote is missing, expired or not the current one: scan or quote again."""


class RefusedError(ApiError):
    """Valid but refused."""


class QrCodeError(RefusedError):
    """The QR code cannot be paid."""


class InsufficientBalanceError(RefusedError):
    """The balance is too low."""


class RateLimitError(ApiError):
    """Too many requests, even after the retries."""


class ServiceError(ApiError):
    """The service could not answer. The request may have been carried out."""


class NoAnswerError(CausewayError):
    """No answer: the request may have been carried out. Send it again with the same key."""

    def __init__(self, cause: BaseException, idempotency_key: Optional[str]) -> None:
        super().__init__(f"no answer: {cause or type(cause).__name__}")
        self.idempotency_key = idempotency_key


class IdempotencyKeyError(CausewayError):
    """The Idempotency-Key is not printable ASCII, or the service received another one."""

    def __init__(self, message: str, idempotency_key: str) -> None:
        super().__init__(message)
        self.idempotency_key = idempotency_key


class ErrorCode(str, Enum):
    """Every code of the partner API. A newer service can have more: `ApiError.code` is a text."""

    INVALID_REQUEST = "invalid_request"
    INVALID_BENEFICIARY = "invalid_beneficiary"
    PAYLOAD_TOO_LARGE = "payload_too_large"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    AUTHENTICATION_FAILED = "authentication_failed"
    ATTESTATION_NOT_SATISFIED = "attestation_not_satisfied"
    CORRIDOR_NOT_ENABLED = "corridor_not_enabled"
    PARTNER_SUSPENDED = "partner_suspended"
    USER_MISMATCH = "user_mismatch"
    NOT_FOUND = "not_found"
    PAYMENT_INTENT_NOT_FOUND = "payment_intent_not_found"
    BENEFICIARY_NOT_FOUND = "beneficiary_not_found"
    PAYOUT_NOT_FOUND = "payout_not_found"
    FX_QUOTE_NOT_FOUND = "fx_quote_not_found"
    WEBHOOK_ENDPOINT_NOT_FOUND = "webhook_endpoint_not_found"
    EVENT_NOT_FOUND = "event_not_found"
    PAYMENT_INTENT_TERMINAL = "payment_intent_terminal"
    ALREADY_CONFIRMED = "already_confirmed"
    PAYMENT_INTENT_NOT_CONFIRMABLE = "payment_intent_not_confirmable"
    PAYMENT_INTENT_NOT_CANCELABLE = "payment_intent_not_cancelable"
    PAYMENT_INTENT_NOT_REFUNDABLE = "payment_intent_not_refundable"
    PAYMENT_INTENT_NOT_SCANNABLE = "payment_intent_not_scannable"
    DUPLICATE_SCAN = "duplicate_scan"
    PAYOUT_NOT_CANCELABLE = "payout_not_cancelable"
    OUTCOME_NOT_POSSIBLE = "outcome_not_possible"
    WEBHOOK_ENDPOINT_LIMIT = "webhook_endpoint_limit"
    WEBHOOK_ENDPOINT_DISABLED = "webhook_endpoint_disabled"
    IDEMPOTENCY_CONFLICT = "idempotency_conflict"
    DUPLICATE_PAYOUT = "duplicate_payout"
    QUOTE_REQUIRED = "quote_required"
    QUOTE_EXPIRED = "quote_expired"
    QUOTE_CHANGED = "quote_changed"
    QR_MALFORMED = "qr_malformed"
    QR_CHECKSUM_INVALID = "qr_checksum_invalid"
    QR_SCHEME_UNSUPPORTED = "qr_scheme_unsupported"
    QR_COUNTRY_MISMATCH = "qr_country_mismatch"
    QR_CURRENCY_MISMATCH = "qr_currency_mismatch"
    QR_AMOUNT_MISMATCH = "qr_amount_mismatch"
    LOCAL_AMOUNT_REQUIRED = "local_amount_required"
    LOCAL_AMOUNT_INVALID = "local_amount_invalid"
    AMOUNT_BELOW_MINIMUM = "amount_below_minimum"
    USER_LIMIT_EXCEEDED = "user_limit_exceeded"
    QUOTE_EXCEEDS_INTENT_AMOUNT = "quote_exceeds_intent_amount"
    UNSUPPORTED_CURRENCY = "unsupported_currency"
    UNSUPPORTED_DESTINATION = "unsupported_destination"
    PAYOUT_LIMIT_EXCEEDED = "payout_limit_exceeded"
    BALANCE_LIMIT_EXCEEDED = "balance_limit_exceeded"
    COMPLIANCE_REJECTED = "compliance_rejected"
    RISK_REJECTED = "risk_rejected"
    RAIL_UNAVAILABLE = "rail_unavailable"
    INSUFFICIENT_BALANCE = "insufficient_balance"
    RATE_LIMITED = "rate_limited"
    INTERNAL_ERROR = "internal_error"
    CONFIGURATION_ERROR = "configuration_error"
    TIMEOUT = "timeout"


# The class of each code.
ERROR_CODES: Dict[str, Type[ApiError]] = {
    ErrorCode.INVALID_REQUEST: InvalidRequestError,
    ErrorCode.INVALID_BENEFICIARY: InvalidRequestError,
    ErrorCode.PAYLOAD_TOO_LARGE: InvalidRequestError,
    ErrorCode.METHOD_NOT_ALLOWED: InvalidRequestError,
    ErrorCode.AUTHENTICATION_FAILED: AuthenticationError,
    ErrorCode.ATTESTATION_NOT_SATISFIED: RequestNotPermittedError,
    ErrorCode.CORRIDOR_NOT_ENABLED: RequestNotPermittedError,
    ErrorCode.PARTNER_SUSPENDED: RequestNotPermittedError,
    ErrorCode.USER_MISMATCH: RequestNotPermittedError,
    ErrorCode.NOT_FOUND: NotFoundError,
    ErrorCode.PAYMENT_INTENT_NOT_FOUND: NotFoundError,
    ErrorCode.BENEFICIARY_NOT_FOUND: NotFoundError,
    ErrorCode.PAYOUT_NOT_FOUND: NotFoundError,
    ErrorCode.FX_QUOTE_NOT_FOUND: NotFoundError,
    ErrorCode.WEBHOOK_ENDPOINT_NOT_FOUND: NotFoundError,
    ErrorCode.EVENT_NOT_FOUND: NotFoundError,
    ErrorCode.PAYMENT_INTENT_TERMINAL: ConflictError,
    ErrorCode.ALREADY_CONFIRMED: ConflictError,
    ErrorCode.PAYMENT_INTENT_NOT_CONFIRMABLE: ConflictError,
    ErrorCode.PAYMENT_INTENT_NOT_CANCELABLE: ConflictError,
    ErrorCode.PAYMENT_INTENT_NOT_REFUNDABLE: ConflictError,
    ErrorCode.PAYMENT_INTENT_NOT_SCANNABLE: ConflictError,
    ErrorCode.DUPLICATE_SCAN: ConflictError,
    ErrorCode.PAYOUT_NOT_CANCELABLE: ConflictError,
    ErrorCode.OUTCOME_NOT_POSSIBLE: ConflictError,
    ErrorCode.WEBHOOK_ENDPOINT_LIMIT: ConflictError,
    ErrorCode.WEBHOOK_ENDPOINT_DISABLED: ConflictError,
    ErrorCode.IDEMPOTENCY_CONFLICT: IdempotencyConflictError,
    ErrorCode.DUPLICATE_PAYOUT: IdempotencyConflictError,
    ErrorCode.QUOTE_REQUIRED: QuoteError,
    ErrorCode.QUOTE_EXPIRED: QuoteError,
    ErrorCode.QUOTE_CHANGED: QuoteError,
    ErrorCode.QR_MALFORMED: QrCodeError,
    ErrorCode.QR_CHECKSUM_INVALID: QrCodeError,
    ErrorCode.QR_SCHEME_UNSUPPORTED: QrCodeError,
    ErrorCode.QR_COUNTRY_MISMATCH: QrCodeError,
    ErrorCode.QR_CURRENCY_MISMATCH: QrCodeError,
    ErrorCode.QR_AMOUNT_MISMATCH: QrCodeError,
    ErrorCode.LOCAL_AMOUNT_REQUIRED: RefusedError,
    ErrorCode.LOCAL_AMOUNT_INVALID: RefusedError,
    ErrorCode.AMOUNT_BELOW_MINIMUM: RefusedError,
    ErrorCode.USER_LIMIT_EXCEEDED: RefusedError,
    ErrorCode.QUOTE_EXCEEDS_INTENT_AMOUNT: RefusedError,
    ErrorCode.UNSUPPORTED_CURRENCY: RefusedError,
    ErrorCode.UNSUPPORTED_DESTINATION: RefusedError,
    ErrorCode.PAYOUT_LIMIT_EXCEEDED: RefusedError,
    ErrorCode.BALANCE_LIMIT_EXCEEDED: RefusedError,
    ErrorCode.COMPLIANCE_REJECTED: RefusedError,
    ErrorCode.RISK_REJECTED: RefusedError,
    ErrorCode.RAIL_UNAVAILABLE: RefusedError,
    ErrorCode.INSUFFICIENT_BALANCE: InsufficientBalanceError,
    ErrorCode.RATE_LIMITED: RateLimitError,
    ErrorCode.INTERNAL_ERROR: ServiceError,
    ErrorCode.CONFIGURATION_ERROR: ServiceError,
    ErrorCode.TIMEOUT: ServiceError,
}

_RETRYABLE = frozenset(
    [
        ErrorCode.RATE_LIMITED,
        ErrorCode.INTERNAL_ERROR,
        ErrorCode.CONFIGURATION_ERROR,
        ErrorCode.TIMEOUT,
        ErrorCode.INSUFFICIENT_BALANCE,
        ErrorCode.RAIL_UNAVAILABLE,
    ]
)

# For codes of a newer service, and for answers of a proxy.
_BY_STATUS: Dict[int, Type[ApiError]] = {
    400: InvalidRequestError,
    401: AuthenticationError,
    403: RequestNotPermittedError,
    404: NotFoundError,
    409: ConflictError,
    422: RefusedError,
    429: RateLimitError,
}


def _is_outcome_unknown(status: int) -> bool:
    """A 2xx is an error when its body is not the service's."""
    return status >= 500 or is_2xx(status)


def error_of(
    status: int,
    headers: Mapping[str, str],
    body: Any,
    idempotency_key: Optional[str] = None,
    retry_after_s: Optional[float] = None,
    advice: str = "",
) -> ApiError:
    error = body.get("error") if isinstance(body, dict) else None
    members = error if isinstance(error, dict) else {}
    # A proxy has JSON of its own.
    envelope = {name: value for name, value in members.items() if isinstance(value, str)}
    code = envelope.get("code", UNKNOWN)
    message = envelope.get("message", "not an answer of the service") + advice
    request_id = envelope.get("request_id", headers.get("x-request-id", ""))
    by_default = ServiceError if _is_outcome_unknown(status) else ApiError
    fallback = _BY_STATUS.get(status, by_default)
    cls = ERROR_CODES.get(code, fallback)
    return cls(status, code, message, request_id, idempotency_key, retry_after_s, headers)
