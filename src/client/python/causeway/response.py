"""What an answer has beside its body: status, headers, request id.

A result is a dictionary; the details are an attribute of it, so it compares and serializes as one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, Mapping, Optional


@dataclass(frozen=True)
class Response:
    """`headers` have names in lower case. Quote `request_id` to support.

    `replayed` tells whether a key repeated an earlier answer; None: the operation does not say.
    `idempotency_key` is the key that was sent, also a generated one. `attempts` is their number.
    """

    status: int
    headers: Mapping[str, str]
    request_id: str
    replayed: Optional[bool]
    idempotency_key: Optional[str]
    attempts: int

    @staticmethod
    def of(
        status: int, headers: Mapping[str, str], idempotency_key: Optional[str], attempts: int
    ) -> Response:
        value = headers.get("idempotent-replayed")
        replayed = None if value is None else value == "true"
        request_id = request_id_of(headers)
        return Response(status, headers, request_id, replayed, idempotency_key, attempts)


class Result(Dict[str, Any]):
    """A JSON object of the service with its response."""

    def __init__(self, body: Mapping[str, Any], response: Response) -> None:
        super().__init__(body)
        self.response = response


def response_of(result: Mapping[str, Any]) -> Response:
    """Raises TypeError when this is no result of a client."""
    if not isinstance(result, Result):
        raise TypeError("not a result of a client")
    return result.response


def request_id_of(headers: Mapping[str, str]) -> str:
    return headers.get("x-request-id", "")
