"""What a test reads of a group, each property a look at one instant: the same here and at the other end of a control port."""

from __future__ import annotations

from collections.abc import Mapping

from .snapshots import CommittedOffset, GroupSnapshot, MemberSnapshot, TopicPartition


class GroupLooks:
    """A group as it is now. `snapshot` is given by the class that inherits this."""

    def snapshot(self) -> GroupSnapshot:
        """Everything about the group at this instant."""
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
    def members(self) -> tuple[MemberSnapshot, ...]:
        """Its members, in the order in which Kafka shows them."""
        return self.snapshot().members

    def member(self, name: str) -> MemberSnapshot:
        """The member with this member id, instance id or client id, or a beginning that only one has. Raises LookupError."""
        return self.snapshot().member(name)

    @property
    def committed(self) -> Mapping[TopicPartition, CommittedOffset]:
        """Committed offsets: `group.committed["orders", 0].offset`."""
        return self.snapshot().committed

    @property
    def lag(self) -> Mapping[TopicPartition, int]:
        """Records behind the end, by partition that is committed or assigned."""
        return self.snapshot().lag

    def __repr__(self) -> str:
        return f"<{self.snapshot()}>"
