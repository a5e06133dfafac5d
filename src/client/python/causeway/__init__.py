"""Client of the Causeway partner API. Standard library only."""

from .app import AppClient, Receipts, Session
from .client import Client
from .connection import AppConnection, Connection, Credentials, HttpAnswer, Server, Transport
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
from .request import Attempt
from .response import Response, response_of
from .retry import RetryOptions
from .signing import canonical_request, new_nonce, sign_request, signature_of
from .version import VERSION
from .webhook_signing import SignedWebhook, sign_test_webhook
from .webhooks import MemoryEventStore, MemoryNonceStore, Verification, WebhookVerifier

__version__ = VERSION

__all__ = [
    "ERROR_CODES",
    "ApiError",
    "AppClient",
    "AppConnection",
    "Attempt",
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
    "Response",
    "RetryOptions",
    "Server",
    "ServiceError",
    "Session",
    "SignedWebhook",
    "Transport",
    "Verification",
    "WebhookVerifier",
    "canonical_request",
    "new_nonce",
    "response_of",
    "sign_request",
    "sign_test_webhook",
    "signature_of",
]
