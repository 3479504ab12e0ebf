from __future__ import annotations

import asyncio
import unittest
from collections.abc import AsyncIterator, Iterator
from typing import Any, Optional

from metergate import Meter
from metergate.ai import meter_async_stream, meter_stream

from .collected import Collected, meter_of
from .fake_server import FakeServer

Chunk = tuple[str, Optional[dict[str, Optional[int]]]]
CHUNKS: list[Chunk] = [("a", None), ("b", None), ("c", {"input": 7, "output": 3, "cached": None})]


class BrokenOff(Exception):
    pass


class Model:
    """Sends chunks, fails after as many as it is said, and knows whether it was closed."""

    def __init__(self, chunks: int = len(CHUNKS), *, fails_to_close: bool = False) -> None:
        self.left = CHUNKS[:chunks]
        self.fails = chunks < len(CHUNKS)
        self.fails_to_close = fails_to_close
        self.is_closed = False

    def __iter__(self) -> Iterator[Chunk]:
        yield from self.left
        if self.fails:
            raise BrokenOff

    async def __aiter__(self) -> AsyncIterator[Chunk]:
        for chunk in self.left:
            await asyncio.sleep(0)
            yield chunk
        if self.fails:
            await asyncio.sleep(60)

    def close(self) -> None:
        self.is_closed = True
        if self.fails_to_close:
            raise OSError("it is gone")

    async def aclose(self) -> None:
        self.close()


def options(**more: Any) -> dict[str, Any]:
    return {
        "tokens_of": lambda chunk: chunk[1],
        "estimate": lambda chunks: {"input": 5, "output": chunks},
        "customer_id": "acme",
        "meter_id": "tokens",
        "idempotency_key": "call-1",
        "properties": {"model": "m"},
        **more,
    }


class AStream(unittest.TestCase):
    def setUp(self) -> None:
        self.server = FakeServer()
        self.server.__enter__()
        self.addCleanup(self.server.__exit__, None, None, None)
        self.seen = Collected()
        self.meter: Meter = meter_of(self.server.url, collected=self.seen)
        self.addCleanup(self.meter.close)

    def counted(self) -> dict[str, int]:
        self.meter.flush()
        events, self.server.created = self.server.created, {}
        for key, event in events.items():
            kind = event["properties"]["kind"]
            self.assertEqual((key, event["properties"]), (f"call-1:{kind}", {"model": "m", "kind": kind}))
        return {event["properties"]["kind"]: event["value"] for event in events.values()}

    def test_counts_what_the_model_says_each_kind_of_token_by_itself(self) -> None:
        stream = meter_stream(Model(), self.meter, **options())
        self.assertEqual("".join(text for text, _ in stream), "abc")
        self.assertEqual(self.counted(), {"input": 7, "output": 3})
        self.assertEqual(list(stream), [])
        stream.close()
        self.assertEqual(self.counted(), {})

    def test_counts_an_estimate_when_the_model_breaks_off(self) -> None:
        with self.assertRaises(BrokenOff):
            list(meter_stream(Model(2), self.meter, **options()))
        self.assertEqual(self.counted(), {"input": 5, "output": 2})

    def test_counts_an_estimate_when_its_caller_does_not_read_on(self) -> None:
        for _ in meter_stream(Model(), self.meter, **options()):
            break
        self.assertEqual(self.counted(), {"input": 5, "output": 1})

    def test_ends_the_stream_of_the_model_when_it_is_closed_also_before_the_first_chunk(self) -> None:
        model = Model()
        with meter_stream(model, self.meter, **options()) as stream:
            pass
        self.assertEqual((self.counted(), model.is_closed), ({"input": 5}, True))
        self.assertEqual(list(stream), [])

    def test_passes_chunks_on_whatever_the_functions_of_its_caller_raise(self) -> None:
        def fail(_given: object) -> Any:
            raise ZeroDivisionError

        model = Model(fails_to_close=True)
        with meter_stream(model, self.meter, **options(tokens_of=fail, estimate=fail)) as stream:
            self.assertEqual("".join(text for text, _ in stream), "abc")
        self.assertEqual((self.counted(), self.seen.codes), ({}, ["ai_stream"]))

    def test_has_counts_as_models_give_them(self) -> None:
        for said in ({}, {"input": 0, "output": None}):
            options_of_it = options(tokens_of=lambda _chunk, said=said: said, estimate=None)
            self.assertEqual(len(list(meter_stream(Model(), self.meter, **options_of_it))), 3)
        self.assertEqual(self.counted(), {})

    def test_of_a_task_is_counted_by_what_the_model_says(self) -> None:
        async def read() -> str:
            return "".join([text async for text, _ in meter_async_stream(Model(), self.meter, **options())])

        self.assertEqual(asyncio.run(read()), "abc")
        self.assertEqual(self.counted(), {"input": 7, "output": 3})

    # Red when a cancelled task, as that of a client that is gone, counts nothing.
    def test_of_a_task_is_counted_by_an_estimate_when_that_is_cancelled(self) -> None:
        model = Model(2)
        stream = meter_async_stream(model, self.meter, **options())

        async def read_on(read: asyncio.Event) -> None:
            async for _ in stream:
                read.set()

        async def cancel() -> None:
            # In Python 3.9 it is of the loop in which it is made.
            read = asyncio.Event()
            task = asyncio.ensure_future(read_on(read))
            await read.wait()
            await asyncio.sleep(0.01)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            self.assertEqual((self.counted(), model.is_closed), ({"input": 5, "output": 2}, False))
            async with stream:
                pass

        asyncio.run(cancel())
        self.assertEqual((self.counted(), model.is_closed), ({}, True))


if __name__ == "__main__":
    unittest.main()
