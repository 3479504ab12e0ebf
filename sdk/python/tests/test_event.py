from __future__ import annotations

import json
import re
import sys
import threading
import unittest
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from enum import IntEnum
from typing import Any

from metergate.event import InvalidEvent, encode_event, key_of, keys_of, time_text
from metergate.ulid import UlidSource

AT = "2026-11-01T00:00:00.000Z"


def encoded(value: Any = 1, **members: Any) -> dict[str, Any]:
    given = {"occurred_at": AT, "properties": None, **members}
    payload = encode_event("k", given.pop("customer_id", "acme"), "calls", value, **given)
    read: dict[str, Any] = json.loads(payload, parse_float=Decimal)
    return read


class AnEvent(unittest.TestCase):
    def test_has_the_members_of_the_api(self) -> None:
        properties = {"region": "eu", "cached": True, "ms": 2.5, "n": 3, "gone": None}
        self.assertEqual(
            encoded(3, properties=properties),
            {
                "idempotencyKey": "k",
                "customerId": "acme",
                "meterId": "calls",
                "value": 3,
                "occurredAt": AT,
                "properties": {"region": "eu", "cached": True, "ms": Decimal("2.5"), "n": 3},
            },
        )

    def test_keeps_every_digit_of_a_decimal(self) -> None:
        for text in ("123456789.000000000001", "1E+3", "-0.10"):
            self.assertEqual(encoded(Decimal(text))["value"], Decimal(text))

    def test_has_numbers_of_subclasses_as_numbers(self) -> None:
        class Units(IntEnum):
            ONE = 1

        class Measured(float):
            def __repr__(self) -> str:
                return "Measured(1.5)"

        self.assertEqual(encoded(Units.ONE)["value"], 1)
        self.assertEqual(encoded(Measured(1.5))["value"], Decimal("1.5"))

    def test_keeps_any_text(self) -> None:
        for text in ('"\\\n\t\x00', "ü€😀", "\u2028</script>"):
            self.assertEqual(encoded(properties={"p": text})["properties"]["p"], text)

    def test_has_its_key_read_whichever_client_wrote_it(self) -> None:
        def encoded_key(key: str) -> bytes:
            return encode_event(key, "acme", "calls", 1, occurred_at=AT, properties=None)

        for key in ("k", "ключ", 'a"b\\c\n', "{}"):
            payload = encoded_key(key)
            self.assertEqual(key_of(payload), key)
            self.assertEqual(keys_of([payload, encoded_key("k")]), [key, "k"])
        foreign = b'{"value":1, "idempotencyKey" : "k"}'
        self.assertEqual(key_of(foreign), "k")
        self.assertEqual(keys_of([encoded_key("a"), foreign]), ["a", "k"])
        self.assertEqual((keys_of([]), keys_of([encoded_key("a")] * 2)), ([], ["a", "a"]))

    def test_is_invalid_where_no_request_could_be_made_of_it(self) -> None:
        values: list[Any] = [float("nan"), float("inf"), Decimal("NaN"), True, None, "1", 1j, []]
        if hasattr(sys, "get_int_max_str_digits"):
            values.append(10**5_000)
        for value in values:
            with self.assertRaises(InvalidEvent, msg=type(value)):
                encoded(value)
        for customer in ("", None, 1, b"acme"):
            with self.assertRaises(InvalidEvent, msg=repr(customer)):
                encoded(customer_id=customer)
        mappings: list[Any] = [[1], {1: 2}, {"p": {}}, {"p": float("nan")}, {"p": "\ud800"}]
        for properties in mappings:
            with self.assertRaises(InvalidEvent, msg=repr(properties)):
                encoded(properties=properties)
        with self.assertRaises(InvalidEvent) as caught:
            encoded(properties={"p": "x" * 1_100_000})
        self.assertEqual(caught.exception.code, "payload_too_large")


class ATime(unittest.TestCase):
    def test_is_utc_with_milliseconds(self) -> None:
        aware = datetime(2026, 11, 1, 1, 30, 0, 123_999, tzinfo=timezone(timedelta(hours=1, minutes=30)))
        self.assertEqual(time_text(aware, 0), "2026-11-01T00:00:00.123Z")
        self.assertEqual(time_text(1_793_491_200.5, 0), "2026-11-01T00:00:00.500Z")
        self.assertEqual(time_text(None, 1_793_491_200.001), "2026-11-01T00:00:00.001Z")
        self.assertEqual(time_text("2026-11-01T00:00Z", 0), "2026-11-01T00:00Z")

    def test_that_is_none_is_invalid(self) -> None:
        times: list[Any] = [float("nan"), float("inf"), 1e300, [], b"now"]
        for wrong in times:
            with self.assertRaises(InvalidEvent, msg=repr(wrong)):
                time_text(wrong, 0)


class Ulids(unittest.TestCase):
    def test_sort_by_time_and_are_unique_over_threads_and_sources(self) -> None:
        sources = [UlidSource() for _ in range(2)]
        made: list[str] = []

        def make(source: UlidSource) -> None:
            made.extend([source.new(1_793_491_200.0 + n / 1000) for n in range(5_000)])

        threads = [threading.Thread(target=make, args=(source,)) for source in sources * 2]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(set(made)), 20_000)
        self.assertTrue(all(re.fullmatch("[0-9A-HJKMNP-TV-Z]{26}", one) for one in made))
        one = sources[0]
        self.assertLess(one.new(1_793_491_200.0), one.new(1_793_491_200.001))

    def test_begin_with_the_time_as_others_write_it(self) -> None:
        # The example of the specification of ULIDs.
        self.assertEqual(UlidSource().new(1_469_918_176.385)[:10], "01ARYZ6S41")


if __name__ == "__main__":
    unittest.main()
