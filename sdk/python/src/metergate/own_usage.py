"""What this process has tracked and no count has yet, so that its own bursts are seen at once."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Sequence
from decimal import Decimal

from .shapes import Amount

#: Beyond it the oldest are taken for counted.
EVENTS_MAX = 100_000
#: After the acknowledgement, where nobody asks: a server that lags behind for longer says so itself.
KEPT_SECONDS = 600.0


class _Usage:
    __slots__ = ("acknowledged_at", "place", "value")

    def __init__(self, place: _Place, value: Amount) -> None:
        #: None once it is counted.
        self.place: _Place | None = place
        self.value = value
        self.acknowledged_at = 0.0


class _Place:
    """A customer's usage of one meter."""

    __slots__ = ("acknowledged", "customer_id", "events", "meter_id", "total")

    def __init__(self, customer_id: str, meter_id: str) -> None:
        self.customer_id = customer_id
        self.meter_id = meter_id
        self.events = 0
        self.total: Amount = 0
        self.acknowledged: deque[_Usage] = deque()


class OwnUsage:
    """Threads may share it. Values are added up, as a `sum` meter does."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """With nothing: a forked process has used nothing yet."""
        self._lock = threading.Lock()
        self._waiting: dict[str, _Usage] = {}
        self._acknowledged: deque[_Usage] = deque()
        #: Of each customer, by meter.
        self._places: dict[str, dict[str, _Place]] = {}

    def tracked(self, key: str, customer_id: str, meter_id: str, value: float | Amount) -> None:
        exact = Decimal(repr(value)) if isinstance(value, float) else value
        with self._lock:
            if key in self._waiting:
                return
            if len(self._waiting) >= EVENTS_MAX:
                self._count(self._waiting.pop(next(iter(self._waiting))))
            meters = self._places.setdefault(customer_id, {})
            place = meters.get(meter_id)
            if place is None:
                place = meters[meter_id] = _Place(customer_id, meter_id)
            place.events += 1
            place.total += exact
            self._waiting[key] = _Usage(place, exact)

    def acknowledged(self, keys: Sequence[str]) -> None:
        """From now on its count is awaited. On this machine's clock."""
        now = time.time()
        with self._lock:
            for key in keys:
                usage = self._waiting.pop(key, None)
                if usage is not None and usage.place is not None:
                    usage.acknowledged_at = now
                    usage.place.acknowledged.append(usage)
                    self._acknowledged.append(usage)
            old = now - KEPT_SECONDS
            waiting = self._acknowledged
            while waiting and (
                waiting[0].place is None or waiting[0].acknowledged_at < old or len(waiting) > EVENTS_MAX
            ):
                self._count(waiting.popleft())

    def rejected(self, key: str) -> None:
        with self._lock:
            usage = self._waiting.pop(key, None)
            if usage is not None:
                self._count(usage)

    def has(self, customer_id: str) -> bool:
        return customer_id in self._places

    def uncounted(self, customer_id: str, meter_id: str, counted_to: float) -> Amount:
        """Without what was acknowledged before `counted_to`: from now on that is never in it again."""
        # Without the lock: most customers have nothing here.
        meters = self._places.get(customer_id)
        place = None if meters is None else meters.get(meter_id)
        if place is None:
            return 0
        with self._lock:
            waiting = place.acknowledged
            # mutant: python-own-usage-forgotten-early
            while waiting and (waiting[0].place is None or waiting[0].acknowledged_at < counted_to):
                self._count(waiting.popleft())
            return place.total

    def _count(self, usage: _Usage) -> None:
        place, usage.place = usage.place, None
        if place is None:
            return
        place.total -= usage.value
        place.events -= 1
        if place.events == 0:
            meters = self._places[place.customer_id]
            del meters[place.meter_id]
            if not meters:
                del self._places[place.customer_id]
