"""Next registration of a partition: elections, the ISR, eligible leader replicas and reassignments,
as in Kafka 4.4.0's PartitionChangeBuilder.

The order: a reassignment is completed if possible (REASN-2), the eligible leader replicas follow
from the ISR (KIP-966), and a leader is elected. Each change raises the partition epoch; the
leader epoch rises when the leader changes or a replica is removed. Does not know why a change is
wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from coordinator.events.cluster import PartitionChange, PartitionChanged

from ..model import Partition

NO_LEADER = -1


class Election(Enum):
    """Kind of a leader election: keep the leader if possible, prefer the first replica, or allow a
    replica that is not in sync (unclean).
    """

    ONLINE = "online"
    PREFERRED = "preferred"
    UNCLEAN = "unclean"


@dataclass(kw_only=True)
class Wanted:
    """The wanted state of a partition; None: unchanged. `min_isr`: the topic's min.insync.replicas;
    `eligible`: eligible leader replicas are kept (KIP-966); `acceptable`: whether a broker may
    lead; `unclean_shutdown`: brokers whose logs may have lost records.
    """

    acceptable: Callable[[int], bool]
    min_isr: int
    eligible: bool = True
    election: Election = Election.ONLINE
    isr: list[int] | None = None
    replicas: list[int] | None = None
    adding: list[int] | None = None
    removing: list[int] | None = None
    unclean_shutdown: Iterable[int] = field(default=())


def change(partition: Partition, wanted: Wanted, reason: str) -> PartitionChanged | None:
    """Return the event that brings a partition to the wanted state, or None if nothing changes."""
    target = _Target(partition, wanted)
    target.complete_reassignment()
    target.follow_with_elr()
    target.elect()
    return target.event(reason)


def without_eligible(partition: Partition, reason: str) -> PartitionChanged | None:
    """Return the event that clears the eligible leader replicas, or None if there are none. The
    leader stays as it is.
    """
    if not partition.elr and not partition.last_known_elr:
        return None
    return PartitionChanged(
        partition.topic,
        partition.index,
        PartitionChange.ELR_CHANGED,
        reason,
        partition.leader,
        partition.leader_epoch,
        partition.partition_epoch + 1,
        list(partition.replicas),
        list(partition.isr),
        [],
        [],
        list(partition.adding),
        list(partition.removing),
    )


class _Completed(NamedTuple):
    replicas: list[int]
    isr: list[int]


class _Target:
    """The partition's next registration under construction."""

    def __init__(self, partition: Partition, wanted: Wanted) -> None:
        self.before = partition
        self.wanted = wanted
        self.leader = partition.leader
        self.replicas = list(partition.replicas if wanted.replicas is None else wanted.replicas)
        self.isr = list(partition.isr if wanted.isr is None else wanted.isr)
        self.adding = list(partition.adding if wanted.adding is None else wanted.adding)
        self.removing = list(partition.removing if wanted.removing is None else wanted.removing)
        self.elr = list(partition.elr)
        self.last_known_elr = list(partition.last_known_elr)
        self.completed = False

    def complete_reassignment(self) -> None:
        """Complete a reassignment whose target replicas are all in sync (REASN-2)."""
        if not self.adding and not self.removing:
            return
        done = completed(self.replicas, self.isr, self.adding, self.removing)
        if done is not None:
            self.replicas, self.isr = done
            self.adding, self.removing = [], []
            self.completed = True

    def follow_with_elr(self) -> None:
        """Update the eligible leader replicas. Below min ISR, a replica that leaves the ISR stays
        eligible, unless its shutdown was unclean. Without the feature, the last in-sync replica
        stays in the ISR, and eligible replicas that remain are removed as they come into sync
        (ELR-1).
        """
        if not self.wanted.eligible:
            self.isr = self.isr or list(self.before.isr)
            self.elr = [node for node in self.elr if node not in self.isr]
            return
        if len(self.isr) >= min(self.wanted.min_isr, len(self.replicas)):
            self.elr, self.last_known_elr = [], []
            return
        unclean = set(self.wanted.unclean_shutdown)
        candidates = list(dict.fromkeys([*self.before.isr, *self.before.elr]))
        self.elr = [
            node
            for node in candidates
            if node not in self.isr and node not in unclean and node in self.replicas
        ]
        if not self.isr and self.before.isr:  # the first time that nobody is in sync: who led last
            self.last_known_elr = [self.before.leader] if self.before.leader != NO_LEADER else []

    def elect(self) -> None:
        """Choose the leader. A leader from outside the ISR becomes the only in-sync replica."""
        self.leader = self._leader()
        if self.leader != NO_LEADER and self.leader not in self.isr:
            if self.leader not in self.elr:  # unclean: what the others had beyond its log is lost
                self.elr = []
                self.last_known_elr = []
            self.isr = [self.leader]
            self.elr = [node for node in self.elr if node != self.leader]
            if not self.wanted.eligible:
                return
            self.last_known_elr = [node for node in self.last_known_elr if node != self.leader]
            if len(self.isr) >= min(self.wanted.min_isr, len(self.replicas)):
                self.elr, self.last_known_elr = [], []

    def _leader(self) -> int:
        preferred, current = self.replicas[0], self.before.leader
        if self.wanted.election is Election.PREFERRED and self._valid(preferred):
            return preferred
        if self._valid(current):
            return current
        found = next((node for node in self.replicas if self._valid(node)), NO_LEADER)
        if found != NO_LEADER or self.wanted.election is Election.PREFERRED:
            return found
        acceptable = self.wanted.acceptable
        if (
            self.wanted.eligible
            and not self.isr
            and not self.elr
            and len(self.last_known_elr) == 1
            and acceptable(self.last_known_elr[0])
        ):
            return self.last_known_elr[0]
        if self.wanted.election is Election.UNCLEAN:
            return next((node for node in self.replicas if acceptable(node)), NO_LEADER)
        return NO_LEADER

    def _valid(self, node: int) -> bool:
        return (node in self.isr or node in self.elr) and self.wanted.acceptable(node)

    def event(self, reason: str) -> PartitionChanged | None:
        before = self.before
        removed = any(node not in self.replicas for node in before.replicas)
        same = (
            self.leader == before.leader
            and self.replicas == before.replicas
            and self.isr == before.isr
            and self.elr == before.elr
            and self.last_known_elr == before.last_known_elr
            and self.adding == before.adding
            and self.removing == before.removing
        )
        if same and not removed:
            return None
        elected = self.leader != before.leader
        return PartitionChanged(
            before.topic,
            before.index,
            self._what(),
            reason,
            self.leader,
            before.leader_epoch + (elected or removed),
            before.partition_epoch + 1,
            self.replicas,
            self.isr,
            self.elr,
            self.last_known_elr,
            self.adding,
            self.removing,
        )

    def _what(self) -> PartitionChange:
        before = self.before
        if self.completed:
            return PartitionChange.REASSIGNMENT_COMPLETED
        if self.adding != before.adding or self.removing != before.removing:
            started = bool(self.adding or self.removing)
            return (
                PartitionChange.REASSIGNMENT_STARTED
                if started
                else PartitionChange.REASSIGNMENT_CANCELLED
            )
        if self.leader != before.leader:
            return (
                PartitionChange.LEADER_LOST
                if self.leader == NO_LEADER
                else PartitionChange.LEADER_ELECTED
            )
        if self.replicas != before.replicas:
            return PartitionChange.REPLICAS_REORDERED
        if set(self.isr) - set(before.isr):
            return PartitionChange.ISR_EXPANDED
        if set(before.isr) - set(self.isr):
            return PartitionChange.ISR_SHRUNK
        return PartitionChange.ELR_CHANGED


def completed(
    replicas: list[int], isr: list[int], adding: list[int], removing: list[int]
) -> _Completed | None:
    """Return replicas and ISR after a reassignment if every target replica is in sync (REASN-2),
    else None.

    A broker that is both adding and removing can never be in the next ISR, so such a
    reassignment can only be cancelled.
    """
    next_replicas = [node for node in replicas if node not in removing]
    next_isr = [node for node in isr if node not in removing]
    if (
        not next_replicas
        or not next_isr
        or any(node not in next_isr for node in (*next_replicas, *adding))
    ):
        return None
    return _Completed(next_replicas, next_isr)
