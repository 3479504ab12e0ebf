"""The folders of one meter in its spool: its own, lost or adopted ones, and one for what waits longer."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Callable

from .buffer import Source
from .report import Reporter
from .settings import MeterSettings
from .spool.own import OwnFolder
from .spool.reader import SpoolReader
from .spool.segment import RECORD_HEAD_BYTES
from .ulid import new_ulid

#: After the spool has failed.
SPOOL_RETRY_SECONDS = 10.0
#: Without a heartbeat for as long the process was stopped, and its folder may be another one's.
_STOPPED_SECONDS = 30.0
_LONG_AGO = float("-inf")


class SpoolFolders:
    """Its caller holds the meter's lock, except for `close`. Problems are left to the reporter for later."""

    def __init__(
        self, settings: MeterSettings, reporter: Reporter, *, on_damage: Callable[[int], None]
    ) -> None:
        self.own: OwnFolder | None = None
        #: Of the folder of this process, or of that which it will have once there is room for one.
        self.ulid = new_ulid()
        #: Of events that the server cannot decide now: they would keep the others from being settled.
        self.put_back: OwnFolder | None = None
        self.others: list[SpoolReader] = []
        self.failed_at = _LONG_AGO
        self._settings = settings
        self._reporter = reporter
        self._on_damage = on_damage
        self._kept_at = time.monotonic()

    def open(self) -> None:
        """A folder for this process. Where it cannot be had, the policy for that is followed."""
        try:
            self.own = self._create(self.ulid)
            self.failed_at = _LONG_AGO
        except OSError as error:
            if isinstance(error, FileExistsError):
                # An attempt that failed could not remove what it had made.
                self.ulid = new_ulid()
            self._fail(error)

    def append(self, payload: bytes, *, is_durable: bool) -> bool | None:
        """Whether there is room for it by the bound; None where the disk does not take it."""
        if time.monotonic() - self._kept_at > _STOPPED_SECONDS:
            self.keep()
        own = self.own
        if own is None or self._is_failed():
            return None
        if not self._has_room(len(payload)):
            return False
        try:
            own.append(payload, is_durable=is_durable)
        except OSError as error:
            self._fail(error)
            return None
        return True

    def append_back(self, payloads: Sequence[bytes]) -> SpoolReader | None:
        """Of the folder that has them then, and counts them not yet. They may take as much as all others.

        Raises OSError.
        """
        if self._settings.spool is None:
            return None
        if self.put_back is None:
            self.put_back = self._create(None)
        reader = self.put_back.reader
        size = sum(map(len, payloads)) + RECORD_HEAD_BYTES * len(payloads)
        if reader.size_bytes + size > self._settings.spool_bytes_max:
            return None
        for payload in payloads:
            self.put_back.append(payload)
        return reader

    def keep(self) -> None:
        """The heartbeat. Tries again what failed, and replaces a folder that another process has adopted."""
        self._kept_at = time.monotonic()
        if self.own is not None and self._is_lost(self.own):
            self.own, self.ulid = None, new_ulid()
        if self.put_back is not None and self._is_lost(self.put_back):
            self.put_back = None
        if not self._is_failed():
            self._try_again()

    def try_at_the_end(self) -> bool:
        """Whether something can be written, however lately it could not."""
        self._try_again()
        return self.is_well()

    def is_well(self) -> bool:
        return self.own is not None and self.failed_at == _LONG_AGO

    def sources(self) -> list[Source]:
        own: list[Source] = [] if self.own is None else [self.own.reader]
        back: list[Source] = [] if self.put_back is None else [self.put_back.reader]
        return [*own, *self.others, *back]

    def unsynced(self) -> list[int]:
        """Descriptors to flush outside of the lock, and then to close."""
        return [file for one in (self.own, self.put_back) if one is not None for file in one.unsynced()]

    def close(self) -> None:
        """After the sender has ended, or with nothing of it that settles any more."""
        for reader in self.others:
            if reader.is_finished():
                remove(reader)
            else:
                reader.close()
        for folder in (self.own, self.put_back):
            try:
                if folder is not None:
                    folder.close()
            except OSError as error:
                self._reporter.problem_later("spool_unwritable", f"A folder cannot be closed: {error}")
        self.own, self.put_back, self.others = None, None, []

    def abandon(self) -> None:
        """Closes the files of a parent process, in its child."""
        for folder in (self.own, self.put_back):
            if folder is not None:
                folder.abandon()
        for reader in self.others:
            reader.close()

    def _create(self, ulid: str | None) -> OwnFolder:
        root = self._settings.spool
        assert root is not None
        is_synced = self._settings.fsync != "none"
        return OwnFolder(root, is_synced=is_synced, on_damage=self._on_damage, ulid=ulid)

    def _has_room(self, payload_bytes: int) -> bool:
        """Beside what this process has written to its folder, and to those that it has lost."""
        own = 0 if self.own is None else self.own.reader.size_bytes
        left = sum(reader.size_bytes for reader in self.others if reader.is_own) if self.others else 0
        return own + left + RECORD_HEAD_BYTES + payload_bytes <= self._settings.spool_bytes_max

    def _is_lost(self, folder: OwnFolder) -> bool:
        if not folder.is_lost():
            return False
        self._reporter.problem_later("spool_adopted", f"Another process has adopted {folder.folder}.")
        self.others.append(folder.give_up())
        return True

    def _try_again(self) -> None:
        if self.own is None:
            self.open()
        elif self.failed_at > _LONG_AGO:
            try:
                self.own.begin_segment()
                self.failed_at = _LONG_AGO
            except OSError as error:
                self._fail(error)

    def _is_failed(self) -> bool:
        return time.monotonic() - self.failed_at < SPOOL_RETRY_SECONDS

    def _fail(self, error: OSError) -> None:
        self.failed_at = time.monotonic()
        goes_on = "memory" if self._settings.on_spool_error == "memory" else "dropped"
        message = f"Events are {goes_on} now, not in the spool: {error}"
        self._reporter.problem_later("spool_unwritable", message)


def count(source: Source, size_bytes: int) -> None:
    """One more that waits there."""
    source.unsettled += 1
    source.untaken += 1
    source.size_bytes += size_bytes


def remove(reader: SpoolReader) -> None:
    try:
        reader.remove_folder()
    except OSError:
        # It has a new owner, which removes it.
        reader.close()
