"""The folder of this process in a spool: where it appends, and what it reads back to send."""

from __future__ import annotations

import contextlib
import os
import shutil
from typing import Callable

from .cursor import Place
from .owner import create_folder, release_folder, renew_heartbeat
from .reader import SpoolReader
from .segment import (
    HAS_PREAD,
    RECORD_HEAD_BYTES,
    SEGMENT_BYTES_MAX,
    SegmentWriter,
    flush_and_close,
    sync_folder,
)


class OwnFolder:
    """Its caller holds the meter's lock, except for what the reader does."""

    def __init__(
        self, root: str, *, is_synced: bool, on_damage: Callable[[int], None], ulid: str | None = None
    ) -> None:
        """Raises OSError where the folder cannot be made."""
        self.folder = create_folder(root, ulid)
        self._is_synced = is_synced
        #: Descriptors of segments that it has left since the last flush.
        self._left: list[int] = []
        with contextlib.ExitStack() as undone:
            # It is tried again every few seconds, each time with a new one.
            undone.callback(shutil.rmtree, self.folder, ignore_errors=True)
            self._writer = SegmentWriter(self.folder, 1)
            undone.callback(self._writer.close)
            self.reader = SpoolReader(
                self.folder, root=root, end_of_writing=self._end_of_writing, on_damage=on_damage
            )
            undone.callback(self.reader.close)
            self._hold(self._writer)
            undone.pop_all()

    def append(self, payload: bytes, *, is_durable: bool = False) -> None:
        """Written when it returns, or durable. Raises OSError, and then nothing of it was."""
        if self._writer.position + RECORD_HEAD_BYTES + len(payload) > SEGMENT_BYTES_MAX:
            self.begin_segment()
        if is_durable and self._writer.position_synced == 0:
            sync_folder(self.folder)
        # mutant: python-tracked-before-the-write
        self._writer.append(payload, is_durable=is_durable)

    def begin_segment(self) -> None:
        """Raises OSError; FileNotFoundError where the folder is no longer this process's."""
        before = self._writer
        with contextlib.ExitStack() as undone:
            following = SegmentWriter(self.folder, before.number + 1)
            # A file of this name must not be in the way of the next attempt.
            undone.callback(following.remove, self.folder)
            self._hold(following)
            undone.callback(self.reader.release, following.number)
            if self._is_synced and not before.is_synced:
                self._left.append(before.duplicate())
            undone.pop_all()
        self._writer = following
        self.reader.release(before.number)
        before.close()

    def unsynced(self) -> list[int]:
        """Descriptors to flush outside of the lock and then to close: files, and the folder of new ones."""
        files, self._left = self._left, []
        if not self._writer.is_synced:
            if self._writer.position_synced == 0:
                files.append(os.open(self.folder, os.O_RDONLY))
            files.append(self._writer.duplicate())
            self._writer.note_synced()
        return files

    def is_lost(self) -> bool:
        """Whether another process took this one for dead, and has adopted its folder."""
        try:
            renew_heartbeat(self.folder)
        except FileNotFoundError:
            return True
        except OSError:
            # A file system that became read-only keeps its names.
            return False
        return False

    def give_up(self) -> SpoolReader:
        """What the open files still have is to be sent by this process too: the new owner may be as dead."""
        self.reader.detach()
        for file in self._left:
            os.close(file)
        self._writer.close()
        return self.reader

    def close(self) -> None:
        """Removes a folder in which nothing waits. Another process may adopt what is left at once."""
        if self.reader.unsettled == 0:
            self._writer.close()
            # It may have been removed already, with nothing in it that is needed.
            with contextlib.suppress(FileNotFoundError):
                self.reader.remove_folder()
            return
        try:
            for file in self.unsynced():
                flush_and_close(file)
            release_folder(self.folder)
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Closes the files and leaves the folder as it is."""
        for file in self._left:
            os.close(file)
        self._left = []
        self._writer.close()
        self.reader.close()

    def _hold(self, writer: SegmentWriter) -> None:
        """Its segment can be read without its name. Raises OSError."""
        if HAS_PREAD:
            self.reader.hold(writer.number, writer.duplicate())

    def _end_of_writing(self) -> Place:
        writer = self._writer
        return Place(writer.number, writer.position)
