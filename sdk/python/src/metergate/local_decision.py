"""Decides an entitlement in the process, as the server would from the same numbers."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import NamedTuple

from .event import Number
from .shapes import Amount, Decision

#: Of a decision that holds whatever is asked for.
_OF_ITS_OWN = frozenset({"granted_by_override", "granted_grace_period"})


class FedFeature(NamedTuple):
    """A feature of a customer: what a check without an amount returns, and what else decides."""

    decision: Decision
    meter_id: str | None
    is_soft: bool
    #: Credits for one more unit; None where usage costs nothing.
    credit_rate: Amount | None


class FedCustomer(NamedTuple):
    """`otherwise` is why a feature that it does not have is denied. `available` are its credits."""

    customer_id: str
    status: str
    otherwise: str
    available: Amount
    features: Mapping[str, FedFeature]


def decide(
    customer: FedCustomer, feature: FedFeature, requested: Number | None, own: Amount = 0
) -> tuple[bool, str]:
    """Whether it is allowed and the reason's code. `own` is usage that the decision does not count yet."""
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
    wanted = counted + own + exact_amount(requested, 1 if kind == "metered" else 0)
    if wanted <= limit:
        return True, always or "granted"
    if feature.is_soft:
        return True, "granted_soft_limit_exceeded"
    if is_override and limit == 0:
        return False, "override_denied"
    if feature.credit_rate is None:
        return False, "limit_reached"
    # What was counted is paid or owed already.
    cost = (wanted - max(counted, limit)) * feature.credit_rate
    reaches = customer.available > 0 and cost <= customer.available
    return (True, "granted_by_credit") if reaches else (False, "insufficient_credit")


def exact_amount(requested: Number | None, otherwise: int) -> Amount:
    """Of what was requested, or `otherwise`."""
    if requested is None:
        return otherwise
    # As it would be sent: 0.1 is a tenth.
    return Decimal(repr(requested)) if isinstance(requested, float) else requested
