"""What operations return: the members of the API under their own names."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, TypedDict, Union

#: A JSON number without a fraction is `int`, any other `Decimal`.
Amount = Union[int, Decimal]


class _CustomerMembers(TypedDict):
    id: str
    name: str
    email: str
    status: str
    createdAt: str


class Customer(_CustomerMembers, total=False):
    externalId: str
    processorCustomerId: str
    metadata: dict[str, Any]


class CustomerPage(TypedDict):
    data: list[Customer]
    total: int
    page: int
    pageSize: int
    totalPages: int
    hasNext: bool
    hasPrev: bool


class _CounterMembers(TypedDict):
    customerId: str
    meterId: str
    current: Amount
    periodStart: str
    periodEnd: str
    asOf: str


class Counter(_CounterMembers, total=False):
    #: Left out where the customer is unlimited.
    limit: Amount
    unit: str


class _UsageEventMembers(TypedDict):
    id: str
    customerId: str
    meterId: str
    eventName: str
    value: Amount
    status: str
    occurredAt: str
    createdAt: str


class UsageEvent(_UsageEventMembers, total=False):
    properties: dict[str, Any]


class _EntitlementMembers(TypedDict):
    featureKey: str
    type: str
    sources: list[str]


class Entitlement(_EntitlementMembers, total=False):
    effectiveValue: bool | Amount | None
    resets: str


class _DecisionMembers(TypedDict):
    allowed: bool
    reason: str
    reasonCode: str
    customerId: str
    featureKey: str


class Decision(_DecisionMembers, total=False):
    type: str
    sources: list[str]
    effectiveValue: bool | Amount | None
    limit: Amount
    current: Amount
    remaining: Amount
    resetsAt: str
    asOf: str


EntitlementList = list[Entitlement]
DecisionList = list[Decision]


class _ConsumptionMembers(TypedDict):
    decision: Decision


class Consumption(_ConsumptionMembers, total=False):
    #: Absent where it was denied.
    event: UsageEvent


class _ReservationMembers(TypedDict):
    status: str


class Reservation(_ReservationMembers, total=False):
    """Denied, it has `status` and `decision` alone."""

    id: str
    customerId: str
    featureKey: str
    meterId: str
    amount: Amount
    onExpiry: str
    properties: dict[str, Any]
    createdAt: str
    expiresAt: str
    endedAt: str
    value: Amount
    eventId: str
    late: bool
    decision: Decision
    event: UsageEvent
