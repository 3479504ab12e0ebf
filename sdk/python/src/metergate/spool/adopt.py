"""Folders of processes that died: one living process adopts each and sends what it has."""

from __future__ import annotations

import os
from collections.abc import Iterator

from .owner import is_orphan, name_of


def adopt_orphans(root: str, own_ulid: str) -> list[str]:
    """Renames every orphan and returns their new folders. Of several processes one succeeds."""
    adopted: list[str] = []
    for name in _orphans(root):
        parsed = name_of(name)
        assert parsed is not None
        taken = os.path.join(root, f"a-{own_ulid}-{parsed.first}")
        try:
            os.rename(os.path.join(root, name), taken)
        except OSError:
            # Another process was first, or the folder may not be touched.
            continue
        adopted.append(taken)
    return adopted


def _orphans(root: str) -> Iterator[str]:
    try:
        names = sorted(os.listdir(root))
    except OSError:
        return
    living: set[str] = set()
    for name in names:
        if name.startswith("p-") and name_of(name) is not None:
            if is_orphan(os.path.join(root, name)):
                yield name
            else:
                living.add(name[2:])
    for name in names:
        parsed = name_of(name) if name.startswith("a-") else None
        # It belongs to its adopter as long as that one's own folder does.
        if parsed is not None and parsed.adopter not in living and is_orphan(os.path.join(root, name)):
            yield name
