"""Measures what calls cost, and how fast a spool is drained: PYTHONPATH=src:. python3 FILE [EVENTS]

With METERGATE_URL and METERGATE_KEY drains to that server and checks its entitlements here; else it says
what `track` costs. Times of calls are to be had on a machine that does nothing else.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from typing import Callable

from metergate import Client, Entitlements, Meter, MetergateError, MeterSettings, Properties
from metergate.event import encode_event, time_text
from metergate.retry import Pauses
from metergate.sender import PATH, REQUESTS_MAX
from metergate.transport import Transport
from metergate.ulid import UlidSource

NOWHERE = "http://127.0.0.1:9"
CALLS = 200_000
EVENTS_OF_BATCH = 500
PROPERTIES: Properties = {"region": "eu", "model": "large", "cached": True}


def print_cost(name: str, call: Callable[[], object]) -> None:
    clock = time.perf_counter_ns
    spent = []
    cpu = time.thread_time()
    for _ in range(CALLS):
        began = clock()
        call()
        spent.append(clock() - began)
    mean = (time.thread_time() - cpu) / CALLS * 1e6
    spent.sort()
    p50, p99, p999 = (spent[int(len(spent) * share)] / 1000 for share in (0.5, 0.99, 0.999))
    print(f"{name}: p50 {p50:.1f} µs, p99 {p99:.1f}, p99.9 {p999:.1f}; CPU {mean:.1f} with the clock")


def track_cost(name: str, settings: MeterSettings) -> None:
    meter = Meter(NOWHERE, "k", settings=settings, on_error=lambda _problem: None)
    print_cost(name, lambda: meter.track("acme", "api_calls", 1, properties=PROPERTIES))
    assert meter.stats().dropped == 0
    meter.close(0)


def costs() -> None:
    roomy = MeterSettings(memory_events_max=CALLS, memory_bytes_max=1 << 30, close_seconds_max=0)
    track_cost("track in memory", roomy)
    for fsync in ("none", "interval"):
        with tempfile.TemporaryDirectory() as spool:
            track_cost(f"track in a spool, fsync {fsync}", roomy._replace(spool=spool, fsync=fsync))


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
    """Events a second of requests that are ready to be sent, as many at once, without gzip."""
    bodies = ready_bodies(events)
    transport = Transport(url, key)
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    lock = threading.Lock()

    def send() -> None:
        while True:
            with lock:
                body = next(bodies, None)
            if body is None:
                return
            response = transport.request("POST", PATH, body=body, headers=headers)
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
    ulids, now = UlidSource(), time.time()
    at = time_text(None, now)
    bodies = []
    for _ in range(events // EVENTS_OF_BATCH):
        payloads = [
            encode_event(ulids.new(now), "acme", "api_calls", 1, occurred_at=at, properties=PROPERTIES)
            for _ in range(EVENTS_OF_BATCH)
        ]
        bodies.append(b'{"events":[' + b",".join(payloads) + b"]}")
    return iter(bodies)


def check_cost(client: Client) -> None:
    with Meter() as meter, Entitlements(client, is_local=True, meter=meter) as entitlements:
        while entitlements.check("acme", "measured").source != "local":
            time.sleep(0.01)
        print_cost("check in the process", lambda: entitlements.check("acme", "measured", 3))


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
