"""Measures what calls cost, and how fast a spool is drained: PYTHONPATH=src:. python3 FILE [EVENTS]

With METERGATE_URL and METERGATE_KEY drains to that server and checks its entitlements here; else it says
what `track` costs. Times of calls are to be had on a machine that does nothing else: beside them is how
often the thread was taken off its core, and what as many calls of plain arithmetic take at the same time.
Under `chrt -f 10` (Linux, as root) nothing else takes it off.

The plain batch rate is that of this very process when it posts batches of 500 events, whose JSON is ready
and which it compresses just as the sender does, with as many requests at once, and reads each response.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import threading
import time
from array import array
from collections.abc import Iterator
from typing import Callable

from metergate import Client, Entitlements, Meter, MetergateError, MeterSettings, Properties
from metergate.event import encode_event, time_text
from metergate.packing import Packing
from metergate.retry import Pauses
from metergate.sender import PATH, REQUESTS_MAX
from metergate.transport import Transport
from metergate.ulid import UlidSource

NOWHERE = "http://127.0.0.1:9"
#: As many as wait in memory at most, so that a meter of a process that runs for long is measured: its memory
#: is used again, and is not the system's to give.
CALLS_OF_METER = 10_000
METERS = 20
EVENTS_OF_BATCH = 500
PROPERTIES: Properties = {"region": "eu", "model": "large", "cached": True}

Call = Callable[[], object]


class Costs:
    """Of calls on this thread."""

    def __init__(self) -> None:
        #: As many as it has room for: a list that grows takes new memory, which is then a part of the costs.
        self._spent = array("q", bytes(8 * METERS * CALLS_OF_METER))
        self._count = 0
        self._cpu_seconds = 0.0
        self._preempted = 0

    def add(self, call: Call, calls: int = CALLS_OF_METER) -> None:
        clock, spent, at = time.perf_counter_ns, self._spent, self._count
        before = resource.getrusage(resource.RUSAGE_THREAD)
        cpu = time.thread_time()
        for _ in range(calls):
            began = clock()
            call()
            spent[at] = clock() - began
            at += 1
        self._count = at
        self._cpu_seconds += time.thread_time() - cpu
        self._preempted += resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw - before.ru_nivcsw

    def __str__(self) -> str:
        spent = sorted(self._spent[: self._count])
        p50, p99, p999 = (spent[int(len(spent) * share)] / 1000 for share in (0.5, 0.99, 0.999))
        cpu = self._cpu_seconds / len(spent) * 1e6
        times = f"p50 {p50:.1f} µs, p99 {p99:.1f}, p99.9 {p999:.1f}"
        return f"{times}; CPU {cpu:.1f} with the clock; preempted {self._preempted} times"


def arithmetic() -> int:
    """About as long as `track` in memory: what it needs more than its median is the machine's doing."""
    total = 0
    for number in range(95):
        total += number
    return total


def track_cost(name: str, settings: MeterSettings) -> None:
    costs, of_machine = Costs(), Costs()
    for _ in range(METERS):
        meter = Meter(NOWHERE, "k", settings=settings, on_error=lambda _problem: None)
        costs.add(lambda: meter.track("acme", "api_calls", 1, properties=PROPERTIES))
        assert meter.stats().dropped == 0
        meter.close(0)
        of_machine.add(arithmetic)
    print(f"{name}: {costs}\n  arithmetic meanwhile: {of_machine}")


def costs() -> None:
    settings = MeterSettings(close_seconds_max=0)
    track_cost("track in memory", settings)
    for fsync in ("none", "interval"):
        with tempfile.TemporaryDirectory() as spool:
            track_cost(f"track in a spool, fsync {fsync}", settings._replace(spool=spool, fsync=fsync))


def drain(url: str, key: str, events: int) -> float:
    """Events a second, of a process that was without a server for as long as it took to track them."""
    with tempfile.TemporaryDirectory() as spool:
        settings = MeterSettings(spool=spool, spool_bytes_max=1 << 31, pauses=Pauses(0.01, 0.05))
        meter = Meter(NOWHERE, key, settings=settings, on_error=lambda _problem: None)
        for _ in range(events):
            meter.track("acme", "api_calls", 1, properties=PROPERTIES)
        before = rss_mib()
        assert meter._sender is not None
        meter._transport = meter._sender._transport = Transport(url, key)
        cpu, began = time.process_time(), time.perf_counter()
        flushed = meter.flush(600)
        rate = flushed.sent / (time.perf_counter() - began)
        cost = (time.process_time() - cpu) / flushed.sent * 1e6
        assert flushed == (events, 0, 0)
        meter.close()
    print(f"spool: {rate:.0f} events/s, CPU {cost:.2f} µs each; RSS peak {before} and {rss_mib()} MiB")
    return rate


def send_plainly(url: str, key: str, events: int) -> float:
    """Events a second of the plain batch rate."""
    bodies = ready_bodies(events)
    transport = Transport(url, key)
    lock = threading.Lock()

    def send() -> None:
        while True:
            with lock:
                body = next(bodies, None)
            if body is None:
                return
            content, headers = Packing().packed(body)
            response = transport.request("POST", PATH, body=content, headers=headers)
            assert json.loads(response.body)["summary"]["created"] == EVENTS_OF_BATCH

    threads = [threading.Thread(target=send) for _ in range(REQUESTS_MAX)]
    cpu, began = time.process_time(), time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rate = events / (time.perf_counter() - began)
    print(f"plain: {rate:.0f} events/s, CPU {(time.process_time() - cpu) / events * 1e6:.2f} µs each")
    return rate


def ready_bodies(events: int) -> Iterator[bytes]:
    """Each event with the time at which it is made, as `track` does: all at one time are less work there."""
    ulids = UlidSource()

    def made() -> bytes:
        now = time.time()
        at = time_text(None, now)
        return encode_event(ulids.new(now), "acme", "api_calls", 1, occurred_at=at, properties=PROPERTIES)

    batches = [[made() for _ in range(EVENTS_OF_BATCH)] for _ in range(events // EVENTS_OF_BATCH)]
    return iter([b'{"events":[%b]}' % b",".join(batch) for batch in batches])


def check_cost(client: Client) -> None:
    with Meter() as meter, Entitlements(client, is_local=True, meter=meter) as entitlements:
        while entitlements.check("acme", "measured").source != "local":
            time.sleep(0.01)
        costs = Costs()
        costs.add(lambda: entitlements.check("acme", "measured", 3), METERS * CALLS_OF_METER)
        print(f"check in the process: {costs}")


def prepare(client: Client) -> None:
    for path, body in (
        ("/customers", {"name": "Acme", "email": "a@acme.example", "externalId": "acme"}),
        ("/meters", {"key": "api_calls", "name": "Calls", "aggregation": "sum"}),
        ("/features", {"key": "measured", "name": "Calls", "type": "metered", "meterKey": "api_calls"}),
    ):
        try:
            client.request("POST", path, body=body)
        except MetergateError as error:
            if error.code != "already_exists":
                raise
    client.request("PUT", "/customers/acme/overrides/measured", body={"value": 1_000_000_000})


def rss_mib() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def measure(url: str, key: str, events: int) -> None:
    with Client() as client:
        prepare(client)
        check_cost(client)
    rates = [(drain(url, key, events), send_plainly(url, key, events)) for _ in range(2)]
    shares = ", ".join(f"{spooled / plain:.2f}" for spooled, plain in rates)
    print(f"the spool is drained at {shares} of the plain rate")


if __name__ == "__main__":
    if "METERGATE_URL" in os.environ:
        count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
        measure(os.environ["METERGATE_URL"], os.environ["METERGATE_KEY"], count)
    else:
        costs()
