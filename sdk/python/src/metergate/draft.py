"""An event in memory that is not JSON yet: `track` returns sooner, and the sending thread writes the text."""

from __future__ import annotations

from json.encoder import encode_basestring
from typing import Any

from .event import Properties, PropertyValue, time_text

#: A plain tuple, since a named one takes longer to make than all of its checks. Its size in characters, then
#: key, customer, meter, value, time in seconds, the names of the properties, and their values, all of which
#: never change. A copy of the properties would be a second object that the garbage collector counts: it would
#: come twice as often, within a call.
Draft = tuple[Any, ...]

#: Beyond it, with escapes of six characters, an event might be larger than any body.
_CHARS_MAX = 100_000
_KEY_CHARS_MAX = 255
_INTEGER_MAX = 1 << 63
_SKELETON_CHARS = 105
_MEMBER_CHARS = 9


def draft_of(
    key: str,
    customer_id: str,
    meter_id: str,
    value: object,
    *,
    properties: Properties | None,
    now: float,
) -> Draft | None:
    """None for what is not plain: it is encoded at once, or found to be wrong.

    Plain is ASCII text of built-in types, a small integer or a finite float, and properties in a `dict`.
    """
    if not (
        type(customer_id) is str is type(meter_id) is type(key)
        and customer_id
        and meter_id
        and key
        and len(key) <= _KEY_CHARS_MAX
        and customer_id.isascii()
        and meter_id.isascii()
        and key.isascii()
    ):
        return None
    if type(value) is int:
        if not -_INTEGER_MAX < value < _INTEGER_MAX:
            return None
    elif type(value) is not float or value - value != 0:
        return None
    size = _SKELETON_CHARS + len(key) + len(customer_id) + len(meter_id)
    if not properties:
        return None if size > _CHARS_MAX else (size, key, customer_id, meter_id, value, now)
    if type(properties) is not dict:
        return None
    # Another thread may change them meanwhile.
    copied = properties.copy()
    chars = _chars_of(copied)
    if chars < 0 or size + chars > _CHARS_MAX:
        return None
    return size + chars, key, customer_id, meter_id, value, now, *copied, *copied.values()


def _chars_of(properties: Properties) -> int:
    """-1 where one of them is not plain. A loop is faster than C code that does it for all in turns."""
    chars = 0
    for name, value in properties.items():
        if type(name) is not str or not name.isascii():
            return -1
        if type(value) is str:
            if not value.isascii():
                return -1
            chars += len(value)
        elif type(value) is int:
            if not -_INTEGER_MAX < value < _INTEGER_MAX:
                return -1
        elif type(value) is not bool:
            return -1
        chars += len(name) + _MEMBER_CHARS
    return chars


def encode_draft(draft: Draft) -> bytes:
    """The same bytes as `encode_event` makes of it."""
    _, key, customer_id, meter_id, value, now, *properties = draft
    text = encode_basestring
    members = (
        f'{{"idempotencyKey":{text(key)},"customerId":{text(customer_id)},"meterId":{text(meter_id)}'
        f',"value":{value!r},"occurredAt":"{time_text(None, now)}"'
    )
    if properties:
        half = len(properties) // 2
        named = zip(properties[:half], properties[half:])
        listed = ",".join([f"{text(name)}:{_value(one)}" for name, one in named])
        members += f',"properties":{{{listed}}}'
    return f"{members}}}".encode()


def _value(one: PropertyValue) -> str:
    if type(one) is str:
        return encode_basestring(one)
    return repr(one) if type(one) is int else "true" if one else "false"
