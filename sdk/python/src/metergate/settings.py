"""What a meter can be set to."""

from __future__ import annotations

from typing import NamedTuple

from .buffer import BatchLimits
from .retry import DEFAULT_PAUSES, Pauses

_FSYNC = ("none", "interval", "each")
_WHEN_FULL = ("drop_newest", "block")
_ON_SPOOL_ERROR = ("memory", "drop")


class MeterSettings(NamedTuple):
    """README.md says what each is for."""

    spool: str | None = None
    fsync: str = "interval"
    fsync_interval_seconds: float = 0.2
    spool_bytes_max: int = 256 * 1024 * 1024
    memory_events_max: int = 10_000
    memory_bytes_max: int = 16 * 1024 * 1024
    when_full: str = "drop_newest"
    block_seconds_max: float = 5.0
    on_spool_error: str = "memory"
    linger_seconds: float = 1.0
    pauses: Pauses = DEFAULT_PAUSES
    batch: BatchLimits = BatchLimits()
    close_seconds_max: float = 5.0

    def checked(self) -> MeterSettings:
        """Raises ValueError, which names the setting: before the first event, not when it matters."""
        _must_be_one_of("fsync", self.fsync, _FSYNC)
        _must_be_one_of("when_full", self.when_full, _WHEN_FULL)
        _must_be_one_of("on_spool_error", self.on_spool_error, _ON_SPOOL_ERROR)
        for name in ("spool_bytes_max", "memory_events_max", "memory_bytes_max", "fsync_interval_seconds"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be more than 0")
        for name in ("block_seconds_max", "linger_seconds", "close_seconds_max"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} must not be negative")
        limits = BatchLimits()
        if not (1 <= self.batch.events_max <= limits.events_max):
            raise ValueError(f"batch.events_max must be 1 to {limits.events_max}")
        if not (1 <= self.batch.bytes_max <= limits.bytes_max):
            raise ValueError(f"batch.bytes_max must be 1 to {limits.bytes_max}")
        return self


def _must_be_one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}, and is {value!r}")
