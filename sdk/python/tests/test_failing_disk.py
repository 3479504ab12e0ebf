"""What a spool does on a disk that is full, or that may not be written."""

from __future__ import annotations

import contextlib
import os
import resource
import time
import unittest
from collections.abc import Iterator

from metergate.spool.owner import release_folder
from metergate.spool.segment import segment_numbers

from .collected import SOON, Collected, meter_of
from .fake_server import FakeServer, error_reply
from .test_meter import seen
from .with_spool import NOWHERE, WithSpool


class AFailingDisk(WithSpool):
    def test_has_events_wait_in_memory_or_dropped_and_says_so(self) -> None:
        blocked = self.root / "file"
        blocked.write_text("no folder")
        for policy, taken in (("memory", True), ("drop", False)):
            seen = Collected()
            settings = SOON._replace(spool=str(blocked), on_spool_error=policy)
            with FakeServer() as server, meter_of(server.url, settings, seen) as meter:
                self.assertEqual(meter.track("acme", "calls") is not None, taken)
                self.assertEqual(meter.flush(), (int(taken), 0, 0))
                self.assertEqual(seen.codes[0], "spool_unwritable")
                self.assertEqual(meter.stats().dropped, int(not taken))

    @unittest.skipUnless(hasattr(os, "fork"), "this system does not fork")
    def test_that_may_not_be_written_is_no_exception_to_the_caller(self) -> None:
        self.root.chmod(0o555)
        self.addCleanup(self.root.chmod, 0o755)
        with FakeServer() as server:
            for policy, sent in (("memory", 1), ("drop", 0)):
                child = os.fork()
                if child == 0:
                    try:
                        os._exit(self.use_as_nobody(server.url, policy))
                    finally:
                        os._exit(100)
                self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), sent, policy)
            self.assertEqual([event["meterId"] for event in server.created.values()], ["memory"])
        self.assertEqual(self.names(), [])

    def use_as_nobody(self, url: str, policy: str) -> int:
        """How many were sent, of one that waits in memory or is dropped."""
        if os.geteuid() == 0:
            # A superuser may write anywhere.
            os.setuid(65534)
        seen = Collected()
        meter = meter_of(url, SOON._replace(spool=str(self.root), on_spool_error=policy), seen)
        is_taken = meter.track("acme", policy) is not None
        sent = meter.close().sent
        is_said = seen.codes[:1] == ["spool_unwritable"]
        return sent if is_said and sent == is_taken == 1 - meter.stats().dropped else 101

    def test_that_has_no_room_for_the_cursor_has_events_sent_all_the_same(self) -> None:
        with FakeServer() as server:
            meter = self.meter(server.url)
            keys = [meter.track("acme", "calls") for _ in range(3)]
            with file_size_limit(0):
                self.assertEqual(meter.flush(20), (3, 0, 0))
            self.assertEqual(self.seen.codes, ["spool_unwritable"])
            self.assertEqual(server.times_sent, dict.fromkeys(keys, 1))
            meter.close()
        self.assertEqual(self.names(), [])

    def test_that_is_full_from_the_start_is_tried_again_and_leaves_no_folders(self) -> None:
        with file_size_limit(100):
            meter = self.meter(NOWHERE)
            self.assertIsNotNone(meter.track("acme", "calls"))
            with meter._outbox.lock:
                for _ in range(3):
                    meter._outbox.folders.failed_at = time.monotonic() - 11
                    meter._outbox.folders.keep()
            self.assertEqual(self.names(), [])
        with meter._outbox.lock:
            meter._outbox.folders.failed_at = time.monotonic() - 11
            meter._outbox.folders.keep()
        self.assertIsNotNone(meter.track("acme", "calls"))
        self.assertEqual((len(self.names()), meter.close().waiting), (1, 2))

    def test_that_is_well_again_gets_what_came_meanwhile(self) -> None:
        for is_kept in (True, False):
            meter = self.meter(NOWHERE)
            with file_size_limit(50):
                keys = [meter.track("acme", "calls") for _ in range(250)]
            if is_kept:
                with meter._outbox.lock:
                    meter._outbox.folders.failed_at = time.monotonic() - 11
                    meter._outbox.folders.keep()
                meter._outbox.save_memory()
                self.assertEqual(meter._outbox._memory.unsettled, 0)
                # As if it was killed.
                folder = meter._outbox.folders.own
                assert folder is not None
                release_folder(folder.folder)
            else:
                self.assertEqual(meter.close().waiting, 250)
            with FakeServer() as server:
                self.assertEqual(self.drained(server), keys)
            meter.close(0)

    def test_gets_at_the_end_what_was_on_its_way_from_memory(self) -> None:
        with FakeServer() as server:
            server.at_once = lambda _request: error_reply(503, "overloaded")
            meter = self.meter(server.url)
            with file_size_limit(50):
                keys = [meter.track("acme", "calls") for _ in range(5)]
            self.assertTrue(seen(lambda: meter.flush(0.01).waiting == 5 and meter.stats().retries > 0))
            self.assertEqual(meter.close().waiting, 5)
        with FakeServer() as server:
            self.assertEqual(self.drained(server), keys)

    def test_that_others_have_filled_is_drained(self) -> None:
        self.leave([f"k{n}" for n in range(20)])
        with FakeServer() as server, file_size_limit(0):
            # It has no room for a folder of its own.
            meter = self.meter(server.url)
            self.assertEqual(meter.flush(20), (20, 0, 0))
            self.assertTrue(seen(lambda: self.names() == []))
            with meter._outbox.lock:
                meter._outbox.folders.failed_at = time.monotonic() - 11
        with meter._outbox.lock:
            meter._outbox.folders.keep()
        self.assertEqual(self.names(), [f"p-{meter._outbox.folders.ulid}"])

    def test_that_is_full_loses_nothing_of_what_was_written_before_and_is_used_again(self) -> None:
        meter = self.meter(NOWHERE)
        keys = [meter.track("acme", "calls") for _ in range(10)]
        (folder,) = self.root.glob("p-*")
        size = (folder / "00000001.seg").stat().st_size
        # So that a part of the next record fits.
        with file_size_limit(size + 20):
            keys.append(meter.track("acme", "calls"))
            self.assertEqual((folder / "00000001.seg").stat().st_size, size)
            keys.append(meter.track("acme", "calls"))
        self.assertEqual((self.seen.codes.count("spool_unwritable"), meter.stats().waiting), (1, 12))
        with meter._outbox.lock:
            meter._outbox.folders.failed_at = time.monotonic() - 11
            meter._outbox.folders.keep()
        keys.append(meter.track("acme", "calls"))
        self.assertEqual(segment_numbers(str(folder)), [1, 2])
        self.assertEqual(meter.close().waiting, 13)
        with FakeServer() as server:
            sent = self.drained(server)
            # The two of memory were written when it was closed.
            self.assertEqual(sent, [*keys[:10], keys[12], *keys[10:12]])


@contextlib.contextmanager
def file_size_limit(size_bytes: int) -> Iterator[None]:
    """As a full disk: of a write a part is done, and then it fails."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


if __name__ == "__main__":
    unittest.main()
