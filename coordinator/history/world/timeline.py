"""Folds a log into each group's rebalances: members, partitions gained and lost, members that stood
still, and causes.

Works line by line, so a log can be followed while it grows, and in time linear in the log. Reads
lines (`coordinator.event_log.read`) and must not depend on the group coordinator. Lines of
unknown types are passed over. Sentences are made by `coordinator/history/explain/`.
"""

from __future__ import annotations

from collections.abc import Callable, MutableSequence
from typing import Any, Protocol, get_args

from coordinator.base.printable import printable
from coordinator.events.cluster import (
    AclsCreated,
    LogCompacted,
    PartitionsAdded,
    SegmentsDeleted,
    TopicCreated,
    TopicDeleted,
)
from coordinator.events.data import RecordsServed
from coordinator.events.faults import RequestFaultBegan, RequestFaultEnded
from coordinator.events.groups import (
    GroupDeleted,
    GroupUnloaded,
    OffsetsCommitted,
    OffsetsPending,
    OffsetsRemoved,
    PendingOffsetsEnded,
)
from coordinator.events.groups.consumer import (
    ConsumerEvent,
    ConsumerMemberReconciled,
    ConsumerMemberSubscribed,
)
from coordinator.events.groups.share import ShareEvent, ShareMemberSubscribed
from coordinator.events.handlers import Reader, kinds_of, on
from coordinator.events.line import Line
from coordinator.events.members import (
    MemberStarted,
    PartitionsAssigned,
    PartitionsLost,
    PartitionsRevoked,
)
from coordinator.events.reader import LineNumbers
from coordinator.events.run import RunStarted
from coordinator.events.seen import Event as SeenEvent
from coordinator.events.seen import GroupSeen, RebalanceSeen, StateSeen
from coordinator.events.wire import (
    ApiNotServed,
    Authenticated,
    AuthenticationFailed,
    ClientThrottled,
    ConnectionRefused,
    FetchOutOfRange,
    FetchWentOn,
    InternalTopicRead,
    LogGap,
    RequestAnswered,
    RequestRefused,
    TopicAutoCreated,
)
from coordinator.verbs.brokers import JumpClock

from . import inferred_owners
from .blobs import (
    numbers_of,
)
from .classic_story import ClassicStory
from .deleted_records import Asked, DeletedRecords, Deletion
from .generation_steps import Steps
from .groups.consumer_groups import BEGINNINGS, KINDS, ConsumerGroups
from .groups.epochs import Epochs
from .kept_lines import KeptLines
from .lost_time.fold import LostTime
from .outside_groups import OutsideGroups
from .packed_stories import FiledStory, LogFile
from .refusals import Refusals
from .request_story import RequestStory
from .shares.groups import KINDS as SHARE_KINDS
from .shares.groups import ShareGroup
from .shares.records import ShareRecords
from .topics import Topics
from .verb_notes import KINDS as DEEDS
from .verb_notes import Deeds
from .views import (
    NOT_KNOWN,
    GroupView,
)

_NOBODYS_CAUSE = frozenset(
    {
        OffsetsCommitted,
        OffsetsPending,
        PendingOffsetsEnded,
        RequestAnswered,
        RequestRefused,
        SegmentsDeleted,
        LogCompacted,
        FetchOutOfRange,
        FetchWentOn,
        *kinds_of("member", "data"),
    }
)
"""Classes of events that cause no rebalance; members' and records' own lines cause none, either."""
_UNASKED = frozenset({"expired", "topic deleted"})
"""Reasons why offsets are removed although no client asked for it."""


Fold = Callable[[GroupView, Line, Any], None]


class Words(Protocol):
    """Sentences that can be made only while the log is read, because they depend on the state at
    that time."""

    def consumer_event(self, group: GroupView, line: Line, *, new: bool) -> str:
        """Return a sentence about an event of a consumer group, made after it. `new`: the member
        is new."""

    def share_group_event(self, group: ShareGroup, line: Line) -> str:
        """Return a sentence about an event of a share group, made before it; "" if it needs
        none."""

    def share_event(self, known: ShareRecords, line: Line) -> str:
        """Return a sentence about a share group's records; "" if it needs none."""

    def seen_event(self, line: Line) -> str:
        """Return a sentence about a line from another cluster's logs, or "" if it needs none."""

    def deleted_records(self, deletion: Deletion, asked: Asked) -> str:
        """Return a sentence about a member that asked for deleted records, and where it went on."""


class Timeline(Reader):
    """All groups of a log, as a part of its `World`, which shows it the lines.

    `details`: keep each request and response that belongs to a rebalance, too. `words`: makes
    sentences while the log is read; without it only state is followed. `from_text`: lines were
    read as JSON, so equal texts are many objects; those of kept lines are made one. `file`: the
    lines are in a file, so only the newest are kept in memory.
    """

    def __init__(
        self,
        *,
        details: bool = False,
        words: Words | None = None,
        from_text: bool = False,
        file: LogFile | None = None,
    ) -> None:
        self._words = words
        self._story: Callable[[], MutableSequence[Any]] = list if file is None else FiledStory
        self._consumer_groups = ConsumerGroups()
        self.share_known = ShareRecords()
        """Names of share groups' members, and records that were released."""
        self.header: Line | None = None
        self.numbers = LineNumbers("log")
        self.groups: dict[str, GroupView] = {}
        self.end_ms = 0
        self.lines = KeptLines(from_text=from_text, file=file)
        self._deleted: dict[str, tuple[int, list[GroupView]]] = {}
        self.clocks_ahead_ms: dict[int, int] = {}
        self.outside_groups = OutsideGroups()
        self.deleted_records = DeletedRecords()
        self._deeds = Deeds(_reads)
        self.topics = Topics()
        self._steps = Steps(self.lines) if details else None
        refusals = Refusals(self._deeds.trouble)
        self._requests = RequestStory(
            self.groups, self.lines, self.outside_groups, refusals, self._steps
        )
        self._classic = ClassicStory(self.lines, self.topics, self._deeds.trouble)
        self._folds: dict[type, Fold] = self._classic.folds() | {
            OffsetsCommitted: self._committed,
            PendingOffsetsEnded: self._transaction_ended,
            OffsetsRemoved: self._offsets_removed,
            **dict.fromkeys(SHARE_KINDS, self._sharers),
            **dict.fromkeys(get_args(ConsumerEvent), self._consumers),
        }
        """The function that changes a group, by the class of its event."""
        self.lost_time = LostTime(self.groups)

    def standing_deeds(self) -> list[Line]:
        """Return the lines of verbs, and of faults of requests, that have not been undone."""
        return self._deeds.standing()

    def pass_over(self, line: Line) -> None:
        """Take a line that does not count now: a note says if a former coordinator gave its copy of
        a group up, and nothing else follows from it."""
        if line.at_ms > self.end_ms:
            self.end_ms = line.at_ms
        group = self.groups.get(line.group or "")
        if line.kind is GroupUnloaded and group is not None:
            group.note(line).moved = True

    def fold(self, line: Line) -> None:
        """Fold a line that counts."""
        if line.at_ms > self.end_ms:
            self.end_ms = line.at_ms
        if line.kind not in _NOBODYS_CAUSE:
            self.lines.keep(line)
        if line.stream == "group":
            self._group(line)
        elif line.kind in RequestStory.handlers:
            self._requests.see(line)
        else:
            self.see(line)
        self.lost_time.see(line)

    @on(RunStarted)
    def _began(self, line: Line, _: RunStarted) -> None:
        self.header = line

    def _group(self, line: Line) -> None:
        """Handle an event of a group, which may be a new one."""
        fold, name = self._folds.get(line.kind), line.group or ""
        if fold is None:
            return
        group = self.groups.get(name)
        if group is None:
            group = self.groups[name] = GroupView(name, line.at_ms, entries=self._story())
            if self._steps is not None:
                self._steps.group_came(group)
        # half of a long log are commits, which are only counted: their events need not be made
        fold(group, line, None if line.kind is OffsetsCommitted else line.event)
        broker = group.coordinator if line.broker is None else line.broker
        if line.kind is GroupDeleted:
            self._consumer_groups.see(line)
        if line.kind is not GroupUnloaded and broker != group.coordinator:
            group.handed_over = (group.coordinator, line.at_ms)
            group.coordinator = broker
        if line.generation is not None:
            group.generation = line.generation

    @on(*kinds_of("seen"))
    def _seen(self, line: Line, event: SeenEvent) -> None:
        """Handle an event from the logs of another cluster: nothing else is known of its groups."""
        name = line.group or ""
        group = self.groups.get(name)
        if group is None:
            group = self.groups[name] = GroupView(name, line.at_ms, entries=self._story())
            group.state = NOT_KNOWN
        if isinstance(event, GroupSeen):
            group.seen_protocol = event.protocol
        elif isinstance(event, RebalanceSeen):
            group.seen.append(line)
            group.generation = event.generation
            group.state = "Empty" if event.empty else NOT_KNOWN
        elif isinstance(event, StateSeen):
            group.state = event.state or NOT_KNOWN
        said = "" if self._words is None else self._words.seen_event(line)
        if said:
            names = [] if line.member is None else [printable(line.member)]
            group.note(line, names).sentence = said

    @on(SegmentsDeleted, LogCompacted, RecordsServed, FetchOutOfRange)
    def _records_deleted(
        self, line: Line, _: SegmentsDeleted | LogCompacted | RecordsServed | FetchOutOfRange
    ) -> None:
        self.deleted_records.see(line)

    @on(FetchWentOn)
    def _fetch_went_on(self, line: Line, _: FetchWentOn) -> None:
        """Add a note to the groups of a client that had asked for deleted records."""
        known = self.deleted_records
        known.see(line)
        reset = known.reset
        deletion = None if reset is None else known.deletion_of(reset.place, reset.event.offset)
        if reset is None or deletion is None or self._words is None:
            return
        for group in self.groups.values():
            if reset.event.client in group.clients:
                note = group.note(line, [printable(reset.event.client)])
                note.sentence = self._words.deleted_records(deletion, reset)

    def _sharers(self, group: GroupView, line: Line, event: ShareEvent) -> None:
        """Handle an event of a share group. Its sentence is made before the group's fold has
        seen it, so that it can say what is new."""
        known = group.share
        if known is None:
            known = group.share = ShareGroup()
        if isinstance(event, ShareMemberSubscribed):
            group.clients.add(event.client_id)
            group.went_on(event.client_id)
            self.share_known.see(line)
        said = "" if self._words is None else self._words.share_group_event(known, line)
        names = self._sharer(line)
        known.see(line)
        group.state = known.state()
        if said:
            group.note(line, names).sentence = said

    @on(*kinds_of("share"))
    def _share_records(self, line: Line, _: object) -> None:
        """Handle a line about a share group's records; it gets a note if there is a sentence for
        it."""
        self.share_known.see(line)
        self.lines.forget(line.seq)
        group = self.groups.get(line.group or "")
        if group is None or self._words is None:
            return
        said = self._words.share_event(self.share_known, line)
        if said:
            group.note(line, self._sharer(line)).sentence = said

    def _sharer(self, line: Line) -> list[str]:
        """Return the name of the member that a line about a share group names; empty if it names
        none."""
        if line.member is None:
            return []
        return [printable(self.share_known.name(line.group or "", line.member))]

    # -- one event each

    @on(
        ConnectionRefused,
        Authenticated,
        AuthenticationFailed,
        ClientThrottled,
        TopicAutoCreated,
        ApiNotServed,
        InternalTopicRead,
        LogGap,
    )
    def _outside(self, line: Line, _: object) -> None:
        if line.group is None:
            self.outside_groups.follow(line)

    @on(MemberStarted)
    def _started(self, line: Line, event: MemberStarted) -> None:
        self._deeds.started(event.client)

    @on(PartitionsAssigned, PartitionsRevoked, PartitionsLost)
    def _callback(
        self, line: Line, event: PartitionsAssigned | PartitionsRevoked | PartitionsLost
    ) -> None:
        """Handle a member's own line that its listener was called."""
        group = self.groups.get(line.group or "")
        member = None if group is None else group.members.get(line.member or "")
        if group is None or member is None:
            return
        partitions = numbers_of(event.partitions)
        if isinstance(event, PartitionsAssigned):
            generation = group.generation if line.generation is None else line.generation
            inferred_owners.told_assigned(member, partitions, generation, line.at_ms)
        else:
            inferred_owners.told_given_up(member, partitions, line.at_ms)
        if self._steps is not None:
            self._steps.callback(group, member.name, line)

    # -- the events of a group

    def _committed(self, group: GroupView, line: Line, _: None) -> None:
        group.commits += 1
        if group.refused and line.member in group.members:
            group.went_on(group.members[line.member].client_id)

    def _transaction_ended(self, group: GroupView, line: Line, event: PendingOffsetsEnded) -> None:
        group.commits += bool(event.partitions)

    def _consumers(self, group: GroupView, line: Line, event: ConsumerEvent) -> None:
        before, kind, member = group.consumer, line.kind, line.member
        if isinstance(event, ConsumerMemberSubscribed):
            group.introduce(event.member_id, event.client_id)
            group.went_on(event.client_id)
        elif isinstance(event, ConsumerMemberReconciled) and before is not None:
            group.went_on(before.client_id(event.member_id))
        new = before is None or kind in BEGINNINGS or member not in before.members
        if kind in KINDS:
            group.consumer = self._consumer_groups.see(line)
            group.state = "Stable" if group.consumer is None else group.consumer.state()
        if group.epochs is None:
            group.epochs = Epochs(self._story())
        group.epochs.follow(line, group.state, self.lines.chain)
        if self._words is None:
            return
        note = group.note(line, [group.name(member) or ""] if member else [])
        note.sentence = self._words.consumer_event(group, line, new=new)

    def _offsets_removed(self, group: GroupView, line: Line, event: OffsetsRemoved) -> None:
        """Note offsets that a group lost without a request: expired ones, and those of a deleted
        topic."""
        if event.reason in _UNASKED and event.partitions:
            ahead_ms = 0 if line.broker is None else self.clocks_ahead_ms.get(line.broker, 0)
            group.note(line).clock_ahead_ms = ahead_ms

    @on(*DEEDS)
    def _deed(self, line: Line, event: object) -> None:
        if isinstance(event, JumpClock):
            ahead_ms = self.clocks_ahead_ms.get(event.broker, 0)
            self.clocks_ahead_ms[event.broker] = ahead_ms + event.by_ms
        self._deeds.follow(self.groups.values(), line)

    @on(RequestFaultBegan, RequestFaultEnded)
    def _request_fault(self, line: Line, _: RequestFaultBegan | RequestFaultEnded) -> None:
        self._deeds.request_fault(line)

    @on(AclsCreated)
    def _rights_given(self, line: Line, _: AclsCreated) -> None:
        self.outside_groups.rights_given()

    @on(TopicDeleted)
    def _topic_deleted(self, line: Line, event: TopicDeleted) -> None:
        """Note a deleted topic with the groups that read it; it may be created again."""
        reading = [group for group in self.groups.values() if _reads(group, event.topic)]
        if reading:
            self._deleted[event.topic] = (line.at_ms, reading)

    @on(PartitionsAdded)
    def _topic_grew(self, line: Line, _: PartitionsAdded) -> None:
        self.topics.see(line)

    @on(TopicCreated)
    def _topic_came(self, line: Line, event: TopicCreated) -> None:
        self.topics.see(line)
        deleted_ms, groups = self._deleted.pop(event.topic, (0, []))
        for group in groups:
            if group.state != "Dead":
                group.note(line).deleted_ms = deleted_ms


def _reads(group: GroupView, topic: str) -> bool:
    """Return True if a member of the group subscribes to a topic, or has partitions of it."""
    if group.consumer is not None:
        return any(
            name == topic for member in group.consumer.members.values() for name, _ in member.held
        )
    return any(
        member.subscription is not None and topic in member.subscription.topics
        for member in group.members.values()
    )
