"""How requests name what they are about."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote, urlencode

from .errors import MetergateError

Query = Mapping[str, object]


def known(**members: object) -> dict[str, object]:
    return {name: value for name, value in members.items() if value is not None}


def path_of(*segments: str) -> str:
    """Raises MetergateError for what no address can have."""
    for segment in segments:
        if not is_name(segment):
            raise MetergateError("invalid_request", f"An id must be text, and is {segment!r:.100}.")
    return "".join(f"/{quote(segment, safe='')}" for segment in segments)


def is_name(text: object) -> bool:
    """Whether it may be the id or key of something: not empty, and without half of a surrogate pair."""
    try:
        return isinstance(text, str) and text.encode() != b""
    except UnicodeEncodeError:
        return False


def query_text(query: Query | None) -> str:
    return f"?{urlencode({name: str(value) for name, value in query.items()})}" if query else ""
