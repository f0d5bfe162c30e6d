"""Checks of a scenario's churn: its fields fit each other, and the members that it names exist.
Raises ScenarioError with the place in the file. The types of values are checked by `reading.py`
with `schema.py`."""

from __future__ import annotations

from typing import Final

from ..whom import WORDS_OF_MEMBERS, is_word
from .contradictions import check_churn_does_something, check_said_twice
from .key_positions import Where
from .reading import Plain, ScenarioError
from .schema import TABLES
from .sizes import MOST_CLIENTS, MOST_TIMES
from .there import There, default_of
from .trigger_checks import check_trigger, check_word

_KINDS: Final = frozenset(TABLES["churn"].keys["kind"].choices)
_TIMED: Final = {
    "times": ("restart", "stall", "waves"),
    "every": ("rolling", "restart", "stall", "waves"),
}
"""Kinds of churn that happen more than once."""


def check_churn(churn: Plain, there: There, where: Where) -> None:
    """Check one piece of churn."""
    kind = churn["kind"]
    _check_befallen(churn, there, where)
    for key, spec in TABLES["churn"].keys.items():
        meant = spec.doc.partition(": ")[0].split(", ")
        if set(meant) <= _KINDS and kind not in meant and churn[key] != default_of(key):
            raise ScenarioError(
                f"{where.at(key)}: churn {kind} has no {key}: that is of {' and '.join(meant)}"
            )
    becomes = churn["becomes"]
    if becomes is not None and becomes not in there.members:
        raise ScenarioError(
            f"{where.at('becomes')}: churn {kind}: becomes = {becomes!r}: one of {', '.join(there.members)}"
        )
    if churn["surge"] and becomes is not None:
        raise ScenarioError(f"{where.at('surge')}: churn rolling: either surge or becomes")
    if kind == "waves" and churn["low"] >= churn["to"]:
        raise ScenarioError(
            f"{where.at('low')}: churn waves: low = {churn['low']} is to be below to = {churn['to']}"
        )
    if churn["more"] and churn["fewer"]:
        raise ScenarioError(f"{where.at('fewer')}: churn scale: either more or fewer")
    if kind == "scale" and churn["low"] != default_of("low") and not churn["fewer"]:
        raise ScenarioError(
            f"{where.at('low')}: churn scale: low is the least that fewer leaves: give fewer, or leave it out"
        )
    if kind == "rolling" and not churn["at_once"]:
        raise ScenarioError(f"{where.at('at_once')}: churn rolling: at_once = 0: at least 1")
    if kind == "poisson" and not churn["arrivals_per_hour"] and not churn["departures_per_hour"]:
        raise ScenarioError(
            f"{where}: churn poisson: nobody comes or goes: give arrivals_per_hour or departures_per_hour"
        )
    check_churn_does_something(churn, there.members, there.producers, where)
    _check_times(churn, where)
    for key, most in (
        ("times", MOST_TIMES),
        ("to", MOST_CLIENTS),
        ("arrivals_per_hour", 3_600_000),
        ("departures_per_hour", 3_600_000),
    ):
        if churn[key] > most:
            raise ScenarioError(
                f"{where.at(key)}: churn {kind}: {key} = {churn[key]}: at most {most}"
            )
    check_trigger(churn, there, where)


def _check_befallen(churn: Plain, there: There, where: Where) -> None:
    """Check the members that churn names: a kind; for churn of single members also single ones,
    several, and words. A list of one becomes a text."""
    kind, whom, kinds = churn["kind"], churn["members"], [*there.members, *there.producers]
    if len(whom) == 1:
        churn["members"] = whom[0]
    single = kind in ("restart", "stall")
    right = f"one of {', '.join(kinds)}" + (
        f", or single ones such as {kinds[0]}-1, or {WORDS_OF_MEMBERS}" if single else ""
    )
    if not whom or (len(whom) > 1 and not single):
        said = f"members = {', '.join(whom) or '[]'}"
        raise ScenarioError(f"{where.at('members')}: churn {kind}: {said}: give {right}")
    check_said_twice(f"churn {kind}: members", whom, where.at("members"))
    for each in whom:
        if single and is_word(each):
            check_word(each, churn, there, where, "members")
        elif each not in kinds and not (single and each in there.started()):
            raise ScenarioError(
                f"{where.at('members')}: churn {kind} of members {each}: give {right}"
            )


def _check_times(churn: Plain, where: Where) -> None:
    """Check how often churn happens, how far apart, and how long it lasts."""
    kind = churn["kind"]
    for key, kinds in _TIMED.items():
        if kind not in kinds and churn[key] != default_of(key):
            raise ScenarioError(
                f"{where.at(key)}: churn {kind} has no {key}: that is of {', '.join(kinds)}"
            )
    if not churn["times"]:
        raise ScenarioError(f"{where.at('times')}: churn {kind}: times = 0: at least 1")
    if not churn["every"] and (churn["times"] > 1 or kind == "waves"):
        raise ScenarioError(f"{where.at('every')}: churn {kind}: every = 0 ms: at least 1 ms")
    if kind == "stall" and not churn["lasts"]:
        raise ScenarioError(f"{where.at('lasts')}: churn stall: lasts = 0 ms: at least 1 ms")
