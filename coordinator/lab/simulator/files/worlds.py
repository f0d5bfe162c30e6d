"""The worlds in which each verb, fault and setting of a scenario is possible.

    virtual     brokers and members in one process, in virtual time
    emulator    our brokers on real sockets, with our members (`--live`)
    kafka       any Kafka, with our members (`--live --bootstrap`); its brokers cannot be disturbed

Actions on a member's process, host and links are possible everywhere, because members are always
ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from coordinator.base.releases import NEWEST
from coordinator.kit.faults import ACTIONS
from coordinator.verbs.row import EVERYWHERE, OURS, ROWS, WorldKind

from ..conditions import OF_MEMBERS as STATES_OF_MEMBERS
from ..conditions import Kind, condition
from ..triggers import WHEN
from ..whom import group_led, listed
from .model import Scenario
from .reading import ScenarioError
from .security_keys import ACL_VERBS, GRANT, REVOKE
from .wires_keys import CUT_ZONE

__all__ = ["WORLDS", "WorldKind", "check_world"]


_OF_MEMBERS: Final = ("poll", "assigned", "revoked", "delivery", "acknowledged")
"""Triggers that are lines of members; the others are lines of brokers."""

LEADER: Final = "leader of GROUP"
WORLDS: Final[dict[str, frozenset[WorldKind]]] = {
    **{name: row.worlds for name, row in ROWS.items()},
    **dict.fromkeys(ACTIONS, OURS),
    **{when: EVERYWHERE if when in _OF_MEMBERS else OURS for when in WHEN},
    **{kind.value: EVERYWHERE if kind in STATES_OF_MEMBERS else OURS for kind in Kind},
    LEADER: OURS,
    CUT_ZONE: OURS,
    **dict.fromkeys(ACL_VERBS, frozenset({WorldKind.VIRTUAL})),
}
"""By verb, action of a request fault, word of `when`, or word for a target: the worlds in which
it is possible."""


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
    if scenario.rights is not None and world is not WorldKind.VIRTUAL:
        raise ScenarioError(
            f"{scenario.lines['security']}: security.acls cannot be in {world.value}, only in {WorldKind.VIRTUAL.value}: "
            "its clients have no login"
        )
    of_brokers = {"zones": scenario.wires.zones, "requests_per_second": scenario.broker_capacity}
    for key, value in of_brokers.items():
        if value and world is WorldKind.KAFKA:
            raise ScenarioError(
                f"{scenario.lines['brokers']}: brokers.{key} cannot be in {world.value}: its brokers are not ours"
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
        elif plan.later is not None:
            yield plan.later[0], plan.line
        elif plan.acls is not None:
            yield GRANT if plan.acls.grants else REVOKE, plan.line
        if plan.trigger is not None:
            yield _waited_for(plan.trigger.when), plan.line
        if plan.member_verb is not None and _led(plan.member_verb[1]["member"]):
            yield LEADER, plan.line
    for number, churn in enumerate(scenario.churn):
        line = scenario.lines[f"churn {number}"]
        if churn["when"] is not None:
            yield _waited_for(churn["when"]), line
        if _led(churn["members"]):
            yield LEADER, line


def _waited_for(when: str) -> str:
    """Return the row of the table for a word of `when`."""
    state = condition(when)
    return when if state is None else state.kind.value


def _led(whom: object) -> bool:
    return any(group_led(str(each)) is not None for each in listed(whom))
