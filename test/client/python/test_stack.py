"""The Python client against a running stack, whose sandbox.json is named by SANDBOX."""

import http.server
import json
import os
import threading
import time
import unittest
import uuid

import causeway

QR = "00020101021129370016A0000006770101110113006681234567853037645802TH6304823E"
ATTESTATIONS = {
    "kyc_attestation": {
        "verified": True,
        "method": "passport",
        "verified_at": "2026-01-05T09:30:00Z",
    },
    "sanctions_attestation": {"clean": True, "screened_at": "2026-01-05T09:30:00Z"},
}
INTENT = {
    "partner_user_id": "python-1",
    "amount_usd_cents": 1250,
    "corridor": "th_promptpay",
    **ATTESTATIONS,
}
BENEFICIARY = {
    "type": "bank_account",
    "name": "Nguyễn Thị Lan",
    "destination_country": "VN",
    "currency": "VND",
    "account_number": "0071001234567",
    "bank_code": "970436",
}


def payout(**over):
    body = {"amount": "1250000", "currency": "VND", "reference": "python"}
    return {**body, "beneficiary": BENEFICIARY, **over}


class Stack(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(os.environ["SANDBOX"], encoding="utf-8") as file:
            sandbox = json.load(file)
        cls.credentials = (sandbox["base_url"], sandbox["key_id"], sandbox["signing_secret"])
        cls.client = causeway.Client(*cls.credentials)

    def until(self, what, look, seconds=60):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found = look()
            if found:
                return found
            time.sleep(0.05)
        raise AssertionError(f"timed out waiting for: {what}")

    def test_its_signature_is_valid(self):
        self.assertTrue(self.client.sandbox.check_signature()["valid"])
        wrong = causeway.Client(*self.credentials[:2], "sk_wrong")
        failed = [c["check"] for c in wrong.sandbox.check_signature()["checks"] if "help" in c]
        self.assertEqual(failed, ["signature"])
        with self.assertRaises(causeway.AuthenticationError) as caught:
            wrong.balances()
        self.assertRegex(caught.exception.request_id, "^req_")

    def test_a_payment_from_end_to_end(self):
        client = self.client
        intent = client.payment_intents.create(INTENT, "python intent")
        id = intent["intent_id"]
        self.assertEqual(client.payment_intents.create(INTENT, "python intent"), intent)
        token = client.payment_intents.new_session(
            id, {"partner_user_id": INTENT["partner_user_id"], **ATTESTATIONS}
        )
        app = causeway.AppClient(self.credentials[0]).session(token["session_token"])
        with self.assertRaises(causeway.QuoteError):
            app.confirm(id, "python confirm 0")
        with self.assertRaises(causeway.QrCodeError):
            app.scan(id, {"qr_payload": QR[:-1] + "0", "local_amount_minor_units": "25000"})
        scanned = app.scan(id, {"qr_payload": QR, "local_amount_minor_units": "25000"})
        key = str(uuid.uuid4())
        confirmed = app.confirm(id, key, scanned["quote"])
        self.assertEqual(app.confirm(id, key, scanned["quote"]), confirmed)
        captured = app.poll(id)
        self.assertEqual(captured["status"], "captured")
        receipt_token = client.payment_intents.receipt_token(id)["receipt_token"]
        self.assertEqual(client.receipts(receipt_token).get(id)["local_amount"], "250")
        listed = list(client.payment_intents.list(partner_user_id="python-1", limit=1))
        self.assertEqual([each["intent_id"] for each in listed], [id])
        refunded = client.payment_intents.refund(id, "python refund")
        self.assertIn(refunded["refund"]["status"], ("requested", "done"))

    def test_payouts_and_lists(self):
        client = self.client
        first = client.payouts.create(payout(), "python payout")
        again = client.request("POST", "/v1/payouts", payout(), "python payout")
        self.assertEqual((again.status, again.body["id"]), (200, first["id"]))
        self.assertEqual(again.headers["idempotent-replayed"], "true")
        with self.assertRaises(causeway.IdempotencyConflictError):
            client.payouts.create(payout(amount="1"), "python payout")
        for number in range(2):
            client.payouts.create(payout(), f"python payout {number}")
        listed = list(client.payouts.list(reference="python", limit=1))
        self.assertEqual(len({each["id"] for each in listed}), 3)
        self.until(
            "the payout completes",
            lambda: client.payouts.get(first["id"])["status"] == "completed",
        )
        self.assertGreater(len(list(client.balance_transactions.list(limit=2))), 3)
        beneficiary = client.beneficiaries.create(BENEFICIARY)
        self.assertIn(beneficiary["id"], [each["id"] for each in client.beneficiaries.list()])
        self.assertEqual(client.beneficiaries.disable(beneficiary["id"])["status"], "disabled")
        with self.assertRaises(causeway.InsufficientBalanceError):
            client.payouts.create(payout(amount="9000000000000"), "python too much")

    def test_funds_and_settings(self):
        client = self.client
        self.assertEqual(client.account()["keys"][0]["key_id"], self.credentials[1])
        deposit = {"currency": "USD", "amount": "5000"}
        made = client.sandbox.deposit(deposit, "python deposit")
        self.assertEqual(client.sandbox.deposit(deposit, "python deposit"), made)
        quote = client.fx.quote(
            {"sell_currency": "USD", "sell_amount": "100", "buy_currency": "VND"}
        )
        conversion = client.fx.convert(quote["id"], "python conversion")
        self.assertEqual(conversion["buy_amount"], quote["buy_amount"])
        self.assertIn("USD", [balance["currency"] for balance in client.balances()])

    def test_webhooks_and_events(self):
        client = self.client
        secrets, received = {}, []
        store = causeway.MemoryEventStore()
        verifier = causeway.WebhookVerifier(secrets.get, store)

        class Receiver(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                result = verifier.verify(self.command, self.path, self.headers, body)
                received.append(result)
                if result.event is not None:
                    store.add(result.event["id"])
                self.send_response(result.status)
                self.end_headers()

            def log_message(self, *arguments):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        url = f"http://127.0.0.1:{server.server_port}/hooks?from=python"
        # Test events alone: payments of earlier tests may end meanwhile.
        endpoint = client.webhook_endpoints.create(
            {"url": url, "enabled_events": ["payout.reversed"]}
        )
        id = endpoint["id"]
        secrets[endpoint["key_id"]] = endpoint["secret"]

        event = client.webhook_endpoints.test(id)
        arrived = self.until("the test event", lambda: received and received[0])
        self.assertEqual((arrived.kind, arrived.event), ("verified", event["event"]))
        numbered = list(client.events.list(after=event["sequence"] - 1, limit=1))
        self.assertIn(event, numbered)
        self.until(
            "the delivery is recorded",
            lambda: [each["status"] for each in client.webhook_endpoints.deliveries(id)]
            == ["delivered"],
        )
        client.events.resend(event["event"]["id"], {"endpoint_id": id})
        again = self.until("the repeated event", lambda: len(received) > 1 and received[1])
        self.assertEqual(again.kind, "duplicate")
        deliveries = list(client.webhook_endpoints.deliveries(id))
        self.assertEqual(deliveries[0]["event_id"], event["event"]["id"])
        rotated = client.webhook_endpoints.rotate_secret(id)
        self.assertNotEqual(rotated["secret"], endpoint["secret"])
        client.webhook_endpoints.update(id, {"description": "é"})
        client.webhook_endpoints.disable(id)
        self.assertEqual(client.webhook_endpoints.enable(id)["description"], "é")
        self.assertIn(id, [each["id"] for each in client.webhook_endpoints.list()])
        since = "2026-01-05T09:30:00Z"
        self.assertFalse(client.webhook_endpoints.recover(id, since)["has_more"])
        self.assertEqual(client.webhook_endpoints.delete(id)["status"], "deleted")
        with self.assertRaises(causeway.NotFoundError):
            client.webhook_endpoints.get(id)


if __name__ == "__main__":
    unittest.main()
