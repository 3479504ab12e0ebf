"""What this process has tracked and no count has yet, so that its own bursts are seen at once."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Sequence

from .amounts import exact, minus, plus
from .shapes import Amount

#: Whose acknowledgement is waited for one by one. Others count until nothing waits to be sent.
EVENTS_MAX = 100_000
#: Customers and meters.
PLACES_MAX = 100_000
#: After the acknowledgement, where nobody asks: a server that lags behind for longer says so itself.
KEPT_SECONDS = 600.0
#: What is acknowledged within this time is taken for acknowledged at its end, which is on the safe side.
_STEP_SECONDS = 0.05
#: Of one place. Beyond it the last step is longer.
_STEPS_MAX = 100


class _Step:
    """Usage that was acknowledged from one time to another."""

    __slots__ = ("began_at", "ended_at", "events", "value")

    def __init__(self, at: float) -> None:
        self.began_at = self.ended_at = at
        self.events = 0
        self.value: Amount = 0


class _Place:
    """A customer's usage of one meter: all of it, and what of that has no key here."""

    __slots__ = (
        "acknowledged",
        "customer_id",
        "events",
        "keyless_events",
        "keyless_value",
        "meter_id",
        "value",
    )

    def __init__(self, customer_id: str, meter_id: str) -> None:
        self.customer_id = customer_id
        self.meter_id = meter_id
        self.events = 0
        self.value: Amount = 0
        self.keyless_events = 0
        self.keyless_value: Amount = 0
        self.acknowledged: deque[_Step] = deque()

    def acknowledge(self, now: float, events: int, value: Amount) -> None:
        last = self.acknowledged[-1] if self.acknowledged else None
        if last is None or (now - last.began_at >= _STEP_SECONDS and len(self.acknowledged) < _STEPS_MAX):
            last = _Step(now)
            self.acknowledged.append(last)
        last.ended_at = now
        last.events += events
        last.value = plus(last.value, value)


class OwnUsage:
    """Threads may share it. Times are those of the monotonic clock."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """With nothing: a forked process has used nothing yet."""
        self._lock = threading.Lock()
        self._waiting: dict[str, tuple[_Place, Amount]] = {}
        #: Of each customer, by meter.
        self._places: dict[str, dict[str, _Place]] = {}
        self._size = 0
        #: Those with events beyond EVENTS_MAX.
        self._keyless: set[_Place] = set()
        self._cleared_at = time.monotonic()

    def tracked(self, key: str, customer_id: str, meter_id: str, value: float | Amount) -> None:
        """The same key again is the same event."""
        amount = exact(value)
        with self._lock:
            if key in self._waiting:
                return
            place = self._place(customer_id, meter_id)
            if place is None:
                return
            place.events += 1
            place.value = plus(place.value, amount)
            if len(self._waiting) < EVENTS_MAX:
                self._waiting[key] = (place, amount)
            else:
                place.keyless_events += 1
                place.keyless_value = plus(place.keyless_value, amount)
                self._keyless.add(place)

    def acknowledged(self, keys: Sequence[str]) -> None:
        """From now on its count is awaited."""
        now = time.monotonic()
        with self._lock:
            for key in keys:
                waiting = self._waiting.pop(key, None)
                if waiting is not None:
                    waiting[0].acknowledge(now, 1, waiting[1])
            if now - self._cleared_at > KEPT_SECONDS / 10:
                self._cleared_at = now
                for meters in [*self._places.values()]:
                    for place in [*meters.values()]:
                        self._count(place, now - KEPT_SECONDS)

    def rejected(self, key: str) -> None:
        with self._lock:
            waiting = self._waiting.pop(key, None)
            if waiting is not None:
                self._take_off(waiting[0], 1, waiting[1])

    def drained(self) -> None:
        """Nothing waits to be sent: the events beyond EVENTS_MAX have been acknowledged, or were rejected."""
        if not self._keyless:
            return
        now = time.monotonic()
        with self._lock:
            places, self._keyless = self._keyless, set()
            for place in places:
                place.acknowledge(now, place.keyless_events, place.keyless_value)
                place.keyless_events, place.keyless_value = 0, 0

    def has(self, customer_id: str) -> bool:
        return customer_id in self._places

    def uncounted(
        self, customer_id: str, meter_id: str, counted_to: float, *, is_count: bool = False
    ) -> Amount:
        """Without what was acknowledged before `counted_to`: from now on that is never in it again.

        A `count` meter has one for each event; for others their values are added up, as a `sum` meter does.
        """
        # Without the lock: most customers have nothing here.
        meters = self._places.get(customer_id)
        place = None if meters is None else meters.get(meter_id)
        if place is None:
            return 0
        with self._lock:
            self._count(place, counted_to)
            return place.events if is_count else place.value

    def _place(self, customer_id: str, meter_id: str) -> _Place | None:
        """None where there are as many as may be."""
        meters = self._places.get(customer_id)
        place = None if meters is None else meters.get(meter_id)
        if place is None and self._size < PLACES_MAX:
            place = _Place(customer_id, meter_id)
            self._places.setdefault(customer_id, {})[meter_id] = place
            self._size += 1
        return place

    def _count(self, place: _Place, counted_to: float) -> None:
        steps = place.acknowledged
        # mutant: python-own-usage-forgotten-early
        while steps and steps[0].ended_at < counted_to:
            step = steps.popleft()
            self._take_off(place, step.events, step.value)

    def _take_off(self, place: _Place, events: int, value: Amount) -> None:
        place.value = minus(place.value, value)
        place.events -= events
        meters = self._places.get(place.customer_id)
        if place.events == 0 and meters is not None and meters.get(place.meter_id) is place:
            del meters[place.meter_id]
            self._size -= 1
            if not meters:
                del self._places[place.customer_id]
