"""The folder of this process in a spool: where it appends, and what it reads back to send."""

from __future__ import annotations

import os
import shutil
from typing import Callable

from .cursor import Place
from .owner import create_folder, release_folder, renew_heartbeat
from .reader import SpoolReader
from .segment import RECORD_HEAD_BYTES, SEGMENT_BYTES_MAX, SegmentWriter, flush_and_close, sync_folder


class OwnFolder:
    """Its caller holds the meter's lock, except for what the reader does."""

    def __init__(self, root: str, *, is_synced: bool, on_damage: Callable[[int], None]) -> None:
        """Raises OSError where the folder cannot be made."""
        self.folder = create_folder(root)
        self._is_synced = is_synced
        #: Descriptors of segments that it has left since the last flush.
        self._left: list[int] = []
        try:
            self._writer = SegmentWriter(self.folder, 1)
            self.reader = SpoolReader(
                self.folder, root=root, end_of_writing=self._end_of_writing, on_damage=on_damage
            )
        except OSError:
            # It is tried again every few seconds, each time with a new one.
            shutil.rmtree(self.folder, ignore_errors=True)
            raise

    @property
    def ulid(self) -> str:
        return os.path.basename(self.folder)[2:]

    def append(self, payload: bytes) -> None:
        """Written when it returns. Raises OSError, and then nothing of it was."""
        if self._writer.position + RECORD_HEAD_BYTES + len(payload) > SEGMENT_BYTES_MAX:
            self.begin_segment()
        # mutant: python-tracked-before-the-write
        self._writer.append(payload)

    def begin_segment(self) -> None:
        """Raises OSError; FileNotFoundError where the folder is no longer this process's."""
        following = SegmentWriter(self.folder, self._writer.number + 1)
        before, self._writer = self._writer, following
        if self._is_synced and not before.is_synced:
            self._left.append(before.duplicate())
        before.close()

    def sync(self) -> None:
        """Makes durable what was appended. Raises OSError."""
        if self._writer.is_synced:
            return
        if self._writer.position_synced == 0:
            sync_folder(self.folder)
        self._writer.sync()

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
        self.reader.detach(self._writer.number, self._writer.duplicate())
        for file in self._left:
            os.close(file)
        self._writer.close()
        return self.reader

    def close(self) -> None:
        """Removes a folder in which nothing waits. Another process may adopt what is left at once."""
        if self.reader.unsettled == 0:
            self._writer.close()
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

    def _end_of_writing(self) -> Place:
        writer = self._writer
        return Place(writer.number, writer.position)
