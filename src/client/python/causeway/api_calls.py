"""Calls of signed requests, made from the operations in src/api by `make openapi`."""

from __future__ import annotations

from typing import Any, Optional, Sequence

from . import types as t
from .calls import Operations, Send
from .pagination import List, next_cursor, next_number, only_page
from .request import path_of


class PaymentIntentsCalls(Operations):
    def create(
        self,
        intent: t.CreateIntent,
        idempotency_key: Optional[str] = None,
    ) -> t.CreatedPaymentIntent:
        """Creates an intent with a ceiling in US cents and its first session token. Pass both to
        your app, which scans the code and confirms. The same `Idempotency-Key` with the same body
        returns the first answer byte for byte, token included.
        """
        return self._keyed("POST", "/v1/payment_intents", intent, idempotency_key)

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
        """Lists intents, newest first. Filters combine. A page with a `status` or `corridor`
        searches at most 2,000 intents, so it can be short or empty before the end.
        """
        return List(
            self._get,
            "/v1/payment_intents",
            {
                "status": status,
                "corridor": corridor,
                "partner_user_id": partner_user_id,
                "created_after": created_after,
                "created_before": created_before,
                "limit": limit,
                "cursor": cursor,
            },
            next_cursor,
        )

    def get(self, id: str) -> t.PaymentIntent:
        """Returns the current intent. Your backend signs; your app uses the session token of this
        intent, also after a confirm consumed it, until it expires. Poll after one second, then
        multiply the delay by 1.5 up to 15 seconds.
        """
        return self._once("GET", path_of("/v1/payment_intents", id))

    def new_session(self, id: str, user: t.NewSession) -> t.SessionToken:
        """Creates a session token when the earlier one expired. Scan, quote and deadline of the
        intent are unchanged, and earlier tokens stay valid until they expire. Each call creates a
        token.
        """
        return self._repeatable("POST", path_of("/v1/payment_intents", id, "/session"), user)

    def cancel(self, id: str) -> t.PaymentIntent:
        """Cancels an intent before its payment is submitted to the bank, which normally happens at
        once after a confirm.
        """
        return self._once("POST", path_of("/v1/payment_intents", id, "/cancel"))

    def refund(self, id: str, idempotency_key: Optional[str] = None) -> t.PaymentIntent:
        """Asks the receiving bank to return a captured payment, within 90 days and in full. The
        intent stays `captured` until the money arrives: then it is `refunded`, at the amount of its
        quote. The bank can decline, and an answer can take days.
        """
        return self._keyed(
            "POST",
            path_of("/v1/payment_intents", id, "/refund"),
            None,
            idempotency_key,
        )

    def receipt_token(self, id: str) -> t.ReceiptToken:
        """Creates a token that opens every receipt of the intent's user for five minutes, and
        nothing else.
        """
        return self._repeatable("POST", path_of("/v1/payment_intents", id, "/receipt_token"))


class BeneficiariesCalls(Operations):
    def create(self, beneficiary: t.CreateBeneficiary) -> t.Beneficiary:
        """Stores a bank account to pay out to. Each call creates one."""
        return self._once("POST", "/v1/beneficiaries", beneficiary)

    def list(
        self,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> List[t.Beneficiary]:
        """Lists beneficiaries, newest first, including disabled ones."""
        return List(self._get, "/v1/beneficiaries", {"limit": limit, "cursor": cursor}, next_cursor)

    def get(self, id: str) -> t.Beneficiary:
        """Returns the beneficiary, also when it is disabled."""
        return self._once("GET", path_of("/v1/beneficiaries", id))

    def disable(self, id: str) -> t.Beneficiary:
        """Closes the beneficiary to new payouts, permanently. Payouts in progress continue."""
        return self._repeatable("POST", path_of("/v1/beneficiaries", id, "/disable"))


class PayoutsCalls(Operations):
    def create(self, payout: t.CreatePayout, idempotency_key: Optional[str] = None) -> t.Payout:
        """Reserves `total` from your balance in the same currency and pays the beneficiary. Name
        one by `beneficiary_id`, or send one inline: exactly one of the two. A rejected payout
        leaves no trace and does not use up the key. An accepted one keeps its fees, amounts and
        account. The same `Idempotency-Key` with the same body returns the original payout with
        status 200 and `Idempotent-Replayed: true`.
        """
        return self._keyed("POST", "/v1/payouts", payout, idempotency_key)

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
        """Lists payouts, newest first. Filters combine."""
        return List(
            self._get,
            "/v1/payouts",
            {
                "status": status,
                "reference": reference,
                "beneficiary_id": beneficiary_id,
                "created_after": created_after,
                "created_before": created_before,
                "limit": limit,
                "cursor": cursor,
            },
            next_cursor,
        )

    def get(self, id: str) -> t.Payout:
        """Returns the current payout."""
        return self._once("GET", path_of("/v1/payouts", id))

    def cancel(self, id: str) -> Any:
        """Payouts cannot be cancelled: the answer is always 409 `payout_not_cancelable`."""
        return self._once("POST", path_of("/v1/payouts", id, "/cancel"))


class BalanceTransactionsCalls(Operations):
    def list(
        self,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> List[t.BalanceTransaction]:
        """Lists each change of `available` and `reserved` with its reason, newest first."""
        return List(
            self._get,
            "/v1/balance_transactions",
            {"limit": limit, "cursor": cursor},
            next_cursor,
        )


class SandboxCalls(Operations):
    def deposit(self, deposit: t.CreateDeposit, idempotency_key: Optional[str] = None) -> t.Deposit:
        """Credits test funds at once. Sandbox only: production answers 400, and deposits arrive by
        bank transfer. Without an `Idempotency-Key` each call credits.
        """
        return self._keyed("POST", "/v1/funding/deposits", deposit, idempotency_key)

    def simulate_payout(self, id: str, outcome: t.SimulatedOutcome) -> t.Payout:
        """Makes the sandbox bank report an outcome of a payout. Sandbox only: production answers
        400.
        """
        return self._once(
            "POST",
            path_of("/v1/sandbox/payouts", id, "/simulate"),
            {"outcome": outcome},
        )


class FxCalls(Operations):
    def quote(self, quote: t.CreateFxQuote) -> t.FxQuote:
        """Fixes both amounts of a conversion between two of your balances for a minute."""
        return self._repeatable("POST", "/v1/fx/quotes", quote)

    def convert(self, quote_id: str, idempotency_key: Optional[str] = None) -> t.FxConversion:
        """Sells and buys in one step at a quote, which can be used once."""
        return self._keyed("POST", "/v1/fx/conversions", {"quote_id": quote_id}, idempotency_key)


class WebhookEndpointsCalls(Operations):
    def create(
        self,
        endpoint: t.CreateWebhookEndpoint,
        idempotency_key: Optional[str] = None,
    ) -> t.WebhookEndpointWithSecret:
        """Registers a URL that receives your events as signed POSTs. The answer has the secret that
        verifies them: store it, it is not shown again but for a repetition with the same
        `Idempotency-Key`. You can have 16 endpoints.
        """
        return self._keyed("POST", "/v1/webhook_endpoints", endpoint, idempotency_key)

    def list(self) -> List[t.WebhookEndpoint]:
        """Lists all endpoints, without pages and without a query."""
        return List(self._get, "/v1/webhook_endpoints", {}, only_page)

    def get(self, id: str) -> t.WebhookEndpoint:
        """Returns the current endpoint, without its secret."""
        return self._once("GET", path_of("/v1/webhook_endpoints", id))

    def update(self, id: str, changes: t.UpdateWebhookEndpoint) -> t.WebhookEndpoint:
        """Changes the members that the body names; at least one. A changed filter applies to later
        events.
        """
        return self._repeatable("PATCH", path_of("/v1/webhook_endpoints", id), changes)

    def delete(self, id: str) -> t.WebhookEndpoint:
        """Stops all deliveries to it, permanently."""
        return self._once("DELETE", path_of("/v1/webhook_endpoints", id))

    def enable(self, id: str) -> t.WebhookEndpoint:
        """Resumes deliveries; events that were held are delivered."""
        return self._repeatable("POST", path_of("/v1/webhook_endpoints", id, "/enable"))

    def disable(self, id: str) -> t.WebhookEndpoint:
        """Holds its events until it is enabled. Your other endpoints get
        `webhook_endpoint.disabled`.
        """
        return self._repeatable("POST", path_of("/v1/webhook_endpoints", id, "/disable"))

    def rotate_secret(
        self,
        id: str,
        rotation: Optional[t.RotateSecret] = None,
    ) -> t.RotatedWebhookEndpoint:
        """Creates a secret that signs from `activate_at` on. Keep both secrets until then, and let
        the key id of each webhook choose. Another rotation before that replaces the new secret.
        """
        return self._once("POST", path_of("/v1/webhook_endpoints", id, "/rotate_secret"), rotation)

    def test(self, id: str) -> t.NumberedEvent:
        """Sends `webhook_endpoint.test` to this endpoint alone, whatever its filter, along the path
        of all events.
        """
        return self._once("POST", path_of("/v1/webhook_endpoints", id, "/test"))

    def deliveries(
        self,
        id: str,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> List[t.Delivery]:
        """Lists the deliveries of an endpoint with their attempts, newest events first. Delivered
        ones are kept for eight days, dead ones for thirty.
        """
        return List(
            self._get,
            path_of("/v1/webhook_endpoints", id, "/deliveries"),
            {"limit": limit, "cursor": cursor},
            next_cursor,
        )

    def recover(self, id: str, since: str) -> t.Recovery:
        """Retries everything that is `waiting` or `dead` for events created since a time. While
        `has_more` is true, call again.
        """
        return self._repeatable(
            "POST",
            path_of("/v1/webhook_endpoints", id, "/recover"),
            {"since": since},
        )


class EventsCalls(Operations):
    def list(
        self,
        after: Optional[int] = None,
        limit: Optional[int] = None,
    ) -> List[t.NumberedEvent]:
        """Lists your events after a number, oldest first. Pass `next_after` of the answer as
        `after` of the next call and you miss no event, however many arrive meanwhile.
        """
        return List(self._get, "/v1/events", {"after": after, "limit": limit}, next_number)

    def resend(self, id: str, to: Optional[t.ResendEvent] = None) -> t.ResentEvent:
        """Delivers an event again, whatever its outcome. Deliveries in progress are left alone, so
        a repeated call sends once.
        """
        return self._repeatable("POST", path_of("/v1/events", id, "/resend"), to)


class Calls(Operations):
    def __init__(self, send: Send) -> None:
        super().__init__(send)
        self.payment_intents = PaymentIntentsCalls(send)
        self.beneficiaries = BeneficiariesCalls(send)
        self.payouts = PayoutsCalls(send)
        self.balance_transactions = BalanceTransactionsCalls(send)
        self.sandbox = SandboxCalls(send)
        self.fx = FxCalls(send)
        self.webhook_endpoints = WebhookEndpointsCalls(send)
        self.events = EventsCalls(send)

    def balances(self) -> Sequence[t.Balance]:
        """Returns what is available and what is reserved in each currency."""
        return self._get("/v1/balances")["data"]

    def account(self) -> t.Account:
        """Returns what is configured for you in this environment: terms, limits, corridors, keys,
        source addresses, app packages and balance alerts. Secrets are never shown.
        """
        return self._once("GET", "/v1/account")
