"""The end of a meter, whatever its threads wait for then."""

from __future__ import annotations

import os
import socket
import threading
import time
import unittest
from unittest import mock

from metergate.spool.adopt import adopt_orphans
from metergate.ulid import new_ulid

from .collected import SOON, meter_of
from .fake_server import FakeServer, Reply, Request
from .test_meter import seen
from .with_spool import WithSpool


class Held:
    """Its first request is answered when it is let go."""

    def __init__(self) -> None:
        self.came = threading.Event()
        self.is_free = threading.Event()

    def __call__(self, _request: Request) -> Reply | None:
        self.came.set()
        self.is_free.wait(20)
        return None


class AMeterThatIsClosed(WithSpool):
    def test_takes_events_until_all_are_sent(self) -> None:
        for spool in (None, str(self.root)):
            with FakeServer() as server:
                server.at_once = held = Held()
                meter = meter_of(server.url, SOON._replace(spool=spool, close_seconds_max=20.0))
                meter.track("acme", "calls", idempotency_key="before")
                closing = threading.Thread(target=meter.close)
                closing.start()
                held.came.wait(20)
                self.assertEqual(meter.track("acme", "calls", idempotency_key="meanwhile"), "meanwhile")
                held.is_free.set()
                closing.join(20)
                self.assertEqual(list(server.created), ["before", "meanwhile"])
                self.assertIsNone(meter.track("acme", "calls"))

    def test_while_it_connects_gives_up_and_leaves_its_events_to_others(self) -> None:
        url = self.silent_host()
        meter = self.meter(url, linger_seconds=0.0)
        meter.track("acme", "calls")
        self.assertTrue(seen(lambda: meter._transport._dialing))
        began = time.monotonic()
        self.assertEqual(meter.close(0).waiting, 1)
        self.assertLess(time.monotonic() - began, 10)
        self.assertEqual(len(adopt_orphans(str(self.root), new_ulid())), 1)

    def test_with_a_thread_that_does_not_end_leaves_its_events_to_others(self) -> None:
        with FakeServer() as server, mock.patch("metergate.meter._JOIN_SECONDS", 0.0):
            server.at_once = held = Held()
            meter = self.meter(server.url, linger_seconds=0.0)
            # As where a name is looked up, which nothing ends.
            self.addCleanup(meter._transport.abort)
            meter._transport.abort = lambda: None  # type: ignore[method-assign]
            meter.track("acme", "calls", idempotency_key="one")
            held.came.wait(20)
            self.assertEqual(meter.close(0).waiting, 1)
            adopted = adopt_orphans(str(self.root), new_ulid())
            self.assertEqual(len(adopted), 1)
            held.is_free.set()
            sender = meter._sender
            assert sender is not None
            sender.join(20)
            # What it has learned is not written to a folder that is another one's.
            self.assertEqual(os.path.getsize(os.path.join(adopted[0], "cursor")), 0)

    @unittest.skipUnless(hasattr(os, "fork"), "this system does not fork")
    def test_in_a_forked_process_leaves_the_requests_of_its_parent_alone(self) -> None:
        with FakeServer() as server:
            server.at_once = held = Held()
            meter = self.meter(server.url, linger_seconds=0.0)
            meter.track("acme", "calls", idempotency_key="parent")
            held.came.wait(20)
            child = os.fork()
            if child == 0:
                try:
                    meter.close(0)
                finally:
                    os._exit(0)
            os.waitpid(child, 0)
            held.is_free.set()
            self.assertEqual(meter.flush(20).waiting, 0)
            self.assertEqual((server.times_sent, meter.stats().retries), ({"parent": 1}, 0))

    def silent_host(self) -> str:
        """Whose queue of connections is full: a further one gets no answer."""
        listening = self.enterContext(socket.socket())
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        for _ in range(8):
            one = self.enterContext(socket.socket())
            one.setblocking(False)
            one.connect_ex(listening.getsockname())
        return f"http://127.0.0.1:{listening.getsockname()[1]}"


if __name__ == "__main__":
    unittest.main()
