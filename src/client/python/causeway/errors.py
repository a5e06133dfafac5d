"""Errors of a request: the class follows the `code`, not the HTTP status."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Type

from .retry import is_2xx

UNKNOWN = "unknown"


class CausewayError(Exception):
    """Every error of this package."""


class ApiError(CausewayError):
    """An answer with an error. Branch on the class or on `code`; quote `request_id` to support.

    `code` is one of `ERROR_CODES`, a newer one, or `unknown` when the answer is not the service's.
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
    ) -> None:
        super().__init__(f"{status} {code}: {message} ({request_id})")
        self.status = status
        self.code = code
        self.message = message
        self.request_id = request_id
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


# Every code of the partner API (gateway/README.md, Errors).
ERROR_CODES: Dict[str, Type[ApiError]] = {
    "invalid_request": InvalidRequestError,
    "invalid_beneficiary": InvalidRequestError,
    "payload_too_large": InvalidRequestError,
    "method_not_allowed": InvalidRequestError,
    "authentication_failed": AuthenticationError,
    "attestation_not_satisfied": RequestNotPermittedError,
    "corridor_not_enabled": RequestNotPermittedError,
    "partner_suspended": RequestNotPermittedError,
    "user_mismatch": RequestNotPermittedError,
    "not_found": NotFoundError,
    "payment_intent_not_found": NotFoundError,
    "beneficiary_not_found": NotFoundError,
    "payout_not_found": NotFoundError,
    "fx_quote_not_found": NotFoundError,
    "webhook_endpoint_not_found": NotFoundError,
    "event_not_found": NotFoundError,
    "payment_intent_terminal": ConflictError,
    "already_confirmed": ConflictError,
    "payment_intent_not_confirmable": ConflictError,
    "payment_intent_not_cancelable": ConflictError,
    "payment_intent_not_refundable": ConflictError,
    "payment_intent_not_scannable": ConflictError,
    "duplicate_scan": ConflictError,
    "payout_not_cancelable": ConflictError,
    "outcome_not_possible": ConflictError,
    "webhook_endpoint_limit": ConflictError,
    "webhook_endpoint_disabled": ConflictError,
    "idempotency_conflict": IdempotencyConflictError,
    "duplicate_payout": IdempotencyConflictError,
    "quote_required": QuoteError,
    "quote_expired": QuoteError,
    "quote_changed": QuoteError,
    "qr_malformed": QrCodeError,
    "qr_checksum_invalid": QrCodeError,
    "qr_scheme_unsupported": QrCodeError,
    "qr_country_mismatch": QrCodeError,
    "qr_currency_mismatch": QrCodeError,
    "qr_amount_mismatch": QrCodeError,
    "local_amount_required": RefusedError,
    "local_amount_invalid": RefusedError,
    "amount_below_minimum": RefusedError,
    "user_limit_exceeded": RefusedError,
    "quote_exceeds_intent_amount": RefusedError,
    "unsupported_currency": RefusedError,
    "unsupported_destination": RefusedError,
    "payout_limit_exceeded": RefusedError,
    "balance_limit_exceeded": RefusedError,
    "compliance_rejected": RefusedError,
    "risk_rejected": RefusedError,
    "rail_unavailable": RefusedError,
    "insufficient_balance": InsufficientBalanceError,
    "rate_limited": RateLimitError,
    "internal_error": ServiceError,
    "configuration_error": ServiceError,
    "timeout": ServiceError,
}

_RETRYABLE = frozenset(
    [
        "rate_limited",
        "internal_error",
        "configuration_error",
        "timeout",
        "insufficient_balance",
        "rail_unavailable",
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
) -> ApiError:
    error = body.get("error") if isinstance(body, dict) else None
    envelope = error if isinstance(error, dict) else {}
    code = str(envelope.get("code", UNKNOWN))
    message = str(envelope.get("message", "not an answer of the service"))
    request_id = str(envelope.get("request_id", headers.get("x-request-id", "")))
    by_default = ServiceError if _is_outcome_unknown(status) else ApiError
    fallback = _BY_STATUS.get(status, by_default)
    cls = ERROR_CODES.get(code, fallback)
    return cls(status, code, message, request_id, idempotency_key, retry_after_s)
