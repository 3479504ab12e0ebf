"""How far the processes of an application overrun a limit together, against a real Metergate."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
import unittest

from metergate import Entitlements, Meter, MeterSettings

from .check_local_decisions import burst, client, setUpModule, subscribe, tearDownModule

__all__ = ["setUpModule", "tearDownModule"]

NAME = "py-many"
PROCESSES = 4


class ManyProcesses(unittest.TestCase):
    def test_of_many_processes_overrun_a_limit_by_what_they_use_in_two_seconds(self) -> None:
        subscribe(NAME, {"fed_sso": True, "fed_calls": 1_000})
        code = "from tests.server.check_many_processes import use_to_the_end; use_to_the_end()"
        children = [
            subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
            for _ in range(PROCESSES)
        ]
        total = 0
        fastest = 0.0
        for child in children:
            output, _ = child.communicate(timeout=60)
            used, in_two_seconds = map(int, output.split())
            total += used
            fastest += in_two_seconds
        print(f"overrun by {total - 1_000} of 1,000; used within two seconds: {fastest:.0f}", file=sys.stderr)
        self.assertGreaterEqual(total, 1_000)
        self.assertLessEqual(total - 1_000, fastest)
        counter = client.usage.retrieve(NAME, "fed_calls", consistency="strong")
        self.assertEqual(counter["current"], total)


def use_to_the_end() -> None:
    """Uses what it may, 200 a second, in several threads; prints how much, and the most within 2 seconds."""
    meter = Meter(settings=MeterSettings(linger_seconds=0.05))
    checks = Entitlements(client, is_local=True, meter=meter)
    times: list[float] = []
    lock = threading.Lock()

    def use() -> None:
        denied_since = None
        while denied_since is None or time.monotonic() - denied_since < 3:
            with lock:
                is_used = burst(checks, meter, NAME, 1) == 1
            denied_since = None if is_used else denied_since or time.monotonic()
            if is_used:
                times.append(time.monotonic())
            time.sleep(0.01)

    threads = [threading.Thread(target=use) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    checks.close()
    meter.close()
    most = max(sum(at <= one < at + 2 for one in times) for at in times)
    print(len(times), most)


if __name__ == "__main__":
    unittest.main()
