"""Findings about members that came back to a rebalance too late, or whose library left the group:
their listener or their work kept them from their poll for too long.

A member's rebalance timeout is its max.poll.interval.ms. The time counts from a refused
heartbeat on, after which a client joins at its next poll. A library whose application does not
poll for that long leaves the group and keeps its connections open; a consumer that is closed
closes them too. aiokafka sends its session timeout as rebalance timeout; for it, a member that
commits records that were written within the timeout has polled. Reads plain lines of the event
log.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from coordinator.events.wire import RequestAnswered, RequestRefused, RequestSeen
from coordinator.history.world.groups.memberships import memberships
from coordinator.history.world.processes.returns import (
    Departure,
    Return,
    TimedOut,
    departures,
    returns,
)

from .findings import BLOCKS, CommitSeen, Finding, Line, when
from .holders import Written

SLACK_MS = 500
"""Tolerance in ms beyond the member's own timeout, because a machine may be busy."""


def late_joins(lines: Iterable[Line], group: str, others: Collection[str]) -> list[Finding]:
    """Return a finding for each member that joined after its rebalance timeout, or was removed for
    it.

    `others`: members that are not judged: peers, and members that the test removed or held up.
    """
    found: dict[str, Finding] = {}
    for each in returns(lines, group):
        if isinstance(each, TimedOut) or each.took_ms > each.allowed_ms + SLACK_MS:
            found.setdefault(each.member, Finding(BLOCKS, _late(each)))
    return [finding for member, finding in found.items() if member not in others]


def _late(each: Return | TimedOut) -> str:
    if isinstance(each, TimedOut):
        at, reason = when(each.removal.seq, each.removal.at_ms), each.removal.event.reason
        return f"{each.member} was removed{at}: it {reason}; it blocks in its listener, or does not call poll in time"
    told, joined = (when(line.seq, line.at_ms) for line in (each.told, each.join))
    text = f"{each.member} was informed of a rebalance{told} and joined {each.took_ms} ms later{joined}"
    return f"{text}; its max.poll.interval.ms is {each.allowed_ms}: it blocks in its listener, or does not call poll in time"


def left_for_its_poll(
    lines: Sequence[Line],
    group: str,
    others: Collection[str],
    running: Iterable[tuple[int, int]],
    connected: Collection[str] = (),
    commits: Iterable[CommitSeen] = (),
    written: Sequence[Written] = (),
    *,
    wrong: bool = False,
) -> list[Finding]:
    """Return findings about members that left while the application ran, after more than their
    max.poll.interval.ms, without closing their consumer: its connection is still open, or asked to
    join later. Their application may have been away from its poll.

    A member that ran for a shorter time has unsubscribed, and so has one that committed a record
    which was written within that time. `others`: see `late_joins`. `running`: first and last
    line of each start. `connected`: addresses of all clients now. `commits` and `written`: as
    far as they are known. `wrong`: something else is wrong, so that a member that sends its
    session timeout as rebalance timeout counts, too.
    """
    for each in departures(lines, group, running):
        at_ms, most = each.at.at_ms, each.allowed_ms
        polled_ms = _polled_ms(each, lines, commits, written)
        if most == each.session_ms:
            most = None
        in_time = at_ms - polled_ms < (each.allowed_ms or 0) and not (wrong and most is None)
        if each.member not in others and not in_time and (each.back or each.peer in connected):
            told = "" if most is None else f", {most}"
            at = when(each.at.seq, at_ms)
            text = f"{each.member} left the group{at}, but its consumer was not closed"
            why = f"it is away from its poll for longer than its max.poll.interval.ms{told}, or unsubscribes"
            return [Finding(BLOCKS, f"{text}: {why}")]
    return []


def _polled_ms(
    gone: Departure,
    lines: Iterable[Line],
    commits: Iterable[CommitSeen],
    written: Sequence[Written],
) -> int:
    """Return an instant after which the member polled at least once: its start, or the instant when
    the newest record was written that it committed before it left."""
    since = max(
        (
            each.seq
            for commit in commits
            if commit.member == gone.member and (commit.seq or 0) < gone.at.seq
            for each in written
            if any(each.ends.get(place, at) < at for place, at in commit.offsets.items())
        ),
        default=0,
    )
    before: Iterable[int] = (line.at_ms for line in lines if line.seq < since)
    return max([gone.began_ms, *before])


def left_too_late(lines: Sequence[Line], group: str, since: int) -> list[Finding]:
    """Return findings about members that were stopped and whose LeaveGroup came after their
    session had ended. `since`: the line of the stop."""
    expired = {
        each.member: each
        for each in memberships(lines, group)
        if each.reason == "session expired" and (each.left_seq or 0) >= since
    }
    found = []
    for line in lines:
        gone, event = expired.get(line.member or ""), line.event
        if (
            gone is None
            or line.seq < (gone.left_seq or 0)
            or not isinstance(event, RequestSeen | RequestAnswered | RequestRefused)
            or event.api != "leave_group"
        ):
            continue
        del expired[gone.member]
        left, ended = when(line.seq, line.at_ms), when(gone.left_seq, gone.left_ms)
        text = f"it was stopped, and {gone.member} left{left} when its session had ended{ended}"
        found.append(
            Finding(BLOCKS, f"{text}: it blocks in its listener, or while it closes its consumer")
        )
    return found
