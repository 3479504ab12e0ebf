"""Whose folder it is. Each process has one of its own in the spool; that of a dead one is adopted."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import time
from typing import Any, NamedTuple

from ..ulid import new_ulid
from ..version import VERSION
from .segment import sync_folder

NAME = "owner.json"
FORMAT_VERSION = 1
HEARTBEAT_SECONDS = 10.0
#: Of an owner whose process cannot be seen from here: without a heartbeat for as long it is dead.
SILENCE_SECONDS = 120.0
#: Takes the place of the start of a process that has closed its folder, so that another one adopts it.
RELEASED = "released"

_ULID = "[0-9A-HJKMNP-TV-Z]{26}"
_OWN_NAME = re.compile(f"^p-({_ULID})$")
_ADOPTED_NAME = re.compile(f"^a-({_ULID})-(.+)$")


class Process(NamedTuple):
    """Where a process runs. Empty text is what this system does not say."""

    pid: int
    pid_namespace: str
    started_at: str
    boot_id: str
    host: str


class FolderName(NamedTuple):
    """`p-<ULID>` of its first owner, or `a-<ULID of who adopted it>-<that>`."""

    first: str
    adopter: str | None


def this_process() -> Process:
    return Process(
        pid=os.getpid(),
        pid_namespace=_pid_namespace(),
        started_at=_started_at(str(os.getpid())) or "",
        boot_id=_boot_id(),
        host=socket.gethostname(),
    )


def name_of(folder_name: str) -> FolderName | None:
    """None for a folder that is none of a spool."""
    adopter = None
    first = folder_name
    while match := _ADOPTED_NAME.match(first):
        adopter = adopter or match[1]
        first = match[2]
    return FolderName(first, adopter) if _OWN_NAME.match(first) else None


def create_folder(root: str, ulid: str | None = None) -> str:
    """A new folder of this process, durable. Raises OSError."""
    os.makedirs(root, mode=0o700, exist_ok=True)
    folder = os.path.join(root, f"p-{ulid or new_ulid()}")
    os.mkdir(folder, 0o700)
    try:
        write_owner(folder, this_process())
    except OSError:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    sync_folder(root)
    return folder


def write_owner(folder: str, owner: Process) -> None:
    """Whole or not at all."""
    text = json.dumps(
        {
            "version": FORMAT_VERSION,
            "pid": owner.pid,
            "pidNamespace": owner.pid_namespace,
            "startedAt": owner.started_at,
            "bootId": owner.boot_id,
            "host": owner.host,
            "sdk": f"python/{VERSION}",
        }
    )
    path = os.path.join(folder, NAME)
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        file.write(f"{text}\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(f"{path}.new", path)


def release_folder(folder: str) -> None:
    """Another process may adopt it at once, though this one lives on."""
    write_owner(folder, this_process()._replace(started_at=RELEASED))


def renew_heartbeat(folder: str) -> None:
    """Raises FileNotFoundError where another process took this one for dead and adopted the folder."""
    os.utime(os.path.join(folder, NAME))


def is_orphan(folder: str) -> bool:
    """Whether its owner is dead. Of a version that this one does not know, never.

    Nor where that cannot be found out now: its account may not, or it has too many files open.
    """
    try:
        owner = _read_owner(folder)
        if owner is None:
            name = name_of(os.path.basename(folder))
            # One that was adopted had it: its adopter died when it had nearly removed the folder.
            return (name is not None and name.adopter is not None) or _is_silent(folder)
        if owner.get("version") != FORMAT_VERSION:
            return False
        return _is_dead(owner, this_process()) or (_is_unseen(owner) and _is_silent(folder))
    # mutant: python-folder-ends-the-scan
    except OSError:
        return False


def _read_owner(folder: str) -> dict[str, Any] | None:
    """None where its process died before it had written it."""
    try:
        with open(os.path.join(folder, NAME), encoding="utf-8") as file:
            owner = json.load(file)
    except (FileNotFoundError, ValueError):
        return None
    return owner if isinstance(owner, dict) else None


def _is_unseen(owner: dict[str, Any]) -> bool:
    """Whether its process cannot be seen from here."""
    here = this_process()
    is_here = owner.get("host") == here.host and owner.get("pidNamespace") == here.pid_namespace
    thread = owner.get("thread")
    is_thread_unseen = isinstance(thread, dict) and not thread.get("startedAt")
    return not is_here or is_thread_unseen or os.name != "posix"


def _is_dead(owner: dict[str, Any], here: Process) -> bool:
    if owner.get("startedAt") == RELEASED:
        return True
    if owner.get("host") != here.host:
        return False
    if "" not in (owner.get("bootId"), here.boot_id) and owner.get("bootId") != here.boot_id:
        return True
    if owner.get("pidNamespace") != here.pid_namespace or os.name != "posix":
        return False
    pid = owner.get("pid")
    if not isinstance(pid, int) or pid <= 0:
        return True
    if here.started_at == "":
        return not _exists(pid)
    return _started_at(str(pid)) != owner.get("startedAt") or _has_ended_thread(pid, owner.get("thread"))


def _has_ended_thread(pid: int, thread: object) -> bool:
    """Of an owner that was a worker thread, as other SDKs have them."""
    if not isinstance(thread, dict) or not thread.get("startedAt"):
        return False
    return _started_at(f"{pid}/task/{thread.get('id')}") != str(thread["startedAt"])


def _is_silent(folder: str) -> bool:
    path = os.path.join(folder, NAME)
    try:
        beaten_at = os.stat(path).st_mtime
    except FileNotFoundError:
        beaten_at = os.stat(folder).st_mtime
    return time.time() - beaten_at > SILENCE_SECONDS


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _started_at(path: str) -> str | None:
    """Field 22 of its stat in /proc. None for no process, or one that has ended and was not waited for.

    Raises OSError where that cannot be read now: a process with too many files open knows of none.
    """
    try:
        with open(f"/proc/{path}/stat", encoding="utf-8", errors="replace") as file:
            # The second field is the name of the program, which may hold spaces and brackets.
            fields = file.read().rpartition(")")[2].split()
    # mutant: python-unreadable-is-dead
    except (FileNotFoundError, NotADirectoryError, ProcessLookupError):
        return None
    return None if len(fields) < 20 or fields[0] in ("Z", "X") else fields[19]


def _pid_namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""


def _boot_id() -> str:
    """Raises OSError where it cannot be read now."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="utf-8") as file:
            return file.read().strip()
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return ""
