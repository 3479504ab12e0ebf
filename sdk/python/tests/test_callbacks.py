"""What the application does when it is told of a problem."""

from __future__ import annotations

import logging
import threading
import unittest
from typing import Any
from unittest import mock

from metergate import Meter, Problem
from metergate.spool.segment import SegmentWriter

from .collected import KEY, SOON
from .with_spool import NOWHERE, WithSpool


class ACallback(WithSpool):
    def test_may_wait_for_a_lock_under_which_another_thread_tracks(self) -> None:
        # Red when it is called with the meter's lock held: then both threads wait for each other.
        lock = threading.Lock()
        called, tracking = threading.Event(), threading.Event()
        done: list[bool] = []

        def on_error(_problem: Problem) -> None:
            called.set()
            tracking.wait(20)
            done.append(lock.acquire(timeout=20))
            lock.release()

        def track_under_lock() -> None:
            with lock:
                called.wait(20)
                tracking.set()
                meter.track("acme", "calls")

        settings = SOON._replace(spool=str(self.root), close_seconds_max=0)
        meter = Meter(NOWHERE, KEY, settings=settings, on_error=on_error)
        self.addCleanup(meter.close, 0)
        with mock.patch.object(SegmentWriter, "_write", side_effect=OSError("full")):
            threads = [
                threading.Thread(target=what, daemon=True)
                for what in (track_under_lock, lambda: meter.track("acme", "calls"))
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(30)
        self.assertEqual((done, meter.stats().waiting), ([True], 2))

    def test_of_the_log_may_track_or_fail(self) -> None:
        class Handler(logging.Handler):
            def emit(self, _record: Any) -> None:
                keys.append(meter.track("acme", "log_lines"))
                raise RuntimeError("a fault of the application")

        keys: list[str | None] = []
        log = logging.getLogger("metergate")
        handler = Handler()
        log.addHandler(handler)
        self.addCleanup(log.removeHandler, handler)
        with mock.patch.object(log, "propagate", False):
            meter = Meter(NOWHERE, KEY, settings=SOON._replace(memory_events_max=2, close_seconds_max=0))
            taken = [meter.track("acme", "calls") is not None for _ in range(3)]
            self.assertEqual((taken, keys), ([True, True, False], [None]))
            meter.close(0)

    def test_that_closes_the_meter_is_possible(self) -> None:
        def on_error(_problem: Problem) -> None:
            closed.append(meter.close(0).waiting)

        closed: list[int] = []
        settings = SOON._replace(memory_events_max=1, close_seconds_max=0)
        meter = Meter(NOWHERE, KEY, settings=settings, on_error=on_error)
        self.assertIsNotNone(meter.track("acme", "calls"))
        self.assertIsNone(meter.track("acme", "calls"))
        self.assertEqual(closed[0], 1)


if __name__ == "__main__":
    unittest.main()
