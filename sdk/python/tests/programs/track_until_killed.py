"""Tracks usage into a spool until it is killed.

Each event's value is its number, which is written to the ledger only when `track` has taken it. With
TRACK_COUNT it tracks no more than so many, waits until nothing waits in the spool, prints its statistics
and ends.
"""

from __future__ import annotations

import itertools
import json
import os
import resource
import sys
import time
from collections.abc import Mapping
from typing import Any

from metergate import Meter, MeterSettings, Rejection
from metergate.retry import Pauses

#: How many it tracks before it pauses for 2 ms.
PER_TURN = int(os.environ.get("TRACK_PER_TURN", "10"))
DRAIN_SECONDS = 60.0
TIMEOUT_SECONDS = int(os.environ.get("TRACK_TIMEOUT_MS", "1000")) / 1000


def rejected(event: Mapping[str, Any], rejection: Rejection) -> None:
    print(f"rejected: {rejection.code} {event}", file=sys.stderr)


def run() -> None:
    count = os.environ.get("TRACK_COUNT")
    settings = MeterSettings(spool=os.environ["TRACK_SPOOL"], linger_seconds=0.02, pauses=Pauses(0.01, 0.2))
    meter = Meter(
        os.environ["TRACK_URL"],
        os.environ["TRACK_KEY"],
        settings=settings,
        timeout_seconds=TIMEOUT_SECONDS,
        on_error=lambda _problem: None,
        on_rejected=rejected,
    )
    properties = {"run": os.environ["TRACK_RUN"]}
    with open(os.environ["TRACK_LEDGER"], "wb", buffering=0) as ledger:
        for number in itertools.count(1) if count is None else range(1, int(count) + 1):
            if meter.track("tracked", "tracked", number, properties=properties) is None:
                raise RuntimeError(f"event {number} was not taken")
            # Killed between the two lines, one event is in the spool and not in the ledger.
            ledger.write(b"%d\n" % number)
            if number % PER_TURN == 0:
                time.sleep(0.002)
    flushed = meter.flush(DRAIN_SECONDS)
    stats = meter.stats()
    meter.close(0)
    rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    seen = {"sent": stats.sent, "duplicates": stats.duplicates, "rejected": stats.rejected}
    left = {"waiting": flushed.waiting, "damagedBytes": stats.damaged_bytes, "rssPeakMib": rss}
    print(json.dumps({**seen, **left}))
    sys.exit(0 if flushed.waiting == 0 else 1)


if __name__ == "__main__":
    run()
