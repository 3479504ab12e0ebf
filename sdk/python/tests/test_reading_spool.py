"""What a spool does whose files cannot be read just now, were removed, or are not what they should be."""

from __future__ import annotations

import errno
import os
import shutil
import unittest
from typing import Any, Callable
from unittest import mock

from metergate.buffer import BatchLimits
from metergate.spool import own as own_folder
from metergate.spool import reader, segment
from metergate.spool.cursor import Cursor
from metergate.spool.owner import create_folder, release_folder
from metergate.spool.segment import SegmentWriter

from .fake_server import FakeServer, Reply, Request, error_reply
from .test_meter import TrackOnce, seen
from .with_spool import NOWHERE, WithSpool


class Failing:
    """Fails at some of its calls, counted from 1, as with too many open files. Otherwise it is as before."""

    def __init__(self, done: Callable[..., Any], *at: int) -> None:
        self.calls = 0
        self._done = done
        self._at = at

    def __call__(self, *arguments: Any, **more: Any) -> Any:
        self.calls += 1
        if self.calls in self._at:
            raise OSError(errno.EMFILE, "Too many open files")
        return self._done(*arguments, **more)


class ASpoolThatCannotBeRead(WithSpool):
    def setUp(self) -> None:
        super().setUp()
        # A folder has several segments.
        for module in (segment, own_folder):
            self.enterContext(mock.patch.object(module, "SEGMENT_BYTES_MAX", 2_000))
        self.enterContext(mock.patch("metergate.outbox.READ_AGAIN_SECONDS", 0.01))
        self.enterContext(mock.patch("metergate.keeper.UNREAD_SECONDS", 0.01))

    def test_just_now_loses_nothing_that_waits_in_it(self) -> None:
        # Red when what was read before is forgotten, or when what cannot be read is taken for damaged.
        for place in ("open_segment", "read_at", "size_of", "segment_numbers"):
            # The first listings are those of new readers.
            for at in ((4,), (5, 6)) if place == "segment_numbers" else ((1,), (2,), (3, 4)):
                keys = [f"{place}-{at}-{n}" for n in range(60)]
                self.leave(keys)
                failing = Failing(getattr(reader, place), *at)
                with FakeServer() as server, mock.patch.object(reader, place, failing):
                    self.assertEqual(sorted(self.drained(server)), sorted(keys))
                self.assertGreaterEqual(failing.calls, at[0])
                self.assertEqual((self.names(), self.stats.damaged_bytes), ([], 0))

    def test_when_it_is_adopted_is_read_later(self) -> None:
        keys = [f"k{n}" for n in range(60)]
        self.leave(keys)
        # The first one is that of the new folder of this process.
        failing = mock.patch("metergate.spool.reader.Cursor", Failing(Cursor, 2, 3))
        with FakeServer() as server, failing:
            meter = self.meter(server.url)
            self.assertTrue(seen(lambda: meter.flush().sent == 60))
            self.assertEqual(sorted(server.created), sorted(keys))
            self.assertEqual(self.seen.codes, ["spool_unreadable"])

    def test_from_one_folder_holds_up_no_other(self) -> None:
        # Red when a file whose disk fails holds up what other processes have left, and what is tracked now.
        failing = self.leave(["k0"])
        (file,) = failing.glob("*.seg")
        failing_inode = file.stat().st_ino

        def fail(handle: int) -> int:
            if os.fstat(handle).st_ino == failing_inode:
                raise OSError(errno.EIO, "Input/output error")
            return segment.size_of(handle)

        left_later = [f"k{n}" for n in range(1, 8)]
        failing.rename(self.root / f"kept-{failing.name}")
        self.leave(left_later)
        (self.root / f"kept-{failing.name}").rename(failing)
        with FakeServer() as server, mock.patch.object(reader, "size_of", fail):
            meter = self.meter(server.url)
            meter.track("acme", "calls", idempotency_key="new")
            self.assertTrue(seen(lambda: meter.flush(0.1).waiting == 1 and len(server.created) == 8))
            self.assertEqual(sorted(server.created), sorted([*left_later, "new"]))
            self.assertIn("spool_unreadable", self.seen.codes)

    def test_of_this_process_goes_on_too(self) -> None:
        for place in ("open_segment", "read_at", "size_of"):
            failing = Failing(getattr(reader, place), 1, 3, 4)
            with FakeServer() as server, mock.patch.object(reader, place, failing):
                meter = self.meter(server.url)
                keys = [meter.track("acme", "calls") for _ in range(100)]
                self.assertEqual(meter.flush(), (100, 0, 0))
                self.assertEqual(sorted(server.created), sorted(map(str, keys)))
                meter.close()
        self.assertEqual(self.names(), [])
        self.assertIn("spool_unreadable", self.seen.codes)

    def test_because_its_folder_was_removed_is_sent_as_far_as_files_are_open(self) -> None:
        with FakeServer() as server:
            # The keeper, which says that the folder is gone, has looked at it once, and next does in 10 s.
            meter = self.meter(server.url, fsync="none")
            meter.flush()
            keys = [meter.track("acme", "calls") for _ in range(5)]
            shutil.rmtree(self.root)
            keys.append(meter.track("acme", "calls"))
            self.assertEqual(meter.flush(), (6, 0, 0))
            self.assertEqual(list(server.created), keys)
            self.assertEqual((meter.close(), self.seen.codes), ((0, 0, 0), []))

    def test_because_its_segments_were_removed_says_how_many_are_missing(self) -> None:
        with FakeServer() as server:
            meter = self.meter(server.url)
            for _ in range(60):
                meter.track("acme", "calls")
            (folder,) = self.root.glob("p-*")
            for path in folder.glob("*.seg"):
                path.unlink()
            flushed = meter.flush()
            self.assertGreater(flushed.sent, 0)
            self.assertEqual((flushed.sent < 60, flushed.waiting, meter.stats().damaged_bytes), (True, 0, 0))
            self.assertIn(("spool_missing", f"The files of {60 - flushed.sent} events"), self.beginnings())

    def test_has_no_second_segment_while_there_is_no_descriptor_for_it(self) -> None:
        meter = self.meter(NOWHERE, fsync="none")
        failing = Failing(os.dup, 1)
        with mock.patch("os.dup", failing):
            for _ in range(30):
                self.assertIsNotNone(meter.track("acme", "calls"))
        self.assertEqual((failing.calls, self.seen.codes.count("spool_unwritable")), (1, 1))
        with meter._outbox.lock:
            meter._outbox.folders.failed_at = -1e9
            for _ in range(30):
                self.assertIsNotNone(meter.track("acme", "calls"))
        meter._transport._port = self.enterContext(FakeServer()).port
        meter.flush()
        self.assertEqual(meter.stats().sent, 60)

    def test_of_a_system_without_pread_is_written_at_its_end_all_the_same(self) -> None:
        # Red when the reader moves the place at which the next event is written.
        for module in (segment, own_folder):
            self.enterContext(mock.patch.object(module, "HAS_PREAD", False))
            self.enterContext(mock.patch.object(module, "SEGMENT_BYTES_MAX", 8_000_000))
        with FakeServer() as server:
            meter = self.meter(server.url, batch=BatchLimits(events_max=10))
            server.script = TrackOnce(meter)
            # So many that none of the first requests has had all of them read.
            for _ in range(120):
                meter.track("acme", "calls", properties={"p": "x" * 10_000})
            meter.flush()
            self.assertEqual(meter.stats()[:2], (121, 121))
            self.assertIn("during", server.created)
            meter.close()
        self.assertEqual((self.names(), meter.stats().damaged_bytes), ([], 0))

    def test_is_not_counted_where_it_cannot_be_flushed(self) -> None:
        with FakeServer() as server:
            meter = self.meter(server.url, fsync="each", on_spool_error="drop")
            # The first one is that of the folder.
            with mock.patch("os.fsync", Failing(os.fsync, 2)):
                self.assertIsNone(meter.track("acme", "calls", idempotency_key="unflushed"))
            with meter._outbox.lock:
                meter._outbox.folders.failed_at = -1e9
            self.assertIsNotNone(meter.track("acme", "calls", idempotency_key="flushed"))
            (path,) = self.root.glob("p-*/*1.seg")
            self.assertNotIn(b"unflushed", path.read_bytes())
            meter.flush()
            self.assertEqual(list(server.created), ["flushed"])

    def beginnings(self) -> list[tuple[str, str]]:
        return [(one.code, one.message.partition(" were")[0]) for one in self.seen.problems]


class ARecord(WithSpool):
    def test_that_is_no_event_is_rejected_and_its_neighbours_are_sent(self) -> None:
        good = b'{"idempotencyKey":"good","customerId":"c","meterId":"m","value":1}'
        for wrong in (b'{"customerId":"c","meterId":"m","value":1}', b"[]", b"no JSON", b'"\xff'):
            self.write(wrong, good)
            with FakeServer() as server:
                server.script = reject_wrong
                self.assertEqual(self.drained(server), ["good"])
            self.assertEqual((self.stats.rejected, self.names()), (1, []))
        self.assertEqual(self.seen.rejected[0][0]["customerId"], "c")
        self.assertEqual([event.get("payload") for event, _ in self.seen.rejected[1:3]], ["[]", "no JSON"])

    def test_with_which_the_sender_fails_is_sent_again(self) -> None:
        failing = Failing(os.getpid, 1)
        with FakeServer() as server, mock.patch("time.sleep", lambda _seconds: None):
            meter = self.meter(server.url)
            sender = meter._sender
            assert sender is not None
            send = sender._send
            sender._send = lambda entries: failing() and send(entries)  # type: ignore[method-assign]
            keys = [meter.track("acme", "calls") for _ in range(3)]
            self.assertEqual(meter.flush(), (3, 0, 0))
            self.assertEqual((list(server.created), self.seen.codes), (keys, ["internal"]))

    def write(self, *payloads: bytes) -> None:
        folder = create_folder(str(self.root))
        writer = SegmentWriter(folder, 1)
        for payload in payloads:
            writer.append(payload)
        writer.close()
        release_folder(folder)


def reject_wrong(request: Request) -> Reply | None:
    """As the server does: without JSON it cannot say which one it is."""
    try:
        events = request.events
    except ValueError:
        return error_reply(400, "invalid_json")
    wrong = [at for at, event in enumerate(events) if "idempotencyKey" not in event]
    return error_reply(400, "invalid_request", details={"index": wrong[0]}) if wrong else None


if __name__ == "__main__":
    unittest.main()
