"""What a run cost its groups, read from the event log alone, and how variants compare over many seeds.

Owns the measures and their statistics. A partition counts as unavailable from its first owner on, whenever no member's application
has it by its own word. Does not depend on brokers, members and the world.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import comb
from typing import Any, NamedTuple

from ..judges.consumer_groups import ConsumerGroups, GroupSeen

Line = dict[str, Any]
_GONE = frozenset({"MemberCrashed", "MemberClosed"})


class Measures(NamedTuple):
    """One run."""

    rebalances: float
    unavailable_partition_s: float
    moved_partitions: float
    rebalancing_s: float


NAMES = ("rebalances", "unavailable partition-s", "moved partitions", "time to stable, s")


def measure(lines: Iterable[Line]) -> Measures:
    """The costs of all groups of a run together. `rebalancing_s`: the time from each RebalanceStarted to the GenerationStored after it.

    A consumer group's rebalances are its new assignments, and it rebalances from the bump of its epoch until all are reconciled.
    """
    owner: dict[tuple[str, str, int], str | None] = {}
    assigned_to: dict[tuple[str, str, int], str] = {}
    busy_since: dict[str, int] = {}
    consumers, clients = ConsumerGroups(), dict[tuple[str, str], str]()
    rebalances = moved = busy_ms = unavailable_ms = last_ms = 0
    for line in lines:
        unavailable_ms += (line["at_ms"] - last_ms) * sum(each is None for each in owner.values())
        last_ms = line["at_ms"]
        kind, group = line["type"], line.get("group", "")
        if line["stream"] == "member":
            _owned(line, owner)
        elif kind == "RebalanceStarted":
            busy_since.setdefault(group, last_ms)
        elif kind == "GenerationStarted" or (kind == "TargetAssigned" and line["assignor"] is not None):
            rebalances += 1
        elif (seen := consumers.see(line)) is not None:
            moved += _moved_to(line, seen, clients, assigned_to)
            if kind == "GroupEpochBumped":
                busy_since.setdefault(group, last_ms)
            if seen.rests():
                busy_ms += last_ms - busy_since.pop(group, last_ms)
        elif kind == "GenerationStored":
            busy_ms += last_ms - busy_since.pop(group, last_ms)
            moved += _moved(line, assigned_to)
    return Measures(rebalances, unavailable_ms / 1000, moved, busy_ms / 1000)


def _owned(line: Line, owner: dict[tuple[str, str, int], str | None]) -> None:
    kind, client = line["type"], line["client"]
    for row in line.get("partitions", ()):
        key = (line["group"], row["topic"], row["partition"])
        if kind == "PartitionsAssigned":
            owner[key] = client
        elif owner.get(key) == client:
            owner[key] = None
    if kind in _GONE:
        for key, holder in owner.items():
            if holder == client:
                owner[key] = None


def _moved(line: Line, assigned_to: dict[tuple[str, str, int], str]) -> int:
    from ..judges.ownership import owners_of

    clients = {member["member_id"]: member["client_id"] for member in line["members"]}
    moved = 0
    for (topic, number), members in owners_of(line).items():
        key, client = (line["group"], topic, number), clients[members[0]]
        moved += assigned_to.get(key, client) != client
        assigned_to[key] = client
    return moved


def _moved_to(
    line: Line, seen: GroupSeen, clients: dict[tuple[str, str], str], assigned_to: dict[tuple[str, str, int], str]
) -> int:
    """How many of the partitions that a member of a consumer group has now another client had before."""
    kind, group = line["type"], line["group"]
    member: str = line.get("member", "")
    if kind == "ConsumerMemberSubscribed":
        clients[group, member] = line["client_id"]
    elif kind == "ConsumerMemberReplaced":
        clients[group, member] = line["subscription"]["client_id"]
    if kind != "ConsumerMemberReconciled":
        return 0
    moved, client = 0, clients.get((group, member), member)
    for topic, number in seen.members[member].held:
        key = (group, topic, number)
        moved += assigned_to.get(key, client) != client
        assigned_to[key] = client
    return moved


class Estimate(NamedTuple):
    """A median and the 95 % interval around it; the interval is the whole range where there are too few values for that."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.median:.4g} [{self.low:.4g}, {self.high:.4g}]"


def estimate(values: Sequence[float]) -> Estimate:
    """The median of some values and its interval by ranks, which holds for any distribution (the sign test)."""
    ranked, count = sorted(values), len(values)
    rank, below = 0, 0.0
    while (below := below + comb(count, rank) / 2**count) <= 0.025:
        rank += 1
    rank = max(rank - 1, 0)
    middle = (ranked[(count - 1) // 2] + ranked[count // 2]) / 2
    return Estimate(middle, ranked[rank], ranked[count - 1 - rank])
