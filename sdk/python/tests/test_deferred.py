"""Events of a customer for which the server cannot decide them, for as long as that takes."""

from __future__ import annotations

import unittest
from typing import Any
from unittest import mock

from metergate import Meter
from metergate.buffer import BatchLimits
from metergate.retry import Pauses

from .collected import SOON, meter_of
from .fake_server import FakeServer, Reply, Request, json_reply
from .test_meter import seen
from .with_spool import WithSpool

PAUSES = Pauses(0.01, 0.02)
BATCH = BatchLimits(events_max=10)


class UndecidedEvents(WithSpool):
    def setUp(self) -> None:
        super().setUp()
        self.is_decided = False
        self.server = self.enterContext(FakeServer())
        self.server.script = self.respond
        for name, value in (("deferred.SPOOLED_MAX", 10), ("deferred.SPOOLED_HELD_MAX", 20)):
            self.enterContext(mock.patch(f"metergate.{name}", value))
        self.enterContext(mock.patch("metergate.outbox.PUT_BACK_SECONDS", 0.02))

    def respond(self, request: Request) -> Reply | None:
        """With results in the order of the request; those of `stuck` cannot be decided at first."""
        events = request.events
        if self.is_decided or all(event["customerId"] != "stuck" for event in events):
            return None
        results = []
        for index, event in enumerate(events):
            result: dict[str, Any] = {"index": index, "idempotencyKey": event["idempotencyKey"]}
            if event["customerId"] == "stuck":
                result.update(status="error", error={"code": "unavailable", "message": "later"})
            else:
                self.server.created[event["idempotencyKey"]] = event
                result.update(status="created")
            results.append(result)
        return json_reply(200, {"results": results})

    def tracked(self, meter: Meter) -> tuple[list[str | None], list[str | None]]:
        stuck = [meter.track("stuck", "calls") for _ in range(60)]
        return stuck, [meter.track("acme", "calls") for _ in range(20)]

    def quick(self) -> Meter:
        return self.meter(self.server.url, linger_seconds=0.0, pauses=PAUSES, batch=BATCH)

    def arrived(self, keys: list[str | None]) -> bool:
        return seen(lambda: all(key in self.server.created for key in keys))

    def test_hold_up_no_others_and_are_sent_when_they_can_be_decided(self) -> None:
        meter = self.quick()
        stuck, others = self.tracked(meter)
        self.assertTrue(self.arrived(others))
        self.assertTrue(seen(lambda: meter.stats().waiting == 60))
        self.is_decided = True
        self.assertTrue(self.arrived(stuck))
        self.assertEqual(meter.flush(20).waiting, 0)
        self.assertEqual((meter.stats().sent, self.seen.rejected), (80, []))
        meter.close(5)
        self.assertEqual(self.names(), [])

    def test_are_the_next_process_s_when_this_one_ends(self) -> None:
        meter = self.quick()
        stuck, others = self.tracked(meter)
        self.assertTrue(self.arrived(others))
        self.assertTrue(seen(lambda: meter.stats().waiting == 60))
        self.assertEqual(meter.close().waiting, 60)
        self.is_decided = True
        self.assertEqual(sorted(self.drained(self.server)), sorted([*map(str, stuck), *map(str, others)]))

    def test_keep_nothing_settled_from_being_deleted(self) -> None:
        meter = self.quick()
        self.tracked(meter)
        own = meter._outbox.folders.own
        assert own is not None
        # All of its own folder is settled: they wait in another one.
        self.assertTrue(seen(lambda: own.reader.unsettled == 0 and not own.reader._front))
        self.assertTrue(seen(lambda: meter.stats().waiting == 60))

    def test_hold_up_no_others_in_memory_either(self) -> None:
        settings = SOON._replace(linger_seconds=0.0, pauses=PAUSES, batch=BATCH, close_seconds_max=0.0)
        meter = meter_of(self.server.url, settings, self.seen)
        self.addCleanup(meter.close, 0)
        stuck, others = self.tracked(meter)
        self.assertTrue(self.arrived(others))
        self.is_decided = True
        self.assertTrue(self.arrived(stuck))


if __name__ == "__main__":
    unittest.main()
