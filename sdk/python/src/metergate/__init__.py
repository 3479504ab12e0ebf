"""Client of Metergate. README.md shows how it is used."""

from .client import Client
from .entitlements import Checked, Entitlements
from .errors import MetergateError, Problem, Rejection
from .event import Properties
from .meter import Meter
from .settings import MeterSettings
from .stats import Flushed, Stats
from .version import VERSION as __version__
from .webhooks import WebhookVerificationError, verify_webhook

__all__ = [
    "Checked",
    "Client",
    "Entitlements",
    "Flushed",
    "Meter",
    "MeterSettings",
    "MetergateError",
    "Problem",
    "Properties",
    "Rejection",
    "Stats",
    "WebhookVerificationError",
    "__version__",
    "verify_webhook",
]
