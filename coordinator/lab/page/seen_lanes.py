"""Draws a group of another cluster (stream `seen`): its generations, the join phases that a line
shows, and a lane for each member that the files name.

What a member did is not in such logs: its lane says so. An instant without a time stamp is not
drawn.
"""

from __future__ import annotations

from typing import Final, Protocol

from coordinator.events.line import Line
from coordinator.events.seen import OccurrenceSeen, RebalanceSeen, StateSeen
from coordinator.history.world.lost_time.tracks import Track
from coordinator.history.world.views import NOT_KNOWN, GroupView

from .lanes import AWAITED, UNKNOWN, Lane


class GroupPicture(Protocol):
    """What this module needs of the picture of a group."""

    state: Track[str]
    number: Track[int]

    @property
    def lanes(self) -> list[Lane]:
        """The lanes in their order."""

    def lane_of_name(self, name: str, at_ms: int) -> Lane:
        """Return the lane of a member that is known by its name."""


_ENDS: Final = {
    "left": "left",
    "poll-timeout": "left",
    "expired": "removed",
    "member-fenced": "removed",
}
"""The marks of causes with which a member leaves the group."""
_COMES: Final = frozenset({"first-join", "joined", "static-restart", "twin-fenced"})
_REFUSED: Final = {"fenced": "join-refused", "commit-refused": "commit-refused", "replaced": "join"}


def draw(picture: GroupPicture, group: GroupView, line: Line) -> None:
    """Draw a line of stream `seen`."""
    event = line.event
    if isinstance(event, RebalanceSeen):
        if event.stamped:
            _rebalance(picture, group, line, event)
    elif isinstance(event, StateSeen):
        if event.stamped:
            _described(picture, line, event)
    elif isinstance(event, OccurrenceSeen) and event.stamped and event.member:
        lane = _lane(picture, event.member, 0)
        mark = _REFUSED.get(event.what)
        if mark is not None:
            lane.marks.add(line.at_ms, mark)


def _rebalance(picture: GroupPicture, group: GroupView, line: Line, event: RebalanceSeen) -> None:
    at_ms = line.at_ms
    begun_ms = at_ms - (event.join_phase_ms or 0)
    if event.join_phase_ms:
        if picture.state.value is None:
            picture.state.set("PreparingRebalance", begun_ms)
        else:
            picture.state.revise(begun_ms, lambda _: "PreparingRebalance")
    picture.state.set(group.state, at_ms)
    picture.number.set(event.generation, at_ms)
    end = _ENDS.get(event.reason)
    if event.member and end is not None:
        _end(_lane(picture, event.member, 0), begun_ms, end)
    elif event.member:
        lane = _lane(picture, event.member, begun_ms if event.reason in _COMES else 0)
        lane.marks.add(begun_ms, "join")
        _be_there(lane, begun_ms)
    for name in event.removed:
        if name != event.member:  # a predecessor of the same name ends where its successor begins
            _end(_lane(picture, name, 0), at_ms, "removed")
    if event.held_up_by is not None and event.held_up_by != event.member:
        held = _lane(picture, event.held_up_by, 0)
        if event.join_phase_ms and held.process.activity.value is not None:
            held.process.activity.revise(begun_ms, lambda _: AWAITED)
            _be_there(held, at_ms)
        elif event.join_phase_ms and held.process.activity.rows:
            held.process.activity.revise(begun_ms, lambda _: AWAITED)
    if event.empty:
        for lane in picture.lanes:
            _end(lane, at_ms, None)


def _described(picture: GroupPicture, line: Line, event: StateSeen) -> None:
    """Draw a described state as what it is: true at one instant."""
    if event.state is not None:
        picture.state.set(event.state, line.at_ms)
        picture.state.set(NOT_KNOWN, line.at_ms + 1)
    for owner in event.owners:
        _be_there(_lane(picture, owner, line.at_ms), line.at_ms)


def _lane(picture: GroupPicture, name: str, since_ms: int) -> Lane:
    """Return the lane of a member. A member that the files name only when it leaves was there
    before: its lane begins with the picture."""
    before = len(picture.lanes)
    lane = picture.lane_of_name(name, since_ms)
    if len(picture.lanes) > before:
        lane.process.tells = True
        _be_there(lane, since_ms)
    return lane


def _be_there(lane: Lane, at_ms: int) -> None:
    lane.process.in_group = True
    lane.process.membership.set(True, at_ms)
    lane.process.activity.set(UNKNOWN, at_ms)


def _end(lane: Lane, at_ms: int, mark: str | None) -> None:
    if mark is not None:
        lane.marks.add(at_ms, mark)
    lane.process.in_group = False
    lane.process.membership.set(None, at_ms)
    lane.process.activity.set(None, at_ms)
