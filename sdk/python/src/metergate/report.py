"""What a meter says of itself while it goes on: to a callback, else to the log."""

from __future__ import annotations

import logging
import time
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

    def problem(self, code: str, message: str) -> None:
        now = time.monotonic()
        if now - self._reported_at.get(code, float("-inf")) < REPEATED_AFTER_SECONDS:
            return
        self._reported_at[code] = now
        if self._on_error is None:
            log.warning("%s: %s", code, message)
            return
        try:
            self._on_error(Problem(code, message))
        except Exception:
            log.exception("on_error failed for %s: %s", code, message)

    def rejected(self, event: Mapping[str, Any], rejection: Rejection) -> None:
        if self._on_rejected is None:
            what = f"event {event.get('idempotencyKey')} was rejected"
            self.problem(rejection.code, f"{what}: {rejection.message} Set on_rejected to get each.")
            return
        try:
            self._on_rejected(event, rejection)
        except Exception:
            log.exception("on_rejected failed for %s", event.get("idempotencyKey"))
