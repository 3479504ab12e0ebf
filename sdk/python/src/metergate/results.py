"""What a response to a batch says of each of its events."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple, Union

from .errors import Rejection
from .retry import WRONG_SETUP_SECONDS, retry_after_seconds
from .transport import Response


class Results(NamedTuple):
    """One for each event in order: None where it is on the server, else why not. None: all of them are."""

    rejections: list[Rejection | None] | None
    duplicates: int


class Later(NamedTuple):
    """Nothing is known of any event: all of it is sent again."""

    code: str
    message: str
    retry_after: float | None = None
    #: A pause that does not grow, for what people have to repair.
    fixed_pause: float | None = None


class Halve(NamedTuple):
    """The batch as a whole cannot be read. An event that is alone is rejected for this."""

    rejection: Rejection


class Garbled(NamedTuple):
    """The body was no JSON when it arrived: an event of it is none, or a proxy has changed it."""

    rejection: Rejection


class TakeOut(NamedTuple):
    """This event is the reason why the whole batch was rejected."""

    at: int
    rejection: Rejection


Verdict = Union[Results, Later, Halve, Garbled, TakeOut]

#: Of items: the server could not decide them now, and asks for them again.
RETRIED_ITEM_CODES = frozenset({"unavailable", "overloaded", "internal", "rate_limited"})

_RETRIED = frozenset({408, 425, 429})
_UNREADABLE = frozenset({400, 422})
#: Of a whole request whose events are at fault. Other codes may be those of a proxy.
_OF_EVENTS = frozenset(
    {
        "invalid_request",
        "idempotency_key_missing",
        "idempotency_key_invalid",
        "value_invalid",
        "event_too_old",
        "event_in_future",
    }
)
_GARBLED = frozenset({"invalid_json", "invalid_gzip"})
_TOO_LARGE = frozenset({"payload_too_large", "batch_too_large"})
#: What finds even these too large is not meant for events: that is corrected by people.
_SMALL_BYTES = 16 * 1024


def judge(response: Response, keys: Sequence[str], size_bytes: int) -> Verdict:
    """Never raises: what cannot be read is an outage like any other.

    `keys` are those of the events sent, and `size_bytes` is what these have together.
    """
    status = response.status
    body = _parse(response.body)
    error = _error_of(body)
    if status == 413:
        too_large = error or Rejection("payload_too_large", "The event is too large for this server.")
        if size_bytes > _SMALL_BYTES or _is_one_of(_TOO_LARGE, body):
            return Halve(too_large)
        return Later(too_large.code, too_large.message, fixed_pause=WRONG_SETUP_SECONDS)
    if status == 200:
        results = _results(body, keys)
        return results or Later("invalid_response", "A response with status 200 was not one of Metergate.")
    if status in (401, 403):
        known = error or Rejection("unauthenticated", "The key is not accepted.")
        return Later(known.code, known.message, fixed_pause=WRONG_SETUP_SECONDS)
    if status in _RETRIED or status >= 500 or error is None:
        after = retry_after_seconds(response.headers.get("retry-after"))
        if error:
            return Later(error.code, error.message, after)
        return Later("invalid_response", f"A response with status {status} was not one of Metergate.", after)
    if status in _UNREADABLE and _is_one_of(_GARBLED, body):
        return Garbled(error)
    # mutant: python-foreign-error-rejects
    if status in _UNREADABLE and _is_one_of(_OF_EVENTS, body):
        index = _index_of(body)
        return Halve(error) if index is None or index >= len(keys) else TakeOut(index, error)
    # Another address, another version, or the error of a proxy: no event is at fault.
    return Later(error.code, error.message, fixed_pause=WRONG_SETUP_SECONDS)


def is_all_created(body: bytes, payloads: Sequence[bytes]) -> bool:
    """Of the ordinary response with status 200, to these events. False: it has to be read.

    Each key of the batch follows in its order and is `created`, which no other text has. To parse it, and to
    read the keys, takes three times as long.
    """
    parts = body.split(_KEY_MEMBER)
    if len(parts) != len(payloads) + 1 or not body.endswith(b"]}"):
        return False
    begin = len(_KEY_MEMBER) + 1
    end = payloads[0].find(b'"', begin) + 1
    size = end - begin + len(_CREATED)
    if payloads[-1].find(b'"', begin) + 1 == end:
        # Keys are mostly of one length: then all are compared at once, which takes half as long.
        expected = b"".join([payload[begin:end] + _CREATED for payload in payloads])
        if expected == b"".join([part[:size] for part in parts[1:]]):
            return True
    beginnings = [payload[begin : payload.find(b'"', begin) + 1] + _CREATED for payload in payloads]
    return all(map(bytes.startswith, parts[1:], beginnings))


_KEY_MEMBER = b'"idempotencyKey":"'
_CREATED = b',"status":"created"'


def _parse(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _error_of(body: Any) -> Rejection | None:
    return _rejection(body.get("error")) if isinstance(body, dict) else None


def _is_one_of(codes: frozenset[str], body: Any) -> bool:
    """Whether it is such an error of this API: all of those name their request."""
    error = _error_of(body)
    return error is not None and error.code in codes and isinstance(body["error"].get("requestId"), str)


def _rejection(error: Any) -> Rejection | None:
    if not isinstance(error, dict) or not isinstance(error.get("code"), str):
        return None
    message, param = error.get("message"), error.get("param")
    return Rejection(error["code"], str(message or ""), param if isinstance(param, str) else None)


def _index_of(body: Any) -> int | None:
    details = body["error"].get("details")
    index = details.get("index") if isinstance(details, dict) else None
    return index if isinstance(index, int) and not isinstance(index, bool) and index >= 0 else None


def _results(body: Any, keys: Sequence[str]) -> Results | None:
    """Of this very batch: a cache on the way may have those of another one."""
    items = body.get("results") if isinstance(body, dict) else None
    if not isinstance(items, list) or len(items) != len(keys):
        return None
    duplicates = _duplicates_of_settled(items, keys)
    if duplicates is not None:
        return Results(None, duplicates)
    rejections: list[Rejection | None] = []
    duplicates = 0
    for index, (item, key) in enumerate(zip(items, keys)):
        # Of an error too: it rejects an event for good.
        # mutant: python-foreign-item-rejects
        if not isinstance(item, dict) or item.get("index") != index or item.get("idempotencyKey") != key:
            return None
        status = item.get("status")
        if status in ("created", "duplicate"):
            rejections.append(None)
            duplicates += status == "duplicate"
            continue
        rejection = _rejection(item.get("error"))
        if status != "error" or rejection is None:
            return None
        rejections.append(rejection)
    return Results(rejections, duplicates)


def _duplicates_of_settled(items: list[Any], keys: Sequence[str]) -> int | None:
    """Their number where all are on the server; else None, and each is looked at by itself."""
    try:
        if [item["idempotencyKey"] for item in items] != keys:
            return None
        if [item["index"] for item in items] != list(range(len(keys))):
            return None
        statuses = [item["status"] for item in items]
    except (TypeError, KeyError):
        return None
    duplicates = statuses.count("duplicate")
    return duplicates if duplicates + statuses.count("created") == len(items) else None
