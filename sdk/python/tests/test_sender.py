from __future__ import annotations

import threading
import time
import unittest

from metergate.buffer import BatchLimits
from metergate.retry import Pauses
from metergate.spool.owner import create_folder
from metergate.spool.reader import SpoolReader
from metergate.spool.segment import SegmentWriter

from .collected import SOON, meter_of
from .fake_server import FakeServer, Reply, Request, json_reply
from .test_meter import seen
from .with_spool import WithSpool


class Concurrent:
    """Counts requests that are there at the same time, for a moment or until there were so many."""

    def __init__(self, hold_seconds: float, until: int = 1) -> None:
        self.most = 0
        self.now = 0
        self.failing = 0
        #: At each failure, how many others were there.
        self.others: list[int] = []
        self._hold_seconds = hold_seconds
        self._until = until
        self._lock = threading.Lock()

    def __call__(self, _request: Request) -> Reply | None:
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)
            is_failing = self.failing > 0
            self.failing -= is_failing
            if is_failing:
                self.others.append(self.now - 1)
        seen(lambda: self.most >= self._until)
        time.sleep(self._hold_seconds)
        with self._lock:
            self.now -= 1
        return json_reply(503, {"error": {"code": "overloaded", "message": "…"}}) if is_failing else None


class ASender(WithSpool):
    def test_has_up_to_four_requests_on_their_way(self) -> None:
        settings = SOON._replace(batch=BatchLimits(events_max=10))
        for spool in (None, str(self.root)):
            with FakeServer() as server, meter_of(server.url, settings._replace(spool=spool)) as meter:
                server.at_once = script = Concurrent(0.05, until=4)
                keys = [meter.track("acme", "calls") for _ in range(120)]
                self.assertEqual(meter.flush(), (120, 0, 0))
                self.assertEqual(sorted(server.created), sorted(map(str, keys)))
                self.assertEqual(set(server.times_sent.values()), {1})
                self.assertEqual(script.most, 4)

    def test_has_one_request_at_a_time_after_a_failure(self) -> None:
        settings = SOON._replace(batch=BatchLimits(events_max=10), pauses=Pauses(0.001, 0.01))
        with FakeServer() as server, meter_of(server.url, settings) as meter:
            server.at_once = script = Concurrent(0.02)
            script.failing = 12
            for _ in range(100):
                meter.track("acme", "calls")
            self.assertEqual(meter.flush(), (100, 0, 0))
            # Those that were on their way together, and then each by itself.
            self.assertEqual(script.others[4:], [0] * 8)

    def test_needs_one_thread_where_no_more_waits(self) -> None:
        with FakeServer() as server, meter_of(server.url) as meter:
            for _ in range(5):
                meter.track("acme", "calls")
                meter.flush()
            assert meter._sender is not None
            self.assertEqual(len(meter._sender._threads), 1)

    def test_settles_the_spool_from_its_front_on(self) -> None:
        folder = create_folder(str(self.root))
        writer = SegmentWriter(folder, 1)
        for payload in (b"1", b"2", b"3"):
            writer.append(payload)
        writer.close()

        def open_reader() -> SpoolReader:
            return SpoolReader(folder, root=str(self.root), on_damage=lambda _count: None)

        def left() -> list[bytes]:
            reader = open_reader()
            taken = reader.take(BatchLimits())
            reader.close()
            return [entry.payload for entry in taken]

        reader = open_reader()
        first, second, third = (reader.take(BatchLimits(events_max=1)) for _ in range(3))
        for settled, expected in ((third, [b"1", b"2", b"3"]), (first, [b"2", b"3"]), (second, [])):
            reader.settle(settled)
            self.assertEqual(left(), expected)
        reader.close()


if __name__ == "__main__":
    unittest.main()
