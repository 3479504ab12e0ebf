"""With the packages that applications use: FastAPI, LiteLLM in front of a fake model, standardwebhooks."""

from __future__ import annotations

import asyncio
import json
import os
import time
import unittest
from typing import Any

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm
import openai
from fastapi import FastAPI
from fastapi.testclient import TestClient
from standardwebhooks.webhooks import Webhook

from metergate import Meter, verify_webhook
from metergate.ai import meter_async_stream, meter_stream
from metergate.litellm import token_callback
from metergate.middleware.asgi import MeterMiddleware

from ..collected import SOON, meter_of
from ..fake_server import FakeServer, Reply, Request, json_reply

USAGE = {
    "prompt_tokens": 100,
    "completion_tokens": 50,
    "total_tokens": 150,
    "prompt_tokens_details": {"cached_tokens": 60},
    "completion_tokens_details": {"reasoning_tokens": 20},
}


#: Its prompt tokens are apart from those that were read from the cache and written to it.
ANTHROPIC_MODEL = "claude-haiku-4-5-20251001"
ANTHROPIC_USAGE = {
    "input_tokens": 40,
    "cache_read_input_tokens": 60,
    "cache_creation_input_tokens": 25,
    "output_tokens": 30,
}


def fake_anthropic(_request: Request) -> Reply:
    content = [{"type": "text", "text": "Good morning"}]
    message = {"id": "m1", "type": "message", "role": "assistant", "content": content}
    rest = {"model": ANTHROPIC_MODEL, "stop_reason": "end_turn", "usage": ANTHROPIC_USAGE}
    return json_reply(200, {**message, **rest})


def fake_model(request: Request) -> Reply:
    """As OpenAI's API responds, at once or in parts."""
    if not json.loads(request.body).get("stream"):
        message = {"role": "assistant", "content": "Good morning"}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return json_reply(
            200, {**COMPLETION, "object": "chat.completion", "choices": [choice], "usage": USAGE}
        )
    parts = [
        {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "Good"}}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        {"choices": [], "usage": USAGE},
    ]
    lines = [json.dumps({**COMPLETION, "object": "chat.completion.chunk", **part}) for part in parts]
    body = "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"])
    return Reply(200, body.encode(), {"Content-Type": "text/event-stream"})


COMPLETION = {"id": "c1", "created": 1, "model": "gpt-4o-mini"}
CALL = {"model": "openai/gpt-4o-mini", "messages": [{"role": "user", "content": "Good morning"}]}


class Packages(unittest.TestCase):
    def setUp(self) -> None:
        self.server = FakeServer()
        self.server.__enter__()
        self.addCleanup(self.server.__exit__, None, None, None)
        self.meter: Meter = meter_of(self.server.url, SOON)
        self.addCleanup(self.meter.close)

    def use_litellm(self) -> None:
        def customer(call: Any) -> str | None:
            found: str | None = call["metadata"].get("customer")
            return found

        # Red when LiteLLM takes two of them for the same one.
        others = (token_callback(self.meter, customer=lambda _call: None) for _ in range(2))
        litellm.callbacks = [*others, token_callback(self.meter, customer=customer)]
        self.addCleanup(setattr, litellm, "callbacks", [])

    def test_litellm_meters_what_is_written_to_a_cache_as_a_kind_of_its_own(self) -> None:
        self.use_litellm()
        with FakeServer() as model:
            model.script = fake_anthropic
            options = {**CALL, "model": f"anthropic/{ANTHROPIC_MODEL}"}
            metadata = {"customer": "cache"}
            litellm.completion(**options, api_base=model.url, api_key="sk-0", metadata=metadata)
            expected = {"input": 40, "cached_input": 60, "cache_write": 25, "output": 30}
            self.assertEqual(self.tokens_of("cache"), expected)

    def test_litellm_meters_each_kind_of_token_of_a_call_once(self) -> None:
        self.use_litellm()
        expected = {"input": 40, "cached_input": 60, "output": 30, "reasoning": 20}
        with FakeServer() as model:
            model.script = fake_model
            options = {**CALL, "api_base": f"{model.url}/v1", "api_key": "sk-0"}
            litellm.completion(**options, metadata={"customer": "sync"})
            list(litellm.completion(**options, metadata={"customer": "stream"}, **STREAMED))
            asyncio.run(self.call_asynchronously(options))
            for name in ("sync", "stream", "async"):
                self.assertEqual(self.tokens_of(name), expected, name)

    @staticmethod
    async def call_asynchronously(options: dict[str, Any]) -> None:
        await litellm.acompletion(**options, metadata={"customer": "async"})
        # Its callbacks are tasks of the same loop.
        await asyncio.sleep(1)

    def tokens_of(self, customer: str) -> dict[str, int]:
        until = time.monotonic() + 10
        tokens: dict[str, int] = {}
        while time.monotonic() < until and len(tokens) < 4:
            self.meter.flush()
            events = [event for event in self.server.created.values() if event["customerId"] == customer]
            tokens = {event["properties"]["kind"]: event["value"] for event in events}
            self.assertEqual(len(tokens), len(events))
            time.sleep(0.02)
        return tokens

    def test_streams_of_openai_are_metered_read_or_not(self) -> None:
        request: Any = {"model": "gpt-4o-mini", "messages": CALL["messages"], **STREAMED}

        def options(customer: str) -> dict[str, Any]:
            return {
                "tokens_of": lambda chunk: chunk.usage and {"output": chunk.usage.completion_tokens},
                "estimate": lambda chunks: {"output": chunks},
                "customer_id": customer,
                "meter_id": "tokens",
            }

        async def read(address: dict[str, str]) -> None:
            client = openai.AsyncOpenAI(**address)
            stream = await client.chat.completions.create(**request)
            async with meter_async_stream(stream, self.meter, **options("async")) as chunks:
                self.assertEqual(len([chunk async for chunk in chunks]), 3)

        with FakeServer() as model:
            model.script = fake_model
            address = {"base_url": f"{model.url}/v1", "api_key": "sk-0"}
            client = openai.OpenAI(**address)
            whole = client.chat.completions.create(**request)
            self.assertEqual(len(list(meter_stream(whole, self.meter, **options("whole")))), 3)
            left = client.chat.completions.create(**request)
            with meter_stream(left, self.meter, **options("left")) as chunks:
                next(chunks)
            self.assertTrue(left.response.is_closed)
            asyncio.run(read(address))
        self.meter.flush()
        counted = {event["customerId"]: event["value"] for event in self.server.created.values()}
        self.assertEqual(counted, {"whole": 50, "left": 1, "async": 50})

    def test_fastapi_meters_a_route_by_its_pattern(self) -> None:
        app = FastAPI()
        app.add_middleware(
            MeterMiddleware,
            meter=self.meter,
            meter_id="api_calls",
            customer=lambda exchange: exchange.headers.get("x-customer"),
        )

        @app.get("/reports/{number}")
        def report(number: int) -> dict[str, int]:
            return {"number": number}

        client = TestClient(app)
        self.assertEqual(client.get("/reports/7", headers={"X-Customer": "acme"}).json(), {"number": 7})
        client.get("/reports/8")
        self.assertEqual((self.meter.flush().waiting, self.meter.stats().sent), (0, 1))
        (event,) = self.server.created.values()
        self.assertEqual(event["properties"], {"method": "GET", "status": 200, "route": "/reports/{number}"})

    def test_standardwebhooks_signs_what_verify_webhook_accepts(self) -> None:
        from datetime import datetime, timezone

        secret, body, at = "whsec_AAECAwQFBgcICQoLDA0ODw==", '{"id":"evt_1"}', datetime.now(timezone.utc)
        headers = {
            "webhook-id": "evt_1",
            "webhook-timestamp": str(int(at.timestamp())),
            "webhook-signature": Webhook(secret).sign("evt_1", at, body),
        }
        self.assertEqual(verify_webhook(body, headers, secret), {"id": "evt_1"})


STREAMED = {"stream": True, "stream_options": {"include_usage": True}}

if __name__ == "__main__":
    unittest.main()
