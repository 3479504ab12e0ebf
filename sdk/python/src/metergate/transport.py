"""HTTP/1.1 over connections that are kept, with a time limit for the whole response. No dependencies."""

from __future__ import annotations

import contextlib
import http.client
import os
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from functools import partial
from typing import NamedTuple
from urllib.parse import urlsplit

from .errors import MetergateError
from .timed_response import TimedResponse
from .version import VERSION

API_BASE = "/api/v1"
#: 500 results with the longest keys and messages have less than 2 MiB.
RESPONSE_BYTES_MAX = 8 * 1024 * 1024
#: Of connections that wait for their next request.
IDLE_MAX = 8
_READ_BYTES = 64 * 1024
_NONE: Mapping[str, str] = {}


class Response(NamedTuple):
    status: int
    #: Names are in lower case.
    headers: Mapping[str, str]
    body: bytes


class _Request(NamedTuple):
    method: str
    target: str
    body: bytes | None
    headers: dict[str, str]
    #: Of the monotonic clock.
    deadline: float


class Transport:
    """Requests to one server. Threads may share it. Redirects are not followed: a key is for one origin."""

    def __init__(
        self,
        url: str,
        key: str,
        *,
        timeout_seconds: float = 15.0,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        parts = urlsplit(url)
        if "@" in parts.netloc:
            # Not shown: it may have a password.
            raise ValueError("url must not have a user or a password: the key is a parameter of its own")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"url must be like https://metergate.example.com, and is {url!r}")
        if not key or not key.isascii() or not key.isprintable():
            raise ValueError("key must be an API key such as sk_live_…")
        self._host, self._port = parts.hostname, parts.port
        self._base = parts.path.rstrip("/")
        if not self._base.endswith(API_BASE):
            self._base += API_BASE
        self._timeout_seconds = timeout_seconds
        self._tls = ssl_context or ssl.create_default_context() if parts.scheme == "https" else None
        self._headers = {"Authorization": f"Bearer {key}", "User-Agent": f"metergate-python/{VERSION}"}
        self._begin()

    def request(
        self,
        method: str,
        path: str,
        *,
        body: bytes | None = None,
        headers: Mapping[str, str] = _NONE,
        timeout_seconds: float | None = None,
    ) -> Response:
        """Raises MetergateError with code `unreachable`: then the outcome is unknown."""
        if self._pid != os.getpid():
            self._abandon()
        deadline = time.monotonic() + (timeout_seconds or self._timeout_seconds)
        request = _Request(method, self._base + path, body, {**self._headers, **headers}, deadline)
        aborts, connection = self._aborts, self._take_idle()
        try:
            if connection is not None:
                try:
                    return self._exchange(connection, request)
                except (ConnectionError, http.client.BadStatusLine):
                    # The server had closed it meanwhile. What changes something has a key.
                    pass
            return self._exchange(self._connect(aborts, deadline - time.monotonic()), request)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise MetergateError("unreachable", f"No response: {error or type(error).__name__}") from error

    def open_stream(self, path: str, headers: Mapping[str, str], *, silence_seconds: float) -> Stream:
        """A response that goes on, on a connection of its own. Raises MetergateError.

        It ends with an error when nothing came for so long.
        """
        connection = self._connect(self._aborts, self._timeout_seconds)
        try:
            connection.request("GET", self._base + path, headers={**self._headers, **headers})
            # With `Connection: close` the response alone has it from then on.
            sock = connection.sock
            response = connection.getresponse()
            sock.settimeout(silence_seconds)
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise MetergateError("unreachable", f"No response: {error or type(error).__name__}") from error
        if response.status != 200:
            response.close()
            connection.close()
            raise MetergateError("stream_rejected", f"status {response.status}", response.status)
        return Stream(connection, sock, response)

    def abort(self) -> None:
        """Ends requests of other threads, which then raise, and closes all connections."""
        # mutant: python-child-ends-requests
        if self._pid != os.getpid():
            self._abandon()
        with self._lock:
            self._is_aborted = True
            self._aborts += 1
            idle, busy = [*self._idle], [one.sock for one in self._busy]
            dialing = [*self._dialing]
            self._idle.clear()
        for connection in idle:
            connection.close()
        for sock in [*busy, *dialing]:
            if sock is not None:
                with contextlib.suppress(OSError):
                    sock.shutdown(socket.SHUT_RDWR)

    def _abandon(self) -> None:
        """Connections of a parent process are its own: the child closes its descriptors and says nothing."""
        for connection in [*self._idle, *self._busy]:
            if connection.sock is not None:
                with contextlib.suppress(OSError):
                    os.close(connection.sock.detach())
        for sock in self._dialing:
            with contextlib.suppress(OSError):
                os.close(sock.detach())
        self._begin()

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        #: From then on no connection is kept, since nobody would close it.
        self._is_aborted = False
        #: How often: a request of before does not connect any more.
        self._aborts = 0
        #: Those that wait for a host that may not answer.
        self._dialing: set[socket.socket] = set()
        self._idle: list[http.client.HTTPConnection] = []
        self._busy: set[http.client.HTTPConnection] = set()

    def _take_idle(self) -> http.client.HTTPConnection | None:
        with self._lock:
            return self._idle.pop() if self._idle else None

    def _connect(self, aborts: int, timeout_seconds: float) -> http.client.HTTPConnection:
        timeout = max(0.001, min(timeout_seconds, self._timeout_seconds))
        connection = (
            http.client.HTTPConnection(self._host, self._port, timeout=timeout)
            if self._tls is None
            else http.client.HTTPSConnection(self._host, self._port, timeout=timeout, context=self._tls)
        )
        connection._create_connection = partial(self._dial, aborts)  # type: ignore[attr-defined]
        return connection

    def _dial(self, aborts: int, address: tuple[str, int], timeout: float, _source: object) -> socket.socket:
        """As `socket.create_connection`, but that `abort` ends it. Raises OSError."""
        fault: OSError = ConnectionError("the host has no address")
        for family, kind, protocol, _, found in socket.getaddrinfo(*address, 0, socket.SOCK_STREAM):
            sock = socket.socket(family, kind, protocol)
            with self._lock:
                self._dialing.add(sock)
                is_aborted = self._aborts != aborts
            try:
                if is_aborted:
                    raise ConnectionAbortedError("the client was closed")
                sock.settimeout(timeout)
                sock.connect(found)
                return sock
            except OSError as error:
                sock.close()
                fault = error
            finally:
                with self._lock:
                    self._dialing.discard(sock)
        raise fault

    def _exchange(self, connection: http.client.HTTPConnection, request: _Request) -> Response:
        with self._lock:
            self._busy.add(connection)
        is_kept = False
        try:
            if connection.sock is not None:
                connection.sock.settimeout(max(0.001, request.deadline - time.monotonic()))
            connection.response_class = partial(TimedResponse, request.deadline)  # type: ignore[assignment]
            connection.request(request.method, request.target, body=request.body, headers=request.headers)
            response = connection.getresponse()
            content = _read(response)
            is_kept = not response.will_close
            read = {name.lower(): value for name, value in response.getheaders()}
            return Response(response.status, read, content)
        finally:
            with self._lock:
                self._busy.discard(connection)
                if is_kept and not self._is_aborted and len(self._idle) < IDLE_MAX:
                    self._idle.append(connection)
                else:
                    is_kept = False
            if not is_kept:
                connection.close()


class Stream:
    """The body of a response that goes on. One thread reads it, and any may abort it."""

    def __init__(
        self,
        connection: http.client.HTTPConnection,
        sock: socket.socket,
        response: http.client.HTTPResponse,
    ) -> None:
        self._connection = connection
        self._sock = sock
        self._response = response
        self.headers = {name.lower(): value for name, value in response.getheaders()}

    def readline(self, size_max: int) -> bytes:
        """Empty at the end. Raises OSError."""
        try:
            return self._response.readline(size_max)
        except http.client.HTTPException as error:
            raise ConnectionError(str(error)) from error

    def abort(self) -> None:
        """The read of the other thread ends."""
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._response.close()
        self._connection.close()


def _read(response: http.client.HTTPResponse) -> bytes:
    chunks: list[bytes] = []
    size = 0
    while True:
        chunk = response.read(_READ_BYTES)
        if not chunk:
            if response.length:
                raise http.client.IncompleteRead(b"", response.length)
            return b"".join(chunks)
        size += len(chunk)
        if size > RESPONSE_BYTES_MAX:
            raise http.client.HTTPException(f"the response has more than {RESPONSE_BYTES_MAX} bytes")
        chunks.append(chunk)
