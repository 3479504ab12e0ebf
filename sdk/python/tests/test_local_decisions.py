from __future__ import annotations

import unittest
from decimal import Decimal
from typing import Any, cast

from metergate.local_decision import FedCustomer, FedFeature, decide
from metergate.shapes import Decision


def decision(**members: Any) -> Decision:
    held: Any = {
        "allowed": True,
        "reason": "…",
        "reasonCode": "granted",
        "customerId": "cus_1",
        "featureKey": "f",
    }
    return cast(Decision, {**held, **members})


def metered(limit: Any, current: Any, **members: Any) -> Decision:
    return decision(type="metered", effectiveValue=limit, current=current, sources=["plan:pro"], **members)


class ALocalDecision(unittest.TestCase):
    def decide(self, of: Decision, requested: Any = None, own: Any = 0, **more: Any) -> tuple[bool, str]:
        feature = FedFeature(of, "calls", more.get("is_soft", False), more.get("credit_rate"))
        available = more.get("available", 0)
        return decide(
            FedCustomer("cus_1", "active", "feature_not_included", available, {"f": feature}),
            feature,
            requested,
            lambda _feature: own,
        )

    def test_is_that_of_the_server_for_any_amount(self) -> None:
        of = metered(10, Decimal("7.5"))
        for requested, expected in (
            (None, True),
            (Decimal("2.5"), True),
            (2.5, True),
            (2.6, False),
            (3, False),
        ):
            self.assertEqual(self.decide(of, requested)[0], expected, requested)
        # 0.1 is a tenth, as it would be sent.
        self.assertTrue(self.decide(metered(Decimal("0.3"), Decimal("0.2")), 0.1)[0])
        seats = decision(type="limit", effectiveValue=5)
        self.assertEqual([self.decide(seats, n)[0] for n in (None, 5, 6)], [True, True, False])

    def test_has_the_reason_of_the_server(self) -> None:
        self.assertEqual(self.decide(metered(10, 10)), (False, "limit_reached"))
        self.assertEqual(self.decide(metered(None, 99)), (True, "granted_unlimited"))
        self.assertEqual(self.decide(metered(10, 10), is_soft=True), (True, "granted_soft_limit_exceeded"))
        given = {
            "type": "metered",
            "current": 0,
            "sources": ["override"],
            "reasonCode": "granted_by_override",
        }
        self.assertEqual(self.decide(decision(**given, effectiveValue=5)), (True, "granted_by_override"))
        taken = {**given, "reasonCode": "override_denied", "allowed": False}
        self.assertEqual(self.decide(decision(**taken, effectiveValue=0)), (False, "override_denied"))
        grace = metered(10, 1, reasonCode="granted_grace_period")
        self.assertEqual(self.decide(grace), (True, "granted_grace_period"))
        flag = decision(
            type="boolean", effectiveValue=False, allowed=False, reasonCode="feature_not_included"
        )
        self.assertEqual(self.decide(flag), (False, "feature_not_included"))
        lost = decision(type="metered", allowed=False, reasonCode="no_active_subscription")
        self.assertEqual(self.decide(lost), (False, "no_active_subscription"))

    def test_pays_with_credits_beyond_the_limit(self) -> None:
        def paid(requested: int, available: Any, own: int = 0) -> tuple[bool, str]:
            return self.decide(
                metered(10, 8), requested, own, credit_rate=Decimal("0.5"), available=available
            )

        self.assertEqual(paid(2, 0), (True, "granted"))
        self.assertEqual(paid(6, 2), (True, "granted_by_credit"))
        self.assertEqual(paid(7, 2), (False, "insufficient_credit"))
        self.assertEqual(paid(6, 2, own=1), (False, "insufficient_credit"))
        self.assertEqual(paid(6, 0), (False, "insufficient_credit"))

    def test_adds_what_is_not_counted_yet(self) -> None:
        self.assertEqual(self.decide(metered(10, 7), 1, own=2), (True, "granted"))
        self.assertEqual(self.decide(metered(10, 7), 1, own=3), (False, "limit_reached"))


if __name__ == "__main__":
    unittest.main()
