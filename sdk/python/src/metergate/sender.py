"""The threads that send: a few requests at a time, taken in the order in which the events wait."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Sequence

from .buffer import Entry
from .deferred import Deferred
from .errors import MetergateError, Rejection
from .event import event_of, is_json, key_of, keys_of
from .outbox import NEVER, Outbox
from .own_usage import OwnUsage
from .packing import Packing
from .report import Reporter
from .results import RETRIED_ITEM_CODES, Garbled, Later, Results, TakeOut, Verdict, is_all_created, judge
from .retry import pause_seconds
from .settings import MeterSettings
from .stats import Counters
from .transport import Transport

PATH = "/usage/events/batch"
#: While a request is on its way the others have their events read, packed and settled.
REQUESTS_MAX = 4


class Sender:
    """While calls are `flushing`, it does not linger.

    One thread at a time has the turn: it waits for a batch, takes it, and passes the turn on before it sends.
    After a failure there is one request at a time.
    """

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
        self._packing = Packing()
        self._threads: list[threading.Thread] = []
        self._turn = threading.Lock()
        #: Of callbacks for rejected events: they come one at a time.
        self._reporting = threading.RLock()
        # What follows is read and changed with the meter's lock held.
        self._is_stopped = False
        #: Batches to be sent before others, since a part of them was.
        self._ready: deque[list[Entry]] = deque()
        self._deferred = Deferred()
        self._in_flight = 0
        self._failures = 0
        self._resumes_at = float("-inf")
        self._lingers_until: float | None = None

    def start_locked(self) -> None:
        """One thread more. Raises RuntimeError at the end of an interpreter, or with too many of them."""
        thread = threading.Thread(target=self._run, name="metergate-sender", daemon=True)
        thread.start()
        self._threads.append(thread)

    def stop_locked(self) -> None:
        """The threads end, at the latest when the requests that they wait for have ended."""
        self._is_stopped = True
        self._outbox.work.notify_all()

    def join(self, timeout_seconds: float) -> None:
        """Of all but the one that calls it, from a callback. They may not have ended in time."""
        until = time.monotonic() + timeout_seconds
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(max(0.0, until - time.monotonic()))

    def _run(self) -> None:
        while True:
            try:
                with self._turn:
                    entries = self._next_batch()
                if entries is None:
                    return
                try:
                    self._deliver(entries)
                except Exception:
                    # Once more, without those that it had come to settle.
                    self._again([entry for entry in entries if not entry.is_settled])
                    raise
                finally:
                    with self._outbox.lock:
                        self._in_flight -= 1
                        self._outbox.work.notify_all()
            except Exception as error:
                # A fault of this package must not end the thread: what waits would wait forever.
                self._reporter.problem("internal", f"The sender failed: {error!r}")
                time.sleep(1.0)

    def _next_batch(self) -> list[Entry] | None:
        """Waits for it. None once it was stopped."""
        outbox = self._outbox
        while True:
            with outbox.lock:
                if self._is_stopped:
                    return None
                is_full = self._deferred.is_full()
                wait = self._wait_locked(is_full)
                if wait > 0:
                    outbox.work.wait(None if wait == float("inf") else wait)
                    continue
                taken: list[Entry] = []
                if self._ready:
                    taken = self._ready.popleft()
                else:
                    taken = self._deferred.take(time.monotonic(), self._settings.batch)
            if not taken and not is_full:
                taken = outbox.take(self._settings.batch)
            if taken:
                with outbox.lock:
                    self._in_flight += 1
                    self._start_another_locked()
                return taken

    def _start_another_locked(self) -> None:
        """Where there is a batch for it, and none is free."""
        is_more = len(self._ready) > 0 or self._outbox.untaken_locked() >= self._settings.batch.events_max
        if is_more and self._in_flight == len(self._threads) < REQUESTS_MAX and not self._is_stopped:
            # Without it the others go on.
            with contextlib.suppress(RuntimeError):
                self.start_locked()

    def _wait_locked(self, is_full: bool) -> float:
        """Seconds until there may be a batch. 0: there is one."""
        now = time.monotonic()
        if self._resumes_at > now:
            return self._resumes_at - now
        if self._failures > 0 and self._in_flight > 0:
            return float("inf")
        if self._ready:
            return 0
        due = self._deferred.due_in(now)
        untaken = 0 if is_full else self._outbox.untaken_locked()
        if due == 0 or untaken >= self._settings.batch.events_max or (untaken > 0 and self.flushing > 0):
            self._lingers_until = None
            return 0
        if not is_full:
            due = min(due, self._outbox.readable_in_locked())
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

    def _deliver(self, entries: list[Entry]) -> None:
        failures = self._failures
        verdict = self._send(entries)
        if isinstance(verdict, Garbled):
            wrong = [entry for entry in entries if not is_json(entry.payload)]
            if wrong:
                self._reject([(entry, verdict.rejection) for entry in wrong])
                self._again([entry for entry in entries if not entry.is_settled])
                return
            self._packing.send_plain()
            verdict = Later(verdict.rejection.code, verdict.rejection.message)
        if isinstance(verdict, Later):
            self._retry(entries, verdict, failures)
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
        # mutant: python-key-made-again
        payloads = [entry.payload for entry in entries]
        body, headers = self._packing.packed(b'{"events":[%b]}' % b",".join(payloads))
        try:
            response = self._transport.request("POST", PATH, body=body, headers=headers)
        except MetergateError as error:
            return Later(error.code, error.message)
        if response.status == 200 and is_all_created(response.body, payloads):
            return Results(None, 0)
        return judge(response, keys_of(payloads), sum(map(len, payloads)))

    def _take_results(self, entries: list[Entry], results: Results) -> None:
        settled = entries
        rejected: list[tuple[Entry, Rejection]] = []
        later: list[Entry] = []
        if results.rejections is not None:
            settled = []
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
            self.own_usage.acknowledged(keys_of([entry.payload for entry in settled]))
        self._settle(settled)
        self._reject(rejected)
        if later:
            self._defer(later)

    def _defer(self, entries: list[Entry]) -> None:
        """They wait by themselves, so that others do not wait for them."""
        for entry in entries:
            entry.attempts += 1
        self._reporter.problem("unavailable", f"The server could not decide {len(entries)} events yet.")
        with self._outbox.lock:
            has_room = self._deferred.has_room(entries)
        if not has_room and self._outbox.put_back(entries):
            return
        due = time.monotonic() + self._pause_seconds(max(entry.attempts for entry in entries))
        with self._outbox.lock:
            self._deferred.add(due, entries)
            self._counters.retries += 1
            self._outbox.work.notify_all()

    def _reject(self, rejected: Sequence[tuple[Entry, Rejection]]) -> None:
        """Reported first: after a crash in between it is rejected again, and reported again."""
        if not rejected:
            return
        with self._reporting:
            for entry, rejection in rejected:
                self._reporter.rejected(event_of(entry.payload), rejection)
                if self.own_usage is not None:
                    self.own_usage.rejected(key_of(entry.payload))
        with self._outbox.lock:
            self._counters.rejected += len(rejected)
        self._settle([entry for entry, _ in rejected])

    def _settle(self, entries: Sequence[Entry]) -> None:
        self._outbox.settle(entries)
        if self.own_usage is not None and self._outbox.is_empty():
            self.own_usage.drained()

    def _again(self, *batches: list[Entry]) -> None:
        with self._outbox.lock:
            self._ready.extendleft(batch for batch in reversed(batches) if batch)
            self._outbox.work.notify_all()

    def _retry(self, entries: list[Entry], later: Later, failures: int) -> None:
        """`failures` were there when it was sent: those of requests at the same time are one."""
        with self._outbox.lock:
            self._failures = max(self._failures, failures + 1)
            self._counters.retries += 1
            pause = later.fixed_pause or self._pause_seconds(self._failures, later.retry_after)
            self._resumes_at = max(self._resumes_at, time.monotonic() + pause)
        self._reporter.problem(later.code, f"{later.message} What waits is sent again.")
        self._again(entries)

    def _pause_seconds(self, failures: int, retry_after: float | None = None) -> float:
        return pause_seconds(failures, retry_after, self._settings.pauses)
