"""What a meter has done so far. All counts are of this process, since the meter was made."""

from __future__ import annotations

from typing import NamedTuple


class Stats(NamedTuple):
    #: Taken by `track()`.
    tracked: int
    #: On the server; `duplicates` of them were there before.
    sent: int
    duplicates: int
    #: Given to `on_rejected`.
    rejected: int
    #: Not taken, for want of room or of a spool that can be written.
    dropped: int
    #: Not settled yet, those of adopted folders included.
    waiting: int
    #: Requests that were sent again.
    retries: int
    #: Of segments of the spool that could not be read; the files are kept as `*.damaged`.
    damaged_bytes: int


class Flushed(NamedTuple):
    """What a flush did: on the server, rejected, and still waiting when its time was over."""

    sent: int
    rejected: int
    waiting: int


class Counters:
    """Under the meter's lock."""

    def __init__(self) -> None:
        self.tracked = 0
        self.sent = 0
        self.duplicates = 0
        self.rejected = 0
        self.dropped = 0
        self.retries = 0
