"""Against a real Metergate, whose address and key are METERGATE_URL and METERGATE_KEY."""

from __future__ import annotations

import tempfile
import time
import unittest
from decimal import Decimal

from metergate import Client, Entitlements, Meter, MetergateError, MeterSettings, Properties

from ..collected import Collected

client = Client()


class AServer(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        client.customers.create(name="Acme", email="it@acme.example", external_id="py-acme")

    @classmethod
    def tearDownClass(cls) -> None:
        client.close()

    def test_counts_each_event_of_a_meter_once_and_says_which_it_rejects(self) -> None:
        seen = Collected()
        with tempfile.TemporaryDirectory() as spool:
            settings = MeterSettings(spool=spool, linger_seconds=0.01)
            with Meter(settings=settings, on_rejected=seen.on_rejected, on_error=seen.on_error) as meter:
                properties: Properties = {"model": "ü", "cached": True, "n": 1.5}
                for at in range(1_200):
                    key = f"py-{at}"
                    meter.track("py-acme", "py_tokens", 0.1, idempotency_key=key, properties=properties)
                meter.track("py-acme", "py_tokens", 0.1, idempotency_key="py-0", properties=properties)
                meter.track("py-acme", "py_tokens", Decimal("123456789.000000000001"), properties=properties)
                meter.track("unknown", "py_tokens", idempotency_key="py-unknown")
                self.assertEqual(meter.flush(), (1_202, 1, 0))
                self.assertEqual((meter.stats().duplicates, meter.stats().retries), (1, 0))
        self.assertEqual(seen.rejected_keys, {"py-unknown": "customer_not_found"})
        counter = client.usage.retrieve("py-acme", "py_tokens", consistency="strong")
        self.assertEqual(counter["current"], Decimal("123456909.000000000001"))

    def test_takes_one_event_and_repeats_its_response(self) -> None:
        first = client.usage.submit("py-acme", "py_single", Decimal("0.1"), idempotency_key="ключ")
        again = client.usage.submit("py-acme", "py_single", Decimal("0.1"), idempotency_key="ключ")
        self.assertEqual((first["value"], first), (Decimal("0.1"), again))
        with self.assertRaises(MetergateError) as caught:
            client.usage.submit("py-acme", "py_single", 2, idempotency_key="ключ")
        self.assertEqual(caught.exception.code, "idempotency_key_reused")

    def test_has_customers(self) -> None:
        page = client.customers.list(page_size=1)
        self.assertEqual((page["page"], page["pageSize"], len(page["data"])), (1, 1, 1))
        changed = client.customers.update("py-acme", name="Acme & Söhne", metadata={"tier": 2})
        self.assertEqual(client.customers.retrieve(changed["id"]), changed)
        with self.assertRaises(MetergateError) as caught:
            client.customers.retrieve("no/such")
        self.assertEqual((caught.exception.code, caught.exception.status), ("customer_not_found", 404))

    def test_decides_entitlements(self) -> None:
        client.request("POST", "/features", body={"key": "py_seats", "name": "Seats", "type": "limit"})
        client.request("PUT", "/customers/py-acme/overrides/py_seats", body={"value": 5})
        checks = Entitlements(client)
        allowed = checks.check("py-acme", "py_seats", 5)
        self.assertEqual((allowed.allowed, allowed.limit, allowed.source), (True, 5, "server"))
        self.assertFalse(checks.check("py-acme", "py_seats", 6).allowed)
        self.assertEqual(checks.check("py-acme", "py_none").reason_code, "feature_not_found")
        decisions = client.entitlements.check_many("py-acme", ["py_seats", "py_none"])
        self.assertEqual([one["featureKey"] for one in decisions], ["py_seats", "py_none"])
        (held,) = client.entitlements.list("py-acme")
        self.assertEqual(held.get("effectiveValue"), 5)

    def test_takes_a_batch_again_whose_response_was_lost(self) -> None:
        with Meter(timeout_seconds=0.001) as meter:
            meter.track("py-acme", "py_lost")
            time.sleep(0.1)
            meter._transport._timeout_seconds = 15.0
            self.assertEqual(meter.flush().sent, 1)


if __name__ == "__main__":
    unittest.main()
