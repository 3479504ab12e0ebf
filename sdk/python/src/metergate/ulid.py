"""ULIDs: 10 characters of time in milliseconds, then 16 that differ. They sort by time."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Iterator

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
#: Two characters at a time.
_PAIRS = [high + low for high in _ALPHABET for low in _ALPHABET]


class UlidSource:
    """Makes ULIDs of one process. Threads may share it: an iterator of C code gives each call another end.

    The characters behind the time are 50 random bits of the source and 30 bits of a counter, which begins
    at random too. A forked process must make a source of its own.
    """

    def __init__(self) -> None:
        seed = int.from_bytes(os.urandom(10), "big")
        self._own = _encode(seed >> 30, 10)
        self._last: tuple[int, str] = (-1, "")
        # Its pairs of characters, which takes half as long as to make them from a number.
        begins = [(seed >> shift) & 1023 for shift in (20, 10, 0)]
        first, second, third = (itertools.repeat(_PAIRS[begin:] + _PAIRS[:begin]) for begin in begins)
        self._counts = itertools.chain.from_iterable(map(_product, first, second, third))

    def new(self, at_seconds: float) -> str:
        milliseconds = int(at_seconds * 1000)
        last_ms, head = self._last
        if last_ms != milliseconds:
            head = _encode(milliseconds & 0xFFFFFFFFFFFF, 10) + self._own
            self._last = (milliseconds, head)
        high, middle, low = next(self._counts)
        return f"{head}{high}{middle}{low}"


def new_ulid() -> str:
    """One ULID, of a source of its own: for names of folders, not for events."""
    return UlidSource().new(time.time())


def _product(high: list[str], middle: list[str], low: list[str]) -> Iterator[tuple[str, str, str]]:
    return itertools.product(high, middle, low)


def _encode(number: int, characters: int) -> str:
    return "".join([_PAIRS[(number >> shift) & 1023] for shift in range(5 * characters - 10, -1, -10)])
