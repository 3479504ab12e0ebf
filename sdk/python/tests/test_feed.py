from __future__ import annotations

import json
import threading
import time
import unittest
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any, cast
from unittest import mock

from metergate import Client, Entitlements, MetergateError
from metergate.feed_stream import _parse
from metergate.transport import Stream

from .collected import KEY, SOON, Collected, meter_of
from .fake_server import FakeServer, Reply, Request, json_reply
from .test_local_decisions import metered
from .test_meter import seen


def utc_text(time_of: datetime) -> str:
    return time_of.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Feed:
    """What a server streams: each connection gets what there is from the start."""

    def __init__(self) -> None:
        self.events: list[bytes] = []
        self.is_over = threading.Event()
        self.heads: list[dict[str, str]] = []
        self.paths: list[str] = []
        #: The time of the server, as `time` tells it; None where it does not.
        self.now: str | None = None

    def send(self, event: str, data: Any, event_id: str | None = None) -> None:
        head = "" if event_id is None else f"id: {event_id}\n"
        self.events.append(f"{head}event: {event}\ndata: {json.dumps(data)}\n\n".encode())

    def stream(self) -> Iterator[bytes]:
        yield b": entitlements\n\n"
        yield b'event: begin\ndata: {"now":"%b"}\n\n' % utc_text(datetime.now(timezone.utc)).encode()
        at, beaten_at = 0, 0.0
        while not self.is_over.is_set():
            # Others may come while these are written.
            added = self.events[at:]
            at += len(added)
            yield from added
            if time.monotonic() - beaten_at > 0.2:
                beaten_at = time.monotonic()
                said = "" if self.now is None else f',"now":"{self.now}"'
                yield b'event: time\ndata: {"asOf":"2000-01-01T00:00:00.000Z"%b}\n\n' % said.encode()
            time.sleep(0.01)


class AFeed(unittest.TestCase):
    def setUp(self) -> None:
        self.feed = Feed()
        self.server = FakeServer()
        self.server.__enter__()
        self.addCleanup(self.server.__exit__, None, None, None)
        self.addCleanup(self.feed.is_over.set)
        self.server.script = self.respond
        # A busy machine may leave a thread without its turn for longer than a feed may be silent.
        for name, seconds in (("FRESH_SECONDS", 60.0), ("AGE_SECONDS_MAX", 10_000.0)):
            silence = mock.patch(f"metergate.feed_stream.{name}", seconds)
            silence.start()
            self.addCleanup(silence.stop)
        self.asked = 0
        self.client = Client(self.server.url, KEY)
        self.addCleanup(self.client.close)
        self.meter = meter_of(self.server.url, SOON._replace(linger_seconds=0.0))
        self.addCleanup(self.meter.close)

    def respond(self, request: Request) -> Reply | None:
        if request.path.startswith("/api/v1/entitlements/feed"):
            self.feed.heads.append(request.headers)
            self.feed.paths.append(request.path)
            headers = {"Content-Type": "text/event-stream"}
            return Reply(200, b"", headers, stream=self.feed.stream())
        if request.path.startswith("/api/v1/entitlements/"):
            self.asked += 1
            return json_reply(200, metered(10, 0))
        return None

    def checks(self, **options: Any) -> Entitlements:
        checks = Entitlements(self.client, is_local=True, timeout_seconds=20.0, **options)
        self.addCleanup(checks.close)
        return checks

    def know(self, current: int = 0, asked: str = "acme", **members: Any) -> None:
        feature = {"meterId": "calls", "decision": metered(10, current), **members}
        credits = {"balance": 0, "unpaid": 0}
        known = {
            "customerId": "cus_1",
            "asked": asked,
            "status": "active",
            "otherwise": "feature_not_included",
        }
        self.feed.send("customer", {**known, "credits": credits, "features": [feature]})
        self.feed.send("ready", {}, "s1.7")

    def test_decides_here_what_it_knows_and_asks_for_the_rest(self) -> None:
        checks = self.checks()
        self.assertEqual(checks.check("acme", "f").source, "server")
        self.know()
        self.assertTrue(seen(lambda: checks.check("acme", "f").source == "local"))
        asked = self.asked
        self.assertEqual(checks.check("acme", "f", 10)[:2], (True, "granted"))
        self.assertEqual(checks.check("acme", "f", 11)[:2], (False, "limit_reached"))
        self.assertEqual(checks.check("acme", "none")[:2], (False, "feature_not_included"))
        self.assertEqual(self.asked, asked)
        self.assertEqual(checks.check("other", "f").source, "server")

    def test_follows_each_change(self) -> None:
        checks = self.checks()
        self.know()
        self.assertTrue(seen(lambda: checks.check("acme", "f", 10).source == "local"))
        self.feed.send("usage", {"asked": "acme", "decisions": [metered(10, 4)]}, "s1.8")
        self.assertTrue(seen(lambda: not checks.check("acme", "f", 7).allowed))
        self.feed.send("customer", {"asked": "acme", "status": "unknown", "features": []}, "s1.9")
        self.assertTrue(seen(lambda: checks.check("acme", "f").source == "server"))

    def test_adds_what_its_own_meter_has_tracked_until_it_is_counted(self) -> None:
        checks = self.checks(meter=self.meter)
        self.know()
        self.assertTrue(seen(lambda: checks.check("acme", "f").source == "local"))
        allowed = 0
        for _ in range(30):
            if checks.check("acme", "f").allowed:
                allowed += 1
                self.meter.track("acme", "calls")
        self.assertEqual(allowed, 10)
        self.meter.flush()
        self.assertFalse(checks.check("acme", "f").allowed)
        self.feed.send("usage", {"asked": "acme", "decisions": [metered(10, 9)]})
        self.feed.send("time", {"asOf": "2100-01-01T00:00:00.000Z"})
        self.assertTrue(seen(lambda: checks.check("acme", "f").allowed))

    def test_adds_what_was_tracked_under_another_name_that_it_knows(self) -> None:
        checks = self.checks(meter=self.meter)
        self.know(asked="cus_1")
        self.know()
        for name in ("acme", "cus_1"):
            checks.check(name, "f")
            self.assertTrue(seen(lambda: checks.check(name, "f").source == "local"))
        self.meter.track("acme", "calls", 4)
        self.meter.track("cus_1", "calls", 4)
        for name in ("acme", "cus_1"):
            self.assertEqual([checks.check(name, "f", n).allowed for n in (2, 3)], [True, False], name)

    def test_adds_one_for_each_event_of_a_meter_that_counts_them(self) -> None:
        checks = self.checks(meter=self.meter)
        self.know(aggregation="count")
        self.assertTrue(seen(lambda: checks.check("acme", "f").source == "local"))
        for _ in range(9):
            self.meter.track("acme", "calls", 0.1)
        self.assertEqual([checks.check("acme", "f", n).allowed for n in (1, 2)], [True, False])

    def test_is_waited_for_where_the_server_does_not_know_what_was_tracked(self) -> None:
        checks = self.checks(meter=self.meter)
        self.meter.track("acme", "calls", 8)
        timer = threading.Timer(0.2, self.know)
        timer.start()
        self.assertEqual(checks.check("acme", "f", 3)[:4:3], (False, "local"))
        timer.join()

    def test_has_the_server_asked_for_what_is_on_its_way_to_it_too(self) -> None:
        checks = self.checks(meter=self.meter)
        self.know()
        self.assertTrue(seen(lambda: checks.check("acme", "f").source == "local"))
        self.meter.track("other", "calls", 4)
        self.assertEqual(checks.check("other", "f", 2.5).source, "server")
        self.assertTrue(self.server.requests[-1].path.endswith("/other/f?requested=6.5"))

    def test_asks_for_names_as_they_are_and_for_no_others(self) -> None:
        checks = self.checks()
        # The server counts the last one as 130 characters.
        for name in ("a\0b", "\U0001f600" * 65, "a,b/é"):
            self.assertEqual(checks.check(name, "f").source, "server")
        self.assertTrue(seen(lambda: self.feed.paths))
        self.assertTrue(self.feed.paths[-1].endswith("&customerIds=a%252Cb%252F%25C3%25A9"))

    def test_that_something_delays_has_the_server_asked(self) -> None:
        checks = self.checks()
        self.know()
        # A server that does not tell its time is believed.
        self.assertTrue(seen(lambda: checks.check("acme", "f").source == "local"))
        for ago, source in ((0, "local"), (20_000, "server"), (5_000, "local")):
            said = utc_text(datetime.now(timezone.utc) - timedelta(seconds=ago))
            self.feed.now = said
            self.assertTrue(seen(lambda: checks.check("acme", "f").source == source), ago)

    def test_raises_for_what_is_no_name_and_goes_on_with_others(self) -> None:
        checks = self.checks(fallback="open")
        wrong: list[Any] = ["", "a\ud800", None, 42, ["a"], "x" * 129]
        for name in wrong:
            for names in ((name, "f"), ("acme", name)):
                if names != ("acme", "x" * 129):
                    with self.assertRaises(MetergateError) as caught:
                        checks.check(*names)
                    self.assertEqual((caught.exception.code, self.asked), ("invalid_request", 0))
        self.assertEqual(checks.check("acme", "f").source, "server")

    def test_that_is_another_stream_is_left_and_nothing_of_it_kept(self) -> None:
        def foreign() -> Iterator[bytes]:
            while not self.feed.is_over.is_set():
                yield b"data: " + b"x" * 60_000 + b"\n\n"
                yield b'event: time\ndata: {"asOf":"2100-01-01T00:00:00.000Z"}\n\n'

        seen_by = Collected()
        with mock.patch.object(self.feed, "stream", foreign):
            checks = self.checks(on_error=seen_by.on_error)
            checks.check("acme", "f")
            self.assertTrue(seen(lambda: len(self.feed.paths) > 1))
        self.assertEqual(seen_by.codes, ["feed_unavailable"])

    def test_reads_no_message_without_an_end(self) -> None:
        lines = iter([b"data: " + b"x" * 1_000_000 + b"\n"] * 20)
        with self.assertRaisesRegex(ValueError, "characters"):
            list(_parse(cast(Stream, mock.Mock(readline=lambda _size: next(lines)))))
        named = iter([b": hello\n", b"\n", b"event: ready\n", b"\n", b""])
        self.assertEqual(
            [one.event for one in _parse(cast(Stream, mock.Mock(readline=lambda _size: next(named))))],
            ["ready"],
        )

    def test_is_opened_again_with_those_that_are_new_and_goes_on_meanwhile(self) -> None:
        checks = self.checks(customers_max=3)
        self.know()
        for name in ("acme", "b", "c", "d"):
            checks.check(name, "f")
            seen(lambda: checks.check("acme", "f").source == "local")
        self.assertTrue(seen(lambda: self.feed.paths[-1].endswith("=acme,b,c")))
        self.assertTrue(seen(lambda: checks.check("acme", "f").source == "local"))
        assert checks._feed is not None
        self.assertEqual(len(checks._feed._streams), 1)

    def test_that_is_interrupted_is_resumed_and_the_server_asked_meanwhile(self) -> None:
        seen_by = Collected()
        checks = self.checks(on_error=seen_by.on_error, fallback="last_known")
        self.know()
        self.assertTrue(seen(lambda: checks.check("acme", "f").source == "local"))
        self.feed.is_over.set()
        self.assertTrue(seen(lambda: checks.check("acme", "f").source == "server"))
        self.feed.is_over.clear()
        # After each failure it waits for longer.
        self.assertTrue(seen(lambda: checks.check("acme", "f").source == "local", 60))
        self.assertEqual(self.feed.heads[-1].get("last-event-id"), "s1.7")
        self.assertNotIn("last-event-id", self.feed.heads[0])

    def test_decides_in_microseconds(self) -> None:
        checks = self.checks(meter=self.meter)
        self.know()
        self.assertTrue(seen(lambda: checks.check("acme", "f").source == "local"))
        spent = []
        for _ in range(2_000):
            began = time.perf_counter()
            checks.check("acme", "f", 3)
            spent.append(time.perf_counter() - began)
        # 6 µs on a machine of its own; asking the server takes a hundred times as long.
        self.assertLess(sorted(spent)[1_000], 0.000_2)


if __name__ == "__main__":
    unittest.main()
