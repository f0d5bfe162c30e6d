"""The verdict on a group, shown above its picture: its rebalances, the costliest first, each with
its cause, its cost and the members that held it up.

`history` has the facts, what each rebalance cost among them, and `explain` the words.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from coordinator.events.groups import MemberJoined, MemberRejoined, MemberRemoved, MemberReplaced
from coordinator.events.seen import RebalanceSeen
from coordinator.history.explain.cause_sentences import because
from coordinator.history.explain.consumer_story import with_names
from coordinator.history.explain.formatting import printable
from coordinator.history.explain.seen_story import why
from coordinator.history.world.groups.epochs import EpochView
from coordinator.history.world.lost_time.rebalances import costs
from coordinator.history.world.views import Change, GroupView, Rebalance

from .fold import GroupPicture
from .lanes import cut

_MOST: Final = 200
"""At most so many rebalances are listed: the costliest."""
_MOST_WORDS: Final = 400
_EPOCHS: Final = (
    ("expired", "a member expired"),
    ("left", "a member left"),
    ("topics", "topics changed"),
    ("assignor", "another assignor"),
    ("subscription", "a member joined, or changed its subscription"),
)
"""The cause of a group epoch, by a word of its reason."""
_OTHER: Final = "another cause"
_WORTH_TELLING_MS: Final = 1000
"""A member that kept a rebalance waiting for less is not listed as its cause."""


class _Told(NamedTuple):
    """A rebalance of a group of either protocol. `members`: short names of the members
    concerned."""

    seq: int
    begun_ms: int
    number: int | None
    cause: str
    because: str
    members: list[str]
    held_up_by: list[str]


def verdict(view: GroupView | None, picture: GroupPicture, end_ms: int) -> dict[str, Any]:
    """Return the verdict as JSON values. `count`: number of rebalances; `rebalances`: those that
    are listed, the costliest first. Of another cluster's group the cost is None, because it is not
    known, and the order is that of time."""
    if view is None or view.share is not None:
        return {"count": 0, "rebalances": []}
    if view.seen:
        return _seen(view, picture)
    told = sorted([*_classic(view), *_epochs(view)])
    if not told:
        return {"count": 0, "rebalances": []}
    cost, lanes = costs(view, picture.activity, end_ms), picture.activity.by_name(view)
    rows: list[dict[str, Any]] = [
        {
            "seq": each.seq,
            "at_ms": each.begun_ms,
            "number": each.number,
            "cause": each.cause,
            "because": cut(each.because, _MOST_WORDS),
            "lost_ms": cost[each.seq].lost.most_ms,
            "least_ms": cost[each.seq].lost.least_ms,
            "lanes": [lanes[name].index for name in each.members if name in lanes],
            "held_up_by": [lanes[name].index for name in each.held_up_by if name in lanes],
        }
        for each in told
    ]
    rows.sort(key=lambda row: (-row["lost_ms"], row["at_ms"]))
    return {"count": len(rows), "rebalances": rows[:_MOST]}


def _seen(view: GroupView, picture: GroupPicture) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    for line in view.seen[:_MOST]:
        event: RebalanceSeen = line.event
        lanes = [lane.index for lane in picture.lanes if lane.process.name == event.member]
        held = [lane.index for lane in picture.lanes if lane.process.name == event.held_up_by]
        rows.append(
            {
                "seq": line.seq,
                "at_ms": line.at_ms - (event.join_phase_ms or 0),
                "number": event.generation,
                "cause": printable(event.reason),
                "because": cut(why(event), _MOST_WORDS),
                "lost_ms": None,
                "least_ms": None,
                "lanes": lanes,
                "held_up_by": held,
            }
        )
    return {"count": len(view.seen), "rebalances": rows}


def _classic(view: GroupView) -> Iterable[_Told]:
    for each in view.rebalances:
        awaited = each.awaited
        yield _Told(
            each.seq,
            each.started_ms,
            each.generation,
            _cause(each),
            because(each),
            each.trigger.members,
            [] if awaited is None or _waited_ms(each) < _WORTH_TELLING_MS else awaited.members,
        )


def _waited_ms(rebalance: Rebalance) -> int:
    """Return how long a join phase waited for its last member, in ms."""
    awaited, joined_ms = rebalance.awaited, rebalance.generation_ms
    if awaited is None or joined_ms is None:
        return 0
    return joined_ms - (rebalance.started_ms if awaited.before_ms is None else awaited.before_ms)


def _epochs(view: GroupView) -> Iterable[_Told]:
    for each in () if view.epochs is None else view.epochs.views:
        yield _Told(
            each.seq,
            each.started_ms,
            each.epoch,
            next((cause for word, cause in _EPOCHS if word in each.reason), _OTHER),
            with_names(view, each.reason),
            _named(view, each),
            [],
        )


def _named(view: GroupView, epoch: EpochView) -> list[str]:
    words = epoch.reason.replace(",", " ").split()
    return [view.names[word] for word in words if word in view.names]


def _cause(rebalance: Rebalance) -> str:
    """Return the cause of a classic rebalance in a few words, the same for all of its kind."""
    trigger = rebalance.trigger
    event = trigger.line.event
    if isinstance(event, MemberRemoved):
        return _REMOVALS.get(event.reason, "a member was removed")
    if trigger.kind is MemberJoined:
        return "a member joined" if rebalance.state_before != "Empty" else "the first member joined"
    if trigger.kind is MemberReplaced:
        return "a static member came back"
    return _rejoined(trigger) if trigger.kind is MemberRejoined else _OTHER


_REMOVALS: Final = {
    "left": "a member left",
    "session expired": "a member expired",
    "did not rejoin in time": "a member did not rejoin",
    "did not sync in time": "a member did not sync",
}


def _rejoined(trigger: Change) -> str:
    note = trigger.note
    if note.get("grown"):
        return "topics changed"
    if note.get("topics_added") or note.get("topics_dropped"):
        return "a member changed its subscription"
    return (
        "the second step of cooperative rebalancing"
        if note.get("given_up")
        else "a member asked to join again"
    )
