"""A server that accepts batches as Metergate does, unless a test gives it other replies: those come first."""

from __future__ import annotations

import atexit
import contextlib
import gzip
import json
import socket
import ssl
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from typing import Any, Callable, NamedTuple, Optional


class Reply(NamedTuple):
    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = MappingProxyType({})
    #: Only so many bytes of the body are sent, and then the connection is closed.
    cut_at: int | None = None
    #: In place of the body, until it ends.
    stream: Iterator[bytes] | None = None


class Request(NamedTuple):
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def events(self) -> list[dict[str, Any]]:
        read: list[dict[str, Any]] = json.loads(self.body)["events"]
        return read


#: Given the request: its reply, or None for the ordinary one.
Script = Callable[[Request], Optional[Reply]]


def json_reply(status: int, value: Any, **headers: str) -> Reply:
    return Reply(status, json.dumps(value).encode(), {"Content-Type": "application/json", **headers})


def error_reply(status: int, code: str, **members: Any) -> Reply:
    return json_reply(status, {"error": {"code": code, "message": "…", "requestId": "req_1", **members}})


class _QuietServer(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that go are a part of the tests."""


class FakeServer:
    """`with FakeServer() as server:` listens on a port of its own.

    Before that it has the port already, and refuses connections: no other program can get it meanwhile.
    """

    def __init__(self, *replies: Reply) -> None:
        self.replies: deque[Reply] = deque(replies)
        self.script: Script = lambda _request: None
        #: Asked first, for several requests at the same time.
        self.at_once: Script = lambda _request: None
        self.requests: list[Request] = []
        #: What it acknowledged, and how often it was sent.
        self.times_sent: dict[str, int] = {}
        self.created: dict[str, dict[str, Any]] = {}
        self._lock = threading.Lock()
        self._server = _QuietServer(("127.0.0.1", 0), self._handler(), bind_and_activate=False)
        self._server.server_bind()
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def use_tls(self, context: ssl.SSLContext) -> None:
        """From the start: handshakes are those of each connection's own thread."""
        self._server.socket = context.wrap_socket(
            self._server.socket, server_side=True, do_handshake_on_connect=False
        )

    def __enter__(self) -> FakeServer:
        self._server.server_activate()
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._server.shutdown()
        self.close()

    def close(self) -> None:
        self._server.server_close()

    def respond(self, request: Request) -> Reply:
        early = self.at_once(request)
        if early is not None:
            return early
        with self._lock:
            self.requests.append(request)
            reply = self.replies.popleft() if self.replies else self.script(request)
            return reply or self._accept(request)

    def _accept(self, request: Request) -> Reply:
        results = []
        for index, event in enumerate(request.events):
            key = event["idempotencyKey"]
            is_new = key not in self.created
            self.times_sent[key] = self.times_sent.get(key, 0) + 1
            self.created.setdefault(key, event)
            status = "created" if is_new else "duplicate"
            results.append({"index": index, "idempotencyKey": key, "status": status, "eventId": "use_1"})
        return json_reply(200, {"results": results})

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                self.do_POST()

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                headers = {name.lower(): value for name, value in self.headers.items()}
                self._send(server.respond(Request(self.command, self.path, headers, body)))

            def _send(self, reply: Reply) -> None:
                if reply.stream is not None:
                    self._send_stream(reply, reply.stream)
                    return
                self.send_response(reply.status)
                for name, value in {"Content-Length": str(len(reply.body)), **reply.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(reply.body[: reply.cut_at])
                if reply.cut_at is not None:
                    self.wfile.flush()
                    self.connection.shutdown(socket.SHUT_RDWR)
                    self.close_connection = True

            def _send_stream(self, reply: Reply, stream: Iterator[bytes]) -> None:
                self.close_connection = True
                self.send_response(reply.status)
                for name, value in {"Connection": "close", **reply.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                with contextlib.suppress(OSError):
                    for part in stream:
                        self.wfile.write(part)

            def log_message(self, *_arguments: Any) -> None:
                pass

        return Handler


def _nowhere() -> str:
    server = FakeServer()
    atexit.register(server.close)
    return server.url


#: Where no server listens.
NOWHERE = _nowhere()
