"""The partner API with safe retries, for a partner's backend.

Without a key of the caller, an idempotent write gets a new UUID. Store a key of your own before the
call to survive a crash of your program.
"""

from __future__ import annotations

import time
from typing import Any, Callable, Mapping, Optional

from . import types as t
from .api_calls import Calls, PaymentIntentsCalls, PayoutsCalls, SandboxCalls
from .app import Receipts, Session
from .calls import Send
from .connection import Connection, Credentials, HttpAnswer, Transport
from .polling import INTENT_IN_PROGRESS, PAYOUT_IN_PROGRESS, POLL_WITHIN_S, poll
from .request import Attempt, Requester
from .retry import RetryOptions


class Client(Calls):
    """`timeout_s` is for each attempt, to the last byte of the answer.

    `request_id` makes a new X-Request-Id of each request, which your logs and the service's then
    share. `on_attempt` is called after each attempt, for logs and metrics; it must not raise.
    `now`, `random` and `sleep` are for tests.
    """

    def __init__(
        self,
        base_url: str,
        key_id: str,
        secret: str,
        host: Optional[str] = None,
        brand: str = "Service",
        retry: Optional[RetryOptions] = None,
        timeout_s: float = 30.0,
        request_id: Optional[Callable[[], str]] = None,
        transport: Optional[Transport] = None,
        on_attempt: Optional[Callable[[Attempt], None]] = None,
        now: Callable[[], float] = time.time,
        **for_tests: Any,
    ) -> None:
        credentials = Credentials(base_url, key_id, secret, host, brand)
        self._connection = Connection(credentials, timeout_s, now, transport)
        self._requester = Requester(retry, request_id, now, on_attempt=on_attempt, **for_tests)
        send = self._call
        super().__init__(send)
        self.payment_intents = PaymentIntents(send, self._requester)
        self.payouts = Payouts(send, self._requester)
        self.sandbox = Sandbox(send, self._check_description)

    def session(self, token: str, app_package: Optional[str] = None) -> Session:
        """Operations of an app with the session token of one intent.

        `app_package` is the bundle or application id, when the partner registered its apps.
        """
        return Session(self._connection.session(token, app_package), self._requester)

    def receipts(self, token: str) -> Receipts:
        """Operations of an app with a receipt token."""
        return Receipts(self._connection.session(token), self._requester)

    def request(
        self, method: str, path: str, body: Any = None, idempotency_key: Optional[str] = None
    ) -> HttpAnswer:
        """Any other operation.

        Give a key only where the operation takes one: it allows retries.
        """
        return self._requester.send(self._connection, method, path, body, idempotency_key)

    def _call(
        self,
        method: str,
        path: str,
        body: Any = None,
        idempotency_key: Optional[str] = None,
        is_repeatable: Optional[bool] = None,
    ) -> Any:
        return self._requester.send(
            self._connection, method, path, body, idempotency_key, is_repeatable
        ).body

    def _check_description(self, path: str, body: Any) -> Any:
        plain = self._connection.unauthenticated()
        return self._requester.send(plain, "POST", path, body, is_repeatable=True).body


class PaymentIntents(PaymentIntentsCalls):
    def __init__(self, send: Send, requester: Requester) -> None:
        super().__init__(send)
        self._requester = requester

    def poll(self, id: str, within_s: float = POLL_WITHIN_S) -> t.PaymentIntent:
        """Fetches the intent, less and less often, until its status is final or the time is over.

        A webhook avoids this.
        """
        return poll(self._requester, lambda: self.get(id), INTENT_IN_PROGRESS, within_s)


class Payouts(PayoutsCalls):
    def __init__(self, send: Send, requester: Requester) -> None:
        super().__init__(send)
        self._requester = requester

    def poll(self, id: str, within_s: float = POLL_WITHIN_S) -> t.Payout:
        """As that of an intent. A payout can take days: `processing` never means failed."""
        return poll(self._requester, lambda: self.get(id), PAYOUT_IN_PROGRESS, within_s)


class Sandbox(SandboxCalls):
    """Production rejects these."""

    def __init__(self, send: Send, check_description: Callable[[str, Any], Any]) -> None:
        super().__init__(send)
        self._check_description = check_description

    def check_signature(
        self, description: Optional[Mapping[str, str]] = None
    ) -> t.SignatureReport:
        """Without a description it checks a request that this client signs."""
        path = "/v1/sandbox/signature/check"
        if description is None:
            return self._repeatable("POST", path)
        return self._check_description(path, description)

    def check_request(self, description: t.RequestDescription) -> t.RequestReport:
        return self._check_description("/v1/sandbox/request/check", description)
