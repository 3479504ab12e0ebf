"""The thread that sends: one request at a time, in the order in which the events wait."""

from __future__ import annotations

import json
import time
import zlib
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from .buffer import Entry
from .errors import MetergateError, Rejection
from .event import key_of
from .outbox import NEVER, Outbox
from .own_usage import OwnUsage
from .report import Reporter
from .results import RETRIED_ITEM_CODES, Later, Results, TakeOut, Verdict, judge
from .retry import pause_seconds
from .settings import MeterSettings
from .stats import Counters
from .transport import Transport

PATH = "/usage/events/batch"
GZIP_BYTES_MIN = 1024
#: Of events that the server could not decide, and asked for again. With more of them no others are taken.
DEFERRED_MAX = 5_000
_GZIP = 16 + zlib.MAX_WBITS


class _Deferred(NamedTuple):
    due: float
    entries: list[Entry]


class Sender:
    """`run` is the thread's. While calls are `flushing`, it does not linger."""

    def __init__(
        self,
        outbox: Outbox,
        transport: Transport,
        settings: MeterSettings,
        reporter: Reporter,
        counters: Counters,
    ) -> None:
        self.flushing = 0
        self.own_usage: OwnUsage | None = None
        self._outbox = outbox
        self._transport = transport
        self._settings = settings
        self._reporter = reporter
        self._counters = counters
        self._is_stopped = False
        #: Batches to be sent before others, since a part of them was.
        self._ready: deque[list[Entry]] = deque()
        self._deferred: deque[_Deferred] = deque()
        self._failures = 0

    def run(self) -> None:
        while True:
            try:
                entries = self._next_batch()
                if entries is None:
                    return
                self._deliver(entries)
            except Exception as error:
                # A fault of this package must not end the thread: what waits would wait forever.
                self._reporter.problem("internal", f"The sender failed: {error!r}")
                self._pause(1.0)

    def stop_locked(self) -> None:
        """The thread ends, at the latest when the request that it waits for has ended."""
        self._is_stopped = True
        self._outbox.work.notify_all()

    def _next_batch(self) -> list[Entry] | None:
        """Waits for it. None once it was stopped."""
        while True:
            with self._outbox.lock:
                if self._is_stopped:
                    return None
                is_full = sum(len(entries) for _, entries in self._deferred) >= DEFERRED_MAX
                wait = self._wait_locked(is_full)
                if wait > 0:
                    self._outbox.work.wait(None if wait == float("inf") else wait)
                    continue
            if self._ready:
                return self._ready.popleft()
            if self._deferred and self._deferred[0].due <= time.monotonic():
                return self._deferred.popleft().entries
            taken = [] if is_full else self._outbox.take(self._settings.batch)
            if taken:
                return taken

    def _wait_locked(self, is_full: bool) -> float:
        """Seconds until there may be a batch. 0: there is one."""
        if self._ready:
            return 0
        now = time.monotonic()
        due = max(0.0, self._deferred[0].due - now) if self._deferred else float("inf")
        untaken = 0 if is_full else self._outbox.untaken_locked()
        if due == 0 or untaken >= self._settings.batch.events_max or (untaken > 0 and self.flushing > 0):
            self._lingers_until = None
            return 0
        if untaken == 0:
            self._lingers_until = None
            self._outbox.wake_at = NEVER if is_full else 1
            return due
        if self._lingers_until is None:
            self._lingers_until = now + self._settings.linger_seconds
        self._outbox.wake_at = self._settings.batch.events_max
        left = self._lingers_until - now
        if left <= 0:
            self._lingers_until = None
            return 0
        return min(due, left)

    _lingers_until: float | None = None

    def _deliver(self, entries: list[Entry]) -> None:
        verdict = self._send(entries)
        if isinstance(verdict, Later):
            self._retry(entries, verdict)
            return
        self._failures = 0
        if isinstance(verdict, Results):
            self._take_results(entries, verdict)
        elif isinstance(verdict, TakeOut):
            entry = entries[verdict.at]
            self._reject([(entry, verdict.rejection)])
            self._again([one for one in entries if one is not entry])
        elif len(entries) == 1:
            self._reject([(entries[0], verdict.rejection)])
        else:
            half = len(entries) // 2
            self._again(entries[:half], entries[half:])

    def _send(self, entries: Sequence[Entry]) -> Verdict:
        body = b'{"events":[' + b",".join([entry.payload for entry in entries]) + b"]}"
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if len(body) > GZIP_BYTES_MIN:
            # The fastest level: a batch is a tenth of its size with it, and a twelfth with the best.
            compressor = zlib.compressobj(1, zlib.DEFLATED, _GZIP)
            body = compressor.compress(body) + compressor.flush()
            headers["Content-Encoding"] = "gzip"
        try:
            response = self._transport.request("POST", PATH, body=body, headers=headers)
        except MetergateError as error:
            return Later(error.code, error.message)
        return judge(response, [key_of(entry.payload) for entry in entries])

    def _take_results(self, entries: list[Entry], results: Results) -> None:
        settled: list[Entry] = []
        rejected: list[tuple[Entry, Rejection]] = []
        later: list[Entry] = []
        for entry, rejection in zip(entries, results.rejections):
            if rejection is None:
                settled.append(entry)
            elif rejection.code in RETRIED_ITEM_CODES:
                later.append(entry)
            else:
                rejected.append((entry, rejection))
        with self._outbox.lock:
            self._counters.sent += len(settled)
            self._counters.duplicates += results.duplicates
        if self.own_usage is not None:
            self.own_usage.acknowledged([key_of(entry.payload) for entry in settled])
        self._outbox.settle(settled)
        self._reject(rejected)
        if later:
            self._defer(later)

    def _defer(self, entries: list[Entry]) -> None:
        """They wait by themselves, so that others do not wait for them."""
        for entry in entries:
            entry.attempts += 1
        due = time.monotonic() + self._pause_seconds(max(entry.attempts for entry in entries))
        self._deferred.append(_Deferred(due, entries))
        self._deferred = deque(sorted(self._deferred, key=lambda one: one.due))
        with self._outbox.lock:
            self._counters.retries += 1
        self._reporter.problem("unavailable", f"The server could not decide {len(entries)} events yet.")

    def _reject(self, rejected: Sequence[tuple[Entry, Rejection]]) -> None:
        """Reported first: after a crash in between it is rejected again, and reported again."""
        for entry, rejection in rejected:
            self._reporter.rejected(json.loads(entry.payload), rejection)
            if self.own_usage is not None:
                self.own_usage.rejected(key_of(entry.payload))
        with self._outbox.lock:
            self._counters.rejected += len(rejected)
        if rejected:
            self._outbox.settle([entry for entry, _ in rejected])

    def _again(self, *batches: list[Entry]) -> None:
        self._ready.extendleft(batch for batch in reversed(batches) if batch)

    def _retry(self, entries: list[Entry], later: Later) -> None:
        self._failures += 1
        with self._outbox.lock:
            self._counters.retries += 1
        pause = later.fixed_pause or self._pause_seconds(self._failures, later.retry_after)
        self._reporter.problem(later.code, f"{later.message} What waits is sent again.")
        self._again(entries)
        self._pause(pause)

    def _pause_seconds(self, failures: int, retry_after: float | None = None) -> float:
        return pause_seconds(failures, retry_after, self._settings.pauses)

    def _pause(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        with self._outbox.lock:
            while not self._is_stopped and (left := until - time.monotonic()) > 0:
                self._outbox.work.wait(left)
