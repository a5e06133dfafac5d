"""Makes a payout with each key of KEYS, and prints those that did not end as they should."""

import json
import os

import causeway

client = causeway.Client(
    os.environ["BASE_URL"], "a_sandbox_2026q4", "sk", sleep=lambda _seconds: None
)
payout = {"amount": "1", "currency": "VND", "beneficiary_id": "ben_1", "reference": "r"}
wrong = []
for key in os.environ["KEYS"].split():
    try:
        outcome = client.payouts.create(payout, key)["status"]
    except causeway.ConflictError:
        outcome = "refused"
    except causeway.CausewayError as error:
        outcome = f"{type(error).__name__}: {error}"
    if outcome != ("refused" if key.startswith("refused") else "processing"):
        wrong.append(f"{key}: {outcome}")
print(json.dumps(wrong))
