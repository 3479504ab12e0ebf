"""What this process has tracked and no count has yet, so that its own bursts are seen at once."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from .shapes import Amount

#: Beyond it the oldest are taken for counted.
EVENTS_MAX = 100_000


class _Usage(NamedTuple):
    customer_id: str
    meter_id: str
    value: Amount


class OwnUsage:
    """Threads may share it. Values are added up, as a `sum` meter does."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """With nothing: a forked process has used nothing yet."""
        self._lock = threading.Lock()
        self._waiting: dict[str, _Usage] = {}
        #: With the time of the acknowledgement, on this machine's clock.
        self._acknowledged: deque[tuple[float, _Usage]] = deque()
        self._totals: dict[tuple[str, str], Amount] = {}

    def tracked(self, key: str, customer_id: str, meter_id: str, value: float | Amount) -> None:
        exact = Decimal(repr(value)) if isinstance(value, float) else value
        with self._lock:
            if key in self._waiting:
                return
            if len(self._waiting) >= EVENTS_MAX:
                self._subtract(self._waiting.pop(next(iter(self._waiting))))
            self._waiting[key] = _Usage(customer_id, meter_id, exact)
            place = (customer_id, meter_id)
            self._totals[place] = self._totals.get(place, 0) + exact

    def acknowledged(self, keys: Sequence[str]) -> None:
        now = time.time()
        with self._lock:
            for key in keys:
                usage = self._waiting.pop(key, None)
                if usage is not None:
                    self._acknowledged.append((now, usage))
            while len(self._acknowledged) > EVENTS_MAX:
                self._subtract(self._acknowledged.popleft()[1])

    def rejected(self, key: str) -> None:
        with self._lock:
            usage = self._waiting.pop(key, None)
            if usage is not None:
                self._subtract(usage)

    def uncounted(self, customer_id: str, meter_id: str, counted_to: float) -> Amount:
        """Of what was acknowledged before `counted_to` nothing."""
        with self._lock:
            while self._acknowledged and self._acknowledged[0][0] < counted_to:
                self._subtract(self._acknowledged.popleft()[1])
            return self._totals.get((customer_id, meter_id), 0)

    def _subtract(self, usage: _Usage) -> None:
        place = (usage.customer_id, usage.meter_id)
        left = self._totals.get(place, 0) - usage.value
        if left == 0:
            self._totals.pop(place, None)
        else:
            self._totals[place] = left
