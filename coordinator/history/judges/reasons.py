"""Judges reasons: when a coordinator removes a member, a group, an offset or ends a transaction,
the log must confirm the reason that it gives.

Reasons that are timeouts are judged by `sessions` and `timeouts`. Clients' requests are lines of
the stream `wire`. Only for runs without actions by hand, as a test makes through the kit: of
these no line but the coordinator's tells.
"""

from __future__ import annotations

from typing import Final

from coordinator.events.availability import LogTruncated
from coordinator.events.cluster import TopicDeleted
from coordinator.events.groups import GroupDeleted, GroupLoaded, GroupUnloaded
from coordinator.events.groups.classic import (
    GenerationStarted,
    GenerationStored,
    GroupEmptied,
    MemberJoined,
    MemberRemoved,
    MemberReplaced,
    PendingMemberRemoved,
    Removal,
)
from coordinator.events.groups.consumer import (
    ConsumerGroupUpgraded,
    ConsumerMemberRemoved,
    ConsumerMemberReplaced,
    ConsumerMemberSubscribed,
    MembershipReset,
)
from coordinator.events.groups.offsets import (
    OffsetsCommitted,
    OffsetsPending,
    OffsetsRemoved,
    PendingOffsetsEnded,
)
from coordinator.events.groups.share import ShareMemberRemoved, ShareMemberSubscribed
from coordinator.events.handlers import kinds_of, on
from coordinator.events.members import MemberEvent, TransactionEnded
from coordinator.events.transactions import (
    PartitionsEnlisted,
    ProducerInitialized,
    TransactionalIdDeleted,
    TransactionalIdExpired,
    TransactionCompleted,
    TransactionPrepared,
)
from coordinator.events.wire import RequestAnswered, RequestRefused, RequestSeen
from coordinator.verbs.brokers import JumpClock

from ..world.ownership.owners import Believed
from .base import Judge, Line
from .disturbances import Disturbances
from .running_members import RunningMembers

NO_LIMIT: Final = (1 << 31) - 1
"""group.max.size"""
EXPIRATION_MS: Final = 7 * 86_400_000
"""transactional.id.expiration.ms"""
_ASKS: Final = frozenset(
    {"leave_group", "delete_groups", "offset_delete", "end_txn", "init_producer_id"}
)
_WELL_AFTER_MS: Final = 15_000
"""Time in ms after a disturbance until a member's application polls as before."""
_BY_REQUEST: Final = "deleted by request"
_UNUSED: Final = "empty, without offsets"
_ENDED: Final = frozenset({"the producer committed", "the producer aborted"})
_BEGAN: Final = "a producer was initialized"

_Place = tuple[str, int]


class ReasonsHold(Judge):
    """Judges that the log confirms every reason. `max_size`, `expiration_ms`: the brokers'
    settings (group.max.size, transactional.id.expiration.ms)."""

    name = "reasons_hold"
    promise = (
        "the reasons in the log are true. A member is removed because it left only if it asked for that (with LeaveGroup or, in a "
        "consumer or share group, because its process closes or its application stopped polling), and because the group is full "
        "only if the group has its maximum size. A group or an offset is deleted by request only if there was a request, and a "
        "group as unused only if it has neither members nor offsets. A transaction ends as its producer asked, or because another "
        "producer was initialized. A transactional id is removed only if it was unused for transactional.id.expiration.ms, or if "
        "its topic was deleted"
    )
    needs = frozenset({"group", "member", "wire"})

    def __init__(self, max_size: int = NO_LIMIT, expiration_ms: int = EXPIRATION_MS) -> None:
        super().__init__()
        self._max_size = max_size
        self._expiration_ms = expiration_ms
        self._asked: dict[int, RequestSeen] = {}
        self._follows: dict[int, str] = {}
        """Removals that a request caused, by line; they may cause further ones."""
        self._running = RunningMembers()
        self._believed = Believed(lambda _: None)
        self._disturbances = Disturbances()
        self._members: dict[str, set[str]] = {}
        """The members of each group whose members are known."""
        self._offsets: dict[str, dict[_Place, int]] = {}
        """For each group the line that committed each of its offsets."""
        self._pending: dict[str, dict[int, dict[_Place, int]]] = {}
        self._decided: dict[int, bool] = {}
        """For each producer id, whether its transaction commits (True) or aborts."""
        self._told: dict[str, bool] = {}
        """The same by client, from its own request, until it is answered."""
        self._used: dict[str, int] = {}
        """The instant at which each transactional id was last used."""
        self._deleted: set[str] = set()
        self._has_jumped = False

    # -- what was asked for

    @on(RequestSeen)
    def _seen(self, line: Line, event: RequestSeen) -> None:
        if event.api in _ASKS:
            self._asked[line.seq] = event

    @on(RequestAnswered, RequestRefused)
    def _answered(self, line: Line, _: RequestAnswered | RequestRefused) -> None:
        if line.cause is not None:
            self._asked.pop(line.cause, None)

    def _is_asked(self, line: Line, api: str) -> bool:
        if line.cause is None:
            return False
        request = self._asked.get(line.cause)
        return request is not None and request.api == api

    @on(*kinds_of("member"))
    def _of_member(self, line: Line, event: MemberEvent) -> None:
        if line.group is not None:
            self._running.told(line.group, line.member, event)
            self._believed.see(line)
        if isinstance(event, TransactionEnded):
            decided = self._told.pop(event.client, None)
            if event.failed is None and decided is not None and decided != event.committed:
                told, was = ("committed", "aborted")[:: 1 if event.committed else -1]
                text = (
                    f"{event.client} was answered that its transaction is {told}, but it was {was}"
                )
                self.blame(line, text)

    @on(*Disturbances.handlers)
    def _disturbed(self, line: Line, _: object) -> None:
        self._disturbances.see(line)

    @on(JumpClock)
    def _jumped(self, _: Line, __: JumpClock) -> None:
        self._has_jumped = True

    @on(TopicDeleted)
    def _topic_deleted(self, _: Line, event: TopicDeleted) -> None:
        self._deleted.add(event.topic)

    # -- members

    @on(MemberJoined)
    def _joined(self, line: Line, event: MemberJoined) -> None:
        if (members := self._members.get(line.group or "")) is not None:
            members.add(event.member_id)

    @on(MemberReplaced, ConsumerMemberReplaced)
    def _replaced(self, line: Line, event: MemberReplaced | ConsumerMemberReplaced) -> None:
        if (members := self._members.get(line.group or "")) is not None:
            members.discard(event.replaced)
            members.add(event.member_id)

    @on(GenerationStarted, GenerationStored)
    def _are(self, line: Line, event: GenerationStarted | GenerationStored) -> None:
        self._members[line.group or ""] = (
            set(event.members)
            if isinstance(event, GenerationStarted)
            else {row.member_id for row in event.members}
        )

    @on(GroupEmptied, MembershipReset)
    def _emptied(self, line: Line, _: GroupEmptied | MembershipReset) -> None:
        self._members[line.group or ""] = set()

    @on(ConsumerGroupUpgraded)
    def _upgraded(self, line: Line, event: ConsumerGroupUpgraded) -> None:
        self._members[line.group or ""] = set(event.members)

    @on(ConsumerMemberSubscribed, ShareMemberSubscribed)
    def _subscribed(
        self, line: Line, event: ConsumerMemberSubscribed | ShareMemberSubscribed
    ) -> None:
        self._members.setdefault(line.group or "", set()).add(event.member_id)
        self._running.subscribed(line.group or "", event)

    @on(GroupLoaded, GroupUnloaded)
    def _moved(self, line: Line, _: GroupLoaded | GroupUnloaded) -> None:
        """The coordinator that loads a group may not know its last members."""
        self._members.pop(line.group or "", None)

    @on(MemberRemoved, PendingMemberRemoved)
    def _removed(self, line: Line, event: MemberRemoved | PendingMemberRemoved) -> None:
        group, member = line.group or "", event.member_id
        members = self._members.get(group)
        if event.reason == Removal.LEFT and not self._is_asked(line, "leave_group"):
            self._unasked_leave(line, member)
        elif event.reason == Removal.GROUP_FULL and (
            self._max_size >= NO_LIMIT or (members is not None and len(members) < self._max_size)
        ):
            limit = "no limit" if self._max_size >= NO_LIMIT else f"a limit of {self._max_size}"
            self.blame(
                line,
                f"{member} is removed from group {group} because it is full, but the group has {limit}",
            )
        if members is not None and isinstance(event, MemberRemoved):
            members.discard(member)

    @on(ConsumerMemberRemoved)
    def _consumer_removed(self, line: Line, event: ConsumerMemberRemoved) -> None:
        """Check why a member was removed. A LeaveGroup may name several members."""
        group, member = line.group or "", event.member_id
        self._members.get(group, set()).discard(member)
        asked = self._is_asked(line, "leave_group") or self._follows.get(line.cause or -1) == group
        if asked:
            self._follows[line.seq] = group
        elif event.reason == Removal.LEFT:
            client = self._running.client_of(group, member)
            if client is not None and self._believed.held_by(group, client):
                self._unasked_leave(line, member)

    @on(ShareMemberRemoved)
    def _share_removed(self, line: Line, event: ShareMemberRemoved) -> None:
        group, member = line.group or "", event.member_id
        self._members.get(group, set()).discard(member)
        if event.reason != Removal.LEFT:
            return
        client = self._running.client_of(group, member)
        if client is None:
            return
        calm_since = self._disturbances.calm_since(client)
        if calm_since is not None and calm_since + _WELL_AFTER_MS <= line.at_ms:
            self._unasked_leave(line, member)

    def _unasked_leave(self, line: Line, member: str) -> None:
        text = f"{member} is removed from group {line.group} because it left"
        self.blame(line, f"{text}, but no request asked for that")

    # -- offsets and groups

    @on(OffsetsCommitted)
    def _committed(self, line: Line, event: OffsetsCommitted) -> None:
        kept = self._offsets.setdefault(line.group or "", {})
        kept.update({(row.topic, row.partition): line.seq for row in event.offsets})

    @on(OffsetsPending)
    def _is_pending(self, line: Line, event: OffsetsPending) -> None:
        of = self._pending.setdefault(line.group or "", {}).setdefault(event.producer_id, {})
        of.update({(row.topic, row.partition): line.seq for row in event.offsets})

    @on(PendingOffsetsEnded)
    def _ended(self, line: Line, event: PendingOffsetsEnded) -> None:
        group = line.group or ""
        pending = self._pending.get(group, {}).pop(event.producer_id, {})
        kept = self._offsets.setdefault(group, {})
        kept.update({place: pending[place] for place in event.partitions if place in pending})
        decided = self._decided.get(event.producer_id, event.committed)
        if decided != event.committed:
            was, told = ("committed", "aborted")[:: 1 if decided else -1]
            text = f"offsets of producer {event.producer_id} in group {group} are treated as {told}"
            self.blame(line, f"{text}, but its transaction was {was}")

    @on(OffsetsRemoved)
    def _offsets_removed(self, line: Line, event: OffsetsRemoved) -> None:
        group = line.group or ""
        if event.reason == _BY_REQUEST and not self._is_asked(line, "offset_delete"):
            self.blame(
                line, f"offsets of group {group} were {_BY_REQUEST}, but there was no request"
            )
        for known in (self._offsets.get(group, {}), *self._pending.get(group, {}).values()):
            for place in event.partitions:
                known.pop(place, None)

    @on(LogTruncated)
    def _truncated(self, _: Line, event: LogTruncated) -> None:
        """Forget what only a former coordinator had stored."""
        if event.topic == "__transaction_state":
            self._decided.clear()
            self._told.clear()
        if event.topic != "__consumer_offsets":
            return
        lost = set(event.lost)
        of_groups = [
            *self._offsets.values(),
            *(of for pending in self._pending.values() for of in pending.values()),
        ]
        for known in of_groups:
            for place in [place for place, seq in known.items() if seq in lost]:
                del known[place]

    @on(GroupDeleted)
    def _deleted_group(self, line: Line, event: GroupDeleted) -> None:
        group = line.group or ""
        members = self._members.pop(group, None)
        offsets = self._offsets.pop(group, {})
        pending = {place for of in self._pending.pop(group, {}).values() for place in of}
        if event.reason == _BY_REQUEST and not self._is_asked(line, "delete_groups"):
            self.blame(line, f"group {group} was {_BY_REQUEST}, but there was no request")
        elif event.reason == _UNUSED and (has := members or offsets.keys() | pending):
            what = "members" if members else "offsets"
            self.blame(line, f"group {group} was deleted as unused, but has {len(has)} {what}")

    # -- transactions

    @on(ProducerInitialized, PartitionsEnlisted, TransactionCompleted)
    def _is_used(
        self, line: Line, event: ProducerInitialized | PartitionsEnlisted | TransactionCompleted
    ) -> None:
        self._used[event.transactional_id] = line.at_ms

    @on(TransactionPrepared)
    def _prepared(self, line: Line, event: TransactionPrepared) -> None:
        name = event.transactional_id
        self._used[name] = line.at_ms
        self._decided[event.producer_id] = event.committed
        request = self._asked.get(line.cause or -1)
        if request is not None and request.api == "end_txn":
            self._told[request.client] = event.committed
        api = "end_txn" if event.reason in _ENDED else "init_producer_id"
        if event.reason not in (*_ENDED, _BEGAN):
            return
        if request is None or (request.api, request.transactional_id) != (api, name):
            text = f'the transaction of {name} ends with the reason "{event.reason}"'
            self.blame(line, f"{text}, but no such request came")

    @on(TransactionalIdExpired)
    def _expired(self, line: Line, event: TransactionalIdExpired) -> None:
        used_ms = self._used.pop(event.transactional_id, None)
        if used_ms is None or self._has_jumped:
            return
        left_ms = used_ms + self._expiration_ms - line.at_ms
        if left_ms > 0:
            text = f"{event.transactional_id} is removed {left_ms} ms before"
            self.blame(line, f"{text} it was unused for {self._expiration_ms} ms")

    @on(TransactionalIdDeleted)
    def _went_with_its_topic(self, line: Line, event: TransactionalIdDeleted) -> None:
        if "__transaction_state" not in self._deleted:
            text = f"{event.transactional_id} was removed with __transaction_state"
            self.blame(line, f"{text}, which was not deleted")
