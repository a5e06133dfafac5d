"""Signed, bearer and plain requests: one request, one answer, no retry, no redirect.

A connection is kept per thread, so one client serves many threads.
"""

from __future__ import annotations

import base64
import http.client
import io
import json
import platform
import socket
import ssl
import threading
import time
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Callable, Dict, List, Mapping, Optional, Protocol, Tuple
from urllib.parse import SplitResult, unquote, urlsplit

from .signing import brand_header, new_nonce, sign_request
from .version import VERSION

# The service closes a silent connection after about ten seconds.
_IDLE_MAX_S = 5.0
_CHUNK = 64 * 1024
_USER_AGENT = f"causeway-client-python/{VERSION} python/{platform.python_version()}"


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
class Transport:
    """`proxy` is for example `http://user:password@proxy.example:3128`.

    An https address is reached through a tunnel (CONNECT), so a proxy sees no request.
    `ssl_context` is for own authorities or client certificates. `user_agent`, the name and version
    of your program, is added to the `User-Agent`.
    """

    proxy: Optional[str] = None
    ssl_context: Optional[ssl.SSLContext] = None
    user_agent: Optional[str] = None


@dataclass(frozen=True)
class HttpAnswer:
    """`headers` have names in lower case; `body` is None unless it is JSON."""

    status: int
    headers: Mapping[str, str]
    text: str
    body: Any


class Sender(Protocol):
    @property
    def key_id(self) -> Optional[str]:
        """Of the key that signs; None: requests are not signed."""

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


def _address(text: str, schemes: Tuple[str, ...] = ("http", "https")) -> SplitResult:
    url = urlsplit(text.rstrip("/"))
    if url.scheme not in schemes or url.hostname is None:
        raise ValueError(f"not an {' or '.join(schemes)} address: {text!r}")
    return url


def _credentials(proxy: SplitResult) -> Dict[str, str]:
    if proxy.username is None:
        return {}
    text = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": "Basic " + base64.b64encode(text.encode()).decode()}


class _Http:
    def __init__(self, server: Server, timeout_s: float, transport: Transport) -> None:
        url = _address(server.base_url)
        self._url = url
        self._proxy = None if transport.proxy is None else _address(transport.proxy, ("http",))
        self._context = transport.ssl_context
        self._prefix = url.path
        self._headers = {"User-Agent": " ".join(filter(None, [_USER_AGENT, transport.user_agent]))}
        if server.host is not None:
            self._headers["Host"] = server.host
        if self._proxy is not None and url.scheme == "http":
            # The proxy is asked for the whole address.
            self._prefix = f"http://{url.netloc}{url.path}"
            self._headers = {"Host": url.netloc, **self._headers, **_credentials(self._proxy)}
        self._timeout_s = timeout_s
        self._kept = threading.local()

    def send(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> HttpAnswer:
        """Raises OSError or HTTPException; the request may have been carried out nevertheless."""
        if not path.startswith("/"):  # Over a proxy it could name another host.
            raise ValueError(f"not a path: {path!r}")
        deadline = time.monotonic() + self._timeout_s
        connection = self._connection()
        own = dict(self._headers)
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
        made = self._make()
        made.response_class = _Response
        return made

    def _make(self) -> http.client.HTTPConnection:
        url, proxy, timeout = self._url, self._proxy, self._timeout_s
        service, port = url.hostname or "", url.port or (443 if url.scheme == "https" else 80)
        to, to_port = (service, port) if proxy is None else (proxy.hostname or "", proxy.port or 80)
        if url.scheme == "http":
            return http.client.HTTPConnection(to, to_port, timeout=timeout)
        made = http.client.HTTPSConnection(to, to_port, timeout=timeout, context=self._context)
        if proxy is not None:
            made.set_tunnel(service, port, _credentials(proxy))
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
    key_id: Optional[str] = None

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

    def __init__(
        self, server: Server, timeout_s: float = 30.0, transport: Optional[Transport] = None
    ) -> None:
        self._http = _Http(server, timeout_s, transport or Transport())
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
        transport: Optional[Transport] = None,
    ) -> None:
        for name in ("key_id", "secret"):
            if not getattr(credentials, name):
                raise ValueError(f"{name} is missing")
        server = Server(credentials.base_url, credentials.host, credentials.brand)
        super().__init__(server, timeout_s, transport)
        self._credentials = credentials
        self._now = now
        self.key_id: Optional[str] = credentials.key_id

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
