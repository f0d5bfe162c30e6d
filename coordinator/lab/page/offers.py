"""The actions that the page offers for a scenario, and the members that each can have as target.

An action that would always be refused is left out: a twin of a dynamic member, another broker
where there is one, a SyncGroup of a member that sends none (KIP-848). Reads the scenario alone.
"""

from __future__ import annotations

from typing import Final

from ..simulator.files.model import MemberKind, Scenario, members_of
from ..simulator.files.share_kinds import ShareKind
from .actions import ACTIONS, OF_SHARE, WITHOUT_MEMBER

_SEVERAL_BROKERS: Final = frozenset({"move_coordinator", "reassign"})
_CLASSIC: Final = frozenset({"slow_assignor", "commit"})


def offers(scenario: Scenario) -> dict[str, list[str] | None]:
    """Return the possible actions by kind, each with its possible members; None if it needs no
    member."""
    found: dict[str, list[str] | None] = {}
    for kind in ACTIONS:
        if kind in WITHOUT_MEMBER:
            if scenario.brokers > 1 or kind not in _SEVERAL_BROKERS:
                found[kind] = None
            continue
        members = [name for row in scenario.kinds if _fits(kind, row) for name in members_of(row)]
        if members:
            found[kind] = members
    return found


def _fits(kind: str, row: MemberKind | ShareKind) -> bool:
    if isinstance(row, ShareKind):
        return kind in OF_SHARE
    if kind == "twin":
        return row.static
    return kind not in _CLASSIC or row.properties.get("group.protocol") != "consumer"
