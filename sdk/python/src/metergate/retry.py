"""When a request is sent again."""

from __future__ import annotations

import random
import time
from email.utils import parsedate_to_datetime
from typing import NamedTuple


class Pauses(NamedTuple):
    """Of retries: the longest that may be drawn for the first one, which doubles up to the longest of all."""

    first_seconds: float = 0.2
    longest_seconds: float = 30.0


DEFAULT_PAUSES = Pauses()
#: A server in trouble may ask for more than our longest pause, and a proxy for hours by mistake.
RETRY_AFTER_SECONDS_MAX = 300.0
#: Keys are replaced and addresses corrected by people.
WRONG_SETUP_SECONDS = 30.0


def pause_seconds(failures: int, retry_after: float | None = None, pauses: Pauses = DEFAULT_PAUSES) -> float:
    """Before the next attempt, after so many failures in a row: full jitter, and what the server asks for."""
    longest = min(pauses.longest_seconds, pauses.first_seconds * 2 ** min(failures - 1, 20))
    jitter = random.uniform(0, longest)
    if retry_after is None:
        return jitter
    # The jitter on top, so that many clients do not come back at the same time.
    return min(retry_after, RETRY_AFTER_SECONDS_MAX) + min(jitter, 1.0)


def retry_after_seconds(header: str | None) -> float | None:
    """Of a Retry-After header, in seconds or as a date; None where there is none that can be read."""
    if header is None:
        return None
    text = header.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return None
