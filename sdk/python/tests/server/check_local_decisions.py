"""Decisions in this process, next to those of a real Metergate: METERGATE_URL and METERGATE_KEY.

`LocalDecisions` is short. The last test of `AtLength` prints `kill` and waits for a line on stdin, upon which
the server is gone.
"""

from __future__ import annotations

import itertools
import sys
import time
import unittest
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Callable

from metergate import Checked, Client, Entitlements, Meter, MeterSettings
from metergate.event import Number

from ..collected import Collected

CUSTOMER = "py-fed"
FEATURES = ("fed_sso", "fed_seats", "fed_calls", "fed_soft", "fed_tokens", "fed_none", "no_such_feature")
AMOUNTS: tuple[Number | None, ...] = (None, 0, Decimal("0.5"), 94, 1_000)
SOON_SECONDS = 15.0

client = Client()
_numbers = itertools.count()


def setUpModule() -> None:
    for key, rate in (("fed_calls", None), ("fed_soft", None), ("fed_tokens", 0.5)):
        body = {"key": key, "name": key, "aggregation": "sum"}
        client.request("POST", "/meters", body=body if rate is None else {**body, "creditRate": rate})
    kinds = {"fed_sso": "boolean", "fed_seats": "limit"}
    for key in FEATURES[:-1]:
        kind = kinds.get(key, "metered")
        linked = {"meterKey": key if key != "fed_none" else "fed_calls"} if kind == "metered" else {}
        client.request("POST", "/features", body={"key": key, "name": key, "type": kind, **linked})


def tearDownModule() -> None:
    client.close()


def subscribe(name: str, given: Mapping[str, object]) -> None:
    """`{value, soft}` makes a limit soft."""
    client.customers.create(name=name, email="it@acme.example", external_id=name)
    plan = client.request("POST", "/plans", body={"productId": "p", "name": f"{name} {next(_numbers)}"})
    rows = [
        {"featureKey": key, **(value if isinstance(value, dict) else {"value": value})}
        for key, value in given.items()
    ]
    client.request("PUT", f"/plans/{plan['id']}/entitlements", body={"entitlements": rows})
    client.request("POST", "/subscriptions", body={"customerId": name, "planId": plan["id"]})


def soon(isTrue: Callable[[], object], seconds: float = SOON_SECONDS) -> bool:
    until = time.monotonic() + seconds
    while not isTrue():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


class WithMeter(unittest.TestCase):
    def setUp(self) -> None:
        self.seen = Collected()
        self.meter = Meter(settings=MeterSettings(linger_seconds=0.01))
        self.addCleanup(self.meter.close)
        self.checks = self.local(meter=self.meter)

    def local(self, **options: Any) -> Entitlements:
        checks = Entitlements(client, is_local=True, on_error=self.seen.on_error, **options)
        self.addCleanup(checks.close)
        return checks

    def follow(self, name: str, checks: Entitlements | None = None) -> None:
        checks = checks or self.checks
        self.assertTrue(soon(lambda: checks.check(name, "fed_sso").source == "local"), self.seen.codes)


class LocalDecisions(WithMeter):
    def test_are_those_of_the_server(self) -> None:
        # Of a boolean, a static limit, a limit of usage, one with overage, and credits beyond one.
        soft = {"value": 10, "soft": True}
        subscribe(
            CUSTOMER, {"fed_sso": True, "fed_seats": 5, "fed_calls": 100, "fed_soft": soft, "fed_tokens": 4}
        )
        self.follow(CUSTOMER)
        self.assert_same_as_the_server()
        customer = f"/customers/{CUSTOMER}"
        # What changes at once in one of them concerns other features.
        steps: list[Callable[[], object]] = [
            lambda: self.use(fed_calls=7, fed_soft=20, fed_tokens=Decimal("4.5")),
            lambda: [
                client.request("POST", f"{customer}/credits", body={"amount": 60, "reason": "x"}),
                client.request("PUT", f"{customer}/overrides/fed_seats", body={"value": 94}),
                client.request("PUT", f"{customer}/overrides/fed_sso", body={"value": False}),
            ],
            lambda: self.use(fed_tokens=3),
            lambda: client.request("POST", f"{customer}/archive"),
        ]
        for step in steps:
            step()
            self.assert_same_as_the_server()
        self.assertEqual(self.seen.codes, [])

    def use(self, **values: Number) -> None:
        for meter_id, value in values.items():
            self.meter.track(CUSTOMER, meter_id, value)
        self.meter.flush()
        client.usage.retrieve(CUSTOMER, next(iter(values)), consistency="strong")

    def assert_same_as_the_server(self) -> None:
        """For each feature and amount, in time; then nothing is asked of it any more."""
        here = {}
        there = {}

        def is_same() -> bool:
            for feature in FEATURES:
                for amount in AMOUNTS:
                    local = self.checks.check(CUSTOMER, feature, amount)
                    decision = client.entitlements.check(CUSTOMER, feature, amount)
                    here[feature, amount] = (local.source, local.allowed, local.reason_code, local.current)
                    there[feature, amount] = (
                        "local",
                        decision["allowed"],
                        # The feed has no list of all features.
                        decision["reasonCode"].replace("feature_not_found", here[feature, amount][2]),
                        decision.get("current"),
                    )
                    if here[feature, amount] != there[feature, amount]:
                        return False
            return True

        self.assertTrue(soon(is_same), {key: (here[key], there.get(key)) for key in here})

    def test_know_a_customer_by_its_id_and_by_its_external_id(self) -> None:
        subscribe("py,fed/é", {"fed_sso": True, "fed_calls": 3})
        customer_id = client.customers.retrieve("py,fed/é")["id"]
        for name in ("py,fed/é", customer_id):
            self.follow(name)
        self.meter.track(customer_id, "fed_calls", 1)
        self.meter.track("py,fed/é", "fed_calls", 1)
        for requested, allowed in ((1, True), (2, False)):
            self.assertEqual(self.checks.check("py,fed/é", "fed_calls", requested).allowed, allowed)

    def test_count_the_usage_of_a_burst_at_once(self) -> None:
        # From its first check on, for which the server has to be asked.
        subscribe("py-soon", {"fed_calls": 3})
        self.assertEqual(burst(self.checks, self.meter, "py-soon", 30), 3)
        subscribe("py-burst", {"fed_sso": True, "fed_calls": 200})
        used = burst(self.checks, self.meter, "py-burst", 600)
        self.assertEqual(used, 200)

        def is_counted() -> bool:
            # While it is acknowledged, and while it is counted.
            self.assertEqual(burst(self.checks, self.meter, "py-burst", 30), 0)
            return self.checks.check("py-burst", "fed_calls").current == 200

        self.meter.flush()
        self.assertTrue(soon(is_counted))
        self.assertTrue(is_counted())


class AtLength(WithMeter):
    def test_are_no_older_than_two_seconds(self) -> None:
        subscribe("py-age", {"fed_sso": True, "fed_seats": 0})
        self.follow("py-age")
        ages = []
        for value in range(1, 6):
            client.request("PUT", "/customers/py-age/overrides/fed_seats", body={"value": value})
            changed_at = time.monotonic()
            self.assertTrue(soon(lambda: self.checks.check("py-age", "fed_seats", value).allowed))
            ages.append(time.monotonic() - changed_at)
        print(f"a change is seen after {sorted(ages)[2]:.2f} s, at most {max(ages):.2f}", file=sys.stderr)
        self.assertLess(sorted(ages)[2], 2)

    def test_zz_without_the_server_follow_the_policy_of_the_feature(self) -> None:
        subscribe("py-alone", {"fed_sso": True, "fed_calls": 10})
        policies = {"fed_sso": "last_known", "fed_calls": "last_known", "fed_seats": "open"}
        checks = self.local(meter=self.meter, fallback=policies)
        self.follow("py-alone", checks)
        print("kill", flush=True)
        sys.stdin.readline()
        self.assertTrue(soon(lambda: checks.check("py-alone", "fed_sso").source != "local"))
        self.assertEqual(sourced(checks.check("py-alone", "fed_sso")), (True, "granted", "last_known"))
        self.assertEqual(
            sourced(checks.check("py-alone", "fed_calls", 11)), (False, "limit_reached", "last_known")
        )
        # What was used meanwhile is known too.
        self.assertEqual(burst(checks, self.meter, "py-alone", 30), 10)
        self.assertEqual(
            sourced(checks.check("py-alone", "fed_none")), (False, "server_unavailable", "fallback")
        )
        self.assertEqual(
            sourced(checks.check("py-alone", "fed_seats")), (True, "server_unavailable", "fallback")
        )
        self.assertEqual(
            sourced(checks.check("unknown", "fed_seats")), (True, "server_unavailable", "fallback")
        )
        began = time.monotonic()
        for _ in range(1_000):
            checks.check("py-alone", "fed_seats")
        self.assertLess(time.monotonic() - began, 2)


def sourced(checked: Checked) -> tuple[bool, str, str]:
    return checked.allowed, checked.reason_code, checked.source


def burst(checks: Entitlements, meter: Meter, name: str, times: int) -> int:
    """How often it was allowed."""
    used = 0
    for _ in range(times):
        if checks.check(name, "fed_calls").allowed:
            meter.track(name, "fed_calls")
            used += 1
    return used


if __name__ == "__main__":
    unittest.main()
