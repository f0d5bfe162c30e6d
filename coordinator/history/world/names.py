"""Short names of members, used by everything that reads a log."""

from __future__ import annotations

from collections.abc import Container

from coordinator.base.printable import printable

_UUID_CHARS = 36
_BASE64_CHARS = 22
_SHORTEST = 4


def split_member_id(member_id: str) -> tuple[str, str]:
    """Return the parts of a member id that the coordinator assigned (MID-1): client id or group
    instance id, and the uuid."""
    front, uuid = member_id[: -_UUID_CHARS - 1], member_id[-_UUID_CHARS:]
    if len(member_id) > _UUID_CHARS and member_id[-_UUID_CHARS - 1] == "-" and uuid.count("-") == 4:
        return front, uuid
    return member_id, ""


def consumer_name(client_id: str, member_id: str, taken: Container[str]) -> str:
    """Return a name for a member of the consumer protocol (KIP-848), whose id is its own: its
    client id and the first letters of the id, if that is a UUID in base64; else as `short_name`."""
    if not client_id or len(member_id) != _BASE64_CHARS:
        return short_name(member_id, taken)
    front, letters = printable(client_id), printable(member_id)
    for size in range(_SHORTEST, _BASE64_CHARS):
        name = f"{front}-{letters[:size]}"
        if name not in taken:
            return name
    return letters


def short_name(member_id: str, taken: Container[str]) -> str:
    """Return the client id or group instance id and as many letters of the uuid as make the name
    unique."""
    front, uuid = split_member_id(member_id)
    front = printable(front) or "member"
    if not uuid:
        return front if front not in taken else member_id
    for size in range(_SHORTEST, _UUID_CHARS):
        name = f"{front}-{uuid[:size]}"
        if name not in taken:
            return name
    return member_id
