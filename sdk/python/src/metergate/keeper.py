"""The thread that keeps a spool: flushes it to the disk, renews its heartbeat, adopts what others left."""

from __future__ import annotations

import threading
import time

from .outbox import Outbox
from .report import Reporter
from .settings import MeterSettings
from .spool.adopt import adopt_orphans
from .spool.owner import HEARTBEAT_SECONDS
from .spool.reader import SpoolReader
from .spool.segment import flush_and_close

SCAN_SECONDS = 60.0
#: After a folder could not be read.
UNREAD_SECONDS = 1.0


class Keeper:
    def __init__(self, outbox: Outbox, settings: MeterSettings, reporter: Reporter) -> None:
        self._outbox = outbox
        self._settings = settings
        self._reporter = reporter
        self._stopped = threading.Event()
        #: Folders that were adopted and could not be read yet.
        self._unread: list[str] = []
        #: Set once it is known what other processes have left.
        self.first_scan = threading.Event()
        self.thread = threading.Thread(target=self._run, name="metergate-spool", daemon=True)

    def start(self) -> None:
        self.thread.start()

    def stop(self) -> None:
        self._stopped.set()

    def _run(self) -> None:
        is_flushed = self._settings.fsync == "interval"
        every = min(HEARTBEAT_SECONDS, self._settings.fsync_interval_seconds if is_flushed else 60.0)
        kept_at = time.monotonic()
        scanned_at = float("-inf")
        while True:
            now = time.monotonic()
            try:
                if now - scanned_at >= (UNREAD_SECONDS if self._unread else SCAN_SECONDS):
                    scanned_at = now
                    self._adopt()
                if is_flushed:
                    self._flush()
                if now - kept_at >= HEARTBEAT_SECONDS:
                    kept_at = now
                    with self._outbox.lock:
                        self._outbox.folders.keep()
                    self._outbox.save_memory()
            except Exception as error:
                self._reporter.problem("spool_unwritable", f"The spool cannot be kept: {error!r}")
            self._reporter.report_later()
            self.first_scan.set()
            if self._stopped.wait(every):
                return

    def _flush(self) -> None:
        """Outside of the lock, since a disk may take its time."""
        with self._outbox.lock:
            files = self._outbox.folders.unsynced()
        for file in files:
            flush_and_close(file)

    def _adopt(self) -> None:
        root = self._settings.spool
        if root is None:
            return
        # Without a folder of its own too: to drain others may be what makes room for it on a full disk.
        # mutant: python-orphans-left
        adopted = adopt_orphans(root, self._outbox.folders.ulid)
        folders, self._unread = [*self._unread, *adopted], []
        for folder in folders:
            try:
                self._outbox.adopt(self._reader_of(folder, root))
            except FileNotFoundError:
                # It was removed, or another process took this one for dead.
                continue
            except OSError as error:
                self._unread.append(folder)
                self._reporter.problem("spool_unreadable", f"{folder} is read later: {error}")

    def _reader_of(self, folder: str, root: str) -> SpoolReader:
        reader = SpoolReader(folder, root=root, on_damage=self._outbox.damaged)
        try:
            reader.count()
        except OSError:
            reader.close()
            raise
        return reader
