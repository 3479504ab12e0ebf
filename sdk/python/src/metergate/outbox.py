"""Everything of one meter that is not settled yet, wherever it waits.

In spool mode that is the folder of the process, those that it lost or adopted, and memory for when the disk
fails. What is in memory goes first, since a crash would lose it.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping, Sequence

from .buffer import BatchLimits, Entry, MemoryBuffer, Source, Waiting, size_of
from .report import Reporter
from .settings import MeterSettings
from .spool.own import OwnFolder
from .spool.reader import SpoolReader
from .spool.segment import RECORD_HEAD_BYTES

#: After the spool has failed.
SPOOL_RETRY_SECONDS = 10.0
#: After a folder could not be read.
READ_AGAIN_SECONDS = 0.5
#: Without a heartbeat for as long the process was stopped, and its folder may be another one's.
_STOPPED_SECONDS = 30.0
NEVER = 1 << 62
_LONG_AGO = float("-inf")


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
        self.own: OwnFolder | None = None
        self._settings = settings
        self._reporter = reporter
        self.has_spool = settings.spool is not None
        self._memory = MemoryBuffer()
        self._memory_events_max = settings.memory_events_max
        self._memory_bytes_max = settings.memory_bytes_max
        self._others: list[SpoolReader] = []
        #: Those that cannot be read just now, and on the monotonic clock until when.
        self._unread: dict[Source, float] = {}
        self._is_closed = False
        self._failed_at = _LONG_AGO
        self._kept_at = time.monotonic()

    def open_spool_locked(self) -> None:
        """A folder for this process. Where it cannot be had, the policy for that is followed."""
        root = self._settings.spool
        if root is None:
            return
        try:
            is_synced = self._settings.fsync != "none"
            self.own = OwnFolder(root, is_synced=is_synced, on_damage=self.damaged)
            self._failed_at = _LONG_AGO
        except OSError as error:
            self._spool_failed(error)

    def append_locked(self, waiting: Waiting) -> bool:
        """False where there is no room for it, or where it must not be kept in memory.

        In spool mode it has to be JSON.

        A signal handler may close the meter in the middle of it: then memory is not sent any more, and a
        folder is kept only if something waited in it.
        """
        if not self.has_spool or not isinstance(waiting, bytes):
            return self.append_to_memory_locked(waiting, size_of(waiting))
        if time.monotonic() - self._kept_at > _STOPPED_SECONDS:
            self.keep_spool_locked()
        own = self.own
        size = RECORD_HEAD_BYTES + len(waiting)
        if own is not None and not self._is_failed():
            if own.reader.size_bytes + self._size_of_left() + size > self._settings.spool_bytes_max:
                return False
            try:
                own.append(waiting, is_durable=self._settings.fsync == "each")
            except OSError as error:
                self._spool_failed(error)
            else:
                self._count(own.reader, size)
                return not self._is_closed or os.path.isdir(own.folder)
        return self._settings.on_spool_error == "memory" and self.append_to_memory_locked(waiting, size)

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
        by_source: dict[Source, list[Entry]] = {}
        for entry in entries:
            by_source.setdefault(entry.source, []).append(entry)
        with self._reading:
            self._settle(by_source)
        self._reporter.report_later()

    def _settle(self, by_source: Mapping[Source, Sequence[Entry]]) -> None:
        for source, settled in by_source.items():
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
            _remove(reader)
            return
        with self.lock:
            self._others.append(reader)
            self.work.notify_all()

    def keep_spool_locked(self) -> None:
        """The heartbeat. Tries again what failed, and replaces a folder that another process has adopted."""
        own = self.own
        self._kept_at = time.monotonic()
        if own is not None and own.is_lost():
            self._reporter.problem_later("spool_adopted", f"Another process has adopted {own.folder}.")
            self._others.append(own.give_up())
            self.own = None
        if self._is_failed():
            return
        if self.own is None:
            self.open_spool_locked()
        elif self._failed_at > _LONG_AGO:
            try:
                self.own.begin_segment()
                self._failed_at = _LONG_AGO
            except OSError as error:
                self._spool_failed(error)

    def close_locked(self) -> None:
        self._is_closed = True

    def close_spool(self) -> None:
        """After the sender has ended."""
        with self.lock:
            own, self.own = self.own, None
            others, self._others = self._others, []
        for reader in others:
            if reader.is_finished():
                _remove(reader)
            else:
                reader.close()
        self._reporter.report_later()
        if own is None:
            return
        try:
            own.close()
        except OSError as error:
            self._reporter.problem("spool_unwritable", f"{own.folder} cannot be closed: {error}")

    def abandon(self) -> None:
        """Closes the files of a parent process, in its child."""
        if self.own is not None:
            self.own.abandon()
        for reader in self._others:
            reader.close()

    def _sources(self) -> list[Source]:
        own: list[Source] = [] if self.own is None else [self.own.reader]
        return [self._memory, *own, *self._others]

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

    def _size_of_left(self) -> int:
        """Of what this process has written to folders that it has lost."""
        return sum(reader.size_bytes for reader in self._others if reader.is_own) if self._others else 0

    def _forget_finished(self, source: Source) -> None:
        if not isinstance(source, SpoolReader) or not source.is_finished():
            return
        with self.lock:
            if source in self._others:
                self._others.remove(source)
            self.settled.notify_all()
        _remove(source)

    def _is_failed(self) -> bool:
        return time.monotonic() - self._failed_at < SPOOL_RETRY_SECONDS

    def _spool_failed(self, error: OSError) -> None:
        self._failed_at = time.monotonic()
        goes_on = "memory" if self._settings.on_spool_error == "memory" else "dropped"
        message = f"Events are {goes_on} now, not in the spool: {error}"
        self._reporter.problem_later("spool_unwritable", message)

    def damaged(self, count: int) -> None:
        with self.lock:
            self.damaged_bytes += count
        message = f"{count} bytes of a segment of the spool cannot be read."
        self._reporter.problem_later("spool_damaged", message)


def _remove(reader: SpoolReader) -> None:
    try:
        reader.remove_folder()
    except OSError:
        # It has a new owner, which removes it.
        reader.close()
