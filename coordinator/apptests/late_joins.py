"""Members that came back to a rebalance later than they said: for so long their listener, or their
work, kept them from their poll.

A member's rebalance timeout is its max.poll.interval.ms. What counts is when it was told: by a
refused heartbeat, after which a client joins at its next poll. Judges plain lines of the event log,
as `findings` does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from ..history.memberships import memberships
from .findings import BLOCKS, Finding, Line, when

_TOLD = "REBALANCE_IN_PROGRESS"
_TOO_LATE = ("did not rejoin in time", "did not revoke in time")
_REMOVED = ("MemberRemoved", "ConsumerMemberRemoved")
SLACK_MS = 500
"""So much more than its own word is not counted: a machine may be busy."""


def late_joins(lines: Iterable[Line], group: str, others: Collection[str]) -> list[Finding]:
    """Members that were told of a rebalance and joined after their rebalance timeout, or were
    removed for it; one finding for each.

    `others`: members that are not judged: peers, and those that the test took out or held up.
    """
    found: dict[str, Finding] = {}
    allowed: dict[str, int] = {}
    told: dict[str, Line] = {}
    for line in lines:
        if line.get("group") != group:
            continue
        kind, member = line["type"], line.get("member") or ""
        if kind in ("MemberJoined", "MemberRejoined", "MemberReplaced"):
            allowed[member] = line["rebalance_timeout_ms"]
        elif (
            kind == "RequestRefused"
            and line.get("api") == "heartbeat"
            and _TOLD in line["errors"]
            and member in allowed
        ):
            told.setdefault(member, line)
        elif kind == "RequestSeen" and line["api"] == "join_group":
            for name in [
                name
                for name, news in told.items()
                if name == member or news["peer"] == line["peer"]
            ]:
                _joined(name, told.pop(name), line, allowed[name], found)
        elif kind in _REMOVED and line["reason"] in _TOO_LATE:
            text = f"{member} was removed{when(line['seq'], line['at_ms'])}: it {line['reason']}"
            found.setdefault(
                member,
                Finding(BLOCKS, f"{text}; it blocks in its listener, or is away from its poll"),
            )
        elif kind == "GroupLoaded":  # its coordinator was away
            told.clear()
    return [finding for member, finding in found.items() if member not in others]


def left_too_late(lines: Sequence[Line], group: str, since: int) -> list[Finding]:
    """Members that were stopped, and whose LeaveGroup came when their session had ended already.
    `since`: the line of the stop."""
    expired = {
        each.member: each
        for each in memberships(lines, group)
        if each.reason == "session expired" and (each.left_seq or 0) >= since
    }
    found = []
    for line in lines:
        gone = expired.get(line.get("member") or "")
        if gone is None or line.get("api") != "leave_group" or line["seq"] < (gone.left_seq or 0):
            continue
        del expired[gone.member]
        left, ended = when(line["seq"], line["at_ms"]), when(gone.left_seq, gone.left_ms)
        text = f"it was stopped, and {gone.member} left{left} when its session had ended{ended}"
        found.append(
            Finding(BLOCKS, f"{text}: it blocks in its listener, or as it closes its consumer")
        )
    return found


def _joined(
    member: str, told: Line, join: Line, allowed_ms: int, found: dict[str, Finding]
) -> None:
    late_ms = join["at_ms"] - told["at_ms"]
    if late_ms > allowed_ms + SLACK_MS:
        text = f"{member} was told of a rebalance{when(told['seq'], told['at_ms'])}, and joined {late_ms} ms later"
        why = f"its max.poll.interval.ms is {allowed_ms}: it blocks in its listener, or is away from its poll"
        found.setdefault(
            member, Finding(BLOCKS, f"{text}{when(join['seq'], join['at_ms'])}; {why}")
        )
