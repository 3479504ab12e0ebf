from __future__ import annotations

import base64
import hashlib
import hmac
import os
import unittest
from typing import Any

from metergate import WebhookVerificationError, verify_webhook

SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()
OLD = "whsec_" + base64.b64encode(bytes(32)).decode()
BODY = '{"id":"evt_1","type":"customer.created","data":{"name":"Zoë"}}'.encode()
AT = 1_793_491_200


def signed(body: bytes = BODY, secret: str = SECRET, at: int = AT) -> dict[str, str]:
    key = base64.b64decode(secret[6:])
    digest = hmac.new(key, f"evt_1.{at}.".encode() + body, hashlib.sha256).digest()
    return {
        "Webhook-Id": "evt_1",
        "webhook-timestamp": str(at),
        "WEBHOOK-SIGNATURE": f"v1a,ed25519 v1,{base64.b64encode(digest).decode()}",
    }


class AWebhook(unittest.TestCase):
    def test_that_was_signed_with_the_secret_is_its_event(self) -> None:
        self.assertEqual(verify_webhook(BODY, signed(), SECRET, now_seconds=AT + 299)["id"], "evt_1")
        self.assertEqual(verify_webhook(BODY.decode(), signed(), SECRET, now_seconds=AT)["id"], "evt_1")

    def test_is_accepted_with_either_secret_while_one_is_replaced(self) -> None:
        for secret in (SECRET, OLD):
            verify_webhook(BODY, signed(secret=secret), [SECRET, OLD], now_seconds=AT)

    def test_is_rejected_when_a_bit_of_anything_differs(self) -> None:
        for at in range(8 * len(BODY)):
            flipped = bytearray(BODY)
            flipped[at // 8] ^= 1 << at % 8
            self.assert_rejected("signature_invalid", bytes(flipped), signed())
        self.assert_rejected("signature_invalid", BODY, {**signed(), "Webhook-Id": "evt_2"})
        self.assert_rejected("signature_invalid", BODY, {**signed(), "webhook-timestamp": str(AT + 1)})
        self.assert_rejected("signature_invalid", BODY, signed(secret=OLD))

    def test_is_rejected_when_it_is_old_or_from_the_future(self) -> None:
        for at in (AT - 301, AT + 301):
            self.assert_rejected("timestamp_too_far", BODY, signed(at=at))

    def test_is_rejected_without_its_headers(self) -> None:
        for name in signed():
            for value in (None, "", "v1", "٣", "1e9", "9" * 13):
                headers = {other: text for other, text in signed().items() if other != name}
                if value is not None:
                    headers[name] = value
                with self.assertRaises(WebhookVerificationError):
                    verify_webhook(BODY, headers, SECRET, now_seconds=AT)

    def test_with_a_secret_that_is_none_is_a_fault_of_the_caller(self) -> None:
        wrong: list[Any] = ["", "whsec_", "whsec_???", SECRET[6:], os.urandom(4).hex()]
        wrong += [None, [], [None], b"whsec_"]
        for secret in wrong:
            with self.assertRaisesRegex(ValueError, "secret"):
                verify_webhook(BODY, signed(), secret, now_seconds=AT)

    def test_whose_body_was_parsed_is_a_fault_of_the_caller(self) -> None:
        parsed: list[Any] = [{"id": "evt_1"}, [1], 7, None]
        for body in parsed:
            with self.assertRaisesRegex(TypeError, "parsed"):
                verify_webhook(body, signed(), SECRET, now_seconds=AT)

    def test_is_rejected_with_a_tolerance_that_is_no_number(self) -> None:
        with self.assertRaises(WebhookVerificationError):
            verify_webhook(BODY, signed(), SECRET, now_seconds=AT, tolerance_seconds=float("nan"))

    def assert_rejected(self, code: str, body: bytes, headers: dict[str, str]) -> None:
        with self.assertRaises(WebhookVerificationError) as caught:
            verify_webhook(body, headers, SECRET, now_seconds=AT)
        self.assertEqual(caught.exception.code, code)


if __name__ == "__main__":
    unittest.main()
