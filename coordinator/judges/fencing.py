"""Epochs fence: who begins anew under a transactional id gets an epoch that nobody had before, and a
member of a consumer group (KIP-848) is heard at its own epoch or the one before alone."""

from __future__ import annotations

from typing import Final

from .base import Judge, Line

_ANEW: Final = -1
_FORGETS: Final = frozenset({"TransactionalIdDeleted", "TransactionalIdExpired"})
_OF_EPOCHS: Final = _FORGETS | {
    "ProducerInitialized",
    "TransactionPrepared",
    "TransactionCompleted",
}


_OF_MEMBER_EPOCHS: Final = frozenset(
    {
        "ConsumerMemberReconciled",
        "ConsumerMemberReplaced",
        "ConsumerMemberRemoved",
        "PreviousEpochAccepted",
        "GroupLoaded",
        "MembershipReset",
        "GroupDeleted",
    }
)


class EpochsFence(Judge):
    """A producer that begins anew has another epoch than any before it."""

    name = "epochs_fence"
    promise = (
        "whoever begins anew under a transactional id gets another producer id, or a higher epoch than any before it, so that the one "
        "before is fenced (KIP-98); only who asks again as the producer that it is may be told the same epoch again (KIP-360)"
    )
    needs = frozenset({"transaction"})
    unasked = True
    looks_at = _OF_EPOCHS | {"LogTruncated"}

    def __init__(self) -> None:
        super().__init__()
        self._epochs: dict[tuple[str, int], int] = {}
        """The highest epoch that a producer id of a transactional id was told."""

    def see(self, line: Line) -> None:
        kind = line["type"]
        if kind == "LogTruncated":  # whoever loads the ids next may not know of the last epochs
            if line["topic"] == "__transaction_state" and line["lost"]:
                self._epochs.clear()
            return
        if kind not in _OF_EPOCHS:
            return
        name = line["transactional_id"]
        if kind in _FORGETS:
            self._epochs = {key: epoch for key, epoch in self._epochs.items() if key[0] != name}
            return
        key, epoch = (name, line["producer_id"]), line["producer_epoch"]
        before = self._epochs.get(key)
        if before is not None and epoch < before and _is_anew(line) and line["cause"] is None:
            # no request made it so: the write of the last epoch was not replicated in time, and who
            # asked for it was refused
            self._epochs[key] = epoch
            return
        if before is not None and epoch <= before and _is_anew(line):
            self.blame(
                line,
                f"a producer begins anew as {name}, with the id {key[1]} and the epoch {epoch}, and epoch {before} was another's",
            )
        if kind == "TransactionPrepared" and line.get("last_producer_epoch", -1) >= 0:
            return  # the markers' epoch, which fences and is told to nobody
        self._epochs[key] = max(epoch, -1 if before is None else before)


def _is_anew(line: Line) -> bool:
    return line["type"] == "ProducerInitialized" and bool(line["last_producer_epoch"] == _ANEW)


class MemberEpochsFence(Judge):
    """A member of a consumer group that is behind by more than one epoch is refused."""

    name = "member_epochs_fence"
    promise = (
        "a heartbeat in a consumer group that names neither its member's epoch nor 0 is taken only if it names the epoch before, whose "
        "answer may have been lost; who is further behind is told that it is fenced (K8-EP-1)"
    )
    needs = frozenset({"group"})
    looks_at = _OF_MEMBER_EPOCHS

    def __init__(self) -> None:
        super().__init__()
        self._previous: dict[str, dict[str, int]] = {}
        """Group -> member -> the epoch before its own. A coordinator that loads a group may not
        have its last lines, so members are known again from their next ones on."""

    def see(self, line: Line) -> None:
        kind = line["type"]
        if kind not in _OF_MEMBER_EPOCHS:
            return
        group = line["group"]
        if kind in ("GroupLoaded", "MembershipReset", "GroupDeleted"):
            self._previous.pop(group, None)
            return
        members, member = self._previous.setdefault(group, {}), line["member"]
        if kind == "ConsumerMemberReconciled":
            members[member] = line["previous_member_epoch"]
        elif kind == "PreviousEpochAccepted":
            known, named = members.get(member), line["member_epoch"]
            if known is not None and named != known:
                self.blame(
                    line,
                    f"a heartbeat of {member} at epoch {named} was taken, though the epoch before its own was {known}",
                )
        else:
            members.pop(member, None)
