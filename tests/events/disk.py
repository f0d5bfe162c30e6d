"""A disk that becomes full, as a file: it takes so many bytes, the last write in part, and then
none until there is room again."""

from __future__ import annotations

import io
from errno import ENOSPC


class Disk(io.RawIOBase):
    """A file on a disk with so much room left."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.data = b""
        self.attempts = 0

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self.attempts += 1
        if not self.room:
            raise OSError(ENOSPC, "No space left on device")
        taken = bytes(data)[: self.room]
        self.room -= len(taken)
        self.data += taken
        return len(taken)
