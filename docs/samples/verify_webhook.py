import hashlib
import hmac
import json
import re
import time

# How far the sender's clock may differ from yours, and how long an intercepted delivery stays valid.
TOLERANCE_SECONDS = 300


def verify_webhook(body, header, secret, now_seconds=None):
    """Returns the event of a delivery that was signed with this secret within the tolerance.

    `body` is the body as received (bytes, before any JSON parser), and `header` is X-Service-Signature.
    Raises ValueError otherwise: respond with 400.
    """
    items = (header or "").split(",")
    times = [item[2:] for item in items if item.startswith("t=")]
    signatures = [item[3:] for item in items if item.startswith("v1=")]
    if len(times) != 1 or not re.fullmatch(r"[0-9]{1,12}", times[0]):
        raise ValueError("the header has no timestamp")
    now = time.time() if now_seconds is None else now_seconds
    # In both directions: a signature from the future would stay valid for too long.
    if abs(now - int(times[0])) > TOLERANCE_SECONDS:
        raise ValueError("the timestamp is too far from now")
    signed = times[0].encode() + b"." + body
    expected = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest().encode()
    # In constant time.
    if not any(hmac.compare_digest(expected, signature.encode()) for signature in signatures):
        raise ValueError("no signature matches this secret and body")
    return json.loads(body)
