"""How requests name what they are about."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote, urlencode

Query = Mapping[str, object]


def known(**members: object) -> dict[str, object]:
    return {name: value for name, value in members.items() if value is not None}


def path_of(*segments: str) -> str:
    return "".join(f"/{quote(segment, safe='')}" for segment in segments)


def query_text(query: Query | None) -> str:
    return f"?{urlencode({name: str(value) for name, value in query.items()})}" if query else ""
