"""Measures what tracking costs, and how fast a spool is drained: PYTHONPATH=src:. python3 FILE [EVENTS]

With METERGATE_URL and METERGATE_KEY the drain is against that server, else against none.
"""

from __future__ import annotations

import os
import resource
import statistics
import sys
import tempfile
import time

from metergate import Client, Meter, MeterSettings, Properties
from metergate.retry import Pauses

NOWHERE = "http://127.0.0.1:9"
CALLS = 200_000
PROPERTIES: Properties = {"region": "eu", "model": "large", "cached": True}


def track_cost(name: str, settings: MeterSettings) -> None:
    meter = Meter(NOWHERE, "k", settings=settings, on_error=lambda _problem: None)
    track, clock = meter.track, time.perf_counter_ns
    spent = []
    for _ in range(CALLS):
        began = clock()
        track("acme", "api_calls", 1, properties=PROPERTIES)
        spent.append(clock() - began)
    dropped = meter.stats().dropped
    meter.close(0)
    spent.sort()
    p50, p99, p999 = (spent[int(len(spent) * share)] / 1000 for share in (0.5, 0.99, 0.999))
    mean = statistics.fmean(spent) / 1000
    print(f"{name}: mean {mean:.1f} µs, p50 {p50:.1f}, p99 {p99:.1f}, p99.9 {p999:.1f}, dropped {dropped}")


def costs() -> None:
    roomy = MeterSettings(memory_events_max=CALLS, memory_bytes_max=1 << 30, close_seconds_max=0)
    track_cost("memory", roomy)
    for fsync in ("none", "interval"):
        with tempfile.TemporaryDirectory() as spool:
            track_cost(f"spool, fsync {fsync}", roomy._replace(spool=spool, fsync=fsync))


def drain(events: int) -> None:
    url, key = os.environ["METERGATE_URL"], os.environ["METERGATE_KEY"]
    Client().customers.create(name="Acme", email="a@acme.example", external_id="acme")
    rates = {}
    for name in ("spool", "memory"):
        with tempfile.TemporaryDirectory() as spool:
            settings = MeterSettings(
                spool=spool if name == "spool" else None,
                memory_events_max=events,
                memory_bytes_max=1 << 31,
                spool_bytes_max=1 << 31,
                pauses=Pauses(0.01, 0.05),
            )
            meter = Meter(NOWHERE, key, settings=settings, on_error=lambda _problem: None)
            for _ in range(events):
                meter.track("acme", "api_calls", 1, properties=PROPERTIES)
            assert meter._sender is not None
            meter._transport = meter._sender._transport = Meter(url, key)._transport
            began = time.perf_counter()
            flushed = meter.flush(600)
            rates[name] = flushed.sent / (time.perf_counter() - began)
            meter.close(0)
            rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(f"{name}: {flushed}, {rates[name]:.0f} events/s, peak RSS so far {rss:.0f} MiB")
    print(f"the spool is drained at {rates['spool'] / rates['memory']:.2f} of the rate from memory")


if __name__ == "__main__":
    if "METERGATE_URL" in os.environ:
        drain(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
    else:
        costs()
