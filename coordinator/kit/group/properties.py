"""Properties of a group as a test sees it, each at one instant. `GroupHandle` and the remote kit
share them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from ..views.group_snapshots import CommittedOffset, GroupSnapshot, MemberSnapshot, TopicPartition

V = TypeVar("V")


class NoOffsetError(KeyError):
    """The group has nothing for this partition; the text names the partitions that it has
    something for."""

    def __str__(self) -> str:
        return str(self.args[0])


class _ByPartition(dict[TopicPartition, V]):
    """Values by partition. The error for a missing partition names the partitions that exist."""

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
    """Properties of a group. Subclasses define `snapshot` and `rebalances`."""

    def snapshot(self) -> GroupSnapshot:
        """Return the whole state of the group at this instant."""
        raise NotImplementedError

    @property
    def rebalances(self) -> list[dict[str, Any]]:
        """The rebalances so far: the reason (`because`), the time, the duration of the phases, and
        the partitions that each member got and lost. Empty if there was none.

        The values are those of `coordinator explain --format json` (docs/event_log.md). In a
        consumer group (KIP-848) each group epoch is one rebalance.
        """
        raise NotImplementedError

    @property
    def state(self) -> str:
        """The group's state, spelled as Kafka does; "Dead" if the group does not exist."""
        return self.snapshot().state

    @property
    def generation(self) -> int:
        """The generation; in a KIP-848 group the group epoch."""
        return self.snapshot().generation

    @property
    def coordinator(self) -> int | None:
        """The id of the broker that coordinates the group (or would, if it existed); None while
        no broker does."""
        return self.snapshot().coordinator

    @property
    def members(self) -> tuple[MemberSnapshot, ...]:
        """The members, in the order in which Kafka lists them."""
        return self.snapshot().members

    def member(self, name: str) -> MemberSnapshot:
        """Return the member with this member id, instance id or client id, or with a unique
        beginning of one. Raises LookupError."""
        return self.snapshot().member(name)

    @property
    def committed(self) -> Mapping[TopicPartition, CommittedOffset]:
        """Committed offsets: `group.committed["orders", 0].offset`. For a partition without one
        raises NoOffsetError, a KeyError."""
        seen = self.snapshot()
        return _ByPartition(seen.committed, f"group {seen.group_id!r} has no committed offset")

    @property
    def lag(self) -> Mapping[TopicPartition, int]:
        """Records behind the end, for each partition that is committed or assigned. For any
        other raises NoOffsetError, a KeyError."""
        seen = self.snapshot()
        return _ByPartition(
            seen.lag, f"group {seen.group_id!r} has neither an assignment nor a committed offset"
        )

    def __repr__(self) -> str:
        return f"<{self.snapshot()}>"
