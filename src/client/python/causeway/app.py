"""The operations of an app: scan, confirm and poll with the session token of one intent, and
receipts with a receipt token. An app never has the signing secret.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Mapping, Optional

from . import types as t
from .connection import AppConnection, Sender, Server, Transport
from .polling import INTENT_IN_PROGRESS, POLL_WITHIN_S, poll
from .request import Attempt, Requester, path_of
from .retry import RetryOptions

_INTENTS = "/v1/payment_intents"


class AppClient:
    """A client without a signing secret: its tokens come from the partner's backend."""

    def __init__(
        self,
        base_url: str,
        app_package: Optional[str] = None,
        host: Optional[str] = None,
        brand: str = "Service",
        retry: Optional[RetryOptions] = None,
        timeout_s: float = 30.0,
        request_id: Optional[Callable[[], str]] = None,
        transport: Optional[Transport] = None,
        on_attempt: Optional[Callable[[Attempt], None]] = None,
        **for_tests: Any,
    ) -> None:
        self._connection = AppConnection(Server(base_url, host, brand), timeout_s, transport)
        self._requester = Requester(retry, request_id, on_attempt=on_attempt, **for_tests)
        self._app_package = app_package

    def session(self, token: str) -> Session:
        """Operations with the session token of one intent."""
        return Session(self._connection.session(token, self._app_package), self._requester)

    def receipts(self, token: str) -> Receipts:
        """Operations with a receipt token."""
        return Receipts(self._connection.session(token), self._requester)


class Session:
    """Operations with the session token of one intent."""

    def __init__(self, connection: Sender, requester: Requester) -> None:
        self._connection = connection
        self._requester = requester

    def get(self, intent_id: str) -> t.PaymentIntent:
        return self._requester.send(self._connection, "GET", path_of(_INTENTS, intent_id)).body

    def scan(self, intent_id: str, scan: t.Scan) -> t.ScanResult:
        """A new scan replaces the quote."""
        path = path_of(_INTENTS, intent_id, "/scan")
        return self._requester.send(
            self._connection, "POST", path, scan, is_repeatable=True
        ).body

    def confirm(
        self, intent_id: str, idempotency_key: str, quote: Optional[Mapping[str, Any]] = None
    ) -> t.PaymentIntent:
        """Store the key before the call: only the same key makes a repeated confirm safe.

        `quote` is the one that the user saw; another one is a QuoteError.
        """
        path = path_of(_INTENTS, intent_id, "/confirm")
        body: Dict[str, Any] = {}
        if quote is not None:
            body = {"quote_id": quote["quote_id"], "quote_version": quote["quote_version"]}
        return self._requester.send(self._connection, "POST", path, body, idempotency_key).body

    def poll(self, intent_id: str, within_s: float = POLL_WITHIN_S) -> t.PaymentIntent:
        """Fetches the intent, less and less often, until its status is final or the time is over.

        Returns the latest intent: `authorized` never means failed. Then show "payment in progress"
        and do not let the user pay again.
        """
        return poll(self._requester, lambda: self.get(intent_id), INTENT_IN_PROGRESS, within_s)


class Receipts:
    """Operations with a receipt token."""

    def __init__(self, connection: Sender, requester: Requester) -> None:
        self._connection = connection
        self._requester = requester

    def get(self, intent_id: str) -> t.Receipt:
        path = path_of(_INTENTS, intent_id, "/receipt")
        return self._requester.send(self._connection, "GET", path).body
