"""In which worlds a scenario can be: each verb, fault and setting says where it can be carried out.

    virtual     brokers and members in one process, in virtual time
    emulator    our brokers on real sockets, with our members (`--live`)
    kafka       any Kafka, with our members (`--live --bootstrap`): what befalls its brokers is not in our hands

Owns the table. What is done to a member's process, host and links is possible everywhere, because
members are always ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...control.faults import ACTIONS
from ...releases import NEWEST
from ...verbs.row import EVERYWHERE, OURS, ROWS, WorldKind
from ..triggers import WHEN
from .reading import ScenarioError
from .scenario import Scenario

__all__ = ["WORLDS", "WorldKind", "check_world"]


_OF_MEMBERS: Final = ("poll", "assigned", "revoked", "delivery", "acknowledged")
"""Triggers that members tell of; the others stand in a broker's log."""

WORLDS: Final[dict[str, frozenset[WorldKind]]] = {
    **{name: row.worlds for name, row in ROWS.items()},
    **dict.fromkeys(ACTIONS, OURS),
    **{when: EVERYWHERE if when in _OF_MEMBERS else OURS for when in WHEN},
}
"""By verb, action of a request fault, or word of `when`: the worlds in which it can be."""


def check_world(scenario: Scenario, world: WorldKind) -> None:
    """Raise ScenarioError, naming file, line and verb, if something in a scenario cannot be in that
    world."""
    for what, line in _needs(scenario):
        there = WORLDS[what]
        if world not in there:
            where = " and ".join(sorted(each.value for each in there))
            raise ScenarioError(f"{line}: {what} cannot be in {world.value}, only in {where}")
    if scenario.metadata_delay_ms and world is WorldKind.KAFKA:
        raise ScenarioError(
            f"{scenario.lines['brokers']}: brokers.metadata_delay cannot be in {world.value}: its brokers are not ours"
        )
    if scenario.release is not NEWEST and world is WorldKind.KAFKA:
        raise ScenarioError(
            f"{scenario.lines['brokers']}: brokers.kafka_version cannot be in {world.value}: its brokers are of the release that they are"
        )


def _needs(scenario: Scenario) -> Iterator[tuple[str, str]]:
    for plan in scenario.faults:
        if plan.verb is not None:
            yield type(plan.verb).__name__, plan.line
        elif plan.member_verb is not None:
            yield plan.member_verb[0], plan.line
        elif plan.request is not None:
            yield plan.request.action.kind, plan.line
        if plan.trigger is not None:
            yield plan.trigger.when, plan.line
    for number, churn in enumerate(scenario.churn):
        if churn["when"] is not None:
            yield churn["when"], scenario.lines[f"churn {number}"]
