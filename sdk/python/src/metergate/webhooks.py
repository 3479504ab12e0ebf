"""Verifies webhook deliveries: Standard Webhooks, from the secret that an endpoint shows once."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

#: How far the clocks may differ, and how long an intercepted delivery stays valid.
TOLERANCE_SECONDS = 300
_PREFIX = "whsec_"

Headers = Mapping[str, str]


class WebhookVerificationError(Exception):
    """The delivery was not signed with this secret in time: respond with 400. `code` says what is wrong."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def verify_webhook(
    body: bytes | str,
    headers: Headers,
    secret: str | Sequence[str],
    *,
    tolerance_seconds: float = TOLERANCE_SECONDS,
    now_seconds: float | None = None,
) -> dict[str, Any]:
    """Returns the event: `id`, `type`, `workspace_id`, `created_at`, `data`.

    `body` is what was received, before any JSON parser. Several secrets are for the time in which one
    replaces another. Raises WebhookVerificationError, ValueError for a secret that is none, and TypeError for
    a body that was parsed.
    """
    keys = [_key_of(one) for one in ([secret] if isinstance(secret, str) else secret or ())]
    if not keys:
        raise ValueError("a secret is needed")
    if not isinstance(body, (bytes, bytearray, memoryview, str)):
        raise TypeError(f"body must be what was received, not parsed, and is {type(body).__name__}")
    received = body.encode() if isinstance(body, str) else bytes(body)
    given = {str(name).lower(): value for name, value in headers.items()}
    event_id, timestamp, signature = (
        given.get(f"webhook-{name}") or "" for name in ("id", "timestamp", "signature")
    )
    if not (event_id and signature and timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12):
        raise WebhookVerificationError("headers_missing", "The headers of a signed webhook are missing.")
    now = time.time() if now_seconds is None else now_seconds
    # In both directions: a signature from the future would stay valid for too long.
    if not abs(now - int(timestamp)) <= tolerance_seconds:
        raise WebhookVerificationError("timestamp_too_far", "The timestamp is too far from now.")
    signed = f"{event_id}.{timestamp}.".encode() + received
    expected = [base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()) for key in keys]
    offered = [one[3:].encode() for one in signature.split(" ") if one.startswith("v1,")]
    # All are compared, each in constant time.
    matches = [hmac.compare_digest(one, other) for one in expected for other in offered]
    if not any(matches):
        raise WebhookVerificationError("signature_invalid", "No signature matches this secret and body.")
    try:
        event: dict[str, Any] = json.loads(received)
    except ValueError:
        raise WebhookVerificationError("body_invalid", "The body is not JSON.") from None
    return event


def _key_of(secret: str) -> bytes:
    if not isinstance(secret, str):
        raise ValueError(f"a secret must be text, and is {type(secret).__name__}")
    try:
        key = base64.b64decode(secret[len(_PREFIX) :], validate=True)
    except binascii.Error:
        key = b""
    if not secret.startswith(_PREFIX) or not key:
        raise ValueError("the secret must be whsec_ and base64")
    return key
