from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import unittest
from pathlib import Path

from metergate.buffer import BatchLimits
from metergate.spool.cursor import Place
from metergate.spool.owner import create_folder
from metergate.spool.reader import SpoolReader
from metergate.spool.segment import HEADER_BYTES, SEGMENT_BYTES_MAX, SegmentWriter

from .fake_server import FakeServer, error_reply
from .test_meter import seen
from .with_spool import NOWHERE, WithSpool

FIXTURE = Path(__file__).resolve().parents[3] / "tests" / "clients" / "fixtures" / "spool-v1"


class ASpool(WithSpool):
    def test_is_empty_when_all_was_sent(self) -> None:
        with FakeServer() as server:
            meter = self.meter(server.url)
            keys = [meter.track("acme", "calls", n, properties={"n": n}) for n in range(2_000)]
            self.assertEqual(meter.flush().waiting, 0)
            self.assertEqual(sorted(server.created), sorted(map(str, keys)))
            meter.close()
        self.assertEqual(self.names(), [])

    def test_keeps_what_a_process_leaves_for_the_next_one(self) -> None:
        keys = [f"k{n}" for n in range(1_200)]
        folder = self.leave(keys)
        owner = json.loads((folder / "owner.json").read_text())
        self.assertEqual((owner["version"], owner["pid"]), (1, os.getpid()))
        self.assertEqual(stat.S_IMODE(folder.stat().st_mode), 0o700)
        with FakeServer() as server:
            self.assertEqual(sorted(self.drained(server)), sorted(keys))
            self.assertTrue(all(count == 1 for count in server.times_sent.values()))
        self.assertEqual(self.names(), [])

    def test_sends_what_a_killed_process_tracked_up_to_its_last_event(self) -> None:
        code = (
            "import sys, metergate; from metergate import Meter, MeterSettings\n"
            f"m = Meter({NOWHERE!r}, 'k', settings=MeterSettings(spool={str(self.root)!r}, fsync='none'))\n"
            "while True: print(m.track('acme', 'calls'), flush=True)"
        )
        child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        keys = [child.stdout.readline().strip() for _ in range(300)]
        child.send_signal(signal.SIGKILL)
        keys += [line.strip() for line in child.stdout if line.endswith("\n")]
        child.stdout.close()
        # Its parent has not collected it yet: it is dead all the same.
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        with FakeServer() as server:
            sent = self.drained(server)
            child.wait()
            # Requests at the same time may arrive in any order.
            self.assertEqual(set(keys) - set(sent), set())
            # One may be written whose call had not returned.
            self.assertLessEqual(len(sent) - len(keys), 1)

    def test_keeps_what_was_sent_without_a_response_for_the_next_process(self) -> None:
        # Red when the cursor moves before the server has decided.
        with FakeServer() as server:
            server.script = lambda _request: error_reply(503, "unavailable")
            meter = self.meter(server.url)
            keys = [meter.track("acme", "calls") for _ in range(10)]
            self.assertTrue(seen(lambda: meter.flush(0.05).waiting == 10 and len(server.requests) > 0))
            self.assertEqual(meter.close(), (0, 0, 10))
        with FakeServer() as server:
            self.assertEqual(self.drained(server), keys)

    def test_is_read_from_the_start_where_its_cursor_is_lost_or_wrong(self) -> None:
        for wrong in (None, b"", b"\0" * 48, os.urandom(48)):
            folder = self.leave(["a", "b"])
            cursor = folder / "cursor"
            cursor.unlink() if wrong is None else cursor.write_bytes(wrong)
            with FakeServer() as server:
                self.assertEqual(self.drained(server), ["a", "b"])

    def test_begins_where_its_cursor_says(self) -> None:
        keys = [f"k{n}" for n in range(10)]
        with FakeServer() as server:
            server.script = lambda _request: None
            meter = self.meter(server.url, linger_seconds=30)
            for key in keys[:4]:
                meter.track("acme", "calls", idempotency_key=key)
            meter.flush()
        for key in keys[4:]:
            meter.track("acme", "calls", idempotency_key=key)
        meter.close(0)
        with FakeServer() as server:
            self.assertEqual(self.drained(server), keys[4:])

    def test_reads_up_to_what_is_damaged_and_keeps_the_file(self) -> None:
        for harm, arrives in ((flip, 3), (cut, 9), (zeros, 10), (empty_record, 2), (no_head, 0)):
            folder = self.leave([f"{harm.__name__}{n}" for n in range(10)])
            harm(folder / "00000001.seg")
            with FakeServer() as server:
                self.assertEqual(len(self.drained(server)), arrives, harm)
            self.assertGreater(self.stats.damaged_bytes, 0)
            self.assertEqual(len(self.names()), 1)
            self.assertRegex(self.names()[0], r"00000001\.seg\.damaged$")
            (self.root / self.names()[0]).unlink()
        self.assertIn("spool_damaged", self.seen.codes)

    def test_is_read_to_what_is_damaged_behind_a_full_batch(self) -> None:
        # Red when a folder is only looked at while events are counted in it.
        folder = self.leave(["a", "b", "c", "d"])
        cut(folder / "00000001.seg")
        with FakeServer() as server:
            meter = self.meter(server.url, batch=BatchLimits(events_max=3))
            self.assertEqual(meter.flush(20).waiting, 0)
            meter.close()
        self.assertEqual(meter.stats().sent, 3)
        self.assertGreater(meter.stats().damaged_bytes, 0)
        self.assertRegex("".join(self.names()), r"^a-.*seg\.damaged$")

    def test_keeps_four_damaged_files_and_no_more(self) -> None:
        for n in range(6):
            no_head(self.leave([f"k{n}"]) / "00000001.seg")
            with FakeServer() as server:
                self.drained(server)
        self.assertEqual(len(self.names()), 4)

    def test_of_version_1_is_read_as_every_sdk_writes_it(self) -> None:
        expected = json.loads((FIXTURE / "expected.json").read_text())
        for folder in FIXTURE.glob("p-*"):
            shutil.copytree(folder, self.root / folder.name)
        with FakeServer() as server:
            self.assertEqual(self.drained(server), expected["waiting"])
            self.assertEqual(server.created["two"]["value"], 2.5)
            self.assertEqual(server.created["one"]["properties"]["name"], "Zoë 😀")
        self.assertEqual(self.stats.damaged_bytes, expected["damagedBytes"])
        self.assertEqual(len(self.names()), 2)

    def test_goes_on_in_a_new_segment_after_8_mib_and_deletes_what_is_settled(self) -> None:
        meter = self.meter(NOWHERE, fsync="each" if sys.platform == "darwin" else "none")
        for _ in range(230):
            meter.track("acme", "calls", properties={"p": "x" * 100_000})
        (folder,) = self.root.glob("p-*")
        sizes = [path.stat().st_size for path in sorted(folder.glob("*.seg"))]
        self.assertEqual(len(sizes), 3)
        self.assertLessEqual(max(sizes), SEGMENT_BYTES_MAX)
        meter.close()
        with FakeServer() as server:
            server.script = lambda _request: left.append(len(list(self.root.glob("a-*/*.seg"))))
            left: list[int] = []
            self.assertEqual(len(self.drained(server)), 230)
            self.assertEqual(left[0], 3)
            # A request may be late, and then what is behind it waits to be settled.
            self.assertLess(min(left), 3)

    def test_is_read_to_the_end_of_a_segment_that_is_left_while_its_end_is_looked_at(self) -> None:
        # Red when the reader goes on to the next segment because this one had ended a short time ago.
        folder = create_folder(str(self.root))
        first, second = SegmentWriter(folder, 1), SegmentWriter(folder, 2)
        first.append(b"1")
        first.append(b"2")
        second.append(b"3")

        def end_of_writing() -> Place:
            return seen_ends.pop(0) if seen_ends else Place(2, second.position)

        for looks in range(1, 5):
            seen_ends = [Place(1, HEADER_BYTES)] * looks
            reader = SpoolReader(
                folder, root=str(self.root), end_of_writing=end_of_writing, on_damage=lambda _count: None
            )
            taken = []
            for _ in range(6):
                taken += [entry.payload for entry in reader.take(BatchLimits())]
            self.assertEqual(taken, [b"1", b"2", b"3"], looks)
            reader.close()
        first.close()
        second.close()

    def test_is_bounded_in_bytes(self) -> None:
        meter = self.meter(NOWHERE, spool_bytes_max=100_000)
        taken = [meter.track("acme", "calls", properties={"p": "x" * 9_800}) for _ in range(20)]
        self.assertEqual(sum(key is not None for key in taken), 10)
        self.assertEqual(meter.stats().dropped, 10)
        with FakeServer() as server:
            self.assertEqual(len(self.drained(server)), 0)

    def test_makes_room_as_events_are_settled(self) -> None:
        with FakeServer() as server:
            meter = self.meter(server.url, spool_bytes_max=20_000, when_full="block", block_seconds_max=20)
            for _ in range(400):
                self.assertIsNotNone(meter.track("acme", "calls", properties={"p": "x" * 200}))
            self.assertEqual(meter.flush().waiting, 0)
            self.assertEqual(len(server.created), 400)


def flip(segment: Path) -> None:
    """A bit of the fourth record."""
    data = bytearray(segment.read_bytes())
    data[8 + 3 * ((len(data) - 8) // 10) + 40] ^= 4
    segment.write_bytes(data)


def cut(segment: Path) -> None:
    segment.write_bytes(segment.read_bytes()[:-1])


def zeros(segment: Path) -> None:
    """As a file system shows what was not written before a power cut."""
    segment.write_bytes(segment.read_bytes() + b"\0" * 4_096)


def empty_record(segment: Path) -> None:
    """Behind the second one, with the right checksum, which is 0 too."""
    data = segment.read_bytes()
    at = 8 + 2 * ((len(data) - 8) // 10)
    segment.write_bytes(data[:at] + b"\0" * 8 + data[at:])


def no_head(segment: Path) -> None:
    segment.write_bytes(b"MGSPOOL9" + segment.read_bytes()[8:])


if __name__ == "__main__":
    unittest.main()
