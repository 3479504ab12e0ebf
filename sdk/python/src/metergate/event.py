"""The JSON of one usage event, as it is sent within a batch and kept in a spool."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from json.encoder import encode_basestring
from typing import Any, Union

Number = Union[int, float, Decimal]
PropertyValue = Union[str, int, float, bool, Decimal, None]
Properties = Mapping[str, PropertyValue]
#: A naive `datetime` is local time, as `datetime.timestamp()` reads it. A number is seconds since 1970.
OccurredAt = Union[datetime, str, int, float]

#: A body has 1 MiB; the rest is what surrounds the only event of a batch.
EVENT_BYTES_MAX = 1024 * 1024 - 64
_KEY_CHARS_MAX = 255
_KEY_FIRST = b'{"idempotencyKey":"'


class InvalidEvent(Exception):
    """No request with this event could be made."""

    def __init__(self, message: str, code: str = "invalid_event") -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def encode_event(
    idempotency_key: str,
    customer_id: str,
    meter_id: str,
    value: Number,
    *,
    occurred_at: str,
    properties: Properties | None,
) -> bytes:
    """Raises InvalidEvent. Every other rule is the server's, which rejects an event for its own reasons."""
    members = (
        f'{{"idempotencyKey":{_text("idempotency_key", idempotency_key, _KEY_CHARS_MAX)}'
        f',"customerId":{_text("customer_id", customer_id)}'
        f',"meterId":{_text("meter_id", meter_id)}'
        f',"value":{_number("value", value)}'
        f',"occurredAt":{encode_basestring(occurred_at)}'
    )
    if properties:
        members += f',"properties":{{{_properties(properties)}}}'
    try:
        payload = f"{members}}}".encode()
    except UnicodeEncodeError:
        raise InvalidEvent("The event has a surrogate without its other half.") from None
    if len(payload) > EVENT_BYTES_MAX:
        raise InvalidEvent(f"The event has {len(payload)} bytes.", "payload_too_large")
    return payload


def keys_of(payloads: Sequence[bytes]) -> list[str]:
    """The idempotency keys of events, whichever client wrote them."""
    begin = len(_KEY_FIRST)
    keys = [payload[begin : payload.find(b'"', begin)] for payload in payloads]
    joined = b"\n".join(keys)
    # JSON has no line feed within a text.
    if b"\\" in joined or {payload[:begin] for payload in payloads} != {_KEY_FIRST}:
        return [key_of(payload) for payload in payloads]
    return joined.decode().split("\n")


def key_of(payload: bytes) -> str:
    """The idempotency key of an event, whichever client wrote it; empty for what has no text as its key."""
    end = payload.find(b'"', len(_KEY_FIRST))
    key = payload[len(_KEY_FIRST) : end]
    if payload.startswith(_KEY_FIRST) and b"\\" not in key:
        return key.decode()
    own = event_of(payload).get("idempotencyKey")
    return own if isinstance(own, str) else ""


def is_json(payload: bytes) -> bool:
    """Whether a server can read it, whoever wrote it."""
    try:
        json.loads(payload.decode(), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return False
    return True


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def event_of(payload: bytes) -> dict[str, Any]:
    """Its members. A record of a spool that is no event, whoever wrote it, has its text as its only one."""
    try:
        event = json.loads(payload)
    except (ValueError, RecursionError):
        event = None
    return event if isinstance(event, dict) else {"payload": payload.decode(errors="replace")}


def time_text(occurred_at: OccurredAt | None, now_seconds: float) -> str:
    """RFC 3339 in UTC with milliseconds; text is passed as it is. Raises InvalidEvent."""
    if occurred_at is None:
        return _iso(now_seconds)
    if isinstance(occurred_at, str):
        return occurred_at
    try:
        seconds = occurred_at.timestamp() if isinstance(occurred_at, datetime) else float(occurred_at)
        return _iso(seconds)
    except (OverflowError, OSError, ValueError, TypeError, AttributeError):
        raise InvalidEvent(f"occurred_at is no time: {occurred_at!r}") from None


_MILLISECONDS = [f"{number:03d}Z" for number in range(1000)]
_second: tuple[int, str] = (-1, "")


def _iso(seconds: float) -> str:
    global _second  # noqa: PLW0603 - one for all threads: it is replaced, never changed
    milliseconds = int(seconds * 1000)
    whole = milliseconds // 1000
    known, text = _second
    if known != whole:
        text = time.strftime("%Y-%m-%dT%H:%M:%S.", time.gmtime(whole))
        _second = (whole, text)
    return text + _MILLISECONDS[milliseconds % 1000]


def _text(name: str, value: object, chars_max: int = EVENT_BYTES_MAX) -> str:
    if not isinstance(value, str):
        raise InvalidEvent(f"{name} must be text, and is {type(value).__name__}.")
    if not 0 < len(value) <= chars_max:
        raise InvalidEvent(f"{name} must have 1 to {chars_max} characters.")
    return encode_basestring(value)


def _number(name: str, value: object) -> str:
    """Of subclasses too, whose own text may be something else (numpy: `np.float64(1.5)`)."""
    if isinstance(value, int) and not isinstance(value, bool):
        try:
            return int.__repr__(value)
        except ValueError:
            raise InvalidEvent(f"{name} has too many digits.") from None
    if isinstance(value, float) and math.isfinite(value):
        return float.__repr__(value)
    if isinstance(value, Decimal) and value.is_finite():
        return str(value)
    raise InvalidEvent(f"{name} must be a finite number, and is {value!r:.100}.")


def _properties(properties: Properties) -> str:
    if not isinstance(properties, Mapping):
        raise InvalidEvent("properties must be a mapping.")
    members = [
        f"{_property_name(name)}:{_property(name, value)}"
        for name, value in properties.items()
        if value is not None
    ]
    return ",".join(members)


def _property_name(name: object) -> str:
    if not isinstance(name, str):
        raise InvalidEvent(f"The name of a property must be text, and is {name!r:.100}.")
    return encode_basestring(name)


def _property(name: str, value: object) -> str:
    if isinstance(value, str):
        return encode_basestring(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return _number(f"properties[{name!r:.100}]", value)
