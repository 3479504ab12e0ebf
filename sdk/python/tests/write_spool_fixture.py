"""Writes tests/clients/fixtures/spool-v1, a spool that a process left behind: every SDK has to read it.

Run once for a version of the format, and never again for the same one: PYTHONPATH=src python3 FILE FOLDER
"""

from __future__ import annotations

import json
import os
import sys

from metergate.event import Properties, encode_event
from metergate.spool.cursor import Cursor, Place
from metergate.spool.segment import HEADER_BYTES, MAGIC, record_of, segment_name

FOLDER = "p-01KB0000000000000000000000"
OWNER = {
    "version": 1,
    "pid": 4711,
    "pidNamespace": "pid:[4026531836]",
    "startedAt": "released",
    "bootId": "00000000-0000-0000-0000-000000000000",
    "host": "elsewhere",
    "sdk": "python/0.1.0",
}


def event(key: str, value: float = 1) -> bytes:
    properties: Properties = {"region": "eu", "name": "Zoë 😀", "cached": True}
    return encode_event(
        key, "acme", "api_calls", value, occurred_at="2026-11-01T00:00:00.000Z", properties=properties
    )


def write(root: str) -> None:
    folder = os.path.join(root, FOLDER)
    os.makedirs(folder)
    first, cut = record_of(event("settled")), record_of(event("cut"))
    wrong = bytearray(record_of(event("wrong")))
    wrong[-3] ^= 1
    segments = {
        1: [first, record_of(event("one")), record_of(event("two", 2.5))],
        2: [record_of(event("three")), bytes(wrong), record_of(event("hidden"))],
        3: [record_of(event("four")), cut[:-1]],
    }
    for number, records in segments.items():
        with open(os.path.join(folder, segment_name(number)), "xb") as file:
            file.write(MAGIC + b"".join(records))
    cursor = Cursor(folder)
    for place in (Place(1, HEADER_BYTES), Place(1, HEADER_BYTES + len(first))):
        cursor.write(place)
    cursor.close()
    expected = {
        "waiting": ["one", "two", "three", "four"],
        "damagedBytes": sum(len(record) for record in [*segments[2][1:], *segments[3][1:]]),
    }
    for path, value in ((f"{FOLDER}/owner.json", OWNER), ("expected.json", expected)):
        with open(os.path.join(root, path), "x", encoding="utf-8") as file:
            file.write(f"{json.dumps(value, indent=2)}\n")


if __name__ == "__main__":
    write(sys.argv[1])
