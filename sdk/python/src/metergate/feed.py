"""The feed of entitlements: what the server knows of customers, as it changes, in this process."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple

from .errors import MetergateError
from .local_decision import FedCustomer, FedFeature
from .report import Reporter
from .transport import Stream, Transport

PATH = "/entitlements/feed"
HEARTBEAT_SECONDS = 1
#: Without a heartbeat for as long nothing is decided here: it may be a second old itself.
FRESH_SECONDS = 2.0
#: The server sends those that were checked lately, up to 2,000; more come over the hours.
CUSTOMERS_MAX = 10_000
_LINE_BYTES_MAX = 4 * 1024 * 1024
_SILENCE_SECONDS = 10.0
_PAUSE_SECONDS_MAX = 10.0


class Message(NamedTuple):
    event: str
    event_id: str | None
    data: Any


class EntitlementFeed:
    """Has a thread of its own from `start` to `stop`, which connects again whatever happens."""

    def __init__(self, transport: Transport, reporter: Reporter) -> None:
        self._transport = transport
        self._reporter = reporter
        self._customers: dict[str, FedCustomer] = {}
        self._last_event_id: str | None = None
        self._is_ready = False
        self._told_at = float("-inf")
        self._stopped = threading.Event()
        self._stream: Stream | None = None
        self._thread = threading.Thread(target=self._run, name="metergate-feed", daemon=True)
        #: Everything acknowledged before it is counted, in seconds of this machine's clock.
        self.counted_to = float("-inf")
        #: The same as the server wrote it.
        self.as_of: str | None = None
        self._clock_ahead = 0.0

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        stream = self._stream
        if stream is not None:
            stream.abort()
        self._thread.join(1.0)

    def find(self, customer_id: str) -> FedCustomer | None:
        """None where it is not known as it is now."""
        if not self._is_ready or time.monotonic() - self._told_at > FRESH_SECONDS:
            return None
        return self._customers.get(customer_id)

    def _run(self) -> None:
        failures = 0
        while not self._stopped.is_set():
            try:
                for message in self._messages():
                    failures = 0
                    self._take(message)
            except (MetergateError, OSError, ValueError, KeyError, TypeError) as error:
                failures += 1
                self._reporter.problem("feed_unavailable", f"The server is asked for each check: {error}")
            self._is_ready = False
            longest = min(_PAUSE_SECONDS_MAX, 0.2 * 2 ** min(failures, 10))
            self._stopped.wait(random.uniform(0, longest))

    def _messages(self) -> Iterator[Message]:
        headers = {"Accept": "text/event-stream"}
        if self._last_event_id is not None:
            headers["Last-Event-ID"] = self._last_event_id
        path = f"{PATH}?heartbeatSeconds={HEARTBEAT_SECONDS}"
        stream = self._transport.open_stream(path, headers, silence_seconds=_SILENCE_SECONDS)
        self._stream = stream
        try:
            self._clock_ahead = _clock_ahead(stream.headers)
            yield from _parse(stream)
        finally:
            self._stream = None
            stream.close()

    def _take(self, message: Message) -> None:
        """Replaces what is known, and never changes it: other threads read it."""
        event, event_id, data = message
        if event == "customer":
            self._keep(data["asked"], _customer_of(data))
        elif event == "usage":
            self._keep(data["asked"], _with_usage(self._customers.get(data["asked"]), data))
        elif event == "ready":
            self._is_ready = True
        elif event == "time":
            self.as_of = data["asOf"]
            self.counted_to = _seconds_of(data["asOf"]) - self._clock_ahead
        self._told_at = time.monotonic()
        if event_id is not None:
            self._last_event_id = event_id

    def _keep(self, name: str, customer: FedCustomer | None) -> None:
        if customer is None:
            self._customers.pop(name, None)
            return
        if name not in self._customers and len(self._customers) >= CUSTOMERS_MAX:
            self._customers.pop(next(iter(self._customers)))
        self._customers[name] = customer


def _parse(stream: Stream) -> Iterator[Message]:
    event, event_id, data = "", None, ""
    while True:
        line = stream.readline(_LINE_BYTES_MAX)
        if not line.endswith(b"\n"):
            return
        text = line.decode().rstrip("\r\n")
        name, _, value = text.partition(": ")
        if text == "" and event:
            yield Message(event, event_id, json.loads(data or "{}", parse_float=Decimal))
            event, event_id, data = "", None, ""
        elif name == "event":
            event = value
        elif name == "id":
            event_id = value
        elif name == "data":
            data += value


def _customer_of(data: Mapping[str, Any]) -> FedCustomer | None:
    """None where the server has to be asked for it."""
    if data["status"] not in ("active", "archived"):
        return None
    credits = data["credits"]
    features = {one["decision"]["featureKey"]: _feature_of(one) for one in data["features"]}
    available = credits["balance"] - credits["unpaid"]
    return FedCustomer(data["status"], data["otherwise"], available, features)


def _feature_of(one: Mapping[str, Any]) -> FedFeature:
    return FedFeature(one["decision"], one.get("meterId"), one.get("soft", False), one.get("creditRate"))


def _with_usage(customer: FedCustomer | None, data: Mapping[str, Any]) -> FedCustomer | None:
    if customer is None:
        return None
    features = dict(customer.features)
    for decision in data["decisions"]:
        feature = features.get(decision["featureKey"])
        if feature is not None:
            features[decision["featureKey"]] = feature._replace(decision=decision)
    return customer._replace(features=features)


def _seconds_of(text: str) -> float:
    """Of the API's own form of a time, which Python 3.9 does not read with its Z."""
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def _clock_ahead(headers: Mapping[str, str]) -> float:
    """At most so many seconds is the server's clock ahead of ours: its header has whole ones."""
    try:
        return parsedate_to_datetime(headers["date"]).timestamp() + 1 - time.time()
    except (KeyError, TypeError, ValueError):
        return 1.0
