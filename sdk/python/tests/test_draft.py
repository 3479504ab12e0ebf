from __future__ import annotations

import json
import random
import time
import unittest
from decimal import Decimal
from typing import Any

from metergate.draft import draft_of, encode_draft
from metergate.event import encode_event, time_text

from .collected import meter_of
from .fake_server import FakeServer


class Text(str):
    pass


class ADraft(unittest.TestCase):
    def test_has_the_same_bytes_as_an_event_that_is_encoded_at_once(self) -> None:
        draw = random.Random(7)
        values: list[Any] = [0, -1, 1 << 62, 0.1, -1e300, 5e-324]
        texts = ["a", 'quo"te', "back\\slash", "tab\t\x00", "\x7f", "x" * 500]
        for _ in range(500):
            key, customer, meter = (draw.choice(texts) for _ in range(3))
            key = key[:255]
            properties: dict[str, Any] = {
                draw.choice(texts): draw.choice([*texts, True, False, 3, -7])
                for _ in range(draw.randrange(4))
            }
            value, now = draw.choice(values), draw.uniform(0, 2e9)
            draft = draft_of(key, customer, meter, value, properties=properties or None, now=now)
            assert draft is not None
            encoded = encode_draft(draft)
            at = time_text(None, now)
            self.assertEqual(
                encoded, encode_event(key, customer, meter, value, occurred_at=at, properties=properties)
            )
            json.loads(encoded)

    def test_is_made_of_what_is_plain_and_of_nothing_else(self) -> None:
        plain: dict[str, Any] = {
            "key": "k",
            "customer_id": "c",
            "meter_id": "m",
            "value": 1,
            "properties": None,
        }
        self.assertIsNotNone(draft_of(**plain, now=0.0))
        wrong: dict[str, list[Any]] = {
            "key": ["", "ä", "k" * 256, Text("k"), 1, None],
            "customer_id": ["", "ä", "\ud800", Text("c"), b"c", "c" * 100_001],
            "meter_id": ["", "ä", None],
            "value": [True, float("nan"), float("inf"), 1 << 63, Decimal(1), "1", None],
            "properties": [
                *[{"p": value} for value in (None, 0.5, Decimal(1), "ä", Text("p"), [1], 1 << 70)],
                *[{1: "p"}, {"ä": 1}, {Text("p"): 1}, {"p": "x" * 100_000}, [("p", 1)]],
            ],
        }
        for name, values in wrong.items():
            for value in values:
                self.assertIsNone(draft_of(**{**plain, name: value}, now=0.0), (name, value))

    def test_is_what_it_was_when_it_was_tracked(self) -> None:
        properties: dict[str, Any] = {"n": 1}
        with FakeServer() as server, meter_of(server.url) as meter:
            before = time_text(None, time.time())
            meter.track("acme", "calls", idempotency_key="k", properties=properties)
            after = time_text(None, time.time())
            properties["n"] = 2
            time.sleep(0.01)
            self.assertEqual(meter.flush().sent, 1)
            self.assertEqual(server.created["k"]["properties"], {"n": 1})
            self.assertTrue(before <= server.created["k"]["occurredAt"] <= after)
            self.assertEqual(meter._outbox._memory.size_bytes, 0)


if __name__ == "__main__":
    unittest.main()
