"""Reads the events of one folder of a spool in order, and deletes what is settled."""

from __future__ import annotations

import contextlib
import os
from collections import deque
from collections.abc import Sequence
from typing import Callable

from ..buffer import BatchLimits, Entry, Source
from .cursor import Cursor, Place
from .owner import NAME as OWNER_NAME
from .segment import (
    HEADER_BYTES,
    MAGIC,
    PAYLOAD_BYTES_MAX,
    RECORD_HEAD_BYTES,
    Record,
    count_records,
    open_segment,
    parse_records,
    read_at,
    segment_name,
    segment_numbers,
    size_of,
)
from .unreadable import keep_damaged

_CHUNK_BYTES = 256 * 1024


class SpoolReader(Source):
    """For one thread. `end_of_writing` is where the process appends, in a folder of its own.

    Entries that were taken wait in `_front` in the order of the spool: only what is settled from there on
    moves the cursor.
    """

    def __init__(
        self,
        folder: str,
        *,
        root: str,
        end_of_writing: Callable[[], Place] | None = None,
        on_damage: Callable[[int], None],
    ) -> None:
        super().__init__()
        self.folder = folder
        #: Whether this process has written it.
        self.is_own = end_of_writing is not None
        self._root = root
        self._end_of_writing = end_of_writing
        self._on_damage = on_damage
        self._cursor = Cursor(folder)
        self._front: deque[Entry] = deque()
        self.is_damaged = False
        self._damaged: set[int] = set()
        #: Descriptors by segment number, for when names are gone. The thread that takes one out closes it.
        self._held: dict[int, int] = {}
        self._open: int | None = None
        self._chunk, self._chunk_begin = b"", 0
        try:
            self._at = self._begin()
        except OSError:
            self._cursor.close()
            raise
        self._removed_before = self._at.segment

    def count(self) -> None:
        """Learns what waits in a folder of another process. Reads all of it once, and not what it says."""
        for number in segment_numbers(self.folder):
            if number < self._at.segment:
                continue
            begin = self._at.position if number == self._at.segment else HEADER_BYTES
            with open(os.path.join(self.folder, segment_name(number)), "rb") as file:
                data = file.read()
            self.untaken += count_records(data, begin)
            self.size_bytes += max(0, len(data) - begin)
        self.unsettled = self.untaken

    def hold(self, number: int, file: int) -> None:
        """`file` is of a segment, and now the reader's: that is read whatever becomes of its name."""
        self._held[number] = file

    def release(self, number: int) -> None:
        """It is found by its name, if it is not read already."""
        file = self._held.pop(number, None)
        if file is not None:
            os.close(file)

    def take(self, limits: BatchLimits) -> list[Entry]:
        """Raises OSError where nothing can be read just now: then nothing was taken."""
        taken: list[Entry] = []
        size = 0
        while len(taken) < limits.events_max and size < limits.bytes_max:
            left = BatchLimits(limits.events_max - len(taken), limits.bytes_max - size)
            try:
                records = self._next_records(left)
            except OSError:
                if not taken:
                    raise
                # It will be met again, behind what was taken.
                # mutant: python-read-forgotten
                break
            if not records or (taken and size + len(records[0][0]) > limits.bytes_max):
                break
            segment, before = self._at
            for payload, end in records:
                taken.append(Entry(payload, self, end - before, segment, end))
                before = end
            size += before - self._at.position
            self._at = Place(segment, before)
        # mutant: python-cursor-ahead
        self._front.extend(taken)
        return taken

    def settle(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            entry.is_settled = True
        front = self._front
        last: Entry | None = None
        while front and front[0].is_settled:
            last = front.popleft()
        settled_to = None if last is None else Place(last.segment, last.end)
        if not front:
            self._skip_finished()
            settled_to = self._at
        try:
            if settled_to is not None and settled_to != self._cursor.place:
                self._cursor.write(settled_to)
        finally:
            self._remove_before(self._front[0].segment if self._front else self._at.segment)

    def is_finished(self) -> bool:
        """Nothing is left, and nothing will come. What cannot be read behind the last event is seen here."""
        if self._front or self._end_of_writing is not None:
            return False
        try:
            return not self._next_records(BatchLimits(1, 1))
        except OSError:
            return False

    def detach(self) -> None:
        """The folder has another owner: what open files have is read."""
        self._end_of_writing = None

    def remove_folder(self) -> None:
        """Nothing of it is needed any more. Raises OSError."""
        for number in segment_numbers(self.folder):
            self._remove(number)
        self.close()
        # The owner last: whatever is left when this process is killed here, the next one knows whose it was.
        for name in sorted(os.listdir(self.folder), key=lambda one: one == OWNER_NAME):
            os.unlink(os.path.join(self.folder, name))
        os.rmdir(self.folder)

    def close(self) -> None:
        self._close_segment()
        self._cursor.close()
        for number in [*self._held]:
            self.release(number)

    def _begin(self) -> Place:
        """Where the cursor is, or the first segment that is there behind it."""
        place = self._cursor.place or Place(0, HEADER_BYTES)
        number = min((one for one in segment_numbers(self.folder) if one >= place.segment), default=None)
        if number is None or number == place.segment:
            return Place(place.segment, max(place.position, HEADER_BYTES))
        return Place(number, HEADER_BYTES)

    def _next_records(self, limits: BatchLimits) -> list[Record]:
        """Those at hand, of one segment; empty where there are none, now or ever."""
        while True:
            if self._is_at_end():
                if not self._next_segment():
                    return []
                continue
            end = self._end_of_segment()
            at = self._at.position - self._chunk_begin
            records, is_damaged = parse_records(self._chunk, self._at.position, limits, at=at)
            if records:
                return records
            read_to = self._chunk_begin + len(self._chunk)
            if is_damaged or read_to >= end:
                self._damage(end - self._at.position)
            else:
                self._read_chunk(end)

    def _open_segment(self) -> bool:
        number = self._at.segment
        held = self._held.pop(number, None)
        try:
            file = open_segment(self.folder, number) if held is None else held
        except FileNotFoundError:
            return False
        try:
            size = size_of(file)
            is_one = self._at.position >= size or read_at(file, HEADER_BYTES, 0) == MAGIC
        except OSError:
            self._held[number] = file
            raise
        self._open = file
        self._chunk, self._chunk_begin = b"", self._at.position
        if not is_one:
            self._damage(size - self._at.position)
        return True

    def _end_of_segment(self) -> int:
        # Another thread may detach the reader.
        end_of_writing = self._end_of_writing
        if end_of_writing is not None:
            writing = end_of_writing()
            if writing.segment == self._at.segment:
                return writing.position
        return size_of(self._open) if self._open is not None else 0

    def _read_chunk(self, end: int) -> None:
        """More of the segment, at least one whole record if that is there."""
        assert self._open is not None
        longest = RECORD_HEAD_BYTES + PAYLOAD_BYTES_MAX
        had = self._chunk_begin + len(self._chunk) - self._at.position
        size = min(end - self._at.position, longest if had >= _CHUNK_BYTES else _CHUNK_BYTES)
        chunk = read_at(self._open, size, self._at.position)
        self._chunk, self._chunk_begin = chunk, self._at.position
        if len(chunk) < size:
            # Another program has cut the file.
            self._damage(end - self._at.position)

    def _damage(self, count: int) -> None:
        """So much of the segment cannot be read: up to its end, or to where it is written."""
        self.is_damaged = True
        self._damaged.add(self._at.segment)
        self._at = Place(self._at.segment, self._at.position + count)
        self._chunk, self._chunk_begin = b"", self._at.position
        # mutant: python-damage-unreported
        self._on_damage(count)

    def _next_segment(self) -> bool:
        """Goes on to the next one; false where this is the last so far."""
        following = self._following()
        if following is None:
            return False
        if not self._is_at_end():
            # It was appended to since its end was seen, and only then left.
            return True
        self._close_segment()
        self._at = Place(following, HEADER_BYTES)
        return True

    def _following(self) -> int | None:
        end_of_writing = self._end_of_writing
        if end_of_writing is not None and end_of_writing().segment == self._at.segment:
            return None
        numbers = [*segment_numbers(self.folder), *self._held]
        return min((number for number in numbers if number > self._at.segment), default=None)

    def _skip_finished(self) -> None:
        with contextlib.suppress(OSError):
            while self._is_at_end() and self._next_segment():
                pass

    def _is_at_end(self) -> bool:
        if self._open is None and not self._open_segment():
            return True
        return self._at.position >= self._end_of_segment()

    def _close_segment(self) -> None:
        file, self._open = self._open, None
        if file is not None:
            os.close(file)
        self._chunk, self._chunk_begin = b"", 0

    def _remove_before(self, segment: int) -> None:
        if segment <= self._removed_before:
            return
        for number in segment_numbers(self.folder):
            if number < segment:
                self._remove(number)
        self._removed_before = segment

    def _remove(self, number: int) -> None:
        path = os.path.join(self.folder, segment_name(number))
        try:
            if number in self._damaged:
                keep_damaged(path, self._root)
            else:
                os.unlink(path)
        except FileNotFoundError:
            pass
        self._damaged.discard(number)
