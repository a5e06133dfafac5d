"""Calls every operation of the Python client once, and prints its error codes.

It has the same calls, in the same order, as every_operation.ts.
"""

import json
import os

import causeway

client = causeway.Client(
    os.environ["BASE_URL"], "a_sandbox_2026q4", "sk", request_id=lambda: "trace-1"
)
intents, beneficiaries, payouts = client.payment_intents, client.beneficiaries, client.payouts
endpoints, sandbox, app = client.webhook_endpoints, client.sandbox, client.session("token")

intents.create({"corridor": "th_promptpay"}, "key")
intents.get("id_1")
list(intents.list(status="captured", partner_user_id="ü", limit=2))
intents.cancel("id_1")
intents.refund("id_1", "key")
intents.new_session("id_1", {"partner_user_id": "ü"})
intents.receipt_token("id_1")
app.get("id_1")
app.scan("id_1", {"qr_payload": "x"})
app.confirm("id_1", "key", {"quote_id": "q", "quote_version": 1})
client.receipts("token").get("id_1")
beneficiaries.create({"name": "a"})
beneficiaries.get("id_1")
beneficiaries.disable("id_1")
list(beneficiaries.list(limit=2))
payouts.create({"amount": "1"}, "key")
payouts.get("id_1")
payouts.cancel("id_1")
list(payouts.list(status="failed", reference="a b", limit=2, cursor="c"))
client.account()
client.balances()
list(client.balance_transactions.list(limit=2))
client.fx.quote({"sell_currency": "USD"})
client.fx.convert("q", "key")
endpoints.create({"url": "http://x"}, "key")
endpoints.get("id_1")
list(endpoints.list())
endpoints.update("id_1", {"url": "http://y"})
endpoints.delete("id_1")
endpoints.enable("id_1")
endpoints.disable("id_1")
endpoints.rotate_secret("id_1", {"activate_at": "2026-01-05T09:30:00Z"})
endpoints.test("id_1")
list(endpoints.deliveries("id_1", limit=2))
endpoints.recover("id_1", "2026-01-05T09:30:00Z")
list(client.events.list(after=5, limit=2))
client.events.resend("id_1", {"endpoint_id": "we_1"})
sandbox.deposit({"currency": "VND"}, "key")
sandbox.simulate_payout("id_1", "failed")
sandbox.check_signature({"method": "GET"})
sandbox.check_request({"method": "GET", "path": "/v1/balances"})

codes = {code: cls.__name__ for code, cls in causeway.ERROR_CODES.items()}
print(json.dumps(codes))
