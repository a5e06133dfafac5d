"""Requests with safe retries.

- Every attempt carries the same Idempotency-Key and a signature of its own: a nonce is valid once.
- Keys are printable ASCII; the key in the answer must equal the key that was sent.
- Answers other than 2xx with JSON are raised (errors.py).
"""

from __future__ import annotations

import http.client
import json
import random as _random
import re
import time
from typing import Any, Callable, Dict, Mapping, Optional

from .connection import HttpAnswer, Sender
from .errors import IdempotencyKeyError, NoAnswerError, error_of
from .retry import (
    RetryOptions,
    delay_s,
    is_2xx,
    is_retried_fault,
    is_retried_status,
    retry_after_s,
)

# Without spaces at the ends: HTTP drops them.
_PRINTABLE_ASCII = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?")
_ID = re.compile(r"[A-Za-z0-9_-]+")


class Requester:
    """`now`, `random` and `sleep` are for tests."""

    def __init__(
        self,
        retry: Optional[RetryOptions] = None,
        request_id: Optional[Callable[[], str]] = None,
        now: Callable[[], float] = time.time,
        random: Callable[[], float] = _random.random,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._retry = retry or RetryOptions()
        self._request_id = request_id
        self.now = now
        self.random = random
        self.sleep = sleep

    def send(
        self,
        connection: Sender,
        method: str,
        path: str,
        body: Any = None,
        idempotency_key: Optional[str] = None,
        is_repeatable: Optional[bool] = None,
    ) -> HttpAnswer:
        """A repetition of a repeatable request changes nothing more.

        Default: reads, and writes with a key.
        """
        key = idempotency_key
        if key is not None and not _PRINTABLE_ASCII.fullmatch(key):
            raise IdempotencyKeyError(
                "an Idempotency-Key is 1 to 255 printable ASCII characters, "
                "without spaces at its ends",
                key,
            )
        repeatable = method == "GET" or key is not None if is_repeatable is None else is_repeatable
        headers: Dict[str, str] = {} if key is None else {"Idempotency-Key": key}
        if self._request_id is not None:
            headers["X-Request-Id"] = self._request_id()
        attempt = 1
        while True:
            after: Optional[float] = None
            try:
                answer = connection.request(method, path, body, headers)
            except (OSError, http.client.HTTPException) as fault:
                error: Exception = NoAnswerError(fault, key)
                error.__cause__ = fault
                is_retried = is_retried_fault(fault, repeatable)
            else:
                _check_echo(answer.headers, key)
                # Every answer of the service is a JSON object.
                if is_2xx(answer.status) and isinstance(answer.body, dict):
                    return answer
                after = retry_after_s(answer.headers, self.now())
                error = error_of(answer.status, answer.headers, answer.body, key, after)
                is_retried = is_retried_status(answer.status, repeatable)
            delay = delay_s(attempt, after, self._retry, self.random()) if is_retried else None
            if delay is None:
                raise error
            self.sleep(delay)
            attempt += 1


def _check_echo(headers: Mapping[str, str], sent: Optional[str]) -> None:
    """HTTP drops bytes beyond ASCII at both ends of a header: two keys would become one."""
    received = headers.get("idempotency-key")
    if sent is None or received is None or received == sent:
        return
    raise IdempotencyKeyError(
        f"the service received the key {json.dumps(received)} instead of {json.dumps(sent)}", sent
    )


def path_of(before: str, id: str, after: str = "") -> str:
    """A path with one id. Raises ValueError when it is no id: it could name another path."""
    if not _ID.fullmatch(id):
        raise ValueError(f"not an id: {id!r}")
    return f"{before}/{id}{after}"
