"""Usage events of an application: tracked at once, sent in the background, kept until the server has them."""

from __future__ import annotations

import os
import ssl
import threading
import time

from .buffer import Waiting
from .draft import draft_of
from .environment import key_or_environment, url_or_environment
from .errors import Rejection
from .event import InvalidEvent, Number, OccurredAt, Properties, encode_event, time_text
from .keeper import Keeper
from .outbox import Outbox
from .own_usage import OwnUsage
from .process import open_meters
from .report import OnError, OnRejected, Reporter
from .sender import Sender
from .settings import MeterSettings
from .stats import Counters, Flushed, Stats
from .transport import Transport
from .ulid import UlidSource

#: A thread ends at once, but for a disk that takes its time, and callbacks of the application.
_JOIN_SECONDS = 3.0


class Meter:
    """Threads may share it. A forked process has one of its own, with nothing in it.

    Without `spool` events wait in memory, and a crash loses them. With it they are in files before `track`
    returns, and another process of the same spool sends what a crash has left.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        settings: MeterSettings = MeterSettings(),  # noqa: B008 - it cannot be changed
        on_rejected: OnRejected | None = None,
        on_error: OnError | None = None,
        timeout_seconds: float = 15.0,
        ssl_context: ssl.SSLContext | None = None,
        spool: str | os.PathLike[str] | None = None,
    ) -> None:
        """`url` and `key` are METERGATE_URL and METERGATE_KEY where they are left out. Raises ValueError.

        `spool` is short for `settings=MeterSettings(spool=…)`.
        """
        if spool is not None:
            settings = settings._replace(spool=os.fspath(spool))
        self._settings = settings.checked()
        self._transport = Transport(
            url_or_environment(url),
            key_or_environment(key),
            timeout_seconds=timeout_seconds,
            ssl_context=ssl_context,
        )
        self._reporter = Reporter(on_error, on_rejected)
        self._is_closed = False
        self._is_closing = False
        self._own_usage: OwnUsage | None = None
        self._begin()
        with self._outbox.lock:
            self._start_locked()
        self._reporter.report_later()
        open_meters.add(self)

    def track(
        self,
        customer_id: str,
        meter_id: str,
        value: Number = 1,
        *,
        properties: Properties | None = None,
        idempotency_key: str | None = None,
        occurred_at: OccurredAt | None = None,
    ) -> str | None:
        """Takes an event. Never raises, and waits only where `when_full` is `block` and there is no room.

        Returns its idempotency key; None where it was not taken: an invalid one goes to `on_rejected`, one
        for which there is no room is counted as `dropped` and reported.
        """
        try:
            now = time.time()
            key = self._ulids.new(now) if idempotency_key is None else idempotency_key
            waiting: Waiting | None = None
            outbox = self._outbox
            if occurred_at is None and not outbox.has_spool:
                waiting = draft_of(key, customer_id, meter_id, value, properties=properties, now=now)
            if waiting is None:
                occurred_text = time_text(occurred_at, now)
                waiting = encode_event(
                    key, customer_id, meter_id, value, occurred_at=occurred_text, properties=properties
                )
            own_usage = self._own_usage
            if own_usage is not None:
                # Before it may be acknowledged.
                own_usage.tracked(key, customer_id, meter_id, value)
            if type(waiting) is tuple:
                # As `_append` does where there is room, two calls less.
                with outbox.lock:
                    is_taken = self._is_open and outbox.append_to_memory_locked(waiting, waiting[0])
                    self._counters.tracked += is_taken
                if is_taken:
                    return key
            if self._append(waiting):
                return key
            if own_usage is not None:
                own_usage.rejected(key)
        except InvalidEvent as error:
            self._reject(error, idempotency_key, customer_id, meter_id)
        except Exception as error:
            self._drop(f"An event was not taken: {error!r}", "internal")
        return None

    def flush(self, timeout_seconds: float = 30.0) -> Flushed:
        """Waits until nothing waits, at most so long: events tracked meanwhile are included."""
        deadline = time.monotonic() + timeout_seconds
        if self._keeper is not None:
            self._keeper.first_scan.wait(max(0.0, timeout_seconds))
        with self._outbox.lock:
            return self._flush_locked(deadline)

    def _flush_locked(self, deadline: float) -> Flushed:
        outbox, counters = self._outbox, self._counters
        sent, rejected = counters.sent, counters.rejected
        if self._sender is not None:
            self._sender.flushing += 1
            outbox.work.notify_all()
            while outbox.unsettled_locked() > 0 and (left := deadline - time.monotonic()) > 0:
                outbox.settled.wait(left)
            self._sender.flushing -= 1
        return Flushed(counters.sent - sent, counters.rejected - rejected, outbox.unsettled_locked())

    def close(self, timeout_seconds: float | None = None) -> Flushed:
        """Flushes and ends the threads. The next process of the spool sends what still waits in it."""
        if timeout_seconds is None:
            timeout_seconds = self._settings.close_seconds_max
        deadline = time.monotonic() + timeout_seconds
        with self._outbox.lock:
            if self._is_closing:
                return Flushed(0, 0, self._outbox.unsettled_locked())
            self._is_closing = True
        if self._keeper is not None:
            self._keeper.first_scan.wait(max(0.0, timeout_seconds))
        with self._outbox.lock:
            # Until then events are taken, and no other is once it was seen that nothing waits.
            flushed = self._flush_locked(deadline)
            self._is_closed, self._is_open = True, False
            self._outbox.close_locked()
            if self._sender is not None:
                self._sender.stop_locked()
        self._transport.abort()
        if self._keeper is not None:
            self._keeper.stop()
        if self._sender is not None:
            self._sender.join(_JOIN_SECONDS)
        if self._keeper is not None and self._keeper.thread is not threading.current_thread():
            self._keeper.thread.join(_JOIN_SECONDS)
        # Whatever a thread still waits for: another process may send what is left.
        # mutant: python-folder-not-released
        self._outbox.close_spool()
        open_meters.discard(self)
        return flushed

    def stats(self) -> Stats:
        outbox, counters = self._outbox, self._counters
        with outbox.lock:
            return Stats(
                tracked=counters.tracked,
                sent=counters.sent,
                duplicates=counters.duplicates,
                rejected=counters.rejected,
                dropped=counters.dropped,
                waiting=outbox.unsettled_locked(),
                retries=counters.retries,
                damaged_bytes=outbox.damaged_bytes,
            )

    def share_usage(self) -> OwnUsage:
        """From now on what is tracked and not counted yet: for checks in this process."""
        with self._outbox.lock:
            if self._own_usage is None:
                self._own_usage = OwnUsage()
            if self._sender is not None:
                self._sender.own_usage = self._own_usage
            return self._own_usage

    def report(self, code: str, message: str) -> None:
        """To `on_error`, else to the log. For what calls `track` on behalf of an application."""
        self._reporter.problem(code, message)

    def __enter__(self) -> Meter:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _begin(self) -> None:
        self._outbox = Outbox(self._settings, self._reporter)
        self._counters = Counters()
        self._ulids = UlidSource()
        self._sender: Sender | None = None
        self._keeper: Keeper | None = None
        #: It has threads, and takes events.
        self._is_open = False

    def _start_locked(self) -> None:
        """Threads, and a folder in the spool. In a forked process by its first event."""
        self._is_open = True
        self._sender = Sender(self._outbox, self._transport, self._settings, self._reporter, self._counters)
        self._sender.own_usage = self._own_usage
        if self._settings.spool is not None:
            self._outbox.folders.open()
            self._keeper = Keeper(self._outbox, self._settings, self._reporter)
        try:
            if self._keeper is not None:
                self._keeper.start()
            self._sender.start_locked()
        except RuntimeError as error:
            # At the end of an interpreter, or with too many of them. A spool has the events all the same.
            self._reporter.problem_later("no_thread", f"Events wait and are not sent: {error}")
            self._keeper = None

    def _append(self, waiting: Waiting) -> bool:
        outbox = self._outbox
        with outbox.lock:
            is_closed = self._is_closed
            if self._sender is None and not is_closed:
                self._start_locked()
            is_taken = not is_closed and (outbox.append_locked(waiting) or self._append_when_room(waiting))
            self._counters.tracked += is_taken
        if self._reporter.later:
            self._reporter.report_later()
        if is_taken:
            return True
        if is_closed:
            self._drop("The meter is closed.", "closed")
        else:
            self._drop("There is no room for more events.", "buffer_full")
        return False

    def _append_when_room(self, waiting: Waiting) -> bool:
        if self._settings.when_full != "block":
            return False
        deadline = time.monotonic() + self._settings.block_seconds_max
        outbox, sender = self._outbox, self._sender
        try:
            if sender is not None:
                # No batch that is larger than the buffer becomes full.
                sender.flushing += 1
                outbox.work.notify_all()
            while (left := deadline - time.monotonic()) > 0:
                outbox.settled.wait(left)
                if outbox.append_locked(waiting):
                    return True
            return False
        finally:
            if sender is not None:
                sender.flushing -= 1

    def _reject(self, error: InvalidEvent, key: object, customer_id: object, meter_id: object) -> None:
        with self._outbox.lock:
            self._counters.rejected += 1
        event = {"idempotencyKey": key, "customerId": customer_id, "meterId": meter_id}
        self._reporter.rejected(event, Rejection(error.code, error.message))

    def _drop(self, why: str, code: str) -> None:
        with self._outbox.lock:
            self._counters.dropped += 1
            dropped = self._counters.dropped
        self._reporter.problem(code, f"{why} {dropped} events were dropped so far.")

    def lock_before_fork(self) -> None:
        self._outbox.lock.acquire()

    def unlock_after_fork(self) -> None:
        self._outbox.lock.release()

    def begin_in_child(self) -> None:
        """What waits is the parent's to send. The child has no threads yet, so no lock is needed."""
        self._outbox.abandon()
        self._is_closing = self._is_closed
        if self._own_usage is not None:
            self._own_usage.begin()
        self._begin()
