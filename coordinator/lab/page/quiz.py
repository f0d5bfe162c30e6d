"""Questions about a log's costliest rebalance, with the answers that the log gives: a quiz for a
learner.

`history` has the facts and `explain` the words; nothing is guessed. If a log has nothing to ask
about, an error says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from coordinator.events.groups import (
    MemberRejoined,
    MemberRemoved,
    PendingMemberRemoved,
    Removal,
)
from coordinator.history.explain.cause_sentences import because, not_consumed
from coordinator.history.explain.formatting import duration, instant, listed, partitions, printable
from coordinator.history.world.lost_time.rebalances import Cost
from coordinator.history.world.views import Awaited, GroupView, Note, Rebalance

from .fold import Fold
from .lanes import MOST_NAME, cut

Plain = dict[str, Any]
Costs = Mapping[int, Cost]
_MOST: Final = 5
"""Number of options of a question."""
_LONGEST: Final = 240
_CURES: Final[Mapping[type | None, str]] = {
    MemberRejoined: "smaller batches in the member that was late, or a protocol in which the others continue (KIP-429, KIP-848)",
    MemberRemoved: "a shorter session timeout, or a close that sends LeaveGroup, of the member that sent nothing",
    PendingMemberRemoved: "a shorter session timeout: a process died before it joined with the member id that it had been assigned",
    None: "more partitions, so that each has less to do",
}
_BECAME: Final = (
    "its process had ended: its member id was never used again",
    "its process lived but sent nothing: later it came back with the same member id",
    "its application had stopped polling, so its client left the group",
)
"""Fates of a member that expired; the first and the second can be right."""


class NothingToAskError(ValueError):
    """The log has no rebalance that cost anything."""


def questions(fold: Fold, group: str | None = None) -> list[Plain]:
    """Return the questions about a group, in order; None: about the group that lost most. Each
    has `asks`, `options` (texts), `right` (an index), `says`, and `at_ms`, the instant that
    shows the answer. Raises NothingToAskError."""
    asked: list[Plain] = []
    if group is None:
        group, asked = _dearest(fold)
    view = fold.timeline.groups.get(group)
    costs = _costs(fold, view)
    worst = None if view is None else _worst(view, costs)
    if view is None or worst is None:
        raise NothingToAskError(
            "no classic rebalance of this group kept a partition from being consumed: there is nothing to ask"
        )
    told = _told(view)
    asked += [_which(told, worst, costs), _why(told, worst)]
    trigger = worst.trigger.line.event if worst.trigger.kind is MemberRemoved else None
    if isinstance(trigger, MemberRemoved) and trigger.reason == Removal.SESSION_EXPIRED:
        asked.append(_what_became(view, worst))
    if worst.awaited is not None:
        asked += [_who(worst, worst.awaited), _cure(worst, worst.awaited)]
    return [{"group": group, **each} for each in asked]


def _told(view: GroupView) -> list[Rebalance]:
    return [each for each in view.rebalances if each.generation is not None]


def _costs(fold: Fold, view: GroupView | None) -> Costs:
    if view is None:
        return {}
    return fold.timeline.lost_time.costs(view, fold.timeline.end_ms)


def _worst(view: GroupView, costs: Costs) -> Rebalance | None:
    """Return the rebalance that cost most, if it cost anything and there are others."""
    told = _told(view)
    worst = max(told, key=lambda each: costs[each.seq].lost.most_ms, default=None)
    if worst is None or len(told) < 2 or not costs[worst.seq].lost.most_ms:
        return None
    return worst


def _dearest(fold: Fold) -> tuple[str, list[Plain]]:
    """Return the group to ask about and, if there are several, the question which one that is."""
    end_ms = fold.timeline.end_ms
    lost = {name: fold.timeline.lost_time.of(name, end_ms).most_ms for name in fold.groups}
    views = {name: fold.timeline.groups.get(name) for name in lost}
    askable = [
        name
        for name, view in views.items()
        if view is not None and _worst(view, _costs(fold, view)) is not None
    ]
    group = max(askable, key=lost.__getitem__, default="")
    ordered = sorted(lost, key=lambda name: -lost[name])
    if len(lost) < 2 or not group or ordered[0] != group:
        return group, []
    said = [f"{_named(name)} {lost[name] / 1000:.1f} partition-seconds" for name in ordered]
    names = [_named(name) for name in sorted(lost)[:_MOST]]
    right, says = _named(group), f"{listed(said[:_MOST])}: until the end of the log."
    return group, [_asked("Which group lost most?", [*names, right], right, says, 0)]


def _named(group: str) -> str:
    return cut(printable(group), MOST_NAME)


def _asked(asks: str, options: list[str], right: str, says: str, at_ms: int) -> Plain:
    shown = [cut(each, _LONGEST) for each in dict.fromkeys(options)]
    return {
        "asks": asks,
        "options": shown,
        "right": shown.index(cut(right, _LONGEST)),
        "says": says,
        "at_ms": at_ms,
    }


def _which(told: list[Rebalance], worst: Rebalance, costs: Costs) -> Plain:
    near = sorted(told, key=lambda each: -costs[each.seq].lost.most_ms)[:_MOST]
    options = {
        each.seq: f"the one to generation {each.generation}, begun at {instant(each.started_ms)}"
        for each in sorted(near, key=lambda each: each.seq)
    }
    said = not_consumed(costs[worst.seq]).strip().rstrip(".")
    says = f"{said[0].upper()}{said[1:]}."
    return _asked(
        "Which rebalance cost most?",
        list(options.values()),
        options[worst.seq],
        says,
        worst.started_ms,
    )


def _why(told: list[Rebalance], worst: Rebalance) -> Plain:
    others = [because(each) for each in told if each is not worst]
    options = sorted({because(worst), *others[-_MOST + 1 :]})
    says = f"Because {because(worst)}."
    return _asked("Why did it begin?", options, because(worst), says, worst.trigger.at_ms)


def _what_became(view: GroupView, worst: Rebalance) -> Plain:
    """Return the question whether an expired member was dead: a live one comes back with its old
    member id and is refused."""
    name = worst.trigger.members[0]
    back = next(
        (
            note
            for note in view.entries
            if isinstance(note, Note) and note.departed is not None and note.departed.name == name
        ),
        None,
    )
    says, at_ms = f"{printable(name)} sent no further request.", worst.started_ms
    if back is not None and back.departed is not None:
        errors = listed([str(each) for each in back.errors])
        held = f" It still believed that it had {partitions(back.departed.held)}."
        says = (
            f"{duration(back.at_ms - worst.started_ms)} after its removal it asked again and was refused: {errors}."
            f"{held if back.departed.held else ''}"
        )
        at_ms = back.at_ms
    asks = f"What had become of {printable(name)}?"
    return _asked(asks, list(_BECAME), _BECAME[back is not None], says, at_ms)


def _who(worst: Rebalance, awaited: Awaited) -> Plain:
    right = printable(listed(awaited.members[:3]))
    names = [printable(name) for name in worst.members if name not in awaited.members]
    took = duration((worst.generation_ms or worst.started_ms) - worst.started_ms)
    says = f"The join phase lasted {took}, until {_ended(awaited)}."
    options = sorted([right, *names[: _MOST - 1]])
    at_ms = worst.generation_ms or worst.started_ms
    return _asked("Who held it up?", options, right, says, at_ms)


def _ended(awaited: Awaited) -> str:
    who = printable(listed(awaited.members[:3]))
    if awaited.kind is MemberRejoined:
        return f"{who} joined again"
    return f"{who} was removed{f' ({printable(awaited.reason)})' if awaited.reason else ''}"


def _cure(worst: Rebalance, awaited: Awaited) -> Plain:
    right = _CURES.get(awaited.kind, _CURES[MemberRemoved])
    at_ms, says = worst.generation_ms or worst.started_ms, f"{right[0].upper()}{right[1:]}."
    if awaited.kind is MemberRejoined and awaited.before_ms is not None:
        last = printable(listed(awaited.members[:3]))
        late = duration(at_ms - awaited.before_ms)
        says = (
            f"All the others were there by {instant(awaited.before_ms)}; {last} came {late} later."
        )
    return _asked("What would have made it shorter?", list(_CURES.values()), right, says, at_ms)
