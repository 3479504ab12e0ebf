"""A spool in a folder of its own for each test."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path
from typing import Any

from metergate import Meter, Stats

from .collected import SOON, Collected, meter_of
from .fake_server import NOWHERE, FakeServer

__all__ = ["NOWHERE", "WithSpool"]


class WithSpool(unittest.TestCase):
    #: Of the meter that has drained the spool.
    stats: Stats

    def setUp(self) -> None:
        self.root = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.seen = Collected()

    def enterContext(self, context: Any) -> Any:
        entered = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        return entered

    def meter(self, url: str, **settings: Any) -> Meter:
        chosen = SOON._replace(spool=str(self.root), close_seconds_max=0.0, **settings)
        meter = meter_of(url, chosen, self.seen)
        self.addCleanup(meter.close, 0)
        return meter

    def names(self) -> list[str]:
        return sorted(path.name for path in self.root.iterdir())

    def leave(self, keys: list[str], **settings: Any) -> Path:
        """A folder in which these wait."""
        meter = self.meter(NOWHERE, **settings)
        for key in keys:
            self.assertEqual(meter.track("acme", "calls", idempotency_key=key), key)
        self.assertEqual(meter.close(), (0, 0, len(keys)))
        (folder,) = self.root.glob("p-*")
        return folder

    def drained(self, server: FakeServer) -> list[str]:
        with self.meter(server.url) as meter:
            self.assertEqual(meter.flush(20).waiting, 0)
            self.stats = meter.stats()
        return list(server.created)
