"""Signs a webhook as the service does, so that a partner tests a receiver without the service."""

from __future__ import annotations

import json
import time
from datetime import datetime, timezone
from typing import Callable, Dict, Mapping, NamedTuple

from .signing import brand_header, canonical_request, new_nonce, signature_of


class SignedWebhook(NamedTuple):
    """A POST with the headers and the body of a delivery: the arguments of `verify`, in order."""

    method: str
    url: str
    headers: Dict[str, str]
    body: bytes


def sign_test_webhook(
    event: Mapping[str, object],
    key_id: str,
    secret: str,
    url: str = "/",
    brand: str = "Service",
    now: Callable[[], float] = time.time,
) -> SignedWebhook:
    """`event` has `id`, `type` and `data`; `url` is the path with its query.

    Each call has a new nonce: send the same result twice to test a repeated one.
    """
    at = datetime.fromtimestamp(now(), timezone.utc).isoformat(timespec="milliseconds")
    timestamp, nonce = at.replace("+00:00", "Z"), new_nonce()
    id, type = str(event["id"]), str(event["type"])
    repeated = {"webhook_event_id": id, "webhook_event_type": type, "created_at": timestamp}
    body = json.dumps({**repeated, **event}).encode()
    canonical = canonical_request("POST", url, timestamp, nonce, body)
    values = {
        "Key-Id": key_id,
        "Timestamp": timestamp,
        "Nonce": nonce,
        "Signature": signature_of(canonical, secret),
        "Webhook-Event-Id": id,
        "Webhook-Event-Type": type,
    }
    headers = {brand_header(brand, name): value for name, value in values.items()}
    return SignedWebhook("POST", url, {"Content-Type": "application/json", **headers}, body)
