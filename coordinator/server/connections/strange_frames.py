"""Remark on a frame with an impossible length: its sender often speaks another protocol."""

from __future__ import annotations

from coordinator.wire.framing import MIN_FRAME_BYTES


def strange_length(size: int, start: bytes, most: int) -> str:
    """Return the remark on a frame with an impossible length, with a guess at what the sender
    speaks.
    """
    if start[:3] in (b"\x16\x03\x00", b"\x16\x03\x01", b"\x16\x03\x02", b"\x16\x03\x03"):
        return "this looks like a TLS hello; the listener speaks plaintext only"
    method = start.split(b" ", 1)[0]
    if method in (
        b"GET",
        b"POST",
        b"HEAD",
        b"PUT",
        b"DELETE",
        b"OPTIONS",
        b"PATCH",
        b"CONNECT",
        b"TRACE",
        b"PRI",
    ):
        return f"this looks like an HTTP request ({method.decode()} ...); Kafka's protocol is spoken here"
    if size > most:
        return f"a frame of {size} bytes: {most} are allowed (socket.request.max.bytes)"
    return f"a frame of {size} bytes: a request has at least {MIN_FRAME_BYTES}"
