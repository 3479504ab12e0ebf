"""For Flask, Django and other WSGI applications."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Callable

from ..meter import Meter
from .exchange import CustomerOf, Exchange, metering

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
App = Callable[[Environ, StartResponse], Iterable[bytes]]


class MeterMiddleware:
    """Tracks an event when a response has ended. For Flask it wraps `app.wsgi_app`."""

    def __init__(
        self, app: App, *, meter: Meter, meter_id: str, customer: CustomerOf, **options: Any
    ) -> None:
        """`options` are `value`, `properties` and `is_metered`: functions of the exchange."""
        self._app = app
        self._metering = metering(meter, meter_id, customer, **options)

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        seen = _Seen(environ)

        def start_and_see(status: str, *rest: Any) -> Any:
            seen.status = int(status[:3])
            return start_response(status, *rest)

        try:
            body = self._app(environ, start_and_see)
        except BaseException:
            seen.status = 500
            self._metering.record(seen.exchange())
            raise
        return _Body(body, lambda: self._metering.record(seen.exchange()))


class _Seen:
    def __init__(self, environ: Environ) -> None:
        self._environ = environ
        self.status = 500

    def exchange(self) -> Exchange:
        environ = self._environ
        headers = {
            name[5:].replace("_", "-").lower(): value
            for name, value in environ.items()
            if name.startswith("HTTP_")
        }
        rule = getattr(environ.get("werkzeug.request"), "url_rule", None)
        route = getattr(rule, "rule", None)
        path = environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")
        return Exchange(environ["REQUEST_METHOD"], path, route, headers, self.status, environ)


class _Body:
    """The server closes it once, whether all of it was sent or the client has gone."""

    def __init__(self, body: Iterable[bytes], ended: Callable[[], None]) -> None:
        self._body = body
        self._ended = ended

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._body)

    def close(self) -> None:
        close = getattr(self._body, "close", None)
        try:
            if close is not None:
                close()
        finally:
            self._ended()
