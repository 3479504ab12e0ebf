"""What goes wrong, as values with stable codes. Decide by `code`; messages are for people and may change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class MetergateError(Exception):
    """A request that the server rejected, or that got no response.

    `status` is 0 where no response of the server was read. `code` is one of the server's error codes, or
    one of `unreachable`, `invalid_response`, and `invalid_request` for what cannot be asked.
    """

    def __init__(
        self,
        code: str,
        message: str,
        status: int = 0,
        *,
        param: str | None = None,
        details: Mapping[str, Any] | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.status = status
        self.param = param
        self.details = details
        self.request_id = request_id


class Rejection(NamedTuple):
    """Why an event is not counted. Its idempotency key is free: correct the event and track it again."""

    code: str
    message: str
    param: str | None = None


class Problem(NamedTuple):
    """What a meter reports while it goes on. Each code is reported at most once in 30 seconds."""

    code: str
    message: str
