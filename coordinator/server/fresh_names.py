"""Fresh ids for topics, members and clusters, drawn from the driver's randomness."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random


class FreshNames:
    """Draws ids from `random`."""

    random: Random

    def fresh_uuid(self) -> bytes:
        """A random UUID (version 4), from the driver's randomness."""
        bits = self.random.getrandbits(128)
        return ((bits & ~(0xF << 76) & ~(0x3 << 62)) | 0x4 << 76 | 0x2 << 62).to_bytes(16, "big")

    def fresh_id(self) -> str:
        """Return a random UUID as text, for the end of a new member id."""
        text = self.fresh_uuid().hex()
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"

    def fresh_name(self) -> str:
        """Return a random UUID as Kafka writes its ids: 22 characters of URL-safe base64, not
        starting with a dash.
        """
        while True:
            name = urlsafe_b64encode(self.fresh_uuid())[:22].decode()
            if not name.startswith("-"):
                return name
