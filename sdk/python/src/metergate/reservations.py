"""Amounts of a customer's limit or credits that are held until they are used."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from .event import Number, Properties
from .paths import known, path_of
from .shapes import Reservation

if TYPE_CHECKING:
    from .client import Client


class Reservations:
    """Amounts that are held until they are committed or released, or expire."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def create(
        self,
        customer_id: str,
        feature_key: str,
        amount: Number,
        *,
        expires_in_seconds: int | None = None,
        on_expiry: str | None = None,
        properties: Properties | None = None,
        idempotency_key: str | None = None,
    ) -> Reservation:
        """With `status` denied, and without `id`, nothing is held."""
        body = known(
            customerId=customer_id,
            featureKey=feature_key,
            amount=amount,
            expiresInSeconds=expires_in_seconds,
            onExpiry=on_expiry,
            properties=properties,
        )
        made = self._client.request("POST", "/reservations", body=body, idempotency_key=idempotency_key)
        return cast(Reservation, made)

    def commit(
        self,
        reservation_id: str,
        value: Number | None = None,
        *,
        occurred_at: str | None = None,
        properties: Properties | None = None,
    ) -> Reservation:
        """Records what was used: by default the amount that is held. Again: the same reservation."""
        body = known(value=value, occurredAt=occurred_at, properties=properties)
        path = path_of("reservations", reservation_id, "commit")
        return cast(Reservation, self._client.request("POST", path, body=body))

    def release(self, reservation_id: str) -> Reservation:
        path = path_of("reservations", reservation_id, "release")
        return cast(Reservation, self._client.request("POST", path))
