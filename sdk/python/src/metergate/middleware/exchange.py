"""One request and its response, as far as what is metered may depend on them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable, NamedTuple, Optional

from ..event import Number, Properties
from ..meter import Meter


class Exchange(NamedTuple):
    method: str
    path: str
    #: As the application wrote it, such as `/reports/{id}`; None where the framework does not say.
    route: str | None
    #: Of the request; names are in lower case.
    headers: Mapping[str, str]
    status: int
    #: The scope of ASGI or the environ of WSGI, with what the application has put there.
    scope: Mapping[str, Any]


#: None: it is not metered.
CustomerOf = Callable[[Exchange], Optional[str]]


class Metering(NamedTuple):
    """What each exchange is metered as. By default one, unless the server failed."""

    meter: Meter
    meter_id: str
    customer: CustomerOf
    value: Callable[[Exchange], Number]
    properties: Callable[[Exchange], Properties]
    is_metered: Callable[[Exchange], bool]

    def record(self, exchange: Exchange) -> None:
        """Never raises: the response is on its way."""
        try:
            if not self.is_metered(exchange):
                return
            customer_id = self.customer(exchange)
            if customer_id is not None:
                value, properties = self.value(exchange), self.properties(exchange)
                self.meter.track(customer_id, self.meter_id, value, properties=properties)
        except Exception as error:
            self.meter.report("middleware", f"A request was not metered: {error!r}")


def metering(
    meter: Meter,
    meter_id: str,
    customer: CustomerOf,
    *,
    value: Callable[[Exchange], Number] | None = None,
    properties: Callable[[Exchange], Properties] | None = None,
    is_metered: Callable[[Exchange], bool] | None = None,
) -> Metering:
    return Metering(
        meter,
        meter_id,
        customer,
        value or (lambda _exchange: 1),
        properties or _properties,
        is_metered or (lambda exchange: exchange.status < 500),
    )


def _properties(exchange: Exchange) -> Properties:
    """The path is not one: each value of a property is a row of a breakdown."""
    return {"method": exchange.method, "status": exchange.status, "route": exchange.route}
