import hashlib
import hmac
import json
import re
import time

# How far the sender's clock may be from yours, and for how long a delivery that was overheard is good.
TOLERANCE_SECONDS = 300


def verify_webhook(body, header, secret, now_seconds=None):
    """The event of a delivery that was signed with this secret, just now.

    `body` is what came, byte for byte (bytes, before any JSON parser), and `header` is X-Service-Signature.
    Raises ValueError for everything else: answer 400.
    """
    items = (header or "").split(",")
    times = [item[2:] for item in items if item.startswith("t=")]
    signatures = [item[3:] for item in items if item.startswith("v1=")]
    if len(times) != 1 or not re.fullmatch(r"[0-9]{1,12}", times[0]):
        raise ValueError("the header has no timestamp")
    now = time.time() if now_seconds is None else now_seconds
    # In both directions: a signature from the future would never grow stale.
    if abs(now - int(times[0])) > TOLERANCE_SECONDS:
        raise ValueError("the timestamp is not of now")
    signed = times[0].encode() + b"." + body
    expected = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest().encode()
    # In the same time wherever they differ.
    if not any(hmac.compare_digest(expected, signature.encode()) for signature in signatures):
        raise ValueError("no signature is of this secret and body")
    return json.loads(body)
