"""Everything of one meter that is not settled yet, wherever it waits.

In spool mode that is the folder of the process, those that it lost or adopted, and memory for when the disk
fails. What is in memory goes first, since a crash would lose it.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence

from .buffer import BatchLimits, Entry, MemoryBuffer, Source, Waiting, by_source, size_of
from .report import Reporter
from .settings import MeterSettings
from .spool.reader import SpoolReader
from .spool.segment import RECORD_HEAD_BYTES, flush_and_close
from .spool_folders import SpoolFolders, count, remove

#: After a folder could not be read.
READ_AGAIN_SECONDS = 0.5
#: After events were put back: a batch of them is sent as often, to see whether they can be decided.
PUT_BACK_SECONDS = 10.0
NEVER = 1 << 62
#: From memory to the spool while `track` may wait.
_MOVED_AT_ONCE = 100
_CLOSE_SECONDS = 1.0


class Outbox:
    """Methods that end in `_locked` are called with `lock` held; the others take it themselves.

    Problems are left to the reporter for later: no code of the application runs while a lock is held.
    """

    def __init__(self, settings: MeterSettings, reporter: Reporter) -> None:
        # A signal handler may close the meter while its own thread is in `track`.
        self.lock = threading.RLock()
        #: Of the sources, for what takes or settles; taken before `lock`, and held while files are read.
        self._reading = threading.Lock()
        #: For the sender, when there is something to do.
        self.work = threading.Condition(self.lock)
        #: For those that wait until there is room, or until nothing waits.
        self.settled = threading.Condition(self.lock)
        #: With so many untaken events the sender wants to be notified.
        self.wake_at = NEVER
        self.damaged_bytes = 0
        self.folders = SpoolFolders(settings, reporter, on_damage=self.damaged)
        self._settings = settings
        self._reporter = reporter
        self.has_spool = settings.spool is not None
        self._is_durable = settings.fsync == "each"
        self._is_flushed = settings.fsync != "none"
        self._memory = MemoryBuffer()
        self._memory_events_max = settings.memory_events_max
        self._memory_bytes_max = settings.memory_bytes_max
        #: Those that cannot be read just now, and on the monotonic clock until when.
        self._unread: dict[Source, float] = {}
        self._is_closed = False
        #: Its files are closed: what still waits is the next process's.
        self._is_over = False

    def append_locked(self, waiting: Waiting) -> bool:
        """False where there is no room for it, or where it must not be kept in memory.

        In spool mode it has to be JSON.

        A signal handler may close the meter in the middle of it: then memory is not sent any more, and a
        folder is kept only if something waited in it.
        """
        if not self.has_spool or not isinstance(waiting, bytes):
            return self.append_to_memory_locked(waiting, size_of(waiting))
        is_taken = self.folders.append(waiting, is_durable=self._is_durable)
        if is_taken is None:
            if self._settings.on_spool_error != "memory":
                return False
            return self.append_to_memory_locked(waiting, size_of(waiting))
        own = self.folders.own
        if not is_taken or own is None:
            return False
        self._count(own.reader, RECORD_HEAD_BYTES + len(waiting))
        return not self._is_closed or os.path.isdir(own.folder)

    def take(self, limits: BatchLimits) -> list[Entry]:
        """The next events of one source."""
        with self._reading:
            taken = self._take(limits)
        self._reporter.report_later()
        return taken

    def _take(self, limits: BatchLimits) -> list[Entry]:
        with self.lock:
            sources = self._readable_sources()
        for source in sources:
            if source.untaken <= 0:
                continue
            try:
                taken = source.take(limits)
                with self.lock:
                    # Once more where nothing is appended meanwhile: then what was counted is not there.
                    taken = taken or source.take(limits)
                    missing = 0 if taken else source.untaken
                    source.untaken -= len(taken) or missing
                    source.unsettled -= missing
                    if missing:
                        self.settled.notify_all()
            except OSError as error:
                self._read_later(source, error)
                continue
            if taken:
                return taken
            if not (isinstance(source, SpoolReader) and source.is_damaged):
                self._reporter.problem_later("spool_missing", f"The files of {missing} events were removed.")
            self._forget_finished(source)
        return []

    def settle(self, entries: Sequence[Entry]) -> None:
        with self._reading:
            if not self._is_over:
                self._settle(entries)
        self._reporter.report_later()

    def put_back(self, entries: Sequence[Entry]) -> bool:
        """To a folder that is read later, and settled here. False where that cannot be."""
        payloads = [entry.payload for entry in entries]
        try:
            with self._reading:
                with self.lock:
                    reader = None if self._is_over else self.folders.append_back(payloads)
                    if reader is None:
                        return False
                    files = self.folders.unsynced() if self._is_flushed else []
                for file in files:
                    flush_and_close(file)
                with self.lock:
                    for payload in payloads:
                        count(reader, RECORD_HEAD_BYTES + len(payload))
                    self._unread[reader] = time.monotonic() + PUT_BACK_SECONDS
                    self._settle(entries)
        except OSError as error:
            self._reporter.problem("spool_unwritable", f"Events cannot be put back: {error}")
            return False
        return True

    def _settle(self, entries: Sequence[Entry]) -> None:
        for source, settled in by_source(entries).items():
            try:
                source.settle(settled)
            except OSError as error:
                self._reporter.problem_later("spool_unwritable", f"The cursor cannot be stored: {error}")
            with self.lock:
                source.unsettled -= len(settled)
                source.size_bytes -= sum([entry.size_bytes for entry in settled])
                self.settled.notify_all()
            self._forget_finished(source)

    def unsettled_locked(self) -> int:
        return sum(source.unsettled for source in self._sources())

    def is_empty(self) -> bool:
        with self.lock:
            return self.unsettled_locked() == 0

    def untaken_locked(self) -> int:
        return sum(source.untaken for source in self._readable_sources())

    def readable_in_locked(self) -> float:
        """Seconds until sources may be read that cannot be read just now; infinite without such ones."""
        return max(0.0, min(self._unread.values(), default=float("inf")) - time.monotonic())

    def adopt(self, reader: SpoolReader) -> None:
        """Called by the thread that made the reader: from now on it is the sender's."""
        if reader.is_finished():
            remove(reader)
            return
        with self.lock:
            if self._is_over:
                reader.close()
                return
            self.folders.others.append(reader)
            self.work.notify_all()

    def close_locked(self) -> None:
        self._is_closed = True

    def close_spool(self) -> None:
        """From then on nothing is settled: what still waits is sent by the next process."""
        # A thread that still reads or settles has files open. One that hangs there is not waited for.
        if not self._reading.acquire(timeout=_CLOSE_SECONDS):
            return
        try:
            with self.lock:
                if self.has_spool:
                    self._is_over = True
                    self._save_memory_locked()
                self.folders.close()
        finally:
            self._reading.release()
        self._reporter.report_later()

    def abandon(self) -> None:
        """Closes the files of a parent process, in its child."""
        self.folders.abandon()

    def save_memory(self) -> None:
        """Once the disk is well again, what came meanwhile: called by the keeper. Raises OSError."""
        is_more = self._memory.untaken > 0
        while is_more:
            # A few at a time, so that `track` does not wait for long.
            with self._reading, self.lock:
                is_more = self.folders.is_well() and self._move_locked(_MOVED_AT_ONCE)
                files = self.folders.unsynced() if self._is_durable else []
            for file in files:
                flush_and_close(file)

    def _save_memory_locked(self) -> None:
        """All of it, and what had been taken from it and has no result yet."""
        memory = self._memory
        memory.give_back()
        # mutant: python-memory-lost-at-close
        if memory.untaken > 0 and self.folders.try_at_the_end():
            self._move_locked(memory.untaken)
        if memory.untaken > 0:
            lost = f"{memory.untaken} events that waited in memory are lost with the process."
            self._reporter.problem_later("spool_unwritable", lost)

    def _move_locked(self, count_max: int) -> bool:
        """From memory to the spool. Whether so many were moved."""
        memory = self._memory
        for _ in range(count_max):
            first = memory.waiting[0] if memory.waiting else None
            if not isinstance(first, bytes) or not self.folders.append(first, is_durable=False):
                return False
            memory.waiting.popleft()
            memory.untaken -= 1
            memory.unsettled -= 1
            memory.size_bytes -= len(first)
            own = self.folders.own
            assert own is not None
            count(own.reader, RECORD_HEAD_BYTES + len(first))
        return True

    def _sources(self) -> list[Source]:
        return [self._memory, *self.folders.sources()]

    def _readable_sources(self) -> list[Source]:
        if self._unread:
            now = time.monotonic()
            self._unread = {source: until for source, until in self._unread.items() if until > now}
        return [source for source in self._sources() if source not in self._unread]

    def _read_later(self, source: Source, error: OSError) -> None:
        """It has too few descriptors, or its disk is away: what waits in it is whole."""
        with self.lock:
            self._unread[source] = time.monotonic() + READ_AGAIN_SECONDS
        self._reporter.problem_later("spool_unreadable", f"Events are read later: {error}")

    def append_to_memory_locked(self, waiting: Waiting, size: int) -> bool:
        memory = self._memory
        if memory.unsettled >= self._memory_events_max or memory.size_bytes + size > self._memory_bytes_max:
            return False
        memory.waiting.append(waiting)
        # As `_count` does: a call less.
        memory.unsettled += 1
        memory.untaken += 1
        memory.size_bytes += size
        if memory.untaken >= self.wake_at:
            self._wake()
        return not self._is_closed

    def _count(self, source: Source, size_bytes: int) -> None:
        source.unsettled += 1
        source.untaken += 1
        source.size_bytes += size_bytes
        if source.untaken >= self.wake_at:
            self._wake()

    def _wake(self) -> None:
        self.wake_at = NEVER
        self.work.notify()

    def _forget_finished(self, source: Source) -> None:
        if not isinstance(source, SpoolReader) or not source.is_finished():
            return
        with self.lock:
            if source in self.folders.others:
                self.folders.others.remove(source)
            self.settled.notify_all()
        remove(source)

    def damaged(self, size: int) -> None:
        with self.lock:
            self.damaged_bytes += size
        message = f"{size} bytes of a segment of the spool cannot be read."
        self._reporter.problem_later("spool_damaged", message)
