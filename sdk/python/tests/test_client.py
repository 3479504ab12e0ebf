from __future__ import annotations

import time
import unittest
from decimal import Decimal
from typing import Any

from metergate import Client, Entitlements, MetergateError
from metergate.paths import path_of

from .collected import KEY
from .fake_server import NOWHERE, FakeServer, Reply, error_reply, json_reply
from .test_meter import seen

DECISION = {
    "allowed": True,
    "reason": "…",
    "reasonCode": "granted",
    "customerId": "cus_1",
    "featureKey": "calls",
    "limit": 10,
    "current": 2.5,
    "asOf": "2026-11-01T00:00:00.000Z",
}


class WithClient(unittest.TestCase):
    def client(self, url: str) -> Client:
        client = Client(url, KEY)
        self.addCleanup(client.close)
        return client


class AClient(WithClient):
    def test_keeps_the_digits_of_numbers_both_ways(self) -> None:
        reply = Reply(201, b'{"id":"use_1","value":123456789.000000000001}')
        with FakeServer(reply) as server:
            event = self.client(server.url).usage.submit(
                "acme",
                "calls",
                Decimal("123456789.000000000001"),
                idempotency_key="ключ",
                properties={"a": 0.1},
            )
            self.assertEqual(event["value"], Decimal("123456789.000000000001"))
            (request,) = server.requests
            self.assertEqual(request.path, "/api/v1/usage/events")
            self.assertIn(b'"value":123456789.000000000001', request.body)
            self.assertIn('"idempotencyKey":"ключ"'.encode(), request.body)
            self.assertNotIn("idempotency-key", request.headers)

    def test_repeats_a_change_under_one_key(self) -> None:
        made = json_reply(201, {"id": "cus_1"})
        faults = [error_reply(503, "unavailable"), Reply(502, b"<html>")]
        with FakeServer(*faults, made) as server:
            customer = self.client(server.url).customers.create(name="Acme", email="it@acme.example")
            self.assertEqual(customer["id"], "cus_1")
            self.assertEqual(len({one.headers["idempotency-key"] for one in server.requests}), 1)
            self.assertEqual([one.body for one in server.requests[1:]], [server.requests[0].body] * 2)

    def test_holds_commits_and_consumes(self) -> None:
        held = json_reply(201, {"id": "rsv_1", "status": "held", "decision": DECISION})
        committed = json_reply(200, {"id": "rsv_1", "status": "committed", "value": 2.5, "event": {}})
        used = json_reply(201, {"event": {"id": "use_1"}, "decision": DECISION})
        with FakeServer(held, committed, used) as server:
            client = self.client(server.url)
            reservation = client.reservations.create("acme", "calls", 4, on_expiry="commit")
            ended = client.reservations.commit(reservation["id"], Decimal("2.5"))
            self.assertEqual(ended["status"], "committed")
            consumed = client.entitlements.consume("acme", "calls", idempotency_key="k")
            self.assertEqual(consumed["event"]["id"], "use_1")
            paths = ["/reservations", "/reservations/rsv_1/commit", "/entitlements/consume"]
            self.assertEqual([one.path for one in server.requests], [f"/api/v1{path}" for path in paths])
            self.assertIn(b'"onExpiry":"commit"', server.requests[0].body)
            self.assertEqual(server.requests[1].body, b'{"value":2.5}')
            self.assertEqual(server.requests[2].headers["idempotency-key"], "k")

    def test_raises_what_the_server_says_at_once(self) -> None:
        with FakeServer(error_reply(404, "customer_not_found", param="customerId")) as server:
            with self.assertRaises(MetergateError) as caught:
                self.client(server.url).usage.retrieve("a/b?", "calls")
            error = caught.exception
            self.assertEqual((error.code, error.status), ("customer_not_found", 404))
            self.assertEqual((error.param, error.request_id), ("customerId", "req_1"))
            self.assertEqual([one.path for one in server.requests], ["/api/v1/usage/a%2Fb%3F/calls"])

    def test_gives_up_after_three_attempts_or_when_it_would_wait_long(self) -> None:
        with FakeServer(*[Reply(200, b"<html>")] * 3) as server:
            with self.assertRaises(MetergateError) as caught:
                self.client(server.url).request("GET", "/customers")
            self.assertEqual((caught.exception.code, len(server.requests)), ("invalid_response", 3))
        overloaded = error_reply(503, "overloaded")._replace(headers={"Retry-After": "60"})
        with FakeServer(overloaded) as server:
            with self.assertRaises(MetergateError) as caught:
                self.client(server.url).request("GET", "/customers", query={"page": 2})
            self.assertEqual((caught.exception.status, len(server.requests)), (503, 1))
        with self.assertRaises(MetergateError) as caught:
            self.client(NOWHERE).request("GET", "/customers")
        self.assertEqual(caught.exception.code, "unreachable")

    def test_sends_a_request_again_when_a_kept_connection_was_closed(self) -> None:
        with FakeServer() as server:
            server.script = lambda _request: json_reply(200, {})._replace(headers={"Connection": "close"})
            client = self.client(server.url)
            for _ in range(3):
                self.assertEqual(client.request("GET", "/workspace"), {})
            self.assertEqual(len(server.requests), 3)

    def test_raises_its_own_error_for_what_cannot_be_in_a_path(self) -> None:
        wrong: list[Any] = ["", None, 42, "a\ud800"]
        for name in wrong:
            with self.assertRaises(MetergateError) as caught:
                self.client(NOWHERE).customers.retrieve(name)
            self.assertEqual(caught.exception.code, "invalid_request")

    def test_escapes_what_is_in_a_path(self) -> None:
        self.assertEqual(path_of("usage", "a/../b", "ü ?#%"), "/usage/a%2F..%2Fb/%C3%BC%20%3F%23%25")


class AnEntitlementCheck(WithClient):
    def test_says_what_the_server_decided(self) -> None:
        with FakeServer(json_reply(200, DECISION)) as server:
            checked = Entitlements(self.client(server.url), timeout_seconds=20.0).check(
                "acme", "calls", Decimal("2.5")
            )
            self.assertEqual((checked.allowed, checked.source, checked.limit), (True, "server", 10))
            self.assertEqual(checked.current, Decimal("2.5"))
            self.assertEqual(server.requests[0].path, "/api/v1/entitlements/acme/calls?requested=2.5")

    def test_follows_the_fallback_of_the_feature_without_the_server(self) -> None:
        fallback = {"open": "open", "closed": "closed", "calls": "last_known", "new": "last_known"}
        with FakeServer(json_reply(200, DECISION)) as server:
            checks = Entitlements(self.client(server.url), fallback=fallback, timeout_seconds=20.0)
            self.assertEqual(checks.check("acme", "calls").source, "server")
            server.script = lambda _request: Reply(200, b"<html>")
            found = {key: checks.check("acme", key)[0:4:3] for key in [*fallback, "other"]}
            self.assertEqual(
                found,
                {
                    "open": (True, "fallback"),
                    "closed": (False, "fallback"),
                    "calls": (True, "last_known"),
                    "new": (False, "fallback"),
                    "other": (False, "fallback"),
                },
            )

    def test_takes_json_that_is_no_decision_for_an_outage(self) -> None:
        for text in (
            b"{}",
            b"null",
            b"[]",
            b'"signed out"',
            b'{"allowed":"false","reasonCode":"x","reason":"y"}',
            b'{"allowed":1,"reasonCode":"x","reason":"y"}',
            b'{"allowed":true,"reasonCode":"x"}',
        ):
            with FakeServer(Reply(200, text)) as server:
                checks = Entitlements(self.client(server.url), fallback="open", timeout_seconds=20.0)
                self.assertEqual(checks.check("acme", "calls")[:4:3], (True, "fallback"), text)
                self.assertEqual(checks._last_known, {})

    def test_does_not_wait_longer_than_its_time(self) -> None:
        with FakeServer() as server:
            server.script = lambda _request: Reply(200, b"{", {"Content-Length": "1000"})
            began = time.monotonic()
            checks = Entitlements(self.client(server.url), fallback="open", timeout_seconds=0.2)
            self.assertEqual(checks.check("acme", "calls").source, "fallback")
            self.assertLess(time.monotonic() - began, 10)
            self.assertTrue(seen(lambda: len(server.requests) == 1))

    def test_raises_where_the_request_is_wrong(self) -> None:
        with FakeServer(error_reply(403, "insufficient_scope")) as server:
            checks = Entitlements(self.client(server.url), fallback="open", timeout_seconds=20.0)
            self.assertRaises(MetergateError, checks.check, "acme", "calls")
        wrong: Any = {"calls": "maybe"}
        with self.assertRaisesRegex(ValueError, "fallback"):
            Entitlements(self.client("http://localhost"), fallback=wrong)


if __name__ == "__main__":
    unittest.main()
