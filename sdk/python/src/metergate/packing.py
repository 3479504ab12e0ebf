"""Batches as they are sent."""

from __future__ import annotations

import time
import zlib

GZIP_BYTES_MIN = 1024
#: After a body that did not arrive as it was sent: a proxy may have taken its Content-Encoding away.
PLAIN_SECONDS = 600.0
_GZIP = 16 + zlib.MAX_WBITS
_HEADERS = {"Content-Type": "application/json", "Accept": "application/json"}
_HEADERS_GZIP = {**_HEADERS, "Content-Encoding": "gzip"}


class Packing:
    """Threads may share it."""

    def __init__(self) -> None:
        self._plain_until = float("-inf")

    def send_plain(self) -> None:
        """For a while from now on."""
        self._plain_until = time.monotonic() + PLAIN_SECONDS

    def packed(self, body: bytes) -> tuple[bytes, dict[str, str]]:
        """As it is sent, with the headers for that."""
        if len(body) <= GZIP_BYTES_MIN or time.monotonic() < self._plain_until:
            return body, _HEADERS
        # The fastest level: a batch is a tenth of its size with it, and a twelfth with the best.
        compressor = zlib.compressobj(1, zlib.DEFLATED, _GZIP)
        return compressor.compress(body) + compressor.flush(), _HEADERS_GZIP
