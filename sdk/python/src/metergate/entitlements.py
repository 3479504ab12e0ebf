"""Entitlement checks for a request path: bounded in time, with a fallback for an outage."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import NamedTuple

from .client import Client
from .errors import MetergateError
from .event import Number
from .feed import EntitlementFeed
from .local_decision import decide
from .meter import Meter
from .report import OnError, Reporter
from .shapes import Amount, Decision

#: What to do without the server: allow, deny, or what it decided last, and deny without that.
FALLBACKS = ("open", "closed", "last_known")
LAST_KNOWN_MAX = 10_000


class Checked(NamedTuple):
    """`source` is `server`, `local` where the feed knows the customer, else `last_known` or `fallback`."""

    allowed: bool
    reason_code: str
    reason: str
    source: str
    limit: Amount | None = None
    current: Amount | None = None
    remaining: Amount | None = None
    #: Usage acknowledged before it is counted.
    as_of: str | None = None


class Entitlements:
    """Threads may share it."""

    def __init__(
        self,
        client: Client,
        *,
        fallback: str | Mapping[str, str] = "closed",
        timeout_seconds: float = 1.0,
        is_local: bool = False,
        meter: Meter | None = None,
        on_error: OnError | None = None,
    ) -> None:
        """`fallback` is for all features or by their keys; `closed` for those that it does not name.

        With `is_local` customers that were checked lately are decided in this process, from a feed of the
        server. What `meter` has tracked and is not counted yet is added then.
        """
        self._client = client
        self._timeout_seconds = timeout_seconds
        self._fallback, self._fallbacks = (
            (fallback, {}) if isinstance(fallback, str) else ("closed", fallback)
        )
        for one in [self._fallback, *self._fallbacks.values()]:
            if one not in FALLBACKS:
                raise ValueError(f"a fallback must be one of {', '.join(FALLBACKS)}, and is {one!r}")
        self._lock = threading.Lock()
        self._last_known: OrderedDict[tuple[str, str], Checked] = OrderedDict()
        self._feed: EntitlementFeed | None = None
        self._own_usage = meter.share_usage() if is_local and meter is not None else None
        if is_local:
            self._feed = EntitlementFeed(client.transport, Reporter(on_error, None))
            self._feed.start()

    def check(self, customer_id: str, feature_key: str, requested: Number | None = None) -> Checked:
        """Raises MetergateError only where the request is wrong: a key without the scope, a wrong amount."""
        decided = self._decide_here(customer_id, feature_key, requested)
        if decided is not None:
            return decided
        try:
            # Its caller waits: the fallback is better than a second attempt.
            decision = self._client.entitlements.check(
                customer_id, feature_key, requested, attempts=1, timeout_seconds=self._timeout_seconds
            )
        except MetergateError as error:
            if 400 <= error.status < 500 and error.status not in (408, 429):
                raise
            return self._without_server(customer_id, feature_key, error)
        checked = _checked(decision, "server")
        with self._lock:
            self._last_known[customer_id, feature_key] = checked
            self._last_known.move_to_end((customer_id, feature_key))
            if len(self._last_known) > LAST_KNOWN_MAX:
                self._last_known.popitem(last=False)
        return checked

    def close(self) -> None:
        """Ends the feed."""
        if self._feed is not None:
            self._feed.stop()

    def __enter__(self) -> Entitlements:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _decide_here(self, customer_id: str, feature_key: str, requested: Number | None) -> Checked | None:
        """None where the server has to be asked, which puts the customer into the feed."""
        feed = self._feed
        customer = None if feed is None else feed.find(customer_id)
        if feed is None or customer is None:
            return None
        feature = customer.features.get(feature_key)
        if feature is None:
            reason = f"The customer does not have {feature_key}."
            return Checked(False, customer.otherwise, reason, "local", as_of=feed.as_of)
        own: Amount = 0
        if self._own_usage is not None and feature.meter_id is not None:
            own = self._own_usage.uncounted(customer_id, feature.meter_id, feed.counted_to)
        allowed, code = decide(customer, feature, requested, own)
        checked = _checked(feature.decision, "local")
        reason = checked.reason if code == checked.reason_code else f"{feature_key}: {code}."
        return checked._replace(
            allowed=allowed, reason_code=code, reason=reason, as_of=feed.as_of or checked.as_of
        )

    def _without_server(self, customer_id: str, feature_key: str, error: MetergateError) -> Checked:
        fallback = self._fallbacks.get(feature_key, self._fallback)
        if fallback == "last_known":
            with self._lock:
                known = self._last_known.get((customer_id, feature_key))
            if known is not None:
                return known._replace(source="last_known")
        reason = f"The server did not respond ({error.code}); the fallback of {feature_key} is {fallback}."
        return Checked(fallback == "open", "server_unavailable", reason, "fallback")


def _checked(decision: Decision, source: str) -> Checked:
    return Checked(
        allowed=decision["allowed"],
        reason_code=decision["reasonCode"],
        reason=decision["reason"],
        source=source,
        limit=decision.get("limit"),
        current=decision.get("current"),
        remaining=decision.get("remaining"),
        as_of=decision.get("asOf"),
    )
