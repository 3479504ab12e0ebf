"""What waits to be sent: in memory here, in files in the spool."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple, Union

from .draft import Draft, encode_draft


class BatchLimits(NamedTuple):
    """How much one request may hold: events, and bytes of JSON before it is compressed."""

    events_max: int = 500
    bytes_max: int = 1024 * 1024 - 64


class Entry:
    """One event on its way. `end` is where it ends in its segment, for a source that has segments."""

    __slots__ = ("attempts", "end", "is_settled", "payload", "segment", "size_bytes", "source")

    def __init__(
        self, payload: bytes, source: Source, size_bytes: int, segment: int = 0, end: int = 0
    ) -> None:
        self.payload = payload
        self.source = source
        #: As it was counted when it came.
        self.size_bytes = size_bytes
        self.segment = segment
        self.end = end
        self.is_settled = False
        self.attempts = 0


class Source:
    """Events in order: one thread takes each once, and settles it once the server has decided it.

    The counts are the outbox's, which keeps them under the meter's lock.
    """

    def __init__(self) -> None:
        self.untaken = 0
        self.unsettled = 0
        #: Of what is unsettled.
        self.size_bytes = 0

    def take(self, limits: BatchLimits) -> list[Entry]:
        raise NotImplementedError

    def settle(self, entries: Sequence[Entry]) -> None:
        """Raises OSError where this could not be stored: then they may be sent again after a restart."""
        raise NotImplementedError


#: What `track` was given, or its JSON.
Waiting = Union[bytes, Draft]


def size_of(waiting: Waiting) -> int:
    """In bytes of JSON, nearly."""
    return len(waiting) if isinstance(waiting, bytes) else waiting[0]


class MemoryBuffer(Source):
    """Events that a crash of the process loses. One thread may append while another one takes."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting: deque[Waiting] = deque()
        #: In order.
        self._taken: dict[Entry, None] = {}

    def take(self, limits: BatchLimits) -> list[Entry]:
        taken: list[Entry] = []
        size = 0
        waiting = self.waiting
        while waiting and len(taken) < limits.events_max:
            first = waiting[0]
            payload = first if isinstance(first, bytes) else encode_draft(first)
            size += len(payload) + 1
            if taken and size > limits.bytes_max:
                break
            waiting.popleft()
            taken.append(Entry(payload, self, size_of(first)))
        self._taken.update(dict.fromkeys(taken))
        return taken

    def settle(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            entry.is_settled = True
            self._taken.pop(entry, None)

    def give_back(self) -> None:
        """What was taken and is not settled waits again, in front. Called with the meter's lock held."""
        self.waiting.extendleft(entry.payload for entry in reversed(self._taken))
        self.untaken += len(self._taken)
        self._taken.clear()


def by_source(entries: Sequence[Entry]) -> dict[Source, list[Entry]]:
    found: dict[Source, list[Entry]] = {}
    for entry in entries:
        found.setdefault(entry.source, []).append(entry)
    return found
