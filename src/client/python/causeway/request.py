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
from dataclasses import dataclass, replace
from email.utils import mktime_tz, parsedate_tz
from itertools import count
from typing import Any, Callable, Dict, Mapping, Optional

from .connection import HttpAnswer, Sender
from .errors import CausewayError, IdempotencyKeyError, NoAnswerError, error_of
from .response import Response, Result, request_id_of
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
_CLOCK_MAX_S = 5 * 60
_ID = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True)
class Attempt:
    """One attempt of a call. Paths, keys and ids are no secrets; bodies and tokens are not in it.

    `number` is from 1. Without an answer, `status` is None and `error` says why. `retry_in_s` is
    None after the last one.
    """

    method: str
    path: str
    number: int
    status: Optional[int]
    request_id: str
    error: Optional[Exception]
    idempotency_key: Optional[str]
    duration_s: float
    retry_in_s: Optional[float]


class Requester:
    """`now`, `random` and `sleep` are for tests."""

    def __init__(
        self,
        retry: Optional[RetryOptions] = None,
        request_id: Optional[Callable[[], str]] = None,
        now: Callable[[], float] = time.time,
        random: Callable[[], float] = _random.random,
        sleep: Callable[[float], None] = time.sleep,
        on_attempt: Optional[Callable[[Attempt], None]] = None,
    ) -> None:
        self._on_attempt = on_attempt
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
        for number in count(1):
            started_at = time.monotonic()
            answer: Optional[HttpAnswer] = None
            error: Optional[CausewayError] = None
            after: Optional[float] = None
            is_retried = False
            try:
                answer = connection.request(method, path, body, headers)
            except (OSError, http.client.HTTPException) as fault:
                error = NoAnswerError(fault, key)
                error.__cause__ = fault
                is_retried = is_retried_fault(fault, repeatable)
            else:
                # Every answer of the service is a JSON object.
                if not is_2xx(answer.status) or not isinstance(answer.body, dict):
                    after = retry_after_s(answer.headers, self.now())
                    error = error_of(
                        answer.status,
                        answer.headers,
                        answer.body,
                        key,
                        after,
                        _advice_on(answer, connection.key_id, self.now()),
                    )
                    is_retried = is_retried_status(answer.status, repeatable)
            delay = delay_s(number, after, self._retry, self.random()) if is_retried else None
            if self._on_attempt is not None:
                self._on_attempt(
                    Attempt(
                        method=method,
                        path=path,
                        number=number,
                        status=None if answer is None else answer.status,
                        request_id="" if answer is None else request_id_of(answer.headers),
                        error=error if answer is None else None,
                        idempotency_key=key,
                        duration_s=time.monotonic() - started_at,
                        retry_in_s=delay,
                    )
                )
            if answer is not None:
                _check_echo(answer.headers, key)
                if error is None:
                    response = Response.of(answer.status, answer.headers, key, number)
                    return replace(answer, body=Result(answer.body, response))
            if delay is None and error is not None:
                raise error
            self.sleep(delay or 0.0)
        raise AssertionError("the last attempt returns or raises")


def _advice_on(answer: HttpAnswer, key_id: Optional[str], now: float) -> str:
    """What the service does not say of a refused signature: its answer is the same for each cause."""
    if answer.status != 401 or key_id is None:
        return ""
    sent_at = parsedate_tz(answer.headers.get("date", ""))
    ahead_s = 0.0 if sent_at is None else now - mktime_tz(sent_at)
    if abs(ahead_s) > _CLOCK_MAX_S:
        side = "ahead of" if ahead_s > 0 else "behind"
        return f" Your clock is {abs(ahead_s):.0f} s {side} the service's."
    return " client.sandbox.check_signature() tells why." if "_sandbox_" in key_id else ""


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
