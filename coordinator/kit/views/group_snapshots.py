"""A group as a test sees it: plain values, read from the coordinator at one instant, the same in
Python, over HTTP and in `coordinator ctl`.

This module owns the values and their text. They hold nothing of the coordinator: a snapshot may
be kept, compared, sent as JSON (`to_plain`) and rebuilt (`from_plain`). `group_views.py` makes
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

TopicPartition = tuple[str, int]


class CommittedOffset(NamedTuple):
    """A committed offset: the next record to read, the commit's metadata, and its instant."""

    offset: int
    metadata: str = ""
    leader_epoch: int = -1
    committed_ms: int = 0


class MemberSnapshot(NamedTuple):
    """One member. `assignment`: its partitions; None before it has an assignment, or if the bytes
    cannot be read.

    `last_seen_ms`: the instant when its session was last renewed. `waits_for`: the API of its
    parked request, such as JoinGroup, or None. `acted`: True if it fetched from, or committed
    for, each of its partitions since it got them. `connected`: True if its client has an open
    connection. `heard`: True if it has sent a heartbeat since it got its assignment, as far as a
    test waits for that.
    """

    member_id: str
    client_id: str
    client_host: str
    instance_id: str | None
    topics: tuple[str, ...]
    assignment: tuple[TopicPartition, ...] | None
    last_seen_ms: int
    waits_for: str | None = None
    acted: bool = False
    connected: bool = False
    epoch: int | None = None
    heard: bool = False

    @property
    def name(self) -> str:
        """The member's name in sentences: its instance id, else its client id with the beginning
        of the unique part of its member id."""
        if self.instance_id is not None:
            return self.instance_id
        unique = self.member_id.removeprefix(f"{self.client_id}-")
        return f"{self.client_id}-{unique[:8]}" if self.client_id else self.member_id[:8]


class GroupSnapshot(NamedTuple):
    """One group. `generation`: in a KIP-848 group the group epoch. `lag`: records behind the
    end, for each partition that is committed or assigned. `coordinator`: id of the broker that
    coordinates it (or would, if it existed); None while no broker does."""

    group_id: str
    state: str
    type: str = "classic"
    generation: int = 0
    leader: str | None = None
    assignor: str | None = None
    members: tuple[MemberSnapshot, ...] = ()
    committed: Mapping[TopicPartition, CommittedOffset] = {}
    lag: Mapping[TopicPartition, int] = {}
    at_ms: int = 0
    waiting_for: str = ""  # whom everybody waits for and why, in words; "" when nobody waits
    coordinator: int | None = None

    @property
    def exists(self) -> bool:
        """Return True if the group exists."""
        return self.state != "Dead"

    def member(self, name: str) -> MemberSnapshot:
        """Return the member with this member id, instance id or client id, or with a unique
        beginning of one. Raises LookupError."""
        return find_member(self.members, name, self.group_id)

    def assigned(self) -> dict[TopicPartition, list[str]]:
        """Return the member ids that own each partition."""
        owners: dict[TopicPartition, list[str]] = {}
        for member in self.members:
            for partition in member.assignment or ():
                owners.setdefault(partition, []).append(member.member_id)
        return owners

    def __str__(self) -> str:
        if not self.exists:
            return f"group {self.group_id!r} does not exist"
        count = len(self.members)
        number = "generation" if self.type == "classic" else "epoch"
        text = f"group {self.group_id!r} is {self.state} in {number} {self.generation}"
        text += f" with {count} member{'' if count == 1 else 's'}"
        if self.members:
            text += ": " + "; ".join(_told(member) for member in self.members)
        return f"{text}; {self.waiting_for}" if self.waiting_for else text


def _told(member: MemberSnapshot) -> str:
    if member.assignment is None:
        has = "nothing assigned yet"
    elif not member.assignment:
        has = "no partitions"
    else:
        has = partitions_text(member.assignment)
    waits = f", waits in {member.waits_for}" if member.waits_for else ""
    return f"{member.name} has {has}{waits}{'' if member.connected else ', not connected'}"


def partitions_text(partitions: tuple[TopicPartition, ...]) -> str:
    """Return partitions in short form: "orders 0-2 5, payments 0"."""
    by_topic: dict[str, list[int]] = {}
    for topic, index in sorted(partitions):
        by_topic.setdefault(topic, []).append(index)
    return ", ".join(f"{topic} {_ranges(indexes)}" for topic, indexes in by_topic.items())


def _ranges(indexes: list[int]) -> str:
    runs: list[list[int]] = []
    for index in indexes:
        if runs and index == runs[-1][1] + 1:
            runs[-1][1] = index
        else:
            runs.append([index, index])
    return " ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def find_member(members: tuple[MemberSnapshot, ...], name: str, group_id: str) -> MemberSnapshot:
    """Return the one member that a name means: an exact member id, instance id or client id,
    else a unique beginning. Raises LookupError."""
    if not isinstance(name, str):
        raise LookupError(
            f"{name!r} is no name of a member: a member id, instance id, client id or the beginning of one is"
        )
    for exact in (True, False):
        found = [member for member in members if _is_called(member, name, exact)]
        if len(found) == 1:
            return found[0]
        if found:
            raise LookupError(
                f"{name!r} is {len(found)} members of group {group_id!r}: {', '.join(m.member_id for m in found)}"
            )
    if not members:
        raise LookupError(f"no member {name!r} in group {group_id!r}: it has no members")
    known = ", ".join(member.member_id for member in members)
    raise LookupError(f"no member {name!r} in group {group_id!r}; its members: {known}")


def _is_called(member: MemberSnapshot, name: str, exact: bool) -> bool:
    names = [member.member_id, member.client_id, member.instance_id or ""]
    return name in names if exact else bool(name) and any(full.startswith(name) for full in names)


def to_plain(group: GroupSnapshot) -> dict[str, Any]:
    """Return a group as JSON values."""

    def rows(table: Mapping[TopicPartition, Any]) -> list[dict[str, Any]]:
        return [
            {"topic": topic, "partition": index, **_row(value)}
            for (topic, index), value in table.items()
        ]

    plain = group._asdict()
    plain["members"] = [
        member._asdict()
        | {
            "assignment": None
            if member.assignment is None
            else [list(p) for p in member.assignment]
        }
        for member in group.members
    ]
    return plain | {"committed": rows(group.committed), "lag": rows(group.lag), "text": str(group)}


def _row(value: Any) -> dict[str, Any]:
    return dict(value._asdict()) if isinstance(value, CommittedOffset) else {"lag": value}


def from_plain(plain: Mapping[str, Any]) -> GroupSnapshot:
    """Return the group for which `to_plain` returned these values."""
    values = {name: plain[name] for name in GroupSnapshot._fields if name in plain}
    values["members"] = tuple(
        MemberSnapshot(
            **row
            | {
                "topics": tuple(row["topics"]),
                "assignment": None
                if row["assignment"] is None
                else tuple((topic, index) for topic, index in row["assignment"]),
            }
        )
        for row in plain["members"]
    )
    values["committed"] = {
        (row["topic"], row["partition"]): CommittedOffset(
            **{name: row[name] for name in CommittedOffset._fields}
        )
        for row in plain["committed"]
    }
    values["lag"] = {(row["topic"], row["partition"]): row["lag"] for row in plain["lag"]}
    return GroupSnapshot(**values)
