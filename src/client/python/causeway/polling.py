"""Polling with the back-off of the partner guide: after a second, then 1.5 times as long."""

from __future__ import annotations

from typing import Any, Callable, Container

from .request import Requester

POLL_WITHIN_S = 60.0
_POLL_FIRST_S = 1.0
_POLL_MAX_S = 15.0
_POLL_FACTOR = 1.5

INTENT_IN_PROGRESS = ("created", "authorized")
PAYOUT_IN_PROGRESS = ("created", "processing")


def poll(
    requester: Requester, get: Callable[[], Any], in_progress: Container[str], within_s: float
) -> Any:
    """Returns the latest state; when the time is over, it need not be final."""
    deadline = requester.now() + within_s
    delay = _POLL_FIRST_S
    while True:
        requester.sleep(delay * (0.75 + requester.random() / 2))
        latest = get()
        if latest["status"] not in in_progress or requester.now() >= deadline:
            return latest
        delay = min(delay * _POLL_FACTOR, _POLL_MAX_S)
