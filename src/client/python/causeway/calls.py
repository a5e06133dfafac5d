"""How the calls of api_calls.py are sent: with the keys and repetitions of each."""

from __future__ import annotations

import uuid
from typing import Any, Callable, Optional

Send = Callable[..., Any]


class Operations:
    def __init__(self, send: Send) -> None:
        self._send = send

    def _get(self, path: str) -> Any:
        return self._send("GET", path)

    def _once(self, method: str, path: str, body: Any = None) -> Any:
        """Not sent again after an unknown outcome, unless it reads."""
        return self._send(method, path, body)

    def _repeatable(self, method: str, path: str, body: Any = None) -> Any:
        """A repetition changes nothing more, or makes one more token or quote."""
        return self._send(method, path, body, is_repeatable=True)

    def _keyed(self, method: str, path: str, body: Any, idempotency_key: Optional[str]) -> Any:
        key = str(uuid.uuid4()) if idempotency_key is None else idempotency_key
        return self._send(method, path, body, key)
