from __future__ import annotations

import decimal
import time
import unittest
from decimal import Decimal
from math import inf
from typing import Any
from unittest import mock

from metergate import own_usage
from metergate.amounts import minus, plus, times
from metergate.local_decision import FedCustomer, FedFeature, decide
from metergate.own_usage import OwnUsage

from .collected import meter_of
from .fake_server import FakeServer
from .test_local_decisions import metered
from .with_spool import NOWHERE


class OwnUsageOfAPlace(unittest.TestCase):
    def test_is_what_was_tracked_until_it_is_counted(self) -> None:
        usage = OwnUsage()
        for key, value in (("a", 5), ("b", -5), ("c", 0.1), ("a", 7)):
            usage.tracked(key, "acme", "calls", value)
        self.assertEqual(usage.uncounted("acme", "calls", inf), Decimal("0.1"))
        self.assertEqual(usage.uncounted("acme", "calls", inf, is_count=True), 3)
        usage.rejected("c")
        usage.rejected("b")
        self.assertEqual(usage.uncounted("acme", "calls", inf), 5)
        usage.acknowledged(["a", "c", "unknown"])
        # Up to a time before, then for another customer, then up to one after it.
        self.assertEqual(usage.uncounted("acme", "calls", time.monotonic() - 60), 5)
        self.assertEqual(usage.uncounted("other", "calls", inf), 0)
        self.assertEqual(usage.uncounted("acme", "calls", inf), 0)
        self.assertFalse(usage.has("acme"))

    def test_is_that_of_a_number_whose_text_is_another_one(self) -> None:
        class Float(float):
            def __repr__(self) -> str:
                return f"np.float64({float(self)})"

        with meter_of(NOWHERE) as meter:
            usage = meter.share_usage()
            self.assertIsNotNone(meter.track("acme", "calls", Float(1.5)))
            self.assertEqual(usage.uncounted("acme", "calls", inf), Decimal("1.5"))
            meter.close(0)

    def test_beyond_its_bound_counts_until_nothing_waits(self) -> None:
        usage = OwnUsage()
        with mock.patch.object(own_usage, "EVENTS_MAX", 10):
            for at in range(25):
                usage.tracked(f"k{at}", "acme", f"m{at % 2}", 2)
            usage.acknowledged([f"k{at}" for at in range(25)])
        # Those with a key are counted up to now, and the others may wait.
        self.assertEqual([usage.uncounted("acme", f"m{at}", inf) for at in range(2)], [16, 14])
        usage.drained()
        self.assertEqual([usage.uncounted("acme", f"m{at}", -inf) for at in range(2)], [16, 14])
        self.assertEqual([usage.uncounted("acme", f"m{at}", inf) for at in range(2)], [0, 0])
        self.assertFalse(usage.has("acme"))

    def test_that_is_acknowledged_is_bounded_and_loses_nothing(self) -> None:
        usage = OwnUsage()
        with mock.patch.object(own_usage, "_STEP_SECONDS", 0.0):
            for at in range(1_000):
                usage.tracked(f"k{at}", "acme", "calls", 1)
                usage.acknowledged([f"k{at}"])
        self.assertLessEqual(len(usage._places["acme"]["calls"].acknowledged), 100)
        self.assertEqual(usage.uncounted("acme", "calls", -inf), 1_000)
        self.assertEqual(usage.uncounted("acme", "calls", inf), 0)

    def test_of_which_nobody_asks_is_forgotten_after_a_while(self) -> None:
        usage = OwnUsage()
        with mock.patch.object(own_usage, "KEPT_SECONDS", -1.0):
            usage.tracked("a", "acme", "calls", 1)
            usage.acknowledged(["a"])
            self.assertFalse(usage.has("acme"))

    def test_does_not_follow_a_clock_that_is_set(self) -> None:
        usage = OwnUsage()
        before = time.monotonic()
        with mock.patch("time.time", lambda: 5.0):
            usage.tracked("a", "acme", "calls", 1)
            usage.acknowledged(["a"])
        self.assertEqual(usage.uncounted("acme", "calls", before), 1)
        self.assertEqual(usage.uncounted("acme", "calls", time.monotonic() + 60), 0)

    def test_is_shared_by_a_meter_that_has_sent_everything(self) -> None:
        with mock.patch.object(own_usage, "EVENTS_MAX", 0), FakeServer() as server:
            with meter_of(server.url) as meter:
                usage = meter.share_usage()
                meter.track("acme", "calls", 3)
                self.assertEqual(usage.uncounted("acme", "calls", inf), 3)
                meter.flush()
            # `close` has waited for the thread that has sent it.
            self.assertEqual(usage.uncounted("acme", "calls", inf), 0)


class ALocalDecision(unittest.TestCase):
    def decided(self, own: dict[str, Any], requested: int, **limits: Any) -> tuple[bool, str]:
        """Of feature a. Features are named by a letter for their meter, and a number."""
        features = {
            key: FedFeature(metered(limit, 8), key[0], False, Decimal("0.5")) for key, limit in limits.items()
        }
        customer = FedCustomer("cus_1", "active", "feature_not_included", 3, features)
        return decide(customer, features["a"], requested, lambda one: own.get(str(one.meter_id), 0))

    def test_pays_with_what_own_usage_of_other_meters_leaves_of_the_credits(self) -> None:
        for own, requested, allowed in (
            ({}, 6, True),
            ({"a": 2}, 5, False),
            ({"b": 2}, 4, True),
            ({"b": 2}, 5, False),
            ({"b": 6}, 1, False),
            ({"b": 2, "c": 2}, 2, True),
            ({"b": 2, "c": 2}, 3, False),
            ({"unknown": 9}, 6, True),
        ):
            self.assertEqual(self.decided(own, requested, a=8, b=8, c=0)[0], allowed, (own, requested))
        # Within a limit it costs nothing, and the largest limit of a meter counts.
        self.assertTrue(self.decided({"b": 4}, 4, a=8, b1=0, b2=10)[0])
        self.assertFalse(self.decided({"b": 4}, 5, a=8, b1=0, b2=10)[0])
        self.assertTrue(self.decided({"b": 4}, 6, a=8, b1=0, b2=None)[0])

    def test_is_exact_whatever_the_application_does_with_decimals(self) -> None:
        feature = FedFeature(metered(1_000_000, Decimal("1000000.4")), "calls", False, None)
        customer = FedCustomer("cus_1", "active", "feature_not_included", 0, {"f": feature})
        context = decimal.Context(prec=6, traps=[decimal.Inexact, decimal.InvalidOperation])
        with decimal.localcontext(context):
            self.assertFalse(decide(customer, feature, Decimal("0.1"), lambda _one: 0)[0])
            self.assertEqual(plus(Decimal("123456.25"), 10**9), Decimal("1000123456.25"))
            self.assertEqual(minus(1, Decimal("1E-12")), Decimal("0.999999999999"))
            self.assertEqual(times(Decimal("1234567.5"), 2), 2_469_135)
            with meter_of(NOWHERE) as meter:
                meter.share_usage()
                keys = [meter.track("acme", "calls", Decimal(text)) for text in ("123456.5", "123456.25")]
                self.assertNotIn(None, keys)
                meter.close(0)


if __name__ == "__main__":
    unittest.main()
