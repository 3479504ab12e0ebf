"""For FastAPI, Starlette and other ASGI applications."""

from __future__ import annotations

from collections.abc import Awaitable, MutableMapping
from typing import Any, Callable

from ..meter import Meter
from .exchange import CustomerOf, Exchange, metering

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

#: What a request has that failed, or ended before its response began, since its application gave none.
_FAILED = 500


class MeterMiddleware:
    """Tracks an event when a response has ended: `app.add_middleware(MeterMiddleware, meter=…, …)`."""

    def __init__(
        self, app: App, *, meter: Meter, meter_id: str, customer: CustomerOf, **options: Any
    ) -> None:
        """`options` are `value`, `properties` and `is_metered`: functions of the exchange."""
        self._app = app
        self._metering = metering(meter, meter_id, customer, **options)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = _FAILED
        has_left = False

        async def send_and_see(message: Message) -> None:
            nonlocal status, has_left
            try:
                await send(message)
            except OSError:
                has_left = True
                raise
            if message["type"] == "http.response.start":
                status = message["status"]

        try:
            await self._app(scope, receive, send_and_see)
        except Exception:
            # What a client that leaves has got is its own. A task that is cancelled passes here too.
            if not has_left:
                status = _FAILED
            raise
        finally:
            self._metering.record(_exchange(scope, status))


def _exchange(scope: Scope, status: int) -> Exchange:
    headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
    route = getattr(scope.get("route"), "path", None)
    return Exchange(scope["method"], scope["path"], route, headers, status, scope)
