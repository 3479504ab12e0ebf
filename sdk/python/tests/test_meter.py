from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from metergate import Meter, MeterSettings
from metergate.buffer import BatchLimits

from .collected import KEY, SOON, Collected, meter_of
from .fake_server import NOWHERE, FakeServer, Reply, Request


class AMeter(unittest.TestCase):
    def test_sends_what_was_tracked_in_batches_under_its_key(self) -> None:
        with FakeServer() as server, meter_of(server.url) as meter:
            keys = [meter.track("acme", "calls", n, properties={"n": n}) for n in range(1_200)]
            # Full batches may be sent before it begins.
            self.assertEqual(meter.flush()[1:], (0, 0))
            self.assertEqual(meter.stats().sent, 1_200)
            self.assertEqual(sorted(server.created), sorted(map(str, keys)))
            self.assertTrue(all(count == 1 for count in server.times_sent.values()))
            self.assertLessEqual(max(len(request.events) for request in server.requests), 500)
            first = server.requests[0]
            self.assertEqual((first.method, first.path), ("POST", "/api/v1/usage/events/batch"))
            self.assertEqual(first.headers["authorization"], f"Bearer {KEY}")
            self.assertEqual(first.headers["content-encoding"], "gzip")
            self.assertEqual(meter.stats().waiting, 0)
            self.assertEqual(meter.stats().tracked, 1_200)

    def test_sends_without_a_flush_after_it_has_lingered(self) -> None:
        with FakeServer() as server, meter_of(server.url, MeterSettings(linger_seconds=0.05)) as meter:
            meter.track("acme", "calls", idempotency_key="one", occurred_at="2026-11-01T00:00:00Z")
            self.assertTrue(seen(lambda: "one" in server.created))
            self.assertEqual(server.created["one"]["occurredAt"], "2026-11-01T00:00:00Z")
            self.assertNotIn("content-encoding", server.requests[0].headers)

    def test_does_not_linger_with_a_full_batch(self) -> None:
        settings = MeterSettings(linger_seconds=30.0, batch=BatchLimits(events_max=10))
        with FakeServer() as server, meter_of(server.url, settings) as meter:
            for _ in range(25):
                meter.track("acme", "calls")
            self.assertTrue(seen(lambda: meter.stats().waiting == 5, 20))
            self.assertEqual(len(server.created), 20)

    def test_keeps_a_body_below_its_limit(self) -> None:
        with FakeServer() as server, meter_of(server.url) as meter:
            for _ in range(60):
                meter.track("acme", "calls", properties={"p": "x" * 40_000})
            self.assertEqual(meter.flush().sent, 60)
            self.assertLessEqual(max(len(request.body) for request in server.requests), 1024 * 1024)

    def test_never_raises_to_the_caller_of_track(self) -> None:
        def fails(*_arguments: object) -> None:
            raise RuntimeError("a fault of the application")

        with FakeServer() as server:
            meter = Meter(server.url, KEY, settings=SOON, on_error=fails, on_rejected=fails)
            wrong: list[Any] = [None, 1, "", object(), {"a": 1}, float("nan"), "\ud800"]
            with self.assertLogs("metergate", "ERROR"):
                for value in wrong:
                    for place in range(3):
                        arguments: list[Any] = ["acme", "calls", 1]
                        arguments[place] = value
                        if arguments != ["acme", "calls", 1]:
                            self.assertIsNone(meter.track(*arguments))
                    properties: Any = {"p": [value]}
                    self.assertIsNone(meter.track("acme", "calls", properties=properties))
                self.assertIsNotNone(meter.track("acme", "calls"))
                self.assertEqual(meter.close().sent, 1)
                self.assertIsNone(meter.track("acme", "calls"))

    def test_drops_the_newest_and_counts_it_where_there_is_no_room(self) -> None:
        seen_by = Collected()
        settings = SOON._replace(memory_events_max=10, close_seconds_max=0)
        with meter_of(NOWHERE, settings, seen_by) as meter:
            taken = [meter.track("acme", "calls") is not None for _ in range(15)]
            self.assertEqual(taken, [True] * 10 + [False] * 5)
            self.assertEqual((meter.stats().dropped, meter.stats().waiting), (5, 10))
            self.assertEqual(seen_by.codes.count("buffer_full"), 1)
        small = settings._replace(memory_bytes_max=400)
        with meter_of(NOWHERE, small) as meter:
            self.assertEqual([meter.track("a", "b") is not None for _ in range(6)].count(True), 3)

    def test_waits_for_room_where_that_is_the_policy_but_not_forever(self) -> None:
        few = SOON._replace(memory_events_max=10, when_full="block", close_seconds_max=0)
        settings = few._replace(block_seconds_max=0.2)
        with meter_of(NOWHERE, settings) as meter:
            began = time.monotonic()
            taken = [meter.track("acme", "calls") is not None for _ in range(11)]
            self.assertEqual(taken, [True] * 10 + [False])
            self.assertGreaterEqual(time.monotonic() - began, 0.2)
        patient = few._replace(block_seconds_max=20)
        with FakeServer() as server, meter_of(server.url, patient) as meter:
            for _ in range(200):
                self.assertIsNotNone(meter.track("acme", "calls"))
            self.assertEqual(meter.flush().waiting, 0)
            self.assertEqual((len(server.created), meter.stats().dropped), (200, 0))

    def test_includes_in_a_flush_what_is_tracked_during_it(self) -> None:
        with FakeServer() as server, meter_of(server.url) as meter:
            server.script = TrackOnce(meter)
            meter.track("acme", "calls", idempotency_key="first")
            self.assertEqual(meter.flush(), (2, 0, 0))
            self.assertEqual(list(server.created), ["first", "during"])

    def test_is_safe_for_threads(self) -> None:
        with FakeServer() as server, meter_of(server.url) as meter:
            threads = [
                threading.Thread(target=lambda: [meter.track("acme", "calls") for _ in range(1_000)])
                for _ in range(8)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(meter.flush().waiting, 0)
            self.assertEqual((len(server.created), meter.stats().sent), (8_000, 8_000))

    @unittest.skipUnless(hasattr(signal, "setitimer"), "this system has no such signals")
    def test_may_be_closed_by_a_signal_handler_in_the_middle_of_track(self) -> None:
        # Red with a lock that is not reentrant: the handler would wait for its own thread.
        with FakeServer() as server:
            meter = meter_of(server.url)
            meter.track("acme", "calls")
            has_lock = []

            def handle(*_frame: object) -> None:
                has_lock.append(meter._outbox.lock.acquire(timeout=1))
                if has_lock[0]:
                    meter._outbox.lock.release()
                    meter.close(5)

            before = signal.signal(signal.SIGALRM, handle)
            self.addCleanup(signal.signal, signal.SIGALRM, before)
            with mock.patch("metergate.meter._JOIN_SECONDS", 0.1), meter._outbox.lock:
                signal.raise_signal(signal.SIGALRM)
            self.assertEqual((has_lock, len(server.created)), ([True], 1))

    @unittest.skipUnless(hasattr(signal, "setitimer"), "this system has no such signals")
    def test_may_be_closed_by_a_signal_handler(self) -> None:
        for spool in (False, True):
            with FakeServer() as server, tempfile.TemporaryDirectory() as folder:
                meter = meter_of(server.url, SOON._replace(spool=folder if spool else None))
                before = signal.signal(signal.SIGALRM, lambda *_frame: meter.close(20))
                keys = [meter.track("acme", "calls")]
                signal.setitimer(signal.ITIMER_REAL, 0.05)
                while (key := meter.track("acme", "calls")) is not None or meter.stats().dropped == 0:
                    keys.append(key)
                    if len(keys) % 50 == 0:
                        time.sleep(0.001)
                signal.signal(signal.SIGALRM, before)
                # What was written when the signal came waits for the next process.
                left = b"".join(path.read_bytes() for path in Path(folder).rglob("*.seg"))
                missing = [key for key in keys if key not in server.created]
                self.assertEqual([key for key in missing if str(key).encode() not in left], [])

    def test_says_what_waits_when_it_is_closed_in_time(self) -> None:
        with FakeServer() as server:
            server.script = Hang()
            meter = meter_of(server.url)
            meter.track("acme", "calls")
            meter.flush(0.01)
            self.assertTrue(seen(lambda: server.requests or meter.flush(0.01).waiting == 0))
            began = time.monotonic()
            self.assertEqual(meter.close(0.2), (0, 0, 1))
            self.assertLess(time.monotonic() - began, 10)

    def test_flushes_at_the_end_of_the_process(self) -> None:
        with FakeServer() as server:
            run_python(f"import metergate; metergate.Meter({server.url!r}, 'k').track('acme', 'calls')")
            self.assertEqual(len(server.created), 1)

    @unittest.skipUnless(hasattr(os, "fork"), "this system does not fork")
    def test_is_empty_in_a_forked_process_and_each_sends_its_own(self) -> None:
        with FakeServer() as server, meter_of(server.url, MeterSettings(linger_seconds=30)) as meter:
            meter.track("acme", "calls", idempotency_key="parent")
            meter.flush()
            meter.track("acme", "calls", idempotency_key="parent waits")
            child = os.fork()
            if child == 0:
                try:
                    meter.track("acme", "calls", idempotency_key="child")
                    os._exit(0 if meter.close() == (1, 0, 0) else 1)
                finally:
                    os._exit(2)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            self.assertEqual(meter.flush(), (1, 0, 0))
            self.assertEqual(server.times_sent, {"parent": 1, "parent waits": 1, "child": 1})

    def test_is_set_up_by_the_environment_or_says_what_is_missing(self) -> None:
        with self.assertRaisesRegex(ValueError, "METERGATE_URL"):
            Meter()
        for url in ("metergate.example.com", "ftp://a", "http://"):
            with self.assertRaisesRegex(ValueError, "url"):
                Meter(url, KEY)
        with self.assertRaisesRegex(ValueError, "key") as raised:
            Meter("http://localhost", "sk_secret\n1")
        self.assertNotIn("secret", str(raised.exception))
        for url in ("http://user:secret@localhost", "ftp://:secret@localhost"):
            with self.assertRaisesRegex(ValueError, "password") as raised:
                Meter(url, KEY)
            self.assertNotIn("secret", str(raised.exception))
        for name, value in (("fsync", "often"), ("when_full", "wait"), ("memory_events_max", 0)):
            with self.assertRaisesRegex(ValueError, name):
                wrong: Any = {name: value}
                Meter("http://localhost", KEY, settings=MeterSettings(**wrong))


class TrackOnce:
    def __init__(self, meter: Meter) -> None:
        self.meter: Meter | None = meter

    def __call__(self, _request: Request) -> None:
        meter, self.meter = self.meter, None
        if meter is not None:
            meter.track("acme", "calls", idempotency_key="during")


class Hang:
    def __call__(self, _request: Request) -> Reply:
        time.sleep(20)
        return Reply(500)


def seen(what: Any, timeout_seconds: float = 10.0) -> bool:
    until = time.monotonic() + timeout_seconds
    while time.monotonic() < until:
        if what():
            return True
        time.sleep(0.005)
    return False


def run_python(code: str) -> None:
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, env=os.environ)


if __name__ == "__main__":
    unittest.main()
