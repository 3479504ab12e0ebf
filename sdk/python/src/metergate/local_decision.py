"""Decides an entitlement in the process, as the server would from the same numbers."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Callable, NamedTuple

from .amounts import exact, minus, plus, times
from .event import Number
from .shapes import Amount, Decision

#: Of a decision that holds whatever is asked for.
_OF_ITS_OWN = frozenset({"granted_by_override", "granted_grace_period"})
_UNLIMITED = Decimal("Infinity")


class FedFeature(NamedTuple):
    """A feature of a customer: what a check without an amount returns, and what else decides."""

    decision: Decision
    meter_id: str | None
    is_soft: bool
    #: Credits for one more unit; None where usage costs nothing.
    credit_rate: Amount | None
    #: Of its meter; None where the server does not say it.
    aggregation: str | None = None


class FedCustomer(NamedTuple):
    """`otherwise` is why a feature that it does not have is denied. `available` are its credits."""

    customer_id: str
    status: str
    otherwise: str
    available: Amount
    features: Mapping[str, FedFeature]


#: Usage of a feature's meter that no count has yet.
OwnOf = Callable[[FedFeature], Amount]


def decide(
    customer: FedCustomer, feature: FedFeature, requested: Number | None, own_of: OwnOf
) -> tuple[bool, str]:
    """Whether it is allowed and the reason's code, with usage that the decision does not count yet."""
    decision = feature.decision
    code = decision["reasonCode"]
    kind = decision.get("type")
    if kind not in ("limit", "metered") or "effectiveValue" not in decision:
        return decision["allowed"], code
    is_override = "override" in decision.get("sources", ())
    always = code if code in _OF_ITS_OWN else "granted_by_override" if is_override else None
    limit = decision["effectiveValue"]
    if limit is None:
        return True, always or "granted_unlimited"
    counted = decision.get("current", 0)
    wanted = plus(plus(counted, own_of(feature)), exact_amount(requested, 1 if kind == "metered" else 0))
    if wanted <= limit:
        return True, always or "granted"
    if feature.is_soft:
        return True, "granted_soft_limit_exceeded"
    if is_override and limit == 0:
        return False, "override_denied"
    if feature.credit_rate is None:
        return False, "limit_reached"
    # What was counted is paid or owed already.
    cost = times(minus(wanted, max(counted, limit)), feature.credit_rate)
    left = minus(customer.available, _owed_by_others(customer, feature, own_of))
    reaches = left > 0 and cost <= left
    return (True, "granted_by_credit") if reaches else (False, "insufficient_credit")


def exact_amount(requested: Number | None, otherwise: int) -> Amount:
    """Of what was requested, or `otherwise`."""
    return otherwise if requested is None else exact(requested)


def _owed_by_others(customer: FedCustomer, feature: FedFeature, own_of: OwnOf) -> Amount:
    """Credits for own usage of its other meters. Of each meter the largest limit counts."""
    largest: dict[str, FedFeature] = {}
    for one in customer.features.values():
        if one.meter_id is None or one.meter_id == feature.meter_id or one.credit_rate is None:
            continue
        known = largest.get(one.meter_id)
        if known is None or _limit_of(one) > _limit_of(known):
            largest[one.meter_id] = one
    owed: Amount = 0
    for one in largest.values():
        own, left = own_of(one), minus(_limit_of(one), one.decision.get("current", 0))
        beyond = minus(own, left) if left > 0 else own
        if beyond > 0:
            owed = plus(owed, times(beyond, one.credit_rate or 0))
    return owed


def _limit_of(feature: FedFeature) -> Amount:
    limit = feature.decision.get("effectiveValue", 0)
    return _UNLIMITED if limit is None else limit
