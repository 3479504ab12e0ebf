from __future__ import annotations

import asyncio
import contextlib
import sys
import types
import unittest
from collections.abc import Iterable
from typing import Any
from unittest import mock

from metergate import Meter
from metergate.litellm import token_callback, tokens_by_kind
from metergate.middleware import asgi, wsgi
from metergate.middleware.exchange import Exchange

from .collected import SOON, Collected, meter_of
from .fake_server import FakeServer


class Metered(unittest.TestCase):
    def setUp(self) -> None:
        self.server = FakeServer()
        self.server.__enter__()
        self.addCleanup(self.server.__exit__, None, None, None)
        self.seen = Collected()
        self.meter: Meter = meter_of(self.server.url, SOON, self.seen)
        self.addCleanup(self.meter.close)

    def sent(self) -> list[dict[str, Any]]:
        self.meter.flush()
        return list(self.server.created.values())


def customer_of(exchange: Exchange) -> str | None:
    return exchange.headers.get("x-customer")


class AnAsgiApplication(Metered):
    def call(self, app: asgi.App, headers: dict[str, str], **options: Any) -> list[asgi.Message]:
        metered = asgi.MeterMiddleware(
            app, meter=self.meter, meter_id="api_calls", customer=customer_of, **options
        )
        scope: asgi.Scope = {
            "type": "http",
            "method": "GET",
            "path": "/reports/7",
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        }
        messages: list[asgi.Message] = []

        async def receive() -> asgi.Message:
            return {"type": "http.disconnect"}

        async def send(message: asgi.Message) -> None:
            messages.append(message)

        asyncio.run(metered(scope, receive, send))
        return messages

    @staticmethod
    def app(status: int = 200) -> asgi.App:
        async def respond(scope: asgi.Scope, _receive: asgi.Receive, send: asgi.Send) -> None:
            scope["route"] = types.SimpleNamespace(path="/reports/{id}")
            await send({"type": "http.response.start", "status": status, "headers": []})
            await send({"type": "http.response.body", "body": b"ok"})

        return respond

    def test_has_each_request_of_a_customer_metered(self) -> None:
        self.assertEqual(len(self.call(self.app(), {"X-Customer": "acme"})), 2)
        self.call(self.app(404), {"X-Customer": "acme"}, value=lambda exchange: exchange.status)
        self.call(self.app(), {})
        self.call(self.app(500), {"X-Customer": "acme"})
        events = self.sent()
        self.assertEqual(
            [(event["customerId"], event["value"]) for event in events], [("acme", 1), ("acme", 404)]
        )
        properties = {"method": "GET", "status": 200, "route": "/reports/{id}"}
        self.assertEqual(events[0]["properties"], properties)

    def test_fails_as_it_does_without_it(self) -> None:
        async def fail(_scope: asgi.Scope, _receive: asgi.Receive, send: asgi.Send) -> None:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            raise RuntimeError("a fault of the application")

        with self.assertRaisesRegex(RuntimeError, "a fault of the application"):
            self.call(fail, {"X-Customer": "acme"})
        self.assertEqual(self.sent(), [])

    def test_is_metered_where_its_client_leaves_after_it_has_begun(self) -> None:
        def leaving(at: str, error: type[BaseException]) -> asgi.App:
            async def respond(scope: asgi.Scope, receive: asgi.Receive, send: asgi.Send) -> None:
                with contextlib.suppress(OSError, asyncio.CancelledError):
                    await metered(scope, receive, send_until(at, error, send))

            metered = asgi.MeterMiddleware(
                self.app(), meter=self.meter, meter_id=f"{error.__name__} {at}", customer=customer_of
            )
            return respond

        def send_until(at: str, error: type[BaseException], send: asgi.Send) -> asgi.Send:
            async def send_some(message: asgi.Message) -> None:
                if message["type"] == at:
                    raise error
                await send(message)

            return send_some

        for error in (BrokenPipeError, asyncio.CancelledError):
            for at in ("http.response.start", "http.response.body"):
                self.call(leaving(at, error), {"X-Customer": "acme"}, is_metered=lambda _exchange: False)
        metered = [event["meterId"] for event in self.sent()]
        self.assertEqual(metered, ["BrokenPipeError http.response.body", "CancelledError http.response.body"])

    def test_is_not_harmed_by_a_function_that_fails(self) -> None:
        messages = self.call(self.app(), {"X-Customer": "acme"}, properties=lambda _exchange: 1 / 0)
        self.assertEqual(len(messages), 2)
        self.assertEqual((self.sent(), self.seen.codes), ([], ["middleware"]))


class AWsgiApplication(Metered):
    def test_has_each_request_metered_once_its_response_has_ended(self) -> None:
        def app(_environ: wsgi.Environ, start_response: wsgi.StartResponse) -> Iterable[bytes]:
            start_response("201 Created", [])
            yield b"a"
            yield b"b"

        metered = wsgi.MeterMiddleware(app, meter=self.meter, meter_id="api_calls", customer=customer_of)
        environ = {"REQUEST_METHOD": "POST", "PATH_INFO": "/a", "HTTP_X_CUSTOMER": "acme"}
        body = metered(environ, lambda *_arguments: None)
        self.assertEqual(list(body), [b"a", b"b"])
        self.assertEqual(self.meter.stats().tracked, 0)
        body.close()  # type: ignore[attr-defined]
        (event,) = self.sent()
        self.assertEqual(event["properties"], {"method": "POST", "status": 201})

    def test_fails_as_it_does_without_it(self) -> None:
        def app(_environ: wsgi.Environ, _start: wsgi.StartResponse) -> Iterable[bytes]:
            raise RuntimeError("a fault of the application")

        metered = wsgi.MeterMiddleware(app, meter=self.meter, meter_id="api_calls", customer=customer_of)
        with self.assertRaisesRegex(RuntimeError, "a fault of the application"):
            metered({"REQUEST_METHOD": "GET", "HTTP_X_CUSTOMER": "acme"}, lambda *_arguments: None)
        self.assertEqual(self.sent(), [])


class TokensOfAModel(Metered):
    def test_are_each_of_one_kind(self) -> None:
        usage = {
            "prompt_tokens": 100,
            "completion_tokens": 50,
            "prompt_tokens_details": {"cached_tokens": 60, "cache_creation_tokens": 10},
            "completion_tokens_details": {"reasoning_tokens": 20},
        }
        kinds = {"input": 30, "cached_input": 60, "cache_write": 10, "output": 30, "reasoning": 20}
        self.assertEqual(tokens_by_kind(usage), kinds)
        older = types.SimpleNamespace(
            prompt_tokens=100,
            completion_tokens=50,
            cache_read_input_tokens=60,
            cache_creation_input_tokens=10,
        )
        self.assertEqual(tokens_by_kind(older), {**kinds, "output": 50, "reasoning": 0})
        self.assertEqual(sum(tokens_by_kind({"prompt_tokens": None}).values()), 0)

    def test_are_counted_once_for_a_call_that_is_reported_twice(self) -> None:
        class CustomLogger:
            def __init__(self) -> None:
                self.is_ready = True

        module: Any = types.ModuleType("litellm.integrations.custom_logger")
        module.CustomLogger = CustomLogger
        names = ["litellm", "litellm.integrations", "litellm.integrations.custom_logger"]
        with mock.patch.dict(sys.modules, {name: module for name in names}):
            callback = token_callback(self.meter, customer=lambda call: call["metadata"].get("customer"))
        self.assertIsInstance(callback, CustomLogger)
        call = {"model": "m", "litellm_call_id": "c1", "litellm_params": {"metadata": {"customer": "acme"}}}
        response = {"usage": {"prompt_tokens": 3, "completion_tokens": 2}}
        callback.log_success_event(call, response, None, None)
        asyncio.run(callback.async_log_success_event(call, response, None, None))
        callback.log_success_event({**call, "litellm_params": {}}, response, None, None)
        callback.log_success_event({**call, "litellm_params": None}, None, None, None)
        sent = {event["idempotencyKey"]: event for event in self.sent()}
        self.assertEqual(list(sent), ["litellm-c1-input", "litellm-c1-output"])
        self.assertEqual(sent["litellm-c1-input"]["properties"], {"kind": "input", "model": "m"})
        self.assertEqual(sent["litellm-c1-output"]["value"], 2)


if __name__ == "__main__":
    unittest.main()
