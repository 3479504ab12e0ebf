"""Up to where all of a spool is settled. A lost or old one means only that events are sent again."""

from __future__ import annotations

import os
import struct
import zlib
from typing import NamedTuple

NAME = "cursor"
#: u32 segment, u32 zero, u64 position in the segment, u32 sequence; then the CRC-32 of these 20 bytes.
_FIELDS = struct.Struct("<IIQI")
_CHECKSUM = struct.Struct("<I")
SLOT_BYTES = _FIELDS.size + _CHECKSUM.size
_SLOTS = 2
_SEQUENCE_MAX = 0xFFFFFFFF
_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class Place(NamedTuple):
    """A byte of a spool: the number of its segment and the position in that file, header included."""

    segment: int
    position: int


class Cursor:
    """Two slots that are written in turns: the one being written when the power fails is not needed."""

    def __init__(self, folder: str) -> None:
        self._file = os.open(os.path.join(folder, NAME), _FLAGS, 0o600)
        self._sequence = 0
        self.place: Place | None = None
        try:
            self._read()
        except OSError:
            self.close()
            raise

    def _read(self) -> None:
        os.lseek(self._file, 0, os.SEEK_SET)
        data = os.read(self._file, SLOT_BYTES * _SLOTS)
        for at in range(0, len(data) - SLOT_BYTES + 1, SLOT_BYTES):
            fields = data[at : at + _FIELDS.size]
            segment, _zero, position, sequence = _FIELDS.unpack(fields)
            (checksum,) = _CHECKSUM.unpack_from(data, at + _FIELDS.size)
            if checksum == zlib.crc32(fields) and sequence > self._sequence:
                self._sequence = sequence
                self.place = Place(segment, position)

    def write(self, place: Place) -> None:
        """Raises OSError. A full disk does not matter to it: its bytes are there from the second write on."""
        self._sequence = min(self._sequence + 1, _SEQUENCE_MAX)
        fields = _FIELDS.pack(place.segment, 0, place.position, self._sequence)
        os.lseek(self._file, self._sequence % _SLOTS * SLOT_BYTES, os.SEEK_SET)
        os.write(self._file, fields + _CHECKSUM.pack(zlib.crc32(fields)))
        self.place = place

    def close(self) -> None:
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)
