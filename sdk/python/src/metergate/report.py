"""What a meter says of itself while it goes on: to a callback, else to the log."""

from __future__ import annotations

import contextlib
import logging
import time
from collections import deque
from collections.abc import Mapping
from typing import Any, Callable

from .errors import Problem, Rejection

REPEATED_AFTER_SECONDS = 30.0
OnError = Callable[[Problem], object]
#: The event as it was sent, with the members of the API: `idempotencyKey`, `customerId`, `meterId`, …
OnRejected = Callable[[Mapping[str, Any], Rejection], object]

log = logging.getLogger("metergate")


class Reporter:
    """Calls what the application gave, which may fail: that is logged, and the meter goes on."""

    def __init__(self, on_error: OnError | None, on_rejected: OnRejected | None) -> None:
        self._on_error = on_error
        self._on_rejected = on_rejected
        self._reported_at: dict[str, float] = {}
        #: Code and message of problems that were met with a lock held.
        self.later: deque[tuple[str, str]] = deque()

    def problem_later(self, code: str, message: str) -> None:
        """For a caller that holds a lock: what the application does with it may wait for another thread."""
        self.later.append((code, message))

    def report_later(self) -> None:
        """What has been left for later. Called without a lock."""
        while self.later:
            try:
                code, message = self.later.popleft()
            except IndexError:
                # Another thread had it.
                return
            self.problem(code, message)

    def problem(self, code: str, message: str) -> None:
        """Never raises, and is called without a lock."""
        now = time.monotonic()
        if now - self._reported_at.get(code, float("-inf")) < REPEATED_AFTER_SECONDS:
            return
        self._reported_at[code] = now
        if self._on_error is None:
            # A handler of the log may fail as well.
            with contextlib.suppress(Exception):
                log.warning("%s: %s", code, message)
            return
        try:
            self._on_error(Problem(code, message))
        except Exception:
            with contextlib.suppress(Exception):
                log.exception("on_error failed for %s: %s", code, message)

    def rejected(self, event: Mapping[str, Any], rejection: Rejection) -> None:
        if self._on_rejected is None:
            what = f"event {event.get('idempotencyKey')} was rejected"
            self.problem(rejection.code, f"{what}: {rejection.message} Set on_rejected to get each.")
            return
        try:
            self._on_rejected(event, rejection)
        except Exception:
            with contextlib.suppress(Exception):
                log.exception("on_rejected failed for %s", event.get("idempotencyKey"))
