"""Conditions of a group as data: what a test waits for, and what a group still lacks.

    GroupExpectation(state="Stable", members=2, assigned="all").unmet(group, topics)      # () when it is met

This module owns the fields and their checks. It does not wait: the caller asks again whenever
something has happened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from coordinator.base.counting import how_many

from ..arguments import MOST
from ..faults import PHASES, FaultError, choose
from ..in_process_requests import ControlError
from ..views.group_snapshots import GroupSnapshot, MemberSnapshot, TopicPartition, partitions_text

STATES = (*dict.fromkeys(PHASES.values()),)
"""The states of groups, classic and KIP-848, as Kafka spells them."""

ALL = "all"
_REBALANCING = ("PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling")


class ExpectationError(ValueError):
    """An expectation is impossible; the message names the wrong argument, and the values that
    are right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupExpectation:
    """A condition of one group. Fields that are None do not matter; all others must hold at the
    same instant.

    `members`: the exact number of members. `generation_above`: the generation (group epoch) is higher.
    `assigned` (never true during a rebalance): "all", or partitions by member as (topic, index)
    or "topic-index". "all" means that every partition of the subscribed topics has exactly one
    owner; in a share group one or more, and every member is at the group's epoch. `committed`:
    offsets at least as high, by partition. `lag`: the highest total lag over all partitions.
    `acted`: every member fetched from or committed for each of its partitions since
    it got them; in a share group it asks for their records. `heard` (weaker): the group is
    Stable and every member has sent a heartbeat since it got its assignment.
    """

    state: str | None = None
    members: int | None = None
    generation_above: int | None = None
    assigned: str | Mapping[str, Iterable[TopicPartition | str]] | None = None
    committed: Mapping[TopicPartition, int] | None = None
    lag: int | None = None
    acted: bool | None = None
    heard: bool | None = None

    def __post_init__(self) -> None:
        if self.state is not None:
            try:
                word = choose(self.state, [*PHASES, *STATES], "state of a group")
            except FaultError as error:
                raise ExpectationError(str(error)) from None
            object.__setattr__(self, "state", PHASES.get(word, word))
        for name in ("members", "generation_above", "lag"):
            value = getattr(self, name)
            least = -1 if name == "generation_above" else 0
            if value is not None and (
                not isinstance(value, int) or isinstance(value, bool) or value < least
            ):
                raise ExpectationError(f"{name}: {value!r}; a whole number from {least} on")
        if isinstance(self.assigned, Mapping):
            rows = {name: _rows(name, partitions) for name, partitions in self.assigned.items()}
            object.__setattr__(self, "assigned", rows)
        elif self.assigned is not None and self.assigned != ALL:
            raise ExpectationError(f'assigned: {self.assigned!r}; "all", or partitions by member')
        if self.committed is not None:
            if not isinstance(self.committed, Mapping):
                raise ExpectationError(
                    f'committed: {self.committed!r}; a mapping is meant, such as {{("orders", 0): 10}}'
                )
            wanted: Mapping[Any, Any] = self.committed
            for key, offset in wanted.items():
                partition_of(key)
                if (
                    not isinstance(offset, int)
                    or isinstance(offset, bool)
                    or not 0 <= offset <= MOST
                ):
                    raise ExpectationError(
                        f"committed: {key!r}: {offset!r}; a whole number from 0 on, at most {MOST}"
                    )
        for name in ("acted", "heard"):
            flag: object = getattr(self, name)
            if flag is not None and not isinstance(flag, bool):
                raise ExpectationError(f"{name}: {flag!r}; true or false")
        self._check_sense()

    def _check_sense(self) -> None:
        """Raise ExpectationError for a condition that names nothing or contradicts itself."""
        for name in ("assigned", "committed"):
            if getattr(self, name) == {}:
                raise ExpectationError(
                    f"{name}: {{}}; nothing is named in it, so there is nothing to wait for"
                )
        if self.state in ("Empty", "Dead") and self.members:
            raise ExpectationError(
                f"a group that is {self.state} has no members: members={self.members} is impossible"
            )
        if self.state in _REBALANCING and self.members == 0:
            raise ExpectationError(f"a group without members is Empty, not {self.state}")
        if self.state in _REBALANCING and self.assigned is not None:
            raise ExpectationError(
                f"assigned: the assignment of a group that is {self.state} is not in force; leave assigned out, or wait for Stable"
            )
        if self.heard and self.state not in (None, "Stable", "Empty", "Dead"):
            raise ExpectationError(
                f"heard: this needs a Stable group, but state is {self.state}; leave one of them out"
            )
        if isinstance(self.assigned, Mapping):
            self._check_owners(self.assigned)
        if self.state == "Stable" and self.members == 0:
            raise ExpectationError("a group without members is Empty, not Stable")
        if self.state in ("Empty", "Dead") or self.members == 0:
            for name in ("assigned", "acted", "heard"):
                if getattr(self, name):
                    raise ExpectationError(
                        f"a group without members has no assignment: leave {name} out"
                    )

    def _check_owners(self, assigned: Mapping[str, Iterable[TopicPartition | str]]) -> None:
        """Raise ExpectationError for a partition with two owners, and for more members in
        `assigned` than `members` allows."""
        owners: dict[TopicPartition, str] = {}
        for name, rows in assigned.items():
            for partition in map(partition_of, rows):
                owner = owners.setdefault(partition, name)
                if owner != name:
                    raise ExpectationError(
                        f"assigned: {_text(partition)} is expected at {owner} and at {name}, but a partition has one owner"
                    )
        if self.members is not None and len(assigned) > self.members:
            raise ExpectationError(
                f"assigned names {how_many(len(assigned), 'member')} ({', '.join(assigned)}), but members is {self.members}"
            )

    @property
    def is_empty(self) -> bool:
        """Return True if the expectation has no condition."""
        return all(getattr(self, entry.name) is None for entry in fields(self))

    def check_possible(
        self, check_partition: Callable[[str, int], None], most_members: int
    ) -> None:
        """Raise ExpectationError for an impossible condition: a partition that does not exist,
        more members than a group may have."""
        named = (
            [row for rows in self.assigned.values() for row in rows]
            if isinstance(self.assigned, Mapping)
            else []
        )
        for topic, index in map(partition_of, [*named, *(self.committed or ())]):
            try:
                check_partition(topic, index)
            except ControlError as error:
                raise ExpectationError(str(error)) from None
        if (self.members or 0) > most_members:
            raise ExpectationError(
                f"members: {self.members}; this group can have {most_members} (group.max.size, group.consumer.max.size)"
            )

    def unmet(
        self, group: GroupSnapshot, partitions_of: Callable[[str], int | None]
    ) -> tuple[str, ...]:
        """Return what the group still lacks, as phrases. `partitions_of`: returns the number of
        partitions of a topic, or None if it does not exist."""
        missing: list[str] = []
        if self.state is not None and group.state != self.state:
            missing.append(f"the state is {group.state}, not {self.state}")
        if self.members is not None and len(group.members) != self.members:
            missing.append(
                f"it has {len(group.members)} member{'' if len(group.members) == 1 else 's'}, not {self.members}"
            )
        if self.generation_above is not None and group.generation <= self.generation_above:
            missing.append(f"generation {group.generation} is not above {self.generation_above}")
        if self.assigned is not None and group.state in _REBALANCING:
            missing.append(f"the state is {group.state}: the assignment is not in force")
        if self.assigned == ALL:
            missing += _not_all_assigned(group, partitions_of)
        elif isinstance(self.assigned, Mapping):
            missing += _not_assigned(group, self.assigned)
        for key, offset in (self.committed or {}).items():
            found = group.committed.get(partition_of(key))
            if found is None or found.offset < offset:
                missing.append(
                    f"{_text(partition_of(key))} is committed at {'nothing' if found is None else found.offset}, not {offset}"
                )
        if self.lag is not None:
            missing += _behind(group, self.lag)
        if self.acted:
            missing += [
                f"{m.name} has not acted on {_assignment(m)} yet"
                for m in group.members
                if not m.acted
            ]
            if not group.members:
                missing.append("there is no member that could act")
        if self.heard:
            silent = [m for m in group.members if not m.heard]
            missing += [
                f"{m.name} has sent no heartbeat since it was assigned {_assignment(m)}"
                for m in silent
            ]
            if not group.members:
                missing.append("there is no member that could send a heartbeat")
        return tuple(missing)

    def __str__(self) -> str:
        parts = [
            f"{entry.name}={getattr(self, entry.name)!r}"
            for entry in fields(self)
            if getattr(self, entry.name) is not None
        ]
        return ", ".join(parts) or "nothing"


def _not_all_assigned(
    group: GroupSnapshot, partitions_of: Callable[[str], int | None]
) -> list[str]:
    topics = sorted({topic for member in group.members for topic in member.topics})
    if not topics:
        return ["no member subscribes to a topic"]
    owners = group.assigned()
    missing = []
    for topic in topics:
        count = partitions_of(topic)
        if count is None:
            missing.append(f"topic {topic} does not exist")
            continue
        unowned = tuple((topic, index) for index in range(count) if (topic, index) not in owners)
        if unowned:
            missing.append(f"no member owns {partitions_text(unowned)}")
    twice = tuple(partition for partition, members in owners.items() if len(members) > 1)
    if group.type == "share":
        missing += [
            f"{member.name} is not at epoch {group.generation} yet"
            for member in group.members
            if member.epoch != group.generation
        ]
    elif twice:
        missing.append(f"more than one member owns {partitions_text(twice)}")
    return missing


def _not_assigned(
    group: GroupSnapshot, wanted: Mapping[str, Iterable[TopicPartition | str]]
) -> list[str]:
    missing = []
    for name, partitions in wanted.items():
        try:
            member = group.member(name)
        except LookupError as error:
            missing.append(str(error))
            continue
        expected = tuple(sorted(partition_of(partition) for partition in partitions))
        if tuple(sorted(member.assignment or ())) != expected:
            missing.append(
                f"{member.name} owns {_assignment(member)}, not {partitions_text(expected) or 'nothing'}"
            )
    return missing


def _rows(name: str, partitions: Iterable[TopicPartition | str]) -> list[TopicPartition | str]:
    """Return the partitions of a member as a list. Raises ExpectationError."""
    given: object = name
    if not isinstance(given, str) or not given:
        raise ExpectationError(
            f"assigned: {name!r} is no name of a member: a member id, instance id, client id or the beginning of one is"
        )
    if isinstance(partitions, str) or not isinstance(partitions, Iterable):
        raise ExpectationError(
            f"assigned: of {name}: {partitions!r}; a list of partitions is meant, such as ['orders-0']"
        )
    rows = list(partitions)
    for row in rows:
        partition_of(row)
    return rows


def _behind(group: GroupSnapshot, most: int) -> list[str]:
    behind = sum(group.lag.values())
    if not group.lag:
        return ["there is no lag, because nothing is committed or assigned"]
    if behind <= most:
        return []
    where = ", ".join(f"{_text(key)} by {lag}" for key, lag in sorted(group.lag.items()) if lag)
    return [f"it is {how_many(behind, 'record')} behind ({where})"]


def _assignment(member: MemberSnapshot) -> str:
    return partitions_text(member.assignment or ()) or "nothing"


def _text(partition: TopicPartition) -> str:
    return f"{partition[0]}-{partition[1]}"


def partition_of(given: Any) -> TopicPartition:
    """Return a partition given as (topic, index), "topic-index", or an object with `topic` and
    `partition`."""
    if isinstance(given, str):
        topic, dash, index = given.rpartition("-")
        if not dash or not index.isdecimal():
            raise ExpectationError(f"{given!r} is no partition: (topic, index) or 'topic-index' is")
        return topic, int(index)
    if hasattr(given, "topic") and hasattr(given, "partition"):
        return given.topic, given.partition
    try:
        topic, index = given
    except (TypeError, ValueError):
        raise ExpectationError(
            f"{given!r} is no partition: (topic, index) or 'topic-index' is"
        ) from None
    if not isinstance(topic, str) or not isinstance(index, int) or isinstance(index, bool):
        raise ExpectationError(f"{given!r} is no partition: (topic, index) or 'topic-index' is")
    return topic, index
