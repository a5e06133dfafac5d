"""Signed, bearer and plain requests: one request, one answer, no retry, no redirect.

A connection is kept per thread, so one client serves many threads.
"""

from __future__ import annotations

import http.client
import io
import json
import socket
import threading
import time
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Callable, Dict, List, Mapping, Optional, Protocol, Tuple
from urllib.parse import urlsplit

from .signing import brand_header, new_nonce, sign_request

# The service closes a silent connection after about ten seconds.
_IDLE_MAX_S = 5.0
_CHUNK = 64 * 1024


@dataclass(frozen=True)
class Server:
    """`host` is the Host header, by default that of `base_url`; it selects sandbox or production.

    `brand` is the brand in the names of the service's headers.
    """

    base_url: str
    host: Optional[str] = None
    brand: str = "Service"


@dataclass(frozen=True)
class Credentials:
    """`secret` as shown when the key was issued; the other fields as in `Server`."""

    base_url: str
    key_id: str
    secret: str
    host: Optional[str] = None
    brand: str = "Service"

    def __repr__(self) -> str:
        return f"Credentials(base_url={self.base_url!r}, key_id={self.key_id!r})"


@dataclass(frozen=True)
class HttpAnswer:
    """`headers` have names in lower case; `body` is None unless it is JSON."""

    status: int
    headers: Mapping[str, str]
    text: str
    body: Any


class Sender(Protocol):
    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> HttpAnswer:
        """`body` is sent unchanged when it is text, else as JSON."""


class _WholeLines(io.BufferedReader):
    """A line without its end is a cut answer: `http.client` takes it for the last one."""

    def readline(self, size: Optional[int] = -1, /) -> bytes:
        line = super().readline(size)
        if not line.endswith(b"\n") and (size is None or len(line) != size):
            raise _Cut()
        return line


class _Response(http.client.HTTPResponse):
    def __init__(self, sock: socket.socket, *arguments: Any, **named: Any) -> None:
        super().__init__(sock, *arguments, **named)
        self.fp = _WholeLines(self.fp.detach())


class _Cut(ConnectionError):
    def __init__(self) -> None:
        super().__init__("the answer was cut")


# With the time of its last use.
_Kept = Tuple[Optional[http.client.HTTPConnection], float]


class _Http:
    def __init__(self, server: Server, timeout_s: float) -> None:
        url = urlsplit(server.base_url.rstrip("/"))
        if url.scheme not in ("http", "https") or url.hostname is None:
            raise ValueError(f"not an http or https address: {server.base_url!r}")
        is_tls = url.scheme == "https"
        self._make = http.client.HTTPSConnection if is_tls else http.client.HTTPConnection
        self._address = (url.hostname, url.port)
        self._prefix = url.path
        self._host = server.host
        self._timeout_s = timeout_s
        self._kept = threading.local()

    def send(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> HttpAnswer:
        """Raises OSError or HTTPException; the request may have been carried out nevertheless."""
        deadline = time.monotonic() + self._timeout_s
        connection = self._connection()
        own = {} if self._host is None else {"Host": self._host}
        if body:
            own["Content-Type"] = "application/json"
        keep = False
        try:
            if connection.sock is None:
                connection.connect()
            # The response can take the socket from its connection.
            sock = connection.sock
            sock.settimeout(self._timeout_s)
            connection.request(method, self._prefix + path, body or None, {**own, **headers})
            response = connection.getresponse()
            text = _read(response, sock, deadline).decode("utf-8", "replace")
            keep = not response.will_close
            response.close()
        finally:
            if keep:
                self._kept.value = (connection, time.monotonic())
            else:
                connection.close()
        names = {name.lower(): value for name, value in response.getheaders()}
        return HttpAnswer(response.status, names, text, _parsed(text))

    def _connection(self) -> http.client.HTTPConnection:
        kept: _Kept = getattr(self._kept, "value", (None, 0.0))
        connection, used_at = kept
        self._kept.value = (None, 0.0)
        if connection is not None:
            if time.monotonic() - used_at < _IDLE_MAX_S:
                return connection
            connection.close()
        host, port = self._address
        made = self._make(host, port, timeout=self._timeout_s)
        made.response_class = _Response
        return made


def _read(response: http.client.HTTPResponse, sock: socket.socket, deadline: float) -> bytes:
    """The whole body. Each wait ends at the deadline."""
    chunks: List[bytes] = []
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            raise socket.timeout("no complete answer in time")
        sock.settimeout(left)
        chunk = response.read1(_CHUNK)
        if not chunk:
            if response.length:  # `http.client` accepts a short body.
                raise _Cut()
            return b"".join(chunks)
        chunks.append(chunk)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _bytes_of(body: Any) -> bytes:
    if body is None:
        return b""
    if isinstance(body, str):
        return body.encode()
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


class _WithHeaders:
    def __init__(self, http_client: _Http, headers: Mapping[str, str]) -> None:
        self._http = http_client
        self._headers = headers

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> HttpAnswer:
        return self._http.send(method, path, _bytes_of(body), {**self._headers, **(headers or {})})


class AppConnection:
    """For an app: it has tokens and never the signing secret."""

    def __init__(self, server: Server, timeout_s: float = 30.0) -> None:
        self._http = _Http(server, timeout_s)
        self._brand = server.brand

    def session(self, token: str, app_package: Optional[str] = None) -> Sender:
        """Requests with a session or receipt token.

        `app_package` is the bundle or application id, when the partner registered its apps.
        """
        headers: Dict[str, str] = {"Authorization": f"Bearer {token}"}
        if app_package is not None:
            headers[brand_header(self._brand, "Package")] = app_package
        return _WithHeaders(self._http, headers)

    def unauthenticated(self) -> Sender:
        """Requests without credentials."""
        return _WithHeaders(self._http, {})


class Connection(AppConnection):
    """Signed requests of a partner's backend. `now` gives epoch seconds; for tests."""

    def __init__(
        self,
        credentials: Credentials,
        timeout_s: float = 30.0,
        now: Callable[[], float] = time.time,
    ) -> None:
        server = Server(credentials.base_url, credentials.host, credentials.brand)
        super().__init__(server, timeout_s)
        self._credentials = credentials
        self._now = now

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> HttpAnswer:
        """`body` is sent unchanged when it is text, else as JSON."""
        content = _bytes_of(body)
        at = datetime.fromtimestamp(self._now(), timezone.utc)
        timestamp = at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        key_id, secret = self._credentials.key_id, self._credentials.secret
        signed = sign_request(
            key_id, secret, self._brand, method, path, timestamp, new_nonce(), content
        )
        return self._http.send(method, path, content, {**signed, **(headers or {})})
