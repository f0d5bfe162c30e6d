"""Short names of members, by which everything that is read from a log calls them."""

from __future__ import annotations

from collections.abc import Container

from ..common.printable import printable

_UUID_CHARS = 36
_SHORTEST = 4


def split_member_id(member_id: str) -> tuple[str, str]:
    """The name in front (client id or group instance id) and the uuid of a member id minted by the
    coordinator (MID-1)."""
    front, uuid = member_id[: -_UUID_CHARS - 1], member_id[-_UUID_CHARS:]
    if len(member_id) > _UUID_CHARS and member_id[-_UUID_CHARS - 1] == "-" and uuid.count("-") == 4:
        return front, uuid
    return member_id, ""


def short_name(member_id: str, taken: Container[str]) -> str:
    """The name in front and the first letters of the uuid, as many as it takes to be unlike the
    names that are taken."""
    front, uuid = split_member_id(member_id)
    front = printable(front) or "member"
    if not uuid:
        return front if front not in taken else member_id
    for size in range(_SHORTEST, _UUID_CHARS):
        name = f"{front}-{uuid[:size]}"
        if name not in taken:
            return name
    return member_id
