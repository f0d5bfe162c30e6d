"""Verbs for a member's process, host and links, as data. They are possible in every world, because
the members are always this project's own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from .row import EVERYWHERE, ROWS, Hurts, told, verb

DIRECTIONS: Final = ("both", "to_broker", "from_broker")
_WHOM: Final = "the client id of a member or a producer"
_WHERE: Final = "only the links with this broker"
_DIRECTION: Final = "direction of the traffic (default: both)"


@verb(
    "no traffic passes between {client} and brokers",
    summary="Cut the links between a member and brokers: no traffic passes.",
    undone_by="MemberHealed",
    hurts=Hurts.CLIENT,
    worlds=EVERYWHERE,
    drawn=True,
)
@dataclass(frozen=True, slots=True, kw_only=True)
class CutMember:
    member: str = field(metadata=told(_WHOM))
    broker: int | None = field(default=None, metadata=told(_WHERE))
    direction: str | None = field(default=None, metadata=told(_DIRECTION, choices=DIRECTIONS))


@verb(
    "traffic between {client} and brokers is slow: {bytes_per_second} bytes a second",
    summary="Limit the bytes a second that pass between a member and brokers.",
    undone_by="MemberSpedUp",
    hurts=Hurts.CLIENT,
    worlds=EVERYWHERE,
)
@dataclass(frozen=True, slots=True, kw_only=True)
class SlowMember:
    member: str = field(metadata=told(_WHOM))
    broker: int | None = field(default=None, metadata=told(_WHERE))
    direction: str | None = field(default=None, metadata=told(_DIRECTION, choices=DIRECTIONS))
    bytes_per_second: int = field(
        metadata=told("at most so many bytes a second", least=1, example="2000")
    )


@verb(
    "the host of {client} is paused",
    summary="Pause a member's host, as by SIGSTOP.",
    undone_by="MemberResumed",
    hurts=Hurts.CLIENT,
    worlds=EVERYWHERE,
    drawn=True,
)
@dataclass(frozen=True, slots=True, kw_only=True)
class PauseMember:
    member: str = field(metadata=told(_WHOM))


@verb(
    "the connections of {client} are reset",
    summary="Reset a member's connections.",
    worlds=EVERYWHERE,
    again=True,
    drawn=True,
)
@dataclass(frozen=True, slots=True, kw_only=True)
class ResetMember:
    member: str = field(metadata=told(_WHOM))


@verb(
    "the wall clock of {client} jumps by {by_ms} ms",
    summary="Move the wall clock of a member's host forward by this number of ms, or back (negative).",
    undone_by="JumpMemberClock",
    worlds=EVERYWHERE,
    again=True,
    drawn=True,
)
@dataclass(frozen=True, slots=True, kw_only=True)
class JumpMemberClock:
    member: str = field(metadata=told(_WHOM))
    by_ms: int = field(metadata=told("how many ms forward; negative: back", example="3600000"))


MEMBER_VERBS: Final = {name: row for name, row in ROWS.items() if row.of_member}
"""The rows of what can be done to a member."""
