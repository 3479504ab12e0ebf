"""Client of Metergate. README.md shows how it is used."""

from .errors import MetergateError, Problem, Rejection
from .meter import Meter
from .settings import MeterSettings
from .stats import Flushed, Stats
from .version import VERSION as __version__

__all__ = [
    "Flushed",
    "Meter",
    "MeterSettings",
    "MetergateError",
    "Problem",
    "Rejection",
    "Stats",
    "__version__",
]
