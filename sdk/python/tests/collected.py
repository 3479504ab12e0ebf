"""What a meter reports, for a test to look at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from metergate import Meter, MeterSettings, Problem, Rejection

KEY = "sk_test_0"
#: Nothing is sent before a flush, so that each says how many it has sent.
SOON = MeterSettings(linger_seconds=30.0)


class Collected:
    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.rejected: list[tuple[Mapping[str, Any], Rejection]] = []

    def on_error(self, problem: Problem) -> None:
        self.problems.append(problem)

    def on_rejected(self, event: Mapping[str, Any], rejection: Rejection) -> None:
        self.rejected.append((event, rejection))

    @property
    def codes(self) -> list[str]:
        return [problem.code for problem in self.problems]

    @property
    def rejected_keys(self) -> dict[str, str]:
        return {str(event["idempotencyKey"]): rejection.code for event, rejection in self.rejected}


def meter_of(url: str, settings: MeterSettings = SOON, collected: Collected | None = None) -> Meter:
    seen = collected or Collected()
    return Meter(url, KEY, settings=settings, on_error=seen.on_error, on_rejected=seen.on_rejected)
