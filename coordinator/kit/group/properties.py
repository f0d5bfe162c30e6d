"""A test's view of a group, each property a look at one instant: the same here and at the other
end of a control port."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from ..views.group_snapshots import CommittedOffset, GroupSnapshot, MemberSnapshot, TopicPartition

V = TypeVar("V")


class NoOffsetError(KeyError):
    """A partition of which a group has nothing: the text says of which it has."""

    def __str__(self) -> str:
        return str(self.args[0])


class _ByPartition(dict[TopicPartition, V]):
    """Values by partition; one that is not there is told with those that are."""

    def __init__(self, values: Mapping[TopicPartition, V], what: str) -> None:
        super().__init__(values)
        self._what = what

    def __missing__(self, key: object) -> V:
        if not isinstance(key, tuple) or len(key) != 2:
            raise NoOffsetError(
                f"{key!r} is no partition: give the topic and the index, such as committed['orders', 0]"
            )
        there = ", ".join(f"{topic}-{index}" for topic, index in sorted(self)) or "none"
        raise NoOffsetError(f"{self._what} of {key[0]}-{key[1]}; there is of: {there}")


class GroupLooks:
    """A group as it is now. `snapshot` and `rebalances` are given by the class that inherits
    this."""

    def snapshot(self) -> GroupSnapshot:
        """Everything about the group at this instant."""
        raise NotImplementedError

    @property
    def rebalances(self) -> list[dict[str, Any]]:
        """Its rebalances so far: why each began (`because`), when, how long its phases took, who
        got and lost what. None: an empty list.

        They are those of `coordinator explain --format json` (docs/event_log.md). In a consumer
        group (KIP-848) each group epoch is one.
        """
        raise NotImplementedError

    @property
    def state(self) -> str:
        """Its state as Kafka spells it; Dead if there is no such group."""
        return self.snapshot().state

    @property
    def generation(self) -> int:
        """The number of its current membership agreement; of a KIP-848 group its epoch."""
        return self.snapshot().generation

    @property
    def coordinator(self) -> int | None:
        """The id of the broker that coordinates it, or would; None while no broker does."""
        return self.snapshot().coordinator

    @property
    def members(self) -> tuple[MemberSnapshot, ...]:
        """Its members, in the order in which Kafka shows them."""
        return self.snapshot().members

    def member(self, name: str) -> MemberSnapshot:
        """The member with this member id, instance id or client id, or a beginning that only one
        has. Raises LookupError."""
        return self.snapshot().member(name)

    @property
    def committed(self) -> Mapping[TopicPartition, CommittedOffset]:
        """Committed offsets: `group.committed["orders", 0].offset`. A partition without one:
        NoOffsetError, a KeyError."""
        seen = self.snapshot()
        return _ByPartition(seen.committed, f"group {seen.group_id!r} has no committed offset")

    @property
    def lag(self) -> Mapping[TopicPartition, int]:
        """Records behind the end, by partition that is committed or assigned. Of another:
        NoOffsetError, a KeyError."""
        seen = self.snapshot()
        return _ByPartition(
            seen.lag, f"group {seen.group_id!r} has neither an assignment nor a committed offset"
        )

    def __repr__(self) -> str:
        return f"<{self.snapshot()}>"
