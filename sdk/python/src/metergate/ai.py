"""Meters the tokens of a model's stream, however it ends: what it says it has used, or else an estimate.

for chunk in meter_stream(stream, meter, tokens_of=…, customer_id="acme", meter_id="llm_tokens"):
    …
"""

from __future__ import annotations

import threading
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping
from typing import Callable, Generic, Optional, TypeVar

from .event import Properties
from .meter import Meter

Chunk = TypeVar("Chunk")
#: How many tokens of each kind: `input`, `output`, `cached_input` or what your meters tell apart.
TokenCounts = Mapping[str, Optional[int]]
#: What a chunk says of the whole call so far; most say nothing.
TokensOf = Callable[[Chunk], Optional[TokenCounts]]
#: Of a stream that ended before it said so, by its number of chunks.
Estimate = Callable[[int], TokenCounts]


def meter_stream(
    stream: Iterable[Chunk],
    meter: Meter,
    *,
    tokens_of: TokensOf[Chunk],
    customer_id: str,
    meter_id: str,
    properties: Properties | None = None,
    idempotency_key: str | None = None,
    estimate: Estimate | None = None,
) -> MeteredStream[Chunk]:
    """Passes the chunks on, and counts once when the stream ends.

    That is in order, by an error, by `close()`, at the end of a `with`, or when nothing refers to it any
    more, as after a `break`. One event for each kind of which there are tokens, with the property `kind`; a
    key gets the kind behind it. Without `estimate` nothing is counted of a stream that ended early.
    """
    count = _Count(meter, tokens_of, estimate, _Event(customer_id, meter_id, properties, idempotency_key))
    return MeteredStream(stream, iter(stream), count)


def meter_async_stream(
    stream: AsyncIterable[Chunk],
    meter: Meter,
    *,
    tokens_of: TokensOf[Chunk],
    customer_id: str,
    meter_id: str,
    properties: Properties | None = None,
    idempotency_key: str | None = None,
    estimate: Estimate | None = None,
) -> MeteredAsyncStream[Chunk]:
    """The same of an asynchronous stream; a task that is cancelled ends it too."""
    count = _Count(meter, tokens_of, estimate, _Event(customer_id, meter_id, properties, idempotency_key))
    return MeteredAsyncStream(stream, stream.__aiter__(), count)


class MeteredStream(Iterator[Chunk]):
    """Not a generator: that would begin with the first chunk, and count nothing of a stream closed before."""

    def __init__(self, stream: Iterable[Chunk], source: Iterator[Chunk], count: _Count[Chunk]) -> None:
        self._count = count
        self._stream = stream
        self._source = source

    def __next__(self) -> Chunk:
        try:
            if self._count.is_over:
                raise StopIteration
            chunk = next(self._source)
        except BaseException:
            # The end of the stream too.
            self._count.end()
            raise
        self._count.read(chunk)
        return chunk

    def close(self) -> None:
        """Ends the stream of the model too, where it has a `close`. Never raises."""
        self._count.end()
        close = getattr(self._stream, "close", None)
        try:
            if close is not None:
                close()
        except Exception as error:
            self._count.report(error)

    def __enter__(self) -> MeteredStream[Chunk]:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def __del__(self) -> None:
        self._count.end()


class MeteredAsyncStream(AsyncIterator[Chunk]):
    def __init__(
        self, stream: AsyncIterable[Chunk], source: AsyncIterator[Chunk], count: _Count[Chunk]
    ) -> None:
        self._count = count
        self._stream = stream
        self._source = source

    async def __anext__(self) -> Chunk:
        try:
            if self._count.is_over:
                raise StopAsyncIteration
            chunk = await self._source.__anext__()
        except BaseException:
            self._count.end()
            raise
        self._count.read(chunk)
        return chunk

    async def aclose(self) -> None:
        """Ends the stream of the model too, where it has an `aclose` or `close`. Never raises."""
        self._count.end()
        close = getattr(self._stream, "aclose", None) or getattr(self._stream, "close", None)
        try:
            if close is not None:
                await close()
        except Exception as error:
            self._count.report(error)

    async def __aenter__(self) -> MeteredAsyncStream[Chunk]:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.aclose()

    def __del__(self) -> None:
        self._count.end()


class _Event:
    def __init__(
        self, customer_id: str, meter_id: str, properties: Properties | None, idempotency_key: str | None
    ) -> None:
        self.customer_id = customer_id
        self.meter_id = meter_id
        self.properties = properties or {}
        self.idempotency_key = idempotency_key


class _Count(Generic[Chunk]):
    """Never raises: the stream goes on whatever becomes of its count."""

    def __init__(
        self, meter: Meter, tokens_of: TokensOf[Chunk], estimate: Estimate | None, event: _Event
    ) -> None:
        self.is_over = False
        self._lock = threading.Lock()
        self._meter = meter
        self._tokens_of = tokens_of
        self._estimate = estimate
        self._event = event
        self._chunks = 0
        self._tokens: TokenCounts | None = None

    def read(self, chunk: Chunk) -> None:
        self._chunks += 1
        try:
            self._tokens = self._tokens_of(chunk) or self._tokens
        except Exception as error:
            self.report(error)

    def end(self) -> None:
        with self._lock:
            was_over, self.is_over = self.is_over, True
        if was_over:
            return
        try:
            tokens = self._tokens
            if tokens is None and self._estimate is not None:
                tokens = self._estimate(self._chunks)
            self._track(tokens or {})
        except Exception as error:
            self.report(error)

    def report(self, error: Exception) -> None:
        self._meter.report("ai_stream", f"The tokens of a stream may not be counted: {error!r}")

    def _track(self, tokens: TokenCounts) -> None:
        event = self._event
        key = event.idempotency_key
        for kind, count in tokens.items():
            if not isinstance(count, int) or count <= 0:
                continue
            self._meter.track(
                event.customer_id,
                event.meter_id,
                count,
                properties={**event.properties, "kind": kind},
                idempotency_key=None if key is None else f"{key}:{kind}",
            )
