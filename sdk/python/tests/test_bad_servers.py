from __future__ import annotations

import re
import ssl
import tempfile
import time
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

from metergate import Flushed, Meter
from metergate.buffer import Entry
from metergate.results import Later

from .collected import KEY, SOON, Collected, meter_of
from .fake_server import FakeServer, Reply, Request, error_reply, json_reply

CERTIFICATES = Path(__file__).resolve().parents[3] / "app" / "roles" / "certificate-under-test.ts"
HTML = Reply(200, b"<html>Sign in to the hotel's network</html>", {"Content-Type": "text/html"})


class AMeter(unittest.TestCase):
    def test_loses_nothing_to_a_server_that_misbehaves(self) -> None:
        accepted = {"results": [{"index": 0, "idempotencyKey": "one", "status": "created"}]}
        faults = [
            HTML,
            Reply(200, b"{}"),
            Reply(204),
            json_reply(200, {"results": []}),
            Reply(302, b"", {"Location": "/elsewhere"}),
            Reply(500, b"<html>"),
            error_reply(503, "overloaded"),
            error_reply(429, "rate_limited")._replace(headers={"Retry-After": "0"}),
            json_reply(200, accepted)._replace(cut_at=12),
            json_reply(200, accepted)._replace(cut_at=0),
            Reply(400, b"<html>Bad Request</html>"),
            Reply(200, b"x" * 100, {"Content-Length": "not a number"}, cut_at=50),
        ]
        seen_by = Collected()
        with FakeServer(*faults) as server, meter_of(server.url, SOON, seen_by) as meter:
            quick(meter)
            meter.track("acme", "calls", idempotency_key="one")
            self.assertEqual(meter.flush(20), (1, 0, 0))
            self.assertEqual(len(server.requests), len(faults) + 1)
            self.assertEqual({request.path for request in server.requests}, {"/api/v1/usage/events/batch"})
            self.assertEqual({one.events[0]["idempotencyKey"] for one in server.requests}, {"one"})
            self.assertEqual(meter.stats().retries, len(faults))
            self.assertIn("invalid_response", seen_by.codes)
            self.assertEqual(seen_by.rejected, [])

    def test_waits_for_a_server_that_is_not_there(self) -> None:
        server = FakeServer()
        seen_by = Collected()
        with meter_of(server.url, SOON, seen_by) as meter:
            meter.track("acme", "calls")
            self.assertEqual(flushed_until(meter, lambda: seen_by.codes), (0, 0, 1))
            with server:
                self.assertEqual(meter.flush(20), (1, 0, 0))
            self.assertEqual(seen_by.codes, ["unreachable"])

    def test_keeps_events_from_a_server_whose_certificate_is_wrong(self) -> None:
        seen_by = Collected()
        server = FakeServer()
        trusting = ssl.create_default_context(cadata=certificate_part("LOCAL_CERTIFICATE"))
        with tempfile.TemporaryDirectory() as folder:
            pem = Path(folder, "server.pem")
            pem.write_text(certificate_part("LOCAL_CERTIFICATE_KEY") + certificate_part("LOCAL_CERTIFICATE"))
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(pem)
        server.use_tls(context)
        url = f"https://127.0.0.1:{server.port}"
        with server, meter_of(url, SOON._replace(close_seconds_max=0), seen_by) as wary:
            wary.track("acme", "calls")
            self.assertEqual(flushed_until(wary, lambda: seen_by.codes), (0, 0, 1))
            self.assertEqual((seen_by.codes, server.requests), (["unreachable"], []))
            self.assertIn("certificate", seen_by.problems[0].message.lower())
            with Meter(url, KEY, settings=SOON, ssl_context=trusting) as meter:
                meter.track("acme", "calls")
                self.assertEqual(meter.flush(), (1, 0, 0))

    def test_gives_up_a_response_that_comes_too_slowly(self) -> None:
        seen_by = Collected()
        with FakeServer() as server:
            server.script = Drip()
            settings = SOON
            meter = Meter(server.url, KEY, settings=settings, on_error=seen_by.on_error, timeout_seconds=0.3)
            meter.track("acme", "calls")
            # On a busy machine the next one may take too long as well.
            self.assertEqual(meter.flush(60), (1, 0, 0))
            meter.close()
            self.assertIn("unreachable", seen_by.codes)

    def test_keeps_events_while_its_key_is_not_accepted(self) -> None:
        seen_by = Collected()
        with FakeServer() as server, meter_of(server.url, SOON, seen_by) as meter:
            server.script = lambda _request: error_reply(401, "key_revoked")
            meter.track("acme", "calls")
            self.assertEqual(flushed_until(meter, lambda: seen_by.codes), (0, 0, 1))
            self.assertEqual((seen_by.codes, len(server.requests)), (["key_revoked"], 1))
            meter.close(0.1)

    def test_gives_rejected_events_to_the_application_and_settles_the_others(self) -> None:
        def script(request: Request) -> Reply:
            results = [one_result(index, event) for index, event in enumerate(request.events)]
            return json_reply(200, {"results": results})

        def one_result(index: int, event: dict[str, Any]) -> dict[str, Any]:
            result = {"index": index, "idempotencyKey": event["idempotencyKey"]}
            if event["value"] != 13:
                return {**result, "status": "created"}
            return {**result, "status": "error", "error": {"code": "value_invalid", "message": "no"}}

        seen_by = Collected()
        with FakeServer() as server, meter_of(server.url, SOON, seen_by) as meter:
            server.script = script
            for n in range(20):
                meter.track("acme", "calls", n, idempotency_key=f"k{n}")
            self.assertEqual(meter.flush(), (19, 1, 0))
            self.assertEqual(seen_by.rejected_keys, {"k13": "value_invalid"})

    def test_sends_items_again_that_the_server_could_not_decide_while_others_go_on(self) -> None:
        undecided = {"k1": 3, "k2": 1}

        def script(request: Request) -> Reply:
            results = []
            for index, event in enumerate(request.events):
                key = event["idempotencyKey"]
                result = {"index": index, "idempotencyKey": key}
                if undecided.get(key, 0) > 0:
                    undecided[key] -= 1
                    code = {"code": "unavailable", "message": "later"}
                    results.append({**result, "status": "error", "error": code})
                else:
                    decided.append(key)
                    results.append({**result, "status": "created"})
            return json_reply(200, {"results": results})

        decided: list[str] = []
        with FakeServer() as server, meter_of(server.url) as meter:
            server.script = script
            for n in range(5):
                meter.track("acme", "calls", n, idempotency_key=f"k{n}")
            self.assertEqual(meter.flush(20), (5, 0, 0))
            self.assertEqual(decided[:3], ["k0", "k3", "k4"])
            self.assertEqual(sorted(decided), ["k0", "k1", "k2", "k3", "k4"])

    def test_takes_out_the_event_that_makes_a_batch_unreadable(self) -> None:
        def script(request: Request) -> Reply | None:
            keys = [event["idempotencyKey"] for event in request.events]
            if "poison" not in keys:
                return None
            named = {"details": {"index": keys.index("poison")}} if is_named else {}
            return error_reply(400, "invalid_request", **named)

        for is_named, requests in ((True, 2), (False, 8)):  # noqa: B007 - the script reads it
            seen_by = Collected()
            with FakeServer() as server, meter_of(server.url, SOON, seen_by) as meter:
                server.script = script
                for n in range(10):
                    meter.track("acme", "calls", idempotency_key="poison" if n == 7 else f"k{n}")
                self.assertEqual(meter.flush(), (9, 1, 0))
                self.assertEqual(seen_by.rejected_keys, {"poison": "invalid_request"})
                self.assertLessEqual(len(server.requests), requests)
                self.assertTrue(all(count == 1 for count in server.times_sent.values()))

    def test_sends_without_compression_through_a_proxy_that_garbles_it(self) -> None:
        seen_by = Collected()
        with FakeServer() as server, meter_of(server.url, SOON, seen_by) as meter:
            server.script = garbled_when_packed
            quick(meter)
            for _ in range(20):
                meter.track("acme", "calls", properties={"p": "x" * 200})
            self.assertEqual(meter.flush(), (20, 0, 0))
            self.assertEqual((len(server.requests), seen_by.codes), (2, ["invalid_json"]))

    def test_keeps_what_a_proxy_cuts(self) -> None:
        seen_by = Collected()
        with FakeServer() as server, meter_of(server.url, SOON, seen_by) as meter:
            server.replies.extend([error_reply(400, "invalid_json")] * 4)
            quick(meter)
            keys = [meter.track("acme", "calls") for _ in range(5)]
            self.assertEqual(meter.flush(), (5, 0, 0))
            self.assertEqual((list(server.created), seen_by.rejected), (keys, []))

    def test_halves_a_batch_that_is_too_large_for_a_proxy(self) -> None:
        def script(request: Request) -> Reply | None:
            return Reply(413, b"<html>") if len(request.body) > 50_000 else None

        seen_by = Collected()
        with FakeServer() as server, meter_of(server.url, SOON, seen_by) as meter:
            server.script = script
            for n in range(40):
                meter.track("acme", "calls", properties={"p": "x" * (60_000 if n == 0 else 5_000)})
            self.assertEqual(meter.flush(), (39, 1, 0))
            self.assertEqual([rejection.code for _, rejection in seen_by.rejected], ["payload_too_large"])

    def test_keeps_what_a_proxy_rejects_whatever_it_is(self) -> None:
        for reply in (Reply(413, b"<html>"), json_reply(400, {"error": {"code": "Bad", "message": "…"}})):
            seen_by = Collected()
            with FakeServer() as server, meter_of(server.url, SOON, seen_by) as meter:
                server.replies.append(reply)
                quick(meter)
                for _ in range(5):
                    meter.track("acme", "calls")
                self.assertEqual(meter.flush(), (5, 0, 0))
                self.assertEqual((len(server.requests), seen_by.rejected), (2, []))


def garbled_when_packed(request: Request) -> Reply | None:
    is_packed = request.headers.get("content-encoding") == "gzip"
    return error_reply(400, "invalid_json") if is_packed else None


class Drip:
    """Its first response comes byte by byte, each of them in time."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, _request: Request) -> Reply | None:
        self.count += 1
        if self.count > 1:
            return None
        return Reply(200, headers={"Content-Length": "1000"}, stream=self.bytes())

    @staticmethod
    def bytes() -> Iterator[bytes]:
        for _ in range(100):
            time.sleep(0.1)
            yield b" "


def certificate_part(name: str) -> str:
    """Of the certificates that all tests of this repository share."""
    text = CERTIFICATES.read_text(encoding="utf-8")
    found = re.search(rf"export const {name} = `([^`]*)`", text)
    assert found is not None
    return found[1]


def flushed_until(meter: Meter, what: Callable[[], object]) -> Flushed:
    """Of a server that takes nothing: a busy machine may need a while for the first attempt."""
    flushed = meter.flush(0.05)
    until = time.monotonic() + 20
    while not what() and time.monotonic() < until:
        flushed = meter.flush(0.05)
    return flushed


def quick(meter: Meter) -> None:
    """Its pauses are those of the first failure."""
    sender = meter._sender
    assert sender is not None
    retry = sender._retry

    def retry_soon(entries: list[Entry], later: Later, failures: int) -> None:
        retry(entries, later, failures)
        sender._resumes_at = min(sender._resumes_at, time.monotonic() + 0.01)

    sender._retry = retry_soon  # type: ignore[method-assign]


if __name__ == "__main__":
    unittest.main()
