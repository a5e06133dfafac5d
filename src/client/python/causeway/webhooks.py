"""Webhook verification for receivers.

- The raw body is verified before it is parsed.
- A timestamp outside the window and a repeated nonce are refused.
- Process an event once: answer a `duplicate` and do nothing.
- A 4xx is final for the sender, so only a wrong signature under a known key has one. Everything
  else can heal: the next attempt has a new timestamp and nonce, and finds a loaded secret.
"""

from __future__ import annotations

import json
import re
import threading
import time
from dataclasses import dataclass
from datetime import datetime
from typing import Callable, Dict, Mapping, Optional, Protocol, cast

from .signing import brand_header, canonical_request, is_signature_of
from .types import WebhookEvent

_TIMESTAMP_WINDOW_S = 5 * 60.0
_NONCE_WINDOW_S = 10 * 60.0
_NONCE = re.compile(r"[0-9a-f]{64}")
_TIMESTAMP = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(\.\d{1,9})?(?:[Zz]|[+-]00:00)", re.ASCII
)


@dataclass(frozen=True)
class Verification:
    """`kind` is `verified`, `duplicate` (valid, and stored before) or `refused`.

    `status` is the HTTP status to answer, for a verified event when it is stored. A refused request
    has a `fault` and no event: `unknown_key`, `timestamp_outside_window`, `nonce_repeated`,
    `wrong_signature` or `headers_contradict_body`.
    """

    kind: str
    event: Optional[WebhookEvent] = None
    fault: Optional[str] = None

    @property
    def status(self) -> int:
        if self.kind != "refused":
            return 204
        return 401 if self.fault == "wrong_signature" else 503


class EventStore(Protocol):
    """Ids of stored events.

    Keep them with the events, in the same transaction and under a unique key: two deliveries of one
    event can arrive at the same time.
    """

    def has(self, event_id: str) -> bool: ...


class NonceStore(Protocol):
    """Seen nonces. Share the store between receivers."""

    def add(self, nonce: str, at: float) -> bool:
        """Returns False when the nonce was there before. `at` is in epoch seconds."""


class MemoryEventStore:
    """For receivers that need no database: the newest ids, lost at a restart."""

    def __init__(self, max_events: int = 100_000) -> None:
        self._ids: Dict[str, None] = {}
        self._max = max_events
        self._lock = threading.Lock()

    def has(self, event_id: str) -> bool:
        return event_id in self._ids

    def add(self, event_id: str) -> bool:
        """Call it when the event is processed. Returns False when it was there before."""
        with self._lock:
            if event_id in self._ids:
                return False
            self._ids[event_id] = None
            while len(self._ids) > self._max:
                del self._ids[next(iter(self._ids))]
            return True


class MemoryNonceStore:
    """Nonces in the memory of one process."""

    def __init__(self) -> None:
        self._seen: Dict[str, float] = {}
        self._lock = threading.Lock()

    def add(self, nonce: str, at: float) -> bool:
        with self._lock:
            while self._seen:
                oldest = next(iter(self._seen))
                if self._seen[oldest] >= at - _NONCE_WINDOW_S:
                    break
                del self._seen[oldest]
            if nonce in self._seen:
                return False
            self._seen[nonce] = at
            return True


class WebhookVerifier:
    """`secret_of` gives the webhook secret of a key id; during a rotation there are two."""

    def __init__(
        self,
        secret_of: Callable[[str], Optional[str]],
        events: EventStore,
        nonces: Optional[NonceStore] = None,
        brand: str = "Service",
        now: Callable[[], float] = time.time,
    ) -> None:
        self._secret_of = secret_of
        self._events = events
        self._nonces = MemoryNonceStore() if nonces is None else nonces
        self._brand = brand
        self._now = now

    def verify(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes
    ) -> Verification:
        """`url` is the unchanged path with its query, `body` the bytes as they came.

        `headers` may be of any case; `http.server` and WSGI frameworks give such mappings.
        """
        named = {name.lower(): value for name, value in headers.items()}

        def header(name: str) -> str:
            return named.get(brand_header(self._brand, name).lower(), "")

        fault = self._fault(header, method, url, body)
        if fault is not None:
            return Verification("refused", fault=fault)
        event = _event(body, header("Webhook-Event-Id"), header("Webhook-Event-Type"))
        if event is None:
            return Verification("refused", fault="headers_contradict_body")
        is_stored = self._events.has(event["id"])
        return Verification("duplicate" if is_stored else "verified", event)

    def _fault(
        self, header: Callable[[str], str], method: str, url: str, body: bytes
    ) -> Optional[str]:
        secret = self._secret_of(header("Key-Id"))
        if not secret:  # Anyone can sign with an empty one.
            return "unknown_key"
        timestamp, nonce = header("Timestamp"), header("Nonce")
        sent_at = _epoch(timestamp)
        now = self._now()
        if sent_at is None or abs(now - sent_at) > _TIMESTAMP_WINDOW_S:
            return "timestamp_outside_window"
        canonical = canonical_request(method, url, timestamp, nonce, body)
        if not is_signature_of(header("Signature"), canonical, secret):
            return "wrong_signature"
        is_new = _NONCE.fullmatch(nonce) is not None and self._nonces.add(nonce, now)
        return None if is_new else "nonce_repeated"


def _epoch(timestamp: str) -> Optional[float]:
    parts = _TIMESTAMP.fullmatch(timestamp)
    if parts is None:
        return None
    day, second, fraction = parts.groups()
    try:
        return datetime.fromisoformat(f"{day}T{second}+00:00").timestamp() + float(fraction or 0)
    except ValueError:
        return None


def _event(body: bytes, id: str, type: str) -> Optional[WebhookEvent]:
    try:
        event = json.loads(body)
    except ValueError:
        return None
    if not isinstance(event, dict):
        return None
    ids = event.get("id") == id and event.get("webhook_event_id") == id
    types = event.get("type") == type and event.get("webhook_event_type") == type
    return cast(WebhookEvent, event) if ids and types else None
