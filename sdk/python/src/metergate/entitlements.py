"""Entitlement checks for a request path: bounded in time, with a fallback for an outage."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from .amounts import plus
from .client import Client
from .errors import MetergateError
from .event import Number
from .feed import EntitlementFeed, Known
from .local_decision import FedFeature, decide, exact_amount
from .meter import Meter
from .paths import is_name
from .report import OnError, Reporter
from .shapes import Amount, Decision

#: What to do without the server: allow, deny, or what it decided last, and deny without that.
FALLBACKS = ("open", "closed", "last_known")
LAST_KNOWN_MAX = 10_000
#: Of a customer's id or external id.
CHARS_MAX = 128
#: After a check without a response the next ones do not wait for one.
UNAVAILABLE_SECONDS = 1.0


class Checked(NamedTuple):
    """`source` is `server`, `local` where the feed knows the customer, else `last_known` or `fallback`.

    `current` and `remaining` are what the server has counted.
    """

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
        customers_max: int = 2_000,
        on_error: OnError | None = None,
    ) -> None:
        """`fallback` is for all features or by their keys; `closed` for those that it does not name.

        With `is_local` customers that are checked are decided in this process, from a feed of the server: up
        to `customers_max`, the server is asked for the others. What `meter` has tracked and is not counted
        yet is added then; it should have tracked nothing before.
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
        self._unavailable_until = float("-inf")
        self._feed: EntitlementFeed | None = None
        self._own_usage = meter.share_usage() if is_local and meter is not None else None
        if is_local:
            self._feed = EntitlementFeed(client.transport, Reporter(on_error, None), customers_max)

    def check(self, customer_id: str, feature_key: str, requested: Number | None = None) -> Checked:
        """Raises MetergateError only where the request is wrong: a key without the scope, a wrong amount."""
        if not (is_name(customer_id) and len(customer_id) <= CHARS_MAX and is_name(feature_key)):
            message = f"A customer's id must be text of 1 to {CHARS_MAX} characters, a feature's key text."
            raise MetergateError("invalid_request", message)
        feed = self._feed
        if feed is not None:
            known = feed.find(customer_id)
            if known is None:
                known = self._join(feed, customer_id)
            if known is not None and _is_amount(requested):
                return self._decide(known, customer_id, feature_key, requested, "local")
        return self._ask(customer_id, feature_key, requested)

    def close(self) -> None:
        """Ends the feed."""
        if self._feed is not None:
            self._feed.stop()

    def __enter__(self) -> Entitlements:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _join(self, feed: EntitlementFeed, customer_id: str) -> Known | None:
        """Has the customer followed. Waits for it where the server does not know yet what was tracked."""
        feed.watch(customer_id)
        if self._own_usage is None or not self._own_usage.has(customer_id):
            return None
        return feed.wait_until_known(customer_id, self._timeout_seconds)

    def _ask(self, customer_id: str, feature_key: str, requested: Number | None) -> Checked:
        if time.monotonic() < self._unavailable_until:
            return self._without_server(customer_id, feature_key, requested, "unreachable")
        amount = self._with_own_usage(customer_id, feature_key, requested)
        try:
            # Its caller waits: the fallback is better than a second attempt.
            decision = self._client.entitlements.check(
                customer_id, feature_key, amount, attempts=1, timeout_seconds=self._timeout_seconds
            )
            # mutant: python-decision-unread
            checked = _checked(decision, "server")
        except MetergateError as error:
            if 400 <= error.status < 500 and error.status not in (408, 429):
                raise
            self._unavailable_until = time.monotonic() + UNAVAILABLE_SECONDS
            return self._without_server(customer_id, feature_key, requested, error.code)
        with self._lock:
            self._last_known[customer_id, feature_key] = checked
            self._last_known.move_to_end((customer_id, feature_key))
            if len(self._last_known) > LAST_KNOWN_MAX:
                self._last_known.popitem(last=False)
        return checked

    def _with_own_usage(self, customer_id: str, feature_key: str, requested: Number | None) -> Number | None:
        """Of what is on its way the server may know nothing: that much more is requested."""
        feed = self._feed
        if feed is None or not _is_amount(requested):
            return requested
        own = self._own(feed.find_last(customer_id), customer_id, feed.features.get(feature_key))
        return requested if own <= 0 else plus(own, exact_amount(requested, 1))

    def _own(self, known: Known | None, customer_id: str, feature: FedFeature | None) -> Amount:
        """Tracked under the name of the check, the customer's id, or another name that the feed knows."""
        usage, feed = self._own_usage, self._feed
        if usage is None or feed is None or feature is None or feature.meter_id is None:
            return 0
        counted_to = float("-inf") if known is None else known.counted_to
        is_count = feature.aggregation == "count"
        own = usage.uncounted(customer_id, feature.meter_id, counted_to, is_count=is_count)
        if known is None:
            return own
        its_id = known.customer.customer_id
        for name in {its_id, *feed.names.get(its_id, ())}:
            if name != customer_id:
                own = plus(own, usage.uncounted(name, feature.meter_id, counted_to, is_count=is_count))
        return own

    def _decide(
        self, known: Known, customer_id: str, feature_key: str, requested: Number | None, source: str
    ) -> Checked:
        customer = known.customer
        feature = customer.features.get(feature_key)
        if feature is None:
            reason = f"The customer does not have {feature_key}."
            return Checked(False, customer.otherwise, reason, source, as_of=known.as_of)
        allowed, code = decide(customer, feature, requested, lambda one: self._own(known, customer_id, one))
        decision = feature.decision
        return Checked(
            allowed,
            code,
            decision["reason"] if code == decision["reasonCode"] else f"{feature_key}: {code}.",
            source,
            decision.get("limit"),
            decision.get("current"),
            decision.get("remaining"),
            known.as_of or decision.get("asOf"),
        )

    def _without_server(
        self, customer_id: str, feature_key: str, requested: Number | None, code: str
    ) -> Checked:
        fallback = self._fallbacks.get(feature_key, self._fallback)
        if fallback == "last_known":
            last = None if self._feed is None else self._feed.find_last(customer_id)
            if last is not None and _is_amount(requested):
                return self._decide(last, customer_id, feature_key, requested, "last_known")
            with self._lock:
                known = self._last_known.get((customer_id, feature_key))
            if known is not None:
                return known._replace(source="last_known")
        reason = f"The server did not respond ({code}); the fallback of {feature_key} is {fallback}."
        return Checked(fallback == "open", "server_unavailable", reason, "fallback")


def _is_amount(requested: object) -> bool:
    """Else the server says what is wrong with it."""
    if isinstance(requested, float):
        return 0 <= requested < float("inf")
    if isinstance(requested, Decimal):
        return requested.is_finite() and requested >= 0
    return requested is None or (
        isinstance(requested, int) and not isinstance(requested, bool) and requested >= 0
    )


def _checked(decision: Decision, source: str) -> Checked:
    """Raises MetergateError for what is no decision: a sign-in page may be JSON too."""
    read: Any = decision
    is_one = isinstance(read, dict) and isinstance(read.get("allowed"), bool)
    if not is_one or not all(isinstance(read.get(name), str) for name in ("reasonCode", "reason")):
        raise MetergateError("invalid_response", "A response with status 200 was no decision.")
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
