"""One stream of the feed of entitlements: what the server knows of some customers, as it changes."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, Callable, NamedTuple
from urllib.parse import quote

from .amounts import minus
from .errors import MetergateError
from .local_decision import FedCustomer, FedFeature
from .report import Reporter
from .transport import Stream, Transport

PATH = "/entitlements/feed"
HEARTBEAT_SECONDS = 1
#: Without a word for as long nothing is decided here: what was heard last may be a second old itself.
FRESH_SECONDS = 2.0
#: Nor what the server said so long ago, where something in between delays it.
AGE_SECONDS_MAX = 4.0
_LINE_BYTES_MAX = 4 * 1024 * 1024
#: Of the lines of one message: the server writes each in one.
_MESSAGE_CHARS_MAX = 8 * 1024 * 1024
_SILENCE_SECONDS = 10.0
_PAUSE_SECONDS_MAX = 10.0


class Message(NamedTuple):
    event: str
    event_id: str | None
    data: Any


class FeedStream:
    """Has a thread of its own from `start` to `stop`, which connects again whatever happens."""

    def __init__(
        self,
        transport: Transport,
        reporter: Reporter,
        names: frozenset[str],
        *,
        on_ready: Callable[[FeedStream], None],
    ) -> None:
        self.names = names
        #: Of the customers by the names that were asked for.
        self.customers: dict[str, FedCustomer] = {}
        #: On the monotonic clock, when it was heard of last.
        self.heard_at = float("-inf")
        #: Everything acknowledged before it is counted, on the monotonic clock: nobody sets that one.
        self.counted_to = float("-inf")
        #: The same as the server wrote it.
        self.as_of: str | None = None
        self._transport = transport
        self._reporter = reporter
        self._on_ready = on_ready
        self._last_event_id: str | None = None
        self._is_ready = False
        self._stopped = threading.Event()
        self._stream: Stream | None = None
        self._began = 0.0
        #: When the server said what came last, at the earliest; None where it does not tell its time.
        self._said_at: float | None = None
        #: At most so many seconds is the server's clock ahead of the monotonic one.
        self._clock_ahead = float("inf")
        self._thread = threading.Thread(target=self._run, name="metergate-feed", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Does not wait for its thread."""
        self._stopped.set()
        stream = self._stream
        if stream is not None:
            stream.abort()

    def join(self, timeout_seconds: float) -> None:
        self._thread.join(timeout_seconds)

    def is_fresh(self) -> bool:
        now, said_at = time.monotonic(), self._said_at
        # mutant: python-delayed-feed-decides
        is_young = said_at is None or now - said_at <= AGE_SECONDS_MAX
        return self._is_ready and is_young and now - self.heard_at <= FRESH_SECONDS

    def _run(self) -> None:
        failures = 0
        while not self._stopped.is_set():
            try:
                for message in self._messages():
                    self._take(message)
                    if self._is_ready:
                        failures = 0
                failures += 1
            except (MetergateError, OSError, ValueError, KeyError, TypeError, AttributeError) as error:
                failures += 1
                if not self._stopped.is_set():
                    why = f"The server is asked for each check: {error}"
                    self._reporter.problem("feed_unavailable", why)
            self._is_ready = False
            longest = min(_PAUSE_SECONDS_MAX, 0.2 * 2 ** min(failures, 10))
            self._stopped.wait(random.uniform(0, longest))

    def _messages(self) -> Iterator[Message]:
        headers = {"Accept": "text/event-stream"}
        if self._last_event_id is not None:
            headers["Last-Event-ID"] = self._last_event_id
        listed = ",".join(map(text_of_name, sorted(self.names)))
        path = f"{PATH}?heartbeatSeconds={HEARTBEAT_SECONDS}&customerIds={listed}"
        began = time.monotonic()
        stream = self._transport.open_stream(path, headers, silence_seconds=_SILENCE_SECONDS)
        self._stream = stream
        try:
            self._began, self._clock_ahead = began, float("inf")
            # A resumed one may have been counted up to an earlier time than another one was.
            self.counted_to = float("-inf")
            if self._stopped.is_set():
                return
            yield from _parse(stream)
        finally:
            self._stream = None
            stream.close()

    def _take(self, message: Message) -> None:
        """Replaces what is known, and never changes it: other threads read it."""
        event, event_id, data = message
        if event != "begin" and self._clock_ahead == float("inf"):
            raise ValueError(f"the stream began with {event or 'a message'!r:.100}, so it is another one")
        if event == "begin":
            # It was read after the request began.
            self._clock_ahead = _seconds_of(data["now"]) - self._began
            self._said_at = self._began
        elif event == "customer":
            self._keep(data["asked"], _customer_of(data))
        elif event == "usage":
            self._keep(data["asked"], _with_usage(self.customers.get(data["asked"]), data))
        elif event == "time":
            self._said_at = _seconds_of(data["now"]) - self._clock_ahead if "now" in data else None
            # Before, it does not say how far the customers are counted that are still to come.
            if self._is_ready:
                self.counted_to = _seconds_of(data["asOf"]) - self._clock_ahead
                self.as_of = data["asOf"]
        if event_id is not None:
            self._last_event_id = event_id
        self.heard_at = time.monotonic()
        if event == "ready":
            self._is_ready = True
            self._on_ready(self)

    def _keep(self, name: str, customer: FedCustomer | None) -> None:
        if customer is None:
            self.customers.pop(name, None)
        elif name in self.names:
            self.customers[name] = customer


def text_of_name(name: str) -> str:
    """It may have a comma: it is encoded for the list of names, and that for the address."""
    return quote(quote(name, safe="", errors="replace"), safe="")


def _parse(stream: Stream) -> Iterator[Message]:
    event, event_id, data = "", None, ""
    while True:
        line = stream.readline(_LINE_BYTES_MAX)
        if not line.endswith(b"\n"):
            return
        text = line.decode().rstrip("\r\n")
        name, _, value = text.partition(": ")
        if text == "":
            # Other streams have messages without a name. A comment alone is none.
            if event or data:
                yield Message(event, event_id, _json(data))
            event, event_id, data = "", None, ""
        elif name == "event":
            event = value
        elif name == "id":
            event_id = value
        elif name == "data":
            data += value
            if len(data) > _MESSAGE_CHARS_MAX:
                raise ValueError(f"a message of the feed has more than {_MESSAGE_CHARS_MAX} characters")


def _json(data: str) -> Any:
    try:
        return json.loads(data or "{}", parse_float=Decimal)
    except RecursionError:
        raise ValueError("a message of the feed is nested too deeply") from None


def _customer_of(data: Mapping[str, Any]) -> FedCustomer | None:
    """None where the server has to be asked for it."""
    if data["status"] not in ("active", "archived"):
        return None
    credits = data["credits"]
    features = {one["decision"]["featureKey"]: _feature_of(one) for one in data["features"]}
    available = minus(credits["balance"], credits["unpaid"])
    return FedCustomer(data["customerId"], data["status"], data["otherwise"], available, features)


def _feature_of(one: Mapping[str, Any]) -> FedFeature:
    return FedFeature(
        one["decision"],
        one.get("meterId"),
        one.get("soft", False),
        one.get("creditRate"),
        one.get("aggregation"),
    )


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
