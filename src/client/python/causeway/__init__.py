"""Client of the Causeway partner API. Standard library only."""

from .app import AppClient, Receipts, Session
from .client import Client
from .connection import AppConnection, Connection, Credentials, HttpAnswer, Server
from .errors import (
    ERROR_CODES,
    ApiError,
    AuthenticationError,
    CausewayError,
    ConflictError,
    ErrorCode,
    IdempotencyConflictError,
    IdempotencyKeyError,
    InsufficientBalanceError,
    InvalidRequestError,
    NoAnswerError,
    NotFoundError,
    QrCodeError,
    QuoteError,
    RateLimitError,
    RefusedError,
    RequestNotPermittedError,
    ServiceError,
)
from .pagination import List
from .retry import RetryOptions
from .signing import canonical_request, new_nonce, sign_request, signature_of
from .webhooks import MemoryEventStore, MemoryNonceStore, Verification, WebhookVerifier

__version__ = "1.1.0"

__all__ = [
    "ERROR_CODES",
    "ApiError",
    "AppClient",
    "AppConnection",
    "AuthenticationError",
    "CausewayError",
    "Client",
    "ConflictError",
    "Connection",
    "Credentials",
    "ErrorCode",
    "HttpAnswer",
    "IdempotencyConflictError",
    "IdempotencyKeyError",
    "InsufficientBalanceError",
    "InvalidRequestError",
    "List",
    "MemoryEventStore",
    "MemoryNonceStore",
    "NoAnswerError",
    "NotFoundError",
    "QrCodeError",
    "QuoteError",
    "RateLimitError",
    "Receipts",
    "RefusedError",
    "RequestNotPermittedError",
    "RetryOptions",
    "Server",
    "ServiceError",
    "Session",
    "Verification",
    "WebhookVerifier",
    "canonical_request",
    "new_nonce",
    "sign_request",
    "signature_of",
]
