"""Follows the customers that are checked in this process, in a few streams of the server's feed."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable
from typing import NamedTuple

from .feed_stream import FeedStream, text_of_name
from .local_decision import FedCustomer, FedFeature
from .report import Reporter
from .transport import Transport

#: The server's bounds of one stream: 500 names, and the head of a request.
NAMES_MAX = 500
_ADDRESS_CHARS_MAX = 10_000
#: In UTF-16, as the server counts them. A longer one is that of no customer.
_NAME_CHARS_MAX = 128
#: New customers are collected, and a stream opened with them at most so often.
_JOIN_SECONDS = 0.02
_JOIN_AGAIN_SECONDS = 0.5
#: One that was not checked for so long makes room for another one.
IDLE_SECONDS = 600.0
_STOP_SECONDS = 1.0


class Known(NamedTuple):
    """What the feed knows of a customer."""

    customer: FedCustomer
    counted_to: float
    as_of: str | None


class _Watched:
    __slots__ = ("checked_at", "since", "stream")

    def __init__(self, now: float) -> None:
        self.stream: FeedStream | None = None
        self.since = now
        self.checked_at = now


class EntitlementFeed:
    """Threads may share it; a forked process has none until it watches a customer itself."""

    def __init__(self, transport: Transport, reporter: Reporter, customers_max: int) -> None:
        self._transport = transport
        self._reporter = reporter
        self._customers_max = customers_max
        #: Those that count usage, by their keys, as any customer has them.
        self.features: dict[str, FedFeature] = {}
        #: Of each customer's id, the names by which it is followed. Replaced, and never changed.
        self.names: dict[str, set[str]] = {}
        self._thread: threading.Thread | None = None
        self._begin()

    def find(self, name: str) -> Known | None:
        """None where it is not known as it is now."""
        watched = self._watched.get(name)
        stream = None if watched is None else watched.stream
        if watched is None or stream is None or not stream.is_fresh():
            return None
        watched.checked_at = stream.heard_at
        return _known(stream, name)

    def find_last(self, name: str) -> Known | None:
        """As it was when it was heard of last."""
        watched = self._watched.get(name)
        return None if watched is None or watched.stream is None else _known(watched.stream, name)

    def watch(self, name: str) -> None:
        """From now on the feed tells of it, unless it tells of as many as it may."""
        if self._pid != os.getpid():
            self._begin()
        # mutant: python-feed-of-any-name
        if not _may_be_of_a_customer(name):
            return
        with self._lock:
            if self._is_stopped or name in self._watched:
                return
            now = time.monotonic()
            if len(self._watched) >= self._customers_max:
                self._forget_idle_locked(now)
            if len(self._watched) >= self._customers_max:
                return
            self._watched[name] = _Watched(now)
            self._joining.append(name)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="metergate-feeds", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def wait_until_known(self, name: str, timeout_seconds: float) -> Known | None:
        """At most so long after it was watched."""
        with self._lock:
            watched = self._watched.get(name)
            if watched is None:
                return None
            until = watched.since + timeout_seconds
            while True:
                known = self.find(name)
                left = until - time.monotonic()
                is_told = watched.stream is not None and watched.stream.is_fresh()
                if is_told or left <= 0 or self._is_stopped:
                    return known
                self._changed.wait(left)

    def stop(self) -> None:
        if self._pid != os.getpid():
            # The streams of a parent process are its own.
            self._begin()
        with self._lock:
            self._is_stopped = True
            streams = [*self._streams, *self._replaced]
            self._changed.notify_all()
        for stream in streams:
            stream.stop()
        for stream in streams:
            stream.join(_STOP_SECONDS)

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._watched: dict[str, _Watched] = {}
        self._joining: list[str] = []
        self._streams: list[FeedStream] = []
        #: Those whose place another one takes once it is ready.
        self._replaced: dict[FeedStream, FeedStream] = {}
        self._thread = None
        self._is_stopped = False

    def _run(self) -> None:
        """Opens streams for those that were not watched before."""
        while True:
            with self._lock:
                while not self._joining and not self._is_stopped:
                    self._changed.wait()
                if self._is_stopped:
                    return
            time.sleep(_JOIN_SECONDS)
            with self._lock:
                if not self._is_stopped:
                    self._open_locked()
            self._reporter.report_later()
            time.sleep(_JOIN_AGAIN_SECONDS)

    def _open_locked(self) -> None:
        """Into the smallest stream, which is opened again with them, or into one more."""
        smallest = min(self._streams, key=lambda stream: len(stream.names), default=None)
        own = [] if smallest is None else [name for name in smallest.names if name in self._watched]
        names = _that_fit([*own, *self._joining])
        if len(names) <= len(own):
            own, smallest = [], None
            names = _that_fit(self._joining)
        del self._joining[: len(names) - len(own)]
        stream = FeedStream(self._transport, self._reporter, frozenset(names), on_ready=self._ready)
        try:
            stream.start()
        except RuntimeError as error:
            self._reporter.problem_later("no_thread", f"The server is asked for each check: {error}")
            return
        self._streams.append(stream)
        if smallest is not None:
            self._streams.remove(smallest)
            self._replaced[smallest] = stream

    def _ready(self, stream: FeedStream) -> None:
        """The thread of the stream calls it, after an interruption too."""
        with self._lock:
            for customer in stream.customers.values():
                for key, feature in customer.features.items():
                    if feature.meter_id is not None:
                        self.features[key] = feature
            # Once its successor is ready it is in neither.
            if stream in self._streams or stream in self._replaced:
                for name in stream.names:
                    watched = self._watched.get(name)
                    if watched is not None:
                        watched.stream = stream
            names: dict[str, set[str]] = {}
            for one in [*self._streams, *self._replaced]:
                for name, customer in [*one.customers.items()]:
                    names.setdefault(customer.customer_id, set()).add(name)
            self.names = names
            over = self._all_replaced_by(stream)
            for one in over:
                del self._replaced[one]
            self._changed.notify_all()
        for one in over:
            one.stop()

    def _all_replaced_by(self, stream: FeedStream) -> list[FeedStream]:
        """Also those whose successor was replaced itself before it was ready."""
        over = [one for one, by in self._replaced.items() if by is stream]
        for one in over:
            over += [another for another, by in self._replaced.items() if by is one]
        return over

    def _forget_idle_locked(self, now: float) -> None:
        idle = [name for name, one in self._watched.items() if now - one.checked_at > IDLE_SECONDS]
        for name in idle:
            del self._watched[name]


def _known(stream: FeedStream, name: str) -> Known | None:
    # The time first: what is counted up to it is in what is read after it.
    counted_to, as_of = stream.counted_to, stream.as_of
    customer = stream.customers.get(name)
    return None if customer is None else Known(customer, counted_to, as_of)


def _may_be_of_a_customer(name: str) -> bool:
    """Else the server might reject a whole stream for it, or never have it ready."""
    try:
        units = len(name.encode("utf-16-le")) // 2
    except UnicodeEncodeError:
        return False
    return 0 < units <= _NAME_CHARS_MAX and "\0" not in name


def _that_fit(names: Iterable[str]) -> list[str]:
    """As many of the first as one stream may have."""
    fitting: list[str] = []
    size = 0
    for name in names:
        size += len(text_of_name(name)) + 1
        if len(fitting) == NAMES_MAX or size > _ADDRESS_CHARS_MAX:
            break
        fitting.append(name)
    return fitting
