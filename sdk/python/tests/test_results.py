from __future__ import annotations

import json
import unittest
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from typing import Any

from metergate.event import encode_event
from metergate.results import Garbled, Halve, Later, Results, TakeOut, Verdict, is_all_created, judge
from metergate.retry import pause_seconds, retry_after_seconds
from metergate.transport import Response


def response(status: int, body: Any, **headers: str) -> Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Response(status, {name.replace("_", "-"): value for name, value in headers.items()}, content)


def error(code: str, **members: Any) -> Any:
    return {"error": {"code": code, "message": "…", "requestId": "req_1", **members}}


def judged(of: Response, keys: Sequence[str], size_bytes: int = 2_000) -> Verdict:
    return judge(of, keys, size_bytes)


KEYS = [f"k{n}" for n in range(9)]
CREATED = {"index": 0, "idempotencyKey": "k0", "status": "created"}


class AResponse(unittest.TestCase):
    def test_settles_what_was_created_before_or_now(self) -> None:
        items = [CREATED, {"index": 1, "idempotencyKey": "k1", "status": "duplicate"}]
        self.assertEqual(judged(response(200, {"results": items}), KEYS[:2]), Results(None, 1))

    def test_is_known_by_its_bytes_where_all_were_created(self) -> None:
        def events(*keys: str) -> list[bytes]:
            return [
                encode_event(key, "a", "b", 1, occurred_at="2026-11-01T00:00:00Z", properties=None)
                for key in keys
            ]

        def bytes_of(*keys: str, status: str = "created") -> bytes:
            items = [
                {"index": at, "idempotencyKey": key, "status": status, "eventId": "use_1"}
                for at, key in enumerate(keys)
            ]
            body = {"summary": {"total": len(keys)}, "results": items}
            return json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode()

        for keys in (("k",), ("a", "ключ", "c d"), tuple(KEYS)):
            self.assertTrue(is_all_created(bytes_of(*keys), events(*keys)))
        body = bytes_of("a", "b")
        for other in (
            bytes_of("b", "a"),
            bytes_of("a"),
            bytes_of("a", "b", "c"),
            bytes_of("a", "bb"),
            bytes_of("a", "b", status="duplicate"),
            body.replace(b"created", b"error", 1),
            body[:-1],
            b"",
            b'{"events":[' + b",".join(events("a", "b")) + b"]}",
        ):
            self.assertFalse(is_all_created(other, events("a", "b")), other)
        # Also behind the length of the first key.
        self.assertFalse(is_all_created(bytes_of("ab", "ab"), events("ab", "abc")))
        self.assertFalse(is_all_created(bytes_of("ab", "abc"), events("ab", "abd")))
        # They are read.
        for key in ('a"b', "a\\", '{"idempotencyKey":"x","status":"created"'):
            self.assertFalse(is_all_created(bytes_of(key), events("x")))
            self.assertEqual(judged(response(200, bytes_of(key)), [key]), Results(None, 0))

    def test_rejects_items_with_an_error(self) -> None:
        item = {**CREATED, "status": "error", "error": {"code": "value_invalid", "message": "no"}}
        verdict = judged(response(200, {"results": [item]}), KEYS[:1])
        assert isinstance(verdict, Results) and verdict.rejections and verdict.rejections[0]
        self.assertEqual(verdict.rejections[0].code, "value_invalid")

    def test_rejects_nothing_for_the_error_of_an_item_of_another_batch(self) -> None:
        error_of_it = {"code": "customer_not_found", "message": "no"}
        for key in ("of another batch", "", None):
            item = {"index": 0, "idempotencyKey": key, "status": "error", "error": error_of_it}
            self.assertIsInstance(judged(response(200, {"results": [item]}), KEYS[:1]), Later, key)

    def test_of_a_body_that_was_no_json_blames_no_event(self) -> None:
        for code, details in (("invalid_json", {"index": 3}), ("invalid_json", None), ("invalid_gzip", None)):
            verdict = judged(response(400, error(code, details=details)), KEYS[:9])
            self.assertIsInstance(verdict, Garbled)

    def test_that_is_not_of_metergate_settles_nothing(self) -> None:
        garbage = [
            b"",
            b"<html>Welcome</html>",
            b"[" * 100_000,
            b"null",
            b"[]",
            b"{}",
            b'{"results":null}',
            b"\xff\xfe",
            json.dumps({"results": []}).encode(),
            json.dumps({"results": [CREATED, CREATED]}).encode(),
            json.dumps({"results": [{**CREATED, "status": "stored"}]}).encode(),
            json.dumps({"results": [{**CREATED, "index": 1}]}).encode(),
            json.dumps({"results": [{**CREATED, "status": "error"}]}).encode(),
            json.dumps({"results": ["created"]}).encode(),
            json.dumps({"results": [{**CREATED, "idempotencyKey": "of another batch"}]}).encode(),
        ]
        for body in garbage:
            for status in (200, 201, 204, 301, 302, 304, 400, 404, 500):
                verdict = judged(response(status, body), KEYS[:1])
                self.assertIsInstance(verdict, Later, (status, body[:40]))

    def test_of_an_overload_is_repeated_when_it_says(self) -> None:
        for status in (408, 425, 429, 500, 502, 503, 504, 599):
            verdict = judged(response(status, error("overloaded"), retry_after="7"), KEYS[:1])
            self.assertEqual(verdict, Later("overloaded", "…", 7.0), status)

    def test_for_a_wrong_key_or_address_is_repeated_slowly(self) -> None:
        for status in (401, 403, 404, 405, 409, 415):
            verdict = judged(response(status, error("some_code")), KEYS[:1])
            self.assertEqual(verdict, Later("some_code", "…", fixed_pause=30.0), status)
        verdict = judged(response(403, b"<html>"), KEYS[:1])
        assert isinstance(verdict, Later)
        self.assertEqual(verdict.code, "unauthenticated")

    def test_for_a_poison_item_takes_it_out_or_searches_it(self) -> None:
        named = judged(response(400, error("invalid_request", details={"index": 3})), KEYS[:9])
        self.assertIsInstance(named, TakeOut)
        for details in ({"index": 9}, {"index": -1}, {"index": "3"}, {"index": True}, {}, None, "no"):
            verdict = judged(response(400, error("value_invalid", details=details)), KEYS[:9])
            self.assertIsInstance(verdict, Halve, details)

    def test_of_another_program_rejects_nothing(self) -> None:
        for status, code in ((400, "BadRequest"), (400, "unknown_code"), (422, "invalid"), (409, "conflict")):
            verdict = judged(response(status, error(code, details={"index": 0})), KEYS[:9])
            self.assertEqual(verdict, Later(code, "…", fixed_pause=30.0))
        # It has our code, and is not ours: it does not name its request.
        foreign = {"error": {"code": "invalid_request", "message": "gateway"}}
        self.assertIsInstance(judged(response(400, foreign), KEYS[:1]), Later)

    def test_for_a_large_body_halves_it_whoever_says_so(self) -> None:
        html = b"<html>Request Entity Too Large</html>"
        for body in (error("payload_too_large"), html):
            self.assertIsInstance(judged(response(413, body), KEYS[:9], 20_000), Halve)
        self.assertIsInstance(judged(response(413, error("batch_too_large")), KEYS[:9]), Halve)

    def test_for_a_small_body_that_is_too_large_for_a_proxy_is_repeated_slowly(self) -> None:
        for body in (b"<html>", error("too_big"), {"error": {"code": ["payload_too_large"]}}):
            verdict = judged(response(413, body), KEYS[:1], 16_000)
            assert isinstance(verdict, Later), body
            self.assertEqual(verdict.fixed_pause, 30.0)


class APause(unittest.TestCase):
    def test_is_random_and_doubles_up_to_30_seconds(self) -> None:
        for failures, longest in ((1, 0.2), (2, 0.4), (5, 3.2), (9, 30), (10_000, 30)):
            pauses = [pause_seconds(failures) for _ in range(400)]
            self.assertLessEqual(max(pauses), longest)
            self.assertGreater(max(pauses), longest * 0.9)
            self.assertLess(min(pauses), longest * 0.1)

    def test_is_at_least_what_the_server_asks_for_up_to_5_minutes(self) -> None:
        self.assertGreaterEqual(pause_seconds(1, 7.0), 7.0)
        self.assertLessEqual(pause_seconds(1, 86_400.0), 301.0)

    def test_is_read_from_seconds_and_dates(self) -> None:
        self.assertEqual(retry_after_seconds("12"), 12.0)
        soon = datetime.now(timezone.utc) + timedelta(seconds=60)
        self.assertAlmostEqual(retry_after_seconds(format_datetime(soon, usegmt=True)) or 0, 60, delta=2)
        for text in (None, "", "soon", "-1", "1.5", "٣", "Thu, 99 Foo 2026"):
            self.assertIsNone(retry_after_seconds(text), text)


if __name__ == "__main__":
    unittest.main()
