"""Segments of a spool: `MGSPOOL1`, then records of u32 length, u32 CRC-32 and the JSON of one event.

Numbers are little-endian. Both SDKs read what the other one has written.
"""

from __future__ import annotations

import os
import re
import struct
import zlib
from typing import NamedTuple

from ..buffer import BatchLimits

MAGIC = b"MGSPOOL1"
HEADER_BYTES = len(MAGIC)
#: From here on a new segment begins.
SEGMENT_BYTES_MAX = 8 * 1024 * 1024
#: No event is as large: a length beyond it is damage.
PAYLOAD_BYTES_MAX = 4 * 1024 * 1024

#: Else what reads from a descriptor moves the place at which its duplicates write.
HAS_PREAD = hasattr(os, "pread")

_RECORD = struct.Struct("<II")
RECORD_HEAD_BYTES = _RECORD.size
_NAME = re.compile(r"^([0-9]{8,10})\.seg$")
_READ_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NEW_FLAGS = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def segment_name(number: int) -> str:
    return f"{number:08d}.seg"


def segment_numbers(folder: str) -> list[int]:
    """In order. Empty for a folder that is not there."""
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    return sorted(int(match[1]) for match in map(_NAME.match, names) if match)


def record_of(payload: bytes) -> bytes:
    return _RECORD.pack(len(payload), zlib.crc32(payload)) + payload


#: Its payload, and where it ends in the segment. A plain tuple: there are hundreds for each request.
Record = tuple[bytes, int]


class Parsed(NamedTuple):
    records: list[Record]
    #: Whether what follows them is no record, and not merely longer than the bytes at hand.
    is_damaged: bool


def parse_records(data: bytes, begin: int, limits: BatchLimits, *, at: int) -> Parsed:
    """Of `data` from `at` on, which is byte `begin` of the segment. The first is read however long it is."""
    records: list[Record] = []
    size = 0
    shift = begin - at
    unpack, crc32, data_end = _RECORD.unpack_from, zlib.crc32, len(data)
    events_max, bytes_max = limits
    while len(records) < events_max and at + RECORD_HEAD_BYTES <= data_end:
        length, checksum = unpack(data, at)
        # A length of 0 is what a file system shows where data was not written before a power cut.
        if not 0 < length <= PAYLOAD_BYTES_MAX:
            return Parsed(records, True)
        at += RECORD_HEAD_BYTES
        end = at + length
        size += length + 1
        if end > data_end or (records and size > bytes_max):
            break
        payload = data[at:end]
        if crc32(payload) != checksum:
            return Parsed(records, True)
        records.append((payload, end + shift))
        at = end
    return Parsed(records, False)


def count_records(data: bytes, at: int) -> int:
    """By their lengths alone, until one is cut or cannot be."""
    count = 0
    unpack, end = _RECORD.unpack_from, len(data)
    while at + RECORD_HEAD_BYTES <= end:
        length = unpack(data, at)[0]
        at += RECORD_HEAD_BYTES + length
        if not 0 < length <= PAYLOAD_BYTES_MAX or at > end:
            break
        count += 1
    return count


def open_segment(folder: str, number: int) -> int:
    return os.open(os.path.join(folder, segment_name(number)), _READ_FLAGS)


class SegmentWriter:
    """The segment that a process appends to. Its caller holds the meter's lock."""

    def __init__(self, folder: str, number: int) -> None:
        self.number = number
        self._file = os.open(os.path.join(folder, segment_name(number)), _NEW_FLAGS, 0o600)
        self.position = 0
        #: Up to here it is on the disk, or is being flushed.
        self.position_synced = 0
        self._is_torn = False
        try:
            self._write(MAGIC)
        except OSError:
            self.remove(folder)
            raise

    def append(self, payload: bytes, *, is_durable: bool = False) -> int:
        """Returns the bytes that it took. Raises OSError, and then has left nothing of the record."""
        record = record_of(payload)
        self._write(record, is_durable=is_durable)
        if is_durable:
            self.note_synced()
        return len(record)

    def duplicate(self) -> int:
        """Another descriptor of the file, for its caller to close."""
        return os.dup(self._file)

    @property
    def is_synced(self) -> bool:
        return self.position_synced == self.position

    def note_synced(self) -> None:
        self.position_synced = self.position

    def close(self) -> None:
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)

    def remove(self, folder: str) -> None:
        self.close()
        os.unlink(os.path.join(folder, segment_name(self.number)))

    def _write(self, data: bytes, *, is_durable: bool = False) -> None:
        if self._is_torn:
            raise OSError(f"{segment_name(self.number)} ends with a part of a record")
        self._is_torn = True
        try:
            if os.write(self._file, data) != len(data):
                raise OSError("the disk took a part of a record only")
            if is_durable:
                # Before it is counted: its caller is told that it was not taken.
                os.fsync(self._file)
        except OSError:
            # What is appended behind half a record would never be read.
            os.ftruncate(self._file, self.position)
            os.lseek(self._file, self.position, os.SEEK_SET)
            self._is_torn = False
            raise
        self._is_torn = False
        self.position += len(data)


def flush_and_close(file: int) -> None:
    """Raises OSError."""
    try:
        os.fsync(file)
    finally:
        os.close(file)


def sync_folder(folder: str) -> None:
    """Makes new names in it durable, where the system can."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)


def size_of(file: int) -> int:
    return os.fstat(file).st_size


def read_at(file: int, size: int, position: int) -> bytes:
    """As `os.pread`, which Windows does not have."""
    if HAS_PREAD:
        return os.pread(file, size, position)
    os.lseek(file, position, os.SEEK_SET)
    return os.read(file, size)
