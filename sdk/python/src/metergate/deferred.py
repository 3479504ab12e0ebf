"""Events that the server could not decide, and asked for again: they wait by themselves, and others go on."""

from __future__ import annotations

import heapq
import itertools

from .buffer import BatchLimits, Entry
from .spool.reader import SpoolReader

#: Of events from files, which memory holds for them. With more of them they are put back to files.
SPOOLED_MAX = 5_000
#: Where they cannot be put back, since the disk is full too. Then no others are taken.
SPOOLED_HELD_MAX = 20_000
#: After so many attempts too: what is settled behind them would wait for them in its folder.
ATTEMPTS_MAX = 6


class Deferred:
    """Its caller holds the meter's lock."""

    def __init__(self) -> None:
        self._groups: list[tuple[float, int, list[Entry]]] = []
        self._numbers = itertools.count()
        self._spooled = 0

    def add(self, due: float, entries: list[Entry]) -> None:
        """`due` is on the monotonic clock."""
        self._spooled += _spooled(entries)
        heapq.heappush(self._groups, (due, next(self._numbers), entries))

    def has_room(self, entries: list[Entry]) -> bool:
        """Those of memory have it anyway: they are there already."""
        spooled = _spooled(entries)
        is_patient = max(entry.attempts for entry in entries) <= ATTEMPTS_MAX
        # mutant: python-undecided-stop-others
        return spooled == 0 or (is_patient and self._spooled + spooled <= SPOOLED_MAX)

    def is_full(self) -> bool:
        return self._spooled >= SPOOLED_HELD_MAX

    def due_in(self, now: float) -> float:
        """Seconds; infinite without any."""
        return max(0.0, self._groups[0][0] - now) if self._groups else float("inf")

    def take(self, now: float, limits: BatchLimits) -> list[Entry]:
        """Those that are due, in one batch: they came one by one from many."""
        taken: list[Entry] = []
        size = 0
        while self._groups and self._groups[0][0] <= now:
            entries = self._groups[0][2]
            size += sum(len(entry.payload) + 1 for entry in entries)
            if taken and (len(taken) + len(entries) > limits.events_max or size > limits.bytes_max):
                break
            heapq.heappop(self._groups)
            self._spooled -= _spooled(entries)
            taken += entries
        return taken


def _spooled(entries: list[Entry]) -> int:
    return sum(isinstance(entry.source, SpoolReader) for entry in entries)
