"""How far the processes of an application overrun a limit together, against a real Metergate."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
import unittest

from metergate import Entitlements, Meter, MeterSettings

from .check_local_decisions import burst, client, setUpModule, subscribe, tearDownModule

__all__ = ["setUpModule", "tearDownModule"]

NAME = "py-many"
LIMIT = 1_000
PROCESSES = 4
#: The bound of the README: usage waits to be sent, and is seen 2 seconds later by everyone.
SEEN_SECONDS = MeterSettings().linger_seconds + 2
#: Of processes that are never denied.
GIVEN_UP_SECONDS = 20.0


class ManyProcesses(unittest.TestCase):
    def test_overrun_a_limit_by_no_more_than_they_use_in_the_seconds_after_it(self) -> None:
        subscribe(NAME, {"fed_sso": True, "fed_calls": LIMIT})
        code = "from tests.server.check_many_processes import use_to_the_end; use_to_the_end()"
        children = [
            subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
            for _ in range(PROCESSES)
        ]
        used: list[float] = []
        for child in children:
            output, _ = child.communicate(timeout=60)
            self.assertEqual(child.returncode, 0)
            used += json.loads(output)
        used.sort()
        overrun = len(used) - LIMIT
        self.assertGreaterEqual(overrun, 0)
        last = used[-1] - used[LIMIT - 1]
        print(f"overrun by {overrun} of {LIMIT:,}, the last of it {last:.2f} s later", file=sys.stderr)
        self.assertLess(last, SEEN_SECONDS)
        counter = client.usage.retrieve(NAME, "fed_calls", consistency="strong")
        self.assertEqual(counter["current"], len(used))


def use_to_the_end() -> None:
    """Uses what it may, 200 a second, in several threads, and prints when, by the clock of all processes."""
    meter = Meter()
    checks = Entitlements(client, is_local=True, meter=meter)
    times: list[float] = []
    lock = threading.Lock()

    def use() -> None:
        denied_since = None
        until = time.monotonic() + GIVEN_UP_SECONDS
        while (now := time.monotonic()) < until and (
            denied_since is None or now - denied_since < SEEN_SECONDS + 1
        ):
            with lock:
                is_used = burst(checks, meter, NAME, 1) == 1
            denied_since = None if is_used else denied_since or now
            if is_used:
                times.append(time.time())
            time.sleep(0.01)

    threads = [threading.Thread(target=use) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    checks.close()
    meter.close()
    print(json.dumps(times))


if __name__ == "__main__":
    unittest.main()
