"""What becomes of segments that could not be read to their end."""

from __future__ import annotations

import os

#: The newest, for a person to look at.
_DAMAGED_KEPT = 4


def keep_damaged(path: str, root: str) -> None:
    """Moves a segment out of its folder, which will be removed, and deletes older ones of this kind."""
    folder = os.path.basename(os.path.dirname(path))
    os.replace(path, os.path.join(root, f"{folder}-{os.path.basename(path)}.damaged"))
    kept = [os.path.join(root, name) for name in os.listdir(root) if name.endswith(".damaged")]
    kept.sort(key=lambda one: os.stat(one).st_mtime)
    for old in kept[:-_DAMAGED_KEPT]:
        os.unlink(old)
