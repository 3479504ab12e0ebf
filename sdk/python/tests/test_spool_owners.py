from __future__ import annotations

import contextlib
import errno
import json
import os
import time
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from metergate.spool import owner as owners
from metergate.spool.adopt import adopt_orphans
from metergate.spool.owner import create_folder, is_orphan, release_folder, this_process, write_owner
from metergate.spool.reader import SpoolReader
from metergate.ulid import new_ulid

from .fake_server import FakeServer
from .with_spool import NOWHERE, WithSpool


class AnOwner(WithSpool):
    def test_that_lives_keeps_its_folder(self) -> None:
        meter = self.meter(NOWHERE)
        meter.track("acme", "calls")
        with FakeServer() as server:
            self.assertEqual(self.drained(server), [])
        self.assertEqual(meter.close().waiting, 1)

    def test_is_dead_when_its_process_cannot_be_it(self) -> None:
        here = this_process()
        ago = time.time() - 121
        for changed, beaten_at, expected in (
            ({}, None, False),
            ({}, ago, False),
            ({"pid": 2**22 + 1}, None, True),
            ({"started_at": "1"}, None, True),
            ({"boot_id": "before"}, None, True),
            # It could not read it.
            ({"boot_id": ""}, None, False),
            ({"pid_namespace": "pid:[1]", "pid": 2**22 + 1}, None, False),
            ({"pid_namespace": "pid:[1]"}, ago, True),
            ({"host": "elsewhere", "boot_id": "theirs"}, None, False),
            ({"host": "elsewhere"}, ago, True),
            ({"host": "elsewhere", "started_at": "released"}, None, True),
        ):
            folder = create_folder(str(self.root))
            values: dict[str, Any] = changed
            write_owner(folder, here._replace(**values))
            if beaten_at is not None:
                os.utime(os.path.join(folder, "owner.json"), (beaten_at, beaten_at))
            self.assertEqual(is_orphan(folder), expected, (changed, beaten_at))

    @unittest.skipUnless(os.path.exists("/proc/thread-self"), "this system does not show threads")
    def test_that_was_a_worker_thread_is_dead_when_that_has_ended(self) -> None:
        folder = Path(create_folder(str(self.root)))
        owner = json.loads((folder / "owner.json").read_text())
        link = os.readlink("/proc/thread-self")
        own = {"id": int(os.path.basename(link)), "startedAt": owners._started_at(link)}
        for thread, beaten_at, expected in (
            (own, None, False),
            ({**own, "startedAt": "1"}, None, True),
            ({**own, "id": 2**22 + 1}, None, True),
            ({"id": 0, "startedAt": ""}, None, False),
            ({"id": 0, "startedAt": ""}, time.time() - 121, True),
        ):
            (folder / "owner.json").write_text(json.dumps({**owner, "thread": thread}))
            if beaten_at is not None:
                os.utime(folder / "owner.json", (beaten_at, beaten_at))
            self.assertEqual(is_orphan(str(folder)), expected, (thread, beaten_at))

    def test_that_did_not_come_to_write_its_name_is_dead_after_a_while(self) -> None:
        folder = create_folder(str(self.root))
        for text in (None, "", "{", "[]"):
            name = os.path.join(folder, "owner.json")
            os.unlink(name) if text is None else Path(name).write_text(text)
            self.assertFalse(is_orphan(folder))
        os.unlink(name)
        os.utime(folder, (1, 1))
        self.assertTrue(is_orphan(folder))

    def test_that_was_killed_while_it_removed_a_folder_leaves_none_for_long(self) -> None:
        really = os.unlink
        for kills_at in range(5):
            folder = self.leave(["a"])
            adopted = self.root / f"a-{new_ulid()}-{folder.name}"
            folder.rename(adopted)
            reader = SpoolReader(str(adopted), root=str(self.root), on_damage=print)
            calls = iter(range(100))

            def unlink(path: str, kills_at: int = kills_at, calls: Iterator[int] = calls) -> None:
                if next(calls) >= kills_at:
                    raise KeyboardInterrupt
                really(path)

            with mock.patch.object(os, "unlink", unlink), contextlib.suppress(KeyboardInterrupt):
                reader.remove_folder()
            reader.close()
            if kills_at < 3:
                self.assertTrue((adopted / "owner.json").exists())
                (adopted / "cursor").unlink(missing_ok=True)
            with FakeServer() as server:
                self.drained(server)
            self.assertEqual(self.names(), [])

    def test_that_had_adopted_a_folder_and_nearly_removed_it_is_dead_at_once(self) -> None:
        (self.root / f"a-{new_ulid()}-p-{new_ulid()}").mkdir()
        with FakeServer() as server:
            self.drained(server)
        self.assertEqual(self.names(), [])

    def test_that_cannot_be_seen_for_want_of_descriptors_is_not_dead(self) -> None:
        folder = create_folder(str(self.root))
        really = open

        def opened(path: Any, *arguments: Any, **options: Any) -> Any:
            if str(path).startswith("/proc/") and next(opens) == failing:
                raise OSError(errno.EMFILE, "Too many open files", path)
            return really(path, *arguments, **options)

        with mock.patch("builtins.open", opened):
            # Whichever of them cannot be opened.
            for failing in range(4):
                opens = iter(range(100))
                self.assertEqual(adopt_orphans(str(self.root), new_ulid()), [], failing)
        self.assertTrue(os.path.isdir(folder))

    def test_that_may_not_be_read_holds_up_no_other_folder(self) -> None:
        folders = [Path(create_folder(str(self.root))) for _ in range(3)]
        for folder in folders:
            release_folder(str(folder))
        forbidden = folders[1]
        really = owners._read_owner

        def read(folder: str) -> Any:
            if folder == str(forbidden):
                raise PermissionError(errno.EACCES, "Permission denied", folder)
            return really(folder)

        taken: list[str] = []
        with mock.patch.object(owners, "_read_owner", read), contextlib.suppress(OSError):
            taken = adopt_orphans(str(self.root), new_ulid())
        self.assertEqual([name[-28:] for name in taken], [folders[0].name, folders[2].name])
        self.assertTrue(forbidden.exists())

    def test_of_a_later_version_is_left_alone(self) -> None:
        folder = Path(create_folder(str(self.root)))
        release_folder(str(folder))
        owner = json.loads((folder / "owner.json").read_text())
        (folder / "owner.json").write_text(json.dumps({**owner, "version": 2}))
        self.assertEqual(adopt_orphans(str(self.root), new_ulid()), [])

    def test_that_adopted_keeps_what_it_adopted_while_it_lives(self) -> None:
        adopter = Path(create_folder(str(self.root)))
        dead = Path(create_folder(str(self.root)))
        release_folder(str(dead))
        dead.rename(self.root / f"a-{adopter.name[2:]}-{dead.name}")
        other = new_ulid()
        self.assertEqual(adopt_orphans(str(self.root), other), [])
        release_folder(str(adopter))
        taken = {os.path.basename(path) for path in adopt_orphans(str(self.root), other)}
        self.assertEqual(taken, {f"a-{other}-{dead.name}", f"a-{other}-{adopter.name}"})

    def test_that_was_taken_for_dead_goes_on_in_a_new_folder(self) -> None:
        meter = self.meter(NOWHERE)
        keys = [meter.track("acme", "calls") for _ in range(3)]
        (folder,) = self.root.glob("p-*")
        folder.rename(self.root / f"a-{new_ulid()}-{folder.name}")
        keys.append(meter.track("acme", "calls"))
        with meter._outbox.lock:
            meter._outbox.folders.keep()
        keys.append(meter.track("acme", "calls"))
        self.assertEqual(len(list(self.root.glob("p-*"))), 1)
        self.assertIn("spool_adopted", self.seen.codes)
        meter._transport._port = self.enterContext(FakeServer()).port
        self.assertEqual(meter.flush(20), (5, 0, 0))

    def test_that_adopted_has_room_for_its_own_events_all_the_same(self) -> None:
        self.leave([f"k{n}" for n in range(10)], spool_bytes_max=100_000)
        meter = self.meter(NOWHERE, spool_bytes_max=1_000)
        keeper = meter._keeper
        assert keeper is not None
        keeper.first_scan.wait(20)
        self.assertEqual(meter.flush(0.01).waiting, 10)
        self.assertIsNotNone(meter.track("acme", "calls"))
        self.assertIn(None, [meter.track("acme", "calls") for _ in range(20)])

    @unittest.skipUnless(hasattr(os, "fork"), "this system does not fork")
    def test_has_a_folder_of_its_own_after_a_fork(self) -> None:
        meter = self.meter(NOWHERE)
        meter.track("acme", "calls", idempotency_key="parent")
        child = os.fork()
        if child == 0:
            try:
                meter.track("acme", "calls", idempotency_key="child")
                os._exit(0 if meter.close(0) == (0, 0, 1) else 1)
            finally:
                os._exit(2)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(len(self.names()), 2)
        self.assertEqual(meter.close().waiting, 1)
        with FakeServer() as server:
            self.assertEqual(sorted(self.drained(server)), ["child", "parent"])


if __name__ == "__main__":
    unittest.main()
