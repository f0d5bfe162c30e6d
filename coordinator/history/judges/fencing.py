"""Judges fencing by epochs: a producer that starts with a transactional id gets a new, higher
epoch, and a member of a consumer group (KIP-848) is answered only at its own epoch or the one
before."""

from __future__ import annotations

from typing import Final

from coordinator.events.availability import LogTruncated
from coordinator.events.groups import GroupDeleted, GroupLoaded
from coordinator.events.groups.consumer import (
    ConsumerMemberReconciled,
    ConsumerMemberRemoved,
    ConsumerMemberReplaced,
    MembershipReset,
    PreviousEpochAccepted,
)
from coordinator.events.handlers import on
from coordinator.events.transactions import (
    ProducerInitialized,
    TransactionalIdDeleted,
    TransactionalIdExpired,
    TransactionCompleted,
    TransactionPrepared,
)

from .base import Judge, Line

_ANEW: Final = -1


class EpochsFence(Judge):
    """Judges that a producer that starts gets a higher epoch than any before it."""

    name = "epochs_fence"
    promise = (
        "a producer that starts with a transactional id gets a new producer id, or a higher epoch than any producer before it, so "
        "that the former one is fenced (KIP-98). Only a producer that asks again with its own id and epoch may get the same epoch "
        "again (KIP-360)"
    )
    needs = frozenset({"transaction"})
    unasked = True

    def __init__(self) -> None:
        super().__init__()
        self._epochs: dict[tuple[str, int], int] = {}
        """For each producer id of a transactional id, the highest epoch that was assigned."""

    @on(LogTruncated)
    def _truncated(self, _: Line, event: LogTruncated) -> None:
        """The coordinator that loads the ids next may not know the last epochs."""
        if event.topic == "__transaction_state" and event.lost:
            self._epochs.clear()

    @on(TransactionalIdDeleted, TransactionalIdExpired)
    def _forgotten(self, _: Line, event: TransactionalIdDeleted | TransactionalIdExpired) -> None:
        name = event.transactional_id
        self._epochs = {key: epoch for key, epoch in self._epochs.items() if key[0] != name}

    @on(ProducerInitialized)
    def _initialized(self, line: Line, event: ProducerInitialized) -> None:
        name, epoch = event.transactional_id, event.producer_epoch
        key = name, event.producer_id
        before = self._epochs.get(key)
        if before is not None and event.last_producer_epoch == _ANEW:
            if epoch < before and line.cause is None:
                # no request made it so: the write of the last epoch was not replicated in time, and
                # who asked for it was refused
                self._epochs[key] = epoch
                return
            if epoch <= before:
                self.blame(
                    line,
                    f"a producer starts as {name} with id {key[1]} and epoch {epoch}, but epoch {before} was another producer's",
                )
        self._was_told(event)

    @on(TransactionPrepared)
    def _prepared(self, _: Line, event: TransactionPrepared) -> None:
        if event.last_producer_epoch < 0:  # else it is the markers', which is told to nobody
            self._was_told(event)

    @on(TransactionCompleted)
    def _completed(self, _: Line, event: TransactionCompleted) -> None:
        self._was_told(event)

    def _was_told(
        self, event: ProducerInitialized | TransactionPrepared | TransactionCompleted
    ) -> None:
        key = event.transactional_id, event.producer_id
        self._epochs[key] = max(event.producer_epoch, self._epochs.get(key, -1))


class MemberEpochsFence(Judge):
    """Judges that a member of a consumer group is refused if it is more than one epoch behind."""

    name = "member_epochs_fence"
    promise = (
        "in a consumer group, a heartbeat with neither the member's epoch nor 0 is accepted only if it has the previous epoch, "
        "because the response with the new one may have been lost. A member that is further behind is fenced (K8-EP-1)"
    )
    needs = frozenset({"group"})

    def __init__(self) -> None:
        super().__init__()
        self._previous: dict[str, dict[str, int]] = {}
        """Group -> member -> its former epoch. A coordinator that loads a group may lack its
        last lines, so members are known again from their next ones on."""

    @on(GroupLoaded, MembershipReset, GroupDeleted)
    def _begins_anew(self, line: Line, _: GroupLoaded | MembershipReset | GroupDeleted) -> None:
        self._previous.pop(line.group or "", None)

    @on(ConsumerMemberReconciled)
    def _reconciled(self, line: Line, event: ConsumerMemberReconciled) -> None:
        members = self._previous.setdefault(line.group or "", {})
        members[event.member_id] = event.previous_member_epoch

    @on(ConsumerMemberReplaced, ConsumerMemberRemoved)
    def _gone(self, line: Line, event: ConsumerMemberReplaced | ConsumerMemberRemoved) -> None:
        self._previous.get(line.group or "", {}).pop(event.member_id, None)

    @on(PreviousEpochAccepted)
    def _accepted(self, line: Line, event: PreviousEpochAccepted) -> None:
        member, named = event.member_id, event.member_epoch
        known = self._previous.get(line.group or "", {}).get(member)
        if known is not None and named != known:
            self.blame(
                line,
                f"a heartbeat of {member} with epoch {named} was accepted, although its previous epoch was {known}",
            )
