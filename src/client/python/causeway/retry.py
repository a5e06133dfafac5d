"""Retry policy: which requests are retried, and after which delay.

- 429 and a refused connection are retried: nothing was carried out.
- 500, 502, 503, 504, a 2xx whose body is not JSON, and a missing or cut answer leave the outcome
  unknown. They are retried only when the request is repeatable.
- `Retry-After` is obeyed, as seconds or as a date. A longer one than `max_retry_after_s` ends the
  retries. Without it the delay doubles, with jitter.
- The delays add up to 15 to 20 seconds by default, longer than a restart of the service.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Mapping, Optional


@dataclass(frozen=True)
class RetryOptions:
    """`attempts` counts all attempts; 1 means no retry."""

    attempts: int = 9
    first_delay_s: float = 0.25
    max_delay_s: float = 4.0
    max_retry_after_s: float = 60.0


_JITTER = 0.2
_NOT_CARRIED_OUT = 429
_OUTCOME_UNKNOWN = frozenset([500, 502, 503, 504])


def is_retried_status(status: int, is_repeatable: bool) -> bool:
    """Of an answer that is no success. A 2xx that is none is no answer of the service."""
    is_unknown = status in _OUTCOME_UNKNOWN or is_2xx(status)
    return status == _NOT_CARRIED_OUT or (is_repeatable and is_unknown)


def is_2xx(status: int) -> bool:
    return 200 <= status < 300


def is_retried_fault(fault: BaseException, is_repeatable: bool) -> bool:
    return is_repeatable or isinstance(fault, (ConnectionRefusedError, socket.gaierror))


def retry_after_s(headers: Mapping[str, str], now: float) -> Optional[float]:
    """Seconds from now, or None without a valid header."""
    value = headers.get("retry-after", "")
    if value.isascii() and value.isdigit():
        return float(value)
    until = _epoch(value)
    if until is None:
        return None
    # Both dates are of the server's clock, which may differ from this one.
    sent_at = _epoch(headers.get("date", ""))
    return max(0.0, until - (now if sent_at is None else sent_at))


def _epoch(http_date: str) -> Optional[float]:
    try:
        return parsedate_to_datetime(http_date).timestamp()
    except (TypeError, ValueError, IndexError):
        return None


def delay_s(
    attempt: int, required: Optional[float], options: RetryOptions, random: float
) -> Optional[float]:
    """Seconds to wait after the failed attempt with this number (from 1), or None: no further one.

    `random` is from 0 to 1.
    """
    least = required or 0.0
    if attempt >= options.attempts or least > options.max_retry_after_s:
        return None
    backoff = min(options.first_delay_s * 2.0 ** (attempt - 1), options.max_delay_s)
    return max(least, backoff * (1 - _JITTER + _JITTER * random))
