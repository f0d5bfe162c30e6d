"""Questions about the costliest rebalance of a log, with the answers that the log gives: for a learner
who diagnoses one.

`history` has the facts and `explain` the words; nothing is guessed. A log of which there is nothing
to ask says so.
"""

from __future__ import annotations

from typing import Any, Final

from ..explain.sentences import because, without_owner
from ..explain.words import duration, instant, listed, printable
from ..history.views import Awaited, Rebalance
from .fold import Fold
from .lanes import cut

Plain = dict[str, Any]
_MOST: Final = 5
"""So many options a question has."""
_LONGEST: Final = 240
_CURES: Final = {
    "MemberRejoined": "smaller batches of the member that was awaited, or a protocol in which the others go on (cooperative, KIP-848)",
    "MemberRemoved": "a shorter session timeout, or a close that says goodbye, of the member that fell silent",
    "PendingMemberRemoved": "a shorter session timeout: somebody died with a member id that was not used yet",
    "": "more partitions, so that each has less to do",
}


class NothingToAskError(ValueError):
    """The log has no rebalance that cost anything."""


def questions(fold: Fold, group: str) -> list[Plain]:
    """What is asked of a group, in order. Each has `asks`, `options` (texts), `right` (an index)
    and `says`. Raises NothingToAskError."""
    view = fold.timeline.groups.get(group)
    told = [each for each in view.rebalances if each.generation is not None] if view else []
    worst = max(told, key=lambda each: each.unowned.partition_ms, default=None)
    if worst is None or not worst.unowned.partition_ms or len(told) < 2:
        raise NothingToAskError(
            "no classic rebalance of this group left a partition without an owner: there is nothing to diagnose"
        )
    asked = [_which(told, worst), _why(told, worst)]
    if worst.awaited is not None:
        asked += [_who(worst, worst.awaited), _cure(worst.awaited)]
    return asked


def _asked(asks: str, options: list[str], right: str, says: str) -> Plain:
    shown = [cut(each, _LONGEST) for each in dict.fromkeys(options)]
    return {
        "asks": asks,
        "options": shown,
        "right": shown.index(cut(right, _LONGEST)),
        "says": says,
    }


def _which(told: list[Rebalance], worst: Rebalance) -> Plain:
    near = sorted(told, key=lambda each: -each.unowned.partition_ms)[:_MOST]
    options = {
        each.seq: f"the one to generation {each.generation}, begun at {instant(each.started_ms)}"
        for each in sorted(near, key=lambda each: each.seq)
    }
    said = without_owner(worst).strip().rstrip(".")
    says = f"{said[0].upper()}{said[1:]}."
    return _asked("Which rebalance cost most?", list(options.values()), options[worst.seq], says)


def _why(told: list[Rebalance], worst: Rebalance) -> Plain:
    others = [because(each) for each in told if each is not worst]
    options = sorted({because(worst), *others[-_MOST + 1 :]})
    return _asked("Why did it begin?", options, because(worst), f"Because {because(worst)}.")


def _who(worst: Rebalance, awaited: Awaited) -> Plain:
    right = printable(listed(awaited.members[:3]))
    names = [printable(name) for name in worst.members if name not in awaited.members]
    took = duration((worst.generation_ms or worst.started_ms) - worst.started_ms)
    says = f"The join phase lasted {took}, until {_ended(awaited)}."
    options = sorted([right, *names[: _MOST - 1]])
    return _asked("Who held it up?", options, right, says)


def _ended(awaited: Awaited) -> str:
    who = printable(listed(awaited.members[:3]))
    if awaited.kind == "MemberRejoined":
        return f"{who} joined again"
    return f"{who} was given up{f' ({printable(awaited.reason)})' if awaited.reason else ''}"


def _cure(awaited: Awaited) -> Plain:
    right = _CURES.get(awaited.kind, _CURES["MemberRemoved"])
    says = f"{right[0].upper()}{right[1:]}."
    return _asked("What would have made it shorter?", list(_CURES.values()), right, says)
