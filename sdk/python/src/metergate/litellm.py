"""A callback of LiteLLM that meters tokens of five kinds.

    litellm.callbacks = [token_callback(Meter(), customer=lambda call: call["metadata"]["customer"])]

LiteLLM counts what was read from a cache and what was written to it within the prompt, and reasoning within
the completion, whichever the provider is. Here each token is of one kind, so that a meter may add them up.
"""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Mapping
from typing import Any, Callable, Optional

from .event import Properties
from .meter import Meter

METER_ID = "llm_tokens"
#: Given what LiteLLM says of a call; `metadata` is that of the caller. None: it is not metered.
CustomerOf = Callable[[Mapping[str, Any]], Optional[str]]
PropertiesOf = Callable[[Mapping[str, Any]], Properties]
_numbers = itertools.count()


def token_callback(
    meter: Meter,
    *,
    customer: CustomerOf,
    meter_id: str = METER_ID,
    properties: PropertiesOf | None = None,
) -> Any:
    """One event for each kind of which there are tokens, with the properties `kind` and `model`.

    The idempotency key comes from LiteLLM's id of the call: a call that is reported twice is counted once.
    Needs the package litellm.
    """
    base = importlib.import_module("litellm.integrations.custom_logger").CustomLogger
    return type("TokenCallback", (_TokenMetering, base), {})(
        meter, customer=customer, meter_id=meter_id, properties=properties
    )


def tokens_by_kind(usage: object) -> dict[str, int]:
    """Of a `Usage` of LiteLLM, or of the same as a mapping."""
    prompt, completion = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    of_prompt = _part(usage, "prompt_tokens_details")
    cached = _count(of_prompt, "cached_tokens") or _count(usage, "cache_read_input_tokens")
    written = _count(of_prompt, "cache_creation_tokens") or _count(usage, "cache_creation_input_tokens")
    reasoning = _count(_part(usage, "completion_tokens_details"), "reasoning_tokens")
    return {
        "input": max(0, prompt - cached - written),
        "cached_input": cached,
        "cache_write": written,
        "output": max(0, completion - reasoning),
        "reasoning": reasoning,
    }


class _TokenMetering:
    """The methods that LiteLLM calls. Never raises: the caller of the model has its response already."""

    def __init__(
        self, meter: Meter, *, customer: CustomerOf, meter_id: str, properties: PropertiesOf | None
    ) -> None:
        super().__init__()
        self._meter = meter
        self._customer = customer
        self._meter_id = meter_id
        self._properties = properties
        # LiteLLM takes two of one type for the same, and drops one, unless a public attribute differs.
        self.number = next(_numbers)

    def log_success_event(self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any) -> None:
        self._record(kwargs, response_obj)

    async def async_log_success_event(
        self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any
    ) -> None:
        self._record(kwargs, response_obj)

    def _record(self, call: Mapping[str, Any], response: Any) -> None:
        try:
            said = _said(call)
            customer_id = self._customer(said)
            usage = _part(response, "usage")
            if customer_id is None or usage is None:
                return
            more = self._properties(said) if self._properties is not None else {}
            call_id = call.get("litellm_call_id")
            for kind, tokens in tokens_by_kind(usage).items():
                if tokens > 0:
                    self._meter.track(
                        customer_id,
                        self._meter_id,
                        tokens,
                        properties={"kind": kind, "model": str(call.get("model", "")), **more},
                        idempotency_key=f"litellm-{call_id}-{kind}" if call_id else None,
                    )
        except Exception as error:
            self._meter.report("litellm", f"A call was not metered: {error!r}")


def _said(call: Mapping[str, Any]) -> dict[str, Any]:
    """With `metadata` where a caller looks for it: LiteLLM keeps it one level deeper."""
    parameters = call.get("litellm_params")
    metadata = parameters.get("metadata") if isinstance(parameters, Mapping) else None
    return {**call, "metadata": metadata or call.get("metadata") or {}}


def _part(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _count(value: object, name: str) -> int:
    count = _part(value, name)
    return count if isinstance(count, int) and not isinstance(count, bool) and count > 0 else 0
