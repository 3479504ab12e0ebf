"""The open meters of this process, for its end and for when it forks."""

from __future__ import annotations

import atexit
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .meter import Meter

#: Until they are closed: an application may forget one, and what it tracked is sent all the same.
open_meters: set[Meter] = set()
_locked: list[Meter] = []


def _before_fork() -> None:
    _locked.extend(open_meters)
    for meter in _locked:
        meter.lock_before_fork()


def _after_fork_in_parent() -> None:
    while _locked:
        _locked.pop().unlock_after_fork()


def _after_fork_in_child() -> None:
    while _locked:
        _locked.pop().begin_in_child()


def _close_all() -> None:
    """At the end of the process, bounded for each. `os._exit` and signals do without it."""
    for meter in list(open_meters):
        meter.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child
    )
atexit.register(_close_all)
