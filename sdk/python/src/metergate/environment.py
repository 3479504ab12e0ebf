"""Where the server is and with which key, where the application does not say it."""

from __future__ import annotations

import os


def url_or_environment(url: str | None) -> str:
    return _given("url", url, "METERGATE_URL")


def key_or_environment(key: str | None) -> str:
    return _given("key", key, "METERGATE_KEY")


def _given(name: str, value: str | None, variable: str) -> str:
    found = os.environ.get(variable) if value is None else value
    if not found:
        raise ValueError(f"{name} is missing: give it, or set {variable}")
    return found
