"""The partner API with safe retries, for a partner's backend.

Without a key of the caller, an idempotent write gets a new UUID. Store a key of your own before the
call to survive a crash of your program.
"""

from __future__ import annotations

import time
import uuid
from typing import Any, Callable, Mapping, Optional, Sequence

from . import types as t
from .app import Receipts, Session
from .connection import Connection, Credentials, HttpAnswer, Transport
from .pagination import List, next_cursor, next_number, only_page
from .polling import INTENT_IN_PROGRESS, PAYOUT_IN_PROGRESS, POLL_WITHIN_S, poll
from .request import Attempt, Requester, path_of
from .retry import RetryOptions

_INTENTS = "/v1/payment_intents"
_BENEFICIARIES = "/v1/beneficiaries"
_PAYOUTS = "/v1/payouts"
_ENDPOINTS = "/v1/webhook_endpoints"
_EVENTS = "/v1/events"


class Client:
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
        call = self._call
        self.payment_intents = PaymentIntents(call, self._requester)
        self.beneficiaries = Beneficiaries(call)
        self.payouts = Payouts(call, self._requester)
        self.balance_transactions = BalanceTransactions(call)
        self.fx = Fx(call)
        self.webhook_endpoints = WebhookEndpoints(call)
        self.events = Events(call)
        self.sandbox = Sandbox(call, self._check_description)

    def account(self) -> t.Account:
        """Your own settings."""
        return self._call("GET", "/v1/account")

    def balances(self) -> Sequence[t.Balance]:
        return self._call("GET", "/v1/balances")["data"]

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


def _key(given: Optional[str]) -> str:
    return str(uuid.uuid4()) if given is None else given


class _Operations:
    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def _get(self, path: str) -> Any:
        return self._call("GET", path)

    def _repeatable(self, path: str, body: Any = None, method: str = "POST") -> Any:
        """A repetition changes nothing more, or makes one more token or quote."""
        return self._call(method, path, body, is_repeatable=True)

    def _list(self, path: str, **parameters: Any) -> List[Any]:
        return List(self._get, path, parameters, next_cursor)


class _Polled(_Operations):
    def __init__(self, call: Callable[..., Any], requester: Requester) -> None:
        super().__init__(call)
        self._requester = requester


class PaymentIntents(_Polled):
    def create(
        self, intent: t.CreateIntent, idempotency_key: Optional[str] = None
    ) -> t.CreatedPaymentIntent:
        return self._call("POST", _INTENTS, intent, _key(idempotency_key))

    def get(self, id: str) -> t.PaymentIntent:
        return self._get(path_of(_INTENTS, id))

    def list(
        self,
        status: Optional[t.IntentStatus] = None,
        corridor: Optional[t.Corridor] = None,
        partner_user_id: Optional[str] = None,
        created_after: Optional[str] = None,
        created_before: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> List[t.PaymentIntent]:
        return self._list(
            _INTENTS,
            status=status,
            corridor=corridor,
            partner_user_id=partner_user_id,
            created_after=created_after,
            created_before=created_before,
            limit=limit,
            cursor=cursor,
        )

    def cancel(self, id: str) -> t.PaymentIntent:
        return self._call("POST", path_of(_INTENTS, id, "/cancel"))

    def refund(self, id: str, idempotency_key: Optional[str] = None) -> t.PaymentIntent:
        """Answered before the money is back: the intent becomes `refunded` when it arrives."""
        return self._call("POST", path_of(_INTENTS, id, "/refund"), None, _key(idempotency_key))

    def poll(self, id: str, within_s: float = POLL_WITHIN_S) -> t.PaymentIntent:
        """Fetches the intent, less and less often, until its status is final or the time is over.

        A webhook avoids this.
        """
        return poll(self._requester, lambda: self.get(id), INTENT_IN_PROGRESS, within_s)

    def new_session(self, id: str, user: t.NewSession) -> t.SessionToken:
        return self._repeatable(path_of(_INTENTS, id, "/session"), user)

    def receipt_token(self, id: str) -> t.ReceiptToken:
        return self._repeatable(path_of(_INTENTS, id, "/receipt_token"))


class Beneficiaries(_Operations):
    def create(self, beneficiary: t.CreateBeneficiary) -> t.Beneficiary:
        return self._call("POST", _BENEFICIARIES, beneficiary)

    def get(self, id: str) -> t.Beneficiary:
        return self._get(path_of(_BENEFICIARIES, id))

    def disable(self, id: str) -> t.Beneficiary:
        return self._repeatable(path_of(_BENEFICIARIES, id, "/disable"))

    def list(
        self, limit: Optional[int] = None, cursor: Optional[str] = None
    ) -> List[t.Beneficiary]:
        return self._list(_BENEFICIARIES, limit=limit, cursor=cursor)


class Payouts(_Polled):
    def create(self, payout: t.CreatePayout, idempotency_key: Optional[str] = None) -> t.Payout:
        return self._call("POST", _PAYOUTS, payout, _key(idempotency_key))

    def get(self, id: str) -> t.Payout:
        return self._get(path_of(_PAYOUTS, id))

    def poll(self, id: str, within_s: float = POLL_WITHIN_S) -> t.Payout:
        """As that of an intent. A payout can take days: `processing` never means failed."""
        return poll(self._requester, lambda: self.get(id), PAYOUT_IN_PROGRESS, within_s)

    def cancel(self, id: str) -> t.Payout:
        """Today every payout refuses it with `payout_not_cancelable`."""
        return self._call("POST", path_of(_PAYOUTS, id, "/cancel"))

    def list(
        self,
        status: Optional[t.PayoutStatus] = None,
        reference: Optional[str] = None,
        beneficiary_id: Optional[str] = None,
        created_after: Optional[str] = None,
        created_before: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> List[t.Payout]:
        return self._list(
            _PAYOUTS,
            status=status,
            reference=reference,
            beneficiary_id=beneficiary_id,
            created_after=created_after,
            created_before=created_before,
            limit=limit,
            cursor=cursor,
        )


class BalanceTransactions(_Operations):
    def list(
        self, limit: Optional[int] = None, cursor: Optional[str] = None
    ) -> List[t.BalanceTransaction]:
        return self._list("/v1/balance_transactions", limit=limit, cursor=cursor)


class Fx(_Operations):
    def quote(self, quote: t.CreateFxQuote) -> t.FxQuote:
        return self._repeatable("/v1/fx/quotes", quote)

    def convert(self, quote_id: str, idempotency_key: Optional[str] = None) -> t.FxConversion:
        key = _key(idempotency_key)
        return self._call("POST", "/v1/fx/conversions", {"quote_id": quote_id}, key)


class WebhookEndpoints(_Operations):
    def create(
        self, endpoint: t.CreateWebhookEndpoint, idempotency_key: Optional[str] = None
    ) -> t.WebhookEndpointWithSecret:
        """The same key gives the same endpoint with its secret again."""
        return self._call("POST", _ENDPOINTS, endpoint, _key(idempotency_key))

    def get(self, id: str) -> t.WebhookEndpoint:
        return self._get(path_of(_ENDPOINTS, id))

    def list(self) -> List[t.WebhookEndpoint]:
        """All endpoints; there is one page."""
        return List(self._get, _ENDPOINTS, {}, only_page)

    def update(self, id: str, changes: t.UpdateWebhookEndpoint) -> t.WebhookEndpoint:
        return self._repeatable(path_of(_ENDPOINTS, id), changes, "PATCH")

    def delete(self, id: str) -> t.WebhookEndpoint:
        return self._call("DELETE", path_of(_ENDPOINTS, id))

    def enable(self, id: str) -> t.WebhookEndpoint:
        return self._repeatable(path_of(_ENDPOINTS, id, "/enable"))

    def disable(self, id: str) -> t.WebhookEndpoint:
        return self._repeatable(path_of(_ENDPOINTS, id, "/disable"))

    def rotate_secret(
        self, id: str, rotation: Optional[t.RotateSecret] = None
    ) -> t.RotatedWebhookEndpoint:
        """A repetition replaces the scheduled secret."""
        return self._call("POST", path_of(_ENDPOINTS, id, "/rotate_secret"), rotation)

    def test(self, id: str) -> t.NumberedEvent:
        return self._call("POST", path_of(_ENDPOINTS, id, "/test"))

    def deliveries(
        self, id: str, limit: Optional[int] = None, cursor: Optional[str] = None
    ) -> List[t.Delivery]:
        return self._list(path_of(_ENDPOINTS, id, "/deliveries"), limit=limit, cursor=cursor)

    def recover(self, id: str, since: str) -> t.Recovery:
        return self._repeatable(path_of(_ENDPOINTS, id, "/recover"), {"since": since})


class Events(_Operations):
    def list(
        self, after: Optional[int] = None, limit: Optional[int] = None
    ) -> List[t.NumberedEvent]:
        """Ends at the newest event; store the last `sequence` and continue `after` it later."""
        return List(self._get, _EVENTS, {"after": after, "limit": limit}, next_number)

    def resend(self, id: str, to: Optional[t.ResendEvent] = None) -> t.ResentEvent:
        return self._repeatable(path_of(_EVENTS, id, "/resend"), to)


class Sandbox(_Operations):
    """Production rejects these."""

    def __init__(
        self, call: Callable[..., Any], check_description: Callable[[str, Any], Any]
    ) -> None:
        super().__init__(call)
        self._check_description = check_description

    def deposit(
        self, deposit: t.CreateDeposit, idempotency_key: Optional[str] = None
    ) -> t.Deposit:
        return self._call("POST", "/v1/funding/deposits", deposit, _key(idempotency_key))

    def simulate_payout(self, id: str, outcome: t.SimulatedOutcome) -> t.Payout:
        path = path_of("/v1/sandbox/payouts", id, "/simulate")
        return self._call("POST", path, {"outcome": outcome})

    def check_signature(
        self, description: Optional[Mapping[str, str]] = None
    ) -> t.SignatureReport:
        """Without a description it checks a request that this client signs."""
        path = "/v1/sandbox/signature/check"
        if description is None:
            return self._repeatable(path)
        return self._check_description(path, description)

    def check_request(self, description: t.RequestDescription) -> t.RequestReport:
        return self._check_description("/v1/sandbox/request/check", description)
