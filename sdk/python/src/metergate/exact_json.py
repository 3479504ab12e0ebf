"""JSON whose numbers keep their digits: read as `Decimal`, and written from it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from decimal import Decimal
from json.encoder import encode_basestring
from typing import Any


def loads(text: bytes) -> Any:
    """Raises ValueError."""
    try:
        return json.loads(text, parse_float=Decimal)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None


def dumps(value: Any) -> str:
    """Raises ValueError for what JSON does not have."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return encode_basestring(value)
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float) and math.isfinite(value):
        return float.__repr__(value)
    if isinstance(value, Decimal) and value.is_finite():
        return str(value)
    if isinstance(value, Mapping):
        return (
            f"{{{','.join(f'{encode_basestring(str(name))}:{dumps(one)}' for name, one in value.items())}}}"
        )
    if isinstance(value, (list, tuple)):
        return f"[{','.join(map(dumps, value))}]"
    raise ValueError(f"{value!r:.100} cannot be sent as JSON")
