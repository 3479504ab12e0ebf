"""The API of a server: any operation by its path, and the main ones by their names."""

from __future__ import annotations

import ssl
import time
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, cast
from urllib.parse import quote, urlencode

from . import exact_json
from .environment import key_or_environment, url_or_environment
from .errors import MetergateError
from .event import Number, Properties
from .retry import pause_seconds, retry_after_seconds
from .shapes import Counter, Customer, CustomerPage, Decision, DecisionList, EntitlementList, UsageEvent
from .transport import Response, Transport

#: Of one call. Each has the same idempotency key, so that a change is made once.
ATTEMPTS = 3
#: A server that asks for more is not waited for: the caller waits itself, or gives up.
RETRY_AFTER_SECONDS_MAX = 5.0
_RETRIED = frozenset({429, 502, 503, 504})

Query = Mapping[str, object]
Body = Mapping[str, object]


class Client:
    """Threads may share it. Decimal numbers are `Decimal` in what it returns.

    Its methods raise MetergateError: a rejection with the server's code and status, or `unreachable` or
    `invalid_response` with status 0 after three attempts.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout_seconds: float = 15.0,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        """`url` and `key` are METERGATE_URL and METERGATE_KEY where they are left out. Raises ValueError."""
        self.transport = Transport(
            url_or_environment(url),
            key_or_environment(key),
            timeout_seconds=timeout_seconds,
            ssl_context=ssl_context,
        )
        self.customers = Customers(self)
        self.usage = Usage(self)
        self.entitlements = EntitlementChecks(self)

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: Body | None = None,
        idempotency_key: str | None = None,
        attempts: int = ATTEMPTS,
        timeout_seconds: float | None = None,
    ) -> Any:
        """Any operation: `path` is what follows /api/v1. Returns its JSON, or None for an empty response."""
        headers = {"Accept": "application/json"}
        content: bytes | None = None
        # Usage has its key in the body, where it may have any character.
        if method == "POST" and not path.startswith("/usage/events"):
            headers["Idempotency-Key"] = idempotency_key or str(uuid.uuid4())
        if body is not None:
            headers["Content-Type"] = "application/json"
            content = exact_json.dumps(body).encode()
        target = path + query_text(query)
        for attempt in range(1, attempts + 1):
            try:
                response = self.transport.request(
                    method, target, body=content, headers=headers, timeout_seconds=timeout_seconds
                )
                return _result(response)
            except _Again as again:
                after = again.retry_after
                if attempt == attempts or (after or 0) > RETRY_AFTER_SECONDS_MAX:
                    raise again.error from None
            except MetergateError as error:
                if attempt == attempts or error.code != "unreachable":
                    raise
                after = None
            time.sleep(pause_seconds(attempt, after))
        raise AssertionError

    def close(self) -> None:
        """Closes its connections; requests of other threads end with `unreachable`."""
        self.transport.abort()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


class Customers:
    def __init__(self, client: Client) -> None:
        self._client = client

    def create(
        self,
        *,
        name: str,
        email: str,
        external_id: str | None = None,
        metadata: Properties | None = None,
        idempotency_key: str | None = None,
    ) -> Customer:
        body = known(name=name, email=email, externalId=external_id, metadata=metadata)
        made = self._client.request("POST", "/customers", body=body, idempotency_key=idempotency_key)
        return cast(Customer, made)

    def retrieve(self, customer_id: str) -> Customer:
        return cast(Customer, self._client.request("GET", path_of("customers", customer_id)))

    def update(self, customer_id: str, **changes: object) -> Customer:
        """Members by their names in the API: `name`, `email`, `externalId`, `metadata`, …"""
        changed = self._client.request("PATCH", path_of("customers", customer_id), body=changes)
        return cast(Customer, changed)

    def list(self, *, page: int = 1, page_size: int = 20, email: str | None = None) -> CustomerPage:
        query = known(page=page, pageSize=page_size, email=email)
        return cast(CustomerPage, self._client.request("GET", "/customers", query=query))


class Usage:
    def __init__(self, client: Client) -> None:
        self._client = client

    def submit(
        self,
        customer_id: str,
        meter_id: str,
        value: Number,
        *,
        idempotency_key: str,
        occurred_at: str | None = None,
        properties: Properties | None = None,
    ) -> UsageEvent:
        """Records one event and returns it once it is durable. `Meter.track` is for many."""
        body = known(
            idempotencyKey=idempotency_key,
            customerId=customer_id,
            meterId=meter_id,
            value=value,
            occurredAt=occurred_at,
            properties=properties,
        )
        return cast(UsageEvent, self._client.request("POST", "/usage/events", body=body))

    def retrieve(self, customer_id: str, meter_id: str, *, consistency: str | None = None) -> Counter:
        query = known(consistency=consistency)
        counter = self._client.request("GET", path_of("usage", customer_id, meter_id), query=query)
        return cast(Counter, counter)


class EntitlementChecks:
    """As the server decides. `metergate.entitlements` goes on when it cannot be reached."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def list(self, customer_id: str) -> EntitlementList:
        return cast(EntitlementList, self._client.request("GET", path_of("entitlements", customer_id)))

    def check(
        self,
        customer_id: str,
        feature_key: str,
        requested: Number | None = None,
        *,
        attempts: int = ATTEMPTS,
        timeout_seconds: float | None = None,
    ) -> Decision:
        path = path_of("entitlements", customer_id, feature_key)
        query = known(requested=requested)
        decision = self._client.request(
            "GET", path, query=query, attempts=attempts, timeout_seconds=timeout_seconds
        )
        return cast(Decision, decision)

    def check_many(self, customer_id: str, features: Sequence[str]) -> DecisionList:
        """In the order of the features."""
        body = {"customerId": customer_id, "features": [{"featureKey": key} for key in features]}
        return cast(DecisionList, self._client.request("POST", "/entitlements/check", body=body)["data"])


def known(**members: object) -> dict[str, object]:
    return {name: value for name, value in members.items() if value is not None}


def path_of(*segments: str) -> str:
    """Raises MetergateError for what no address can have."""
    for segment in segments:
        if not is_name(segment):
            raise MetergateError("invalid_request", f"An id must be text, and is {segment!r:.100}.")
    return "".join(f"/{quote(segment, safe='')}" for segment in segments)


def is_name(text: object) -> bool:
    """Whether it may be the id or key of something: not empty, and without half of a surrogate pair."""
    try:
        return isinstance(text, str) and text.encode() != b""
    except UnicodeEncodeError:
        return False


def query_text(query: Query | None) -> str:
    return f"?{urlencode({name: str(value) for name, value in query.items()})}" if query else ""


class _Again(Exception):
    """The same request may succeed later."""

    def __init__(self, error: MetergateError, retry_after: float | None) -> None:
        super().__init__(error.code)
        self.error = error
        self.retry_after = retry_after


def _result(response: Response) -> Any:
    status = response.status
    try:
        value = exact_json.loads(response.body) if response.body else None
    except ValueError:
        value = _NOT_JSON
    error = value.get("error") if isinstance(value, dict) and status >= 400 else None
    if 200 <= status < 300 and value is not _NOT_JSON:
        return value
    if isinstance(error, dict) and isinstance(error.get("code"), str):
        found = MetergateError(
            error["code"],
            str(error.get("message", "")),
            status,
            param=error.get("param"),
            details=error.get("details"),
            request_id=error.get("requestId"),
        )
    else:
        message = f"A response with status {status} was not one of Metergate."
        found = MetergateError("invalid_response", message)
    if status in _RETRIED or found.code == "invalid_response":
        raise _Again(found, retry_after_seconds(response.headers.get("retry-after")))
    raise found


_NOT_JSON = object()
