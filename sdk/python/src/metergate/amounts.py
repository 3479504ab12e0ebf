"""Exact arithmetic with the numbers of the API, whatever context the application has set for its own."""

from __future__ import annotations

from decimal import Context, Decimal

from .shapes import Amount

#: More digits than a sum of the API's numbers can have.
_CONTEXT = Context(prec=200, traps=[])


def plus(one: Amount, other: Amount) -> Amount:
    if isinstance(one, int) and isinstance(other, int):
        return one + other
    return _CONTEXT.add(Decimal(one), Decimal(other))


def minus(one: Amount, other: Amount) -> Amount:
    if isinstance(one, int) and isinstance(other, int):
        return one - other
    return _CONTEXT.subtract(Decimal(one), Decimal(other))


def times(one: Amount, other: Amount) -> Amount:
    if isinstance(one, int) and isinstance(other, int):
        return one * other
    return _CONTEXT.multiply(Decimal(one), Decimal(other))


def exact(value: float | Amount) -> Amount:
    """As it would be sent: 0.1 is a tenth."""
    return Decimal(float.__repr__(value)) if isinstance(value, float) else value
