"""Folds a log into each group's rebalances: members, partitions gained and lost, members that stood
still, and causes.

Works line by line, so a log can be followed while it grows, and in time linear in the log. Reads
lines (`coordinator.event_log.read`) and must not depend on the group coordinator. Lines of
unknown types are passed over. Sentences are made by `coordinator/history/explain/`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, MutableMapping, MutableSequence
from functools import partial
from typing import Any, Final, Protocol, get_args

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
from coordinator.events.faults import FaultInjected, RequestFaultBegan, RequestFaultEnded
from coordinator.events.groups import (
    AssignmentRejected,
    GenerationStarted,
    GenerationStored,
    GroupCreated,
    GroupDeleted,
    GroupEmptied,
    GroupLoaded,
    GroupUnloaded,
    LeaderElected,
    MemberJoined,
    MemberPending,
    MemberRejoined,
    MemberRemoved,
    MemberReplaced,
    MemberSynced,
    OffsetsCommitted,
    OffsetsPending,
    OffsetsRemoved,
    PendingMemberRemoved,
    PendingOffsetsEnded,
    RebalanceStarted,
    Removal,
    StoredMember,
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
    AuthorizationRefused,
    ClientThrottled,
    ConnectionRefused,
    FetchOutOfRange,
    FetchWentOn,
    InternalTopicRead,
    LogGap,
    MemberDisconnected,
    MemberReconnected,
    RequestAnswered,
    RequestRefused,
    RequestSeen,
    TopicAutoCreated,
)
from coordinator.verbs.brokers import JumpClock
from coordinator.wire.connect_protocol import PROTOCOL_TYPE as CONNECT
from coordinator.wire.connect_protocol import read_work, read_worker

from . import inferred_owners
from .blobs import (
    COOPERATIVE,
    Partitions,
    both,
    by_topic,
    claims,
    is_cooperative,
    minus,
    numbers_of,
    own_assignment,
    subscription,
)
from .compact import compact
from .deleted_records import Asked, DeletedRecords, Deletion
from .generation_steps import Steps
from .groups.consumer_groups import BEGINNINGS, KINDS, ConsumerGroups
from .groups.epochs import Epochs
from .lost_time.fold import LostTime
from .outside_groups import OutsideGroups
from .packed_stories import FiledLines, FiledStory, LogFile
from .refusals import Refusal, Refusals
from .shares.groups import KINDS as SHARE_KINDS
from .shares.groups import ShareGroup
from .shares.records import ShareRecords
from .verb_notes import KINDS as DEEDS
from .verb_notes import Deeds
from .views import (
    NOT_KNOWN,
    Change,
    Departed,
    Gone,
    GroupView,
    MemberView,
    Rebalance,
    Share,
)
from .waits import awaited, last_sign

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
_ABOUT_OFFSETS = frozenset({"offset_fetch", "offset_commit"})
"""Requests that cause no rebalance."""
_FINDS = "find_coordinator"
"""The API whose responses name no group: its refusals are reported for the client."""
_MOST_CAUSES = 64
_UNASKED = frozenset({"expired", "topic deleted"})
"""Reasons why offsets are removed although no client asked for it."""


def _error_of(right: AuthorizationRefused) -> str:
    return f"{right.resource.upper()}_AUTHORIZATION_FAILED"


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
        self._from_text = from_text and file is None
        self._story: Callable[[], MutableSequence[Any]] = list if file is None else FiledStory
        self._consumer_groups = ConsumerGroups()
        self.share_known = ShareRecords()
        """Names of share groups' members, and records that were released."""
        self.header: Line | None = None
        self.numbers = LineNumbers("log")
        self.groups: dict[str, GroupView] = {}
        self.end_ms = 0
        self._lines: MutableMapping[int, Line] = {} if file is None else FiledLines(file)
        self._waiting: dict[int, int] = {}
        """SyncGroups that wait for the leader's, with their events; only the leader's SyncGroup
        refers to them."""
        self._grown: dict[str, None] = {}
        self._deleted: dict[str, tuple[int, list[GroupView]]] = {}
        self.clocks_ahead_ms: dict[int, int] = {}
        self._unauthorised: Line | None = None  # the last AuthorizationRefused
        self.outside_groups = OutsideGroups()
        self.deleted_records = DeletedRecords()
        self._deeds = Deeds(_reads)
        self._refusals = Refusals(self._deeds.trouble)
        self._steps = Steps(self._lines) if details else None
        self.partitions: dict[str, int] = {}
        """Number of partitions of each topic."""
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
        kind = line.kind
        if kind not in _NOBODYS_CAUSE:
            kept = line.without(_LARGE[kind]) if kind in _LARGE else line
            if self._from_text:
                compact(kept)
            self._lines[line.seq] = kept
        if line.stream == "group":
            self._group(line)
        else:
            self.see(line)
        self.lost_time.see(line)

    @on(RunStarted)
    def _began(self, line: Line, _: RunStarted) -> None:
        self.header = line

    def _group(self, line: Line) -> None:
        """Handle an event of a group, which may be a new one."""
        fold, name = _FOLDS.get(line.kind), line.group or ""
        if fold is None:
            return
        group = self.groups.get(name)
        if group is None:
            group = self.groups[name] = GroupView(name, line.at_ms, entries=self._story())
            if self._steps is not None:
                self._steps.group_came(group)
        # half of a long log are commits, which are only counted: their events need not be made
        fold(self, group, line, None if line.kind is OffsetsCommitted else line.event)
        broker = group.coordinator if line.broker is None else line.broker
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
        self._forget(line.seq)
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

    def chain(self, seq: int | None) -> list[Line]:
        """Return a line and its causes, back to one from outside, at most `_MOST_CAUSES`."""
        chain: list[Line] = []
        while seq is not None and len(chain) < _MOST_CAUSES:
            found = self._lines.get(seq)
            if found is None:
                break
            chain.append(found)
            seq = found.cause
        return chain

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

    @on(AuthorizationRefused)
    def _lacks_a_right(self, line: Line, event: AuthorizationRefused) -> None:
        group = self.groups.get(line.group or "")
        if group is None:
            self.outside_groups.follow(line)
        self._unauthorised = line
        if group is not None and event.api == _FINDS:
            refusal = Refusal(event.api, (_error_of(event),), line)
            note = self._refusals.refused(group, None, line, refusal, "", event.client)
            group.refused[event.client] = note

    @on(RequestSeen, RequestAnswered, RequestRefused)
    def _wire(self, line: Line, event: RequestSeen | RequestAnswered | RequestRefused) -> None:
        if line.group is None:
            self.outside_groups.follow(line)
        self._request(line, event)
        cause = line.cause
        if self._steps is None and not isinstance(event, RequestSeen) and cause is not None:
            synced = self._waiting.pop(cause, None)
            if synced is not None:
                self._forget(synced)
            if synced is not None or event.api in _ABOUT_OFFSETS:
                self._forget(cause)

    def _forget(self, seq: int) -> None:
        """Forget a line that no later one refers to."""
        if seq in self._lines:
            del self._lines[seq]

    def _request(self, line: Line, event: RequestSeen | RequestAnswered | RequestRefused) -> None:
        group = self.groups.get(line.group or "")
        errors, injected = self._refusals.errors(line)
        if self._steps is not None:
            self._steps.wire(group, line, injected)
        if group is None:
            return
        member = group.members.get(line.member or "")
        if isinstance(event, RequestAnswered):
            if member is not None:
                self._answered(group, member, line, event)
            return
        if member is not None and not errors:
            member.seen_ms, member.seen_by = line.at_ms, event.api
            if event.api == "heartbeat" and member.learned_ms is None:
                # successful ones are not in the log
                member.learned_ms, member.learned_by = line.at_ms, line.seq
        if isinstance(event, RequestRefused) and errors:
            seen = None if line.cause is None else self._lines.get(line.cause)
            asked = event if seen is None else seen.event
            client = (asked.client or "") if isinstance(asked, RequestSeen | RequestRefused) else ""
            refusal = Refusal(event.api, event.errors, self._why(line, errors))
            note = self._refusals.refused(group, member, line, refusal, injected, client)
            group.refused[client or (member.client_id if member is not None else "")] = note

    def _why(self, line: Line, errors: set[str]) -> Line | None:
        """Return the AuthorizationRefused that explains a refusal, if the last one does."""
        why = self._unauthorised
        if why is None or why.group != line.group or _error_of(why.event) not in errors:
            return None
        return why

    def _answered(
        self, group: GroupView, member: MemberView, line: Line, event: RequestAnswered
    ) -> None:
        """Handle a response without an event of the group: to a member that joins or syncs while
        the group is Stable (JOIN-4, STA-8)."""
        group.went_on(member.client_id)
        if group.state != "Stable":
            return
        if event.api == "join_group" and not member.cooperative:
            inferred_owners.joins(member, line.at_ms - event.waited_ms)
        elif event.api == "sync_group":
            self._goes_on(group, member, line.at_ms)

    @on(MemberDisconnected, MemberReconnected)
    def _connection(self, line: Line, event: MemberDisconnected | MemberReconnected) -> None:
        group = self.groups.get(line.group or "")
        member = None if group is None else group.members.get(line.member or "")
        if member is not None:
            member.closed_ms = line.at_ms if isinstance(event, MemberDisconnected) else None

    @on(FaultInjected)
    def _met_a_fault(self, line: Line, event: FaultInjected) -> None:
        self._refusals.met(self.groups.get(line.group or ""), line, event)

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

    def _goes_on(self, group: GroupView, member: MemberView, at_ms: int) -> None:
        inferred_owners.goes_on(member, group.generation, at_ms)
        current = group.current
        share = (
            current.share_by_id.get(member.member_id)
            if current is not None and current.outcome == "stable"
            else None
        )
        if share is not None and share.resumed_ms is None:
            share.resumed_ms = at_ms

    # -- the events of a group

    def _created(self, group: GroupView, line: Line, _: GroupCreated) -> None:
        group.state, group.created_ms, group.assignor, group.given_up_as = (
            "Empty",
            line.at_ms,
            None,
            "",
        )

    def _pending(self, group: GroupView, line: Line, event: MemberPending) -> None:
        group.name(event.member_id)

    def _pending_removed(self, group: GroupView, line: Line, event: PendingMemberRemoved) -> None:
        name = group.name(event.member_id) or ""
        group.pending_gone = (line.at_ms, name, event.reason)
        group.note(line, [name])

    def _joined(self, group: GroupView, line: Line, event: MemberJoined) -> None:
        member = group.member(event.member_id)
        member.client_id, member.client_host = event.client_id, event.client_host
        member.group_instance_id = event.group_instance_id
        group.clients.add(member.client_id)
        group.went_on(member.client_id)
        group.protocol_type, group.leader = event.protocol_type, group.name(event.leader)
        self._subscribes(group, member, line, event)
        self._change(group, line, [member.name])

    def _subscribes(
        self,
        group: GroupView,
        member: MemberView,
        line: Line,
        event: MemberJoined | MemberRejoined | MemberReplaced,
    ) -> dict[str, Any]:
        """Note a member's subscription; return how it differs from the one before."""
        before, after = member.subscription, None
        member.offers = tuple([name for name, _ in event.protocols])
        if group.protocol_type == CONNECT and event.protocols:
            return self._works(member, line, event.protocols[0][1])
        if group.protocol_type == "consumer" and event.protocols:
            subscriptions = [(name, subscription(said)) for name, said in event.protocols]
            after = subscriptions[0][1]
            member.cooperative = is_cooperative(subscriptions)
        member.subscription = after
        member.seen_ms, member.seen_by = line.at_ms, "join_group"
        inferred_owners.joins(member, line.at_ms)
        if before is None or after is None:
            return {}
        said = {
            "owned partitions": before.owned_partitions != after.owned_partitions,
            "user data": before.user_data != after.user_data,
            "rack": before.rack_id != after.rack_id,
        }
        return {
            "topics_added": sorted(set(after.topics) - set(before.topics)),
            "topics_dropped": sorted(set(before.topics) - set(after.topics)),
            "given_up": minus(by_topic(before.owned_partitions), by_topic(after.owned_partitions)),
            "changed": [what for what, differs in said.items() if differs],
        }

    def _works(self, member: MemberView, line: Line, said: bytes) -> dict[str, Any]:
        """Note the state of a Kafka Connect worker; return its former and its new configuration
        offset if it has read configurations since."""
        before, member.worker = member.worker, read_worker(said)
        member.seen_ms, member.seen_by = line.at_ms, "join_group"
        if before is None or member.worker is None:
            return {}
        offsets = before.config_offset, member.worker.config_offset
        return {"config_offsets": offsets} if offsets[0] < offsets[1] else {}

    def _rejoined(self, group: GroupView, line: Line, event: MemberRejoined) -> None:
        member = group.member(event.member_id)
        note = self._subscribes(group, member, line, event)
        topics = member.subscription.topics if member.subscription is not None else ()
        grown = [
            (topic, self.partitions[topic])
            for topic in self._grown
            if topic in topics and 0 < group.given.get(topic, 0) < self.partitions[topic]
        ]
        asked = None if line.cause is None else self._lines.get(line.cause)
        request = None if asked is None else asked.event
        note["grown"], note["leads"] = grown, member.name == group.leader
        note["said"] = request.reason if isinstance(request, RequestSeen) else None
        note = {key: value for key, value in note.items() if value}
        self._change(group, line, [member.name], note)

    def _replaced(self, group: GroupView, line: Line, event: MemberReplaced) -> None:
        old = group.member(event.replaced)
        new = group.member(event.member_id)
        new.client_id, new.client_host, new.assignment = (
            old.client_id,
            old.client_host,
            old.assignment,
        )
        new.group_instance_id, new.subscription = event.group_instance_id, old.subscription
        self._depart(group, old, line, "replaced")
        del group.members[event.replaced]
        group.leader = group.name(event.leader)
        self._subscribes(group, new, line, event)
        if event.parked:
            self._change(group, line, [new.name], {"replaced": old.name})
        else:
            group.note(line, [new.name, old.name])

    def _removed(self, group: GroupView, line: Line, event: MemberRemoved) -> None:
        member = group.members.pop(event.member_id, None) or MemberView(
            event.member_id, group.name(event.member_id) or ""
        )
        note: dict[str, Any] = {
            "last_sign": last_sign(group, member, line.at_ms, event),
            "closed_ms": member.closed_ms,
            "trouble": self._deeds.trouble(member.client_id, line.at_ms),
            "led": group.leader == member.name,
        }
        group.leader = group.name(event.leader)
        silent_ms = note["last_sign"][0] if note["last_sign"] else None
        had = self._depart(group, member, line, event.reason)
        if had:
            going = group.current is not None and group.state == "PreparingRebalance"
            gone = Gone(
                member.name,
                had,
                silent_ms,
                None if event.reason == Removal.LEFT else member.closed_ms,
            )
            (group.current.gone if going and group.current is not None else group.gone).append(gone)
        self._change(group, line, [member.name], note)

    def _depart(
        self,
        group: GroupView,
        member: MemberView,
        line: Line,
        reason: str,
    ) -> Partitions:
        """Remove a member; return its partitions or, during its rebalance, those it would have
        had again."""
        had = member.pause.partitions if member.pause is not None else member.held
        group.departed[member.member_id] = Departed(
            member.name,
            line.at_ms,
            reason,
            member.held,
            member.held_generation,
            client_id=member.client_id,
        )
        inferred_owners.removed(member, line.at_ms)
        return had

    def _change(
        self, group: GroupView, line: Line, members: list[str], note: dict[str, Any] | None = None
    ) -> None:
        """Note a change of membership: for the running rebalance, else for the one that it may
        start."""
        kept = self._lines.get(line.seq, line)
        change = Change(line.seq, line.at_ms, line.kind, members, kept, note or {})
        current = group.current
        if group.state == "PreparingRebalance" and current is not None:
            current.changes.append(change)
        else:
            group.waiting.append(change)

    def _elected(self, group: GroupView, line: Line, event: LeaderElected) -> None:
        group.leader = group.name(event.member_id)
        self._change(group, line, [group.leader or ""])

    def _rebalance(self, group: GroupView, line: Line, event: RebalanceStarted) -> None:
        before, group.waiting = group.waiting, []
        trigger = (
            before[-1]
            if before and before[-1].seq == line.cause
            else self._other_trigger(group, line)
        )
        if before and before[-1] is trigger:
            before.pop()
            together: list[
                Change
            ] = []  # leaves of one batch, members that did not sync: one trigger
            while (
                before
                and before[-1].kind is trigger.kind
                and before[-1].line.cause == trigger.line.cause
            ):
                together.append(before.pop())
            trigger.members[:0] = [name for change in reversed(together) for name in change.members]
        others = before
        previous = group.current
        if previous is not None and previous.ended_ms is None:
            self._end(previous, line.at_ms, "interrupted")
        group.current = Rebalance(
            group.group,
            line.seq,
            line.at_ms,
            trigger,
            event.reason,
            group.state,
            event.delay_ms,
            self.chain(line.cause),
            changes=others,
            gone=group.gone,
            steps=group.steps,
        )
        group.entries.append(group.current)
        group.gone, group.steps = [], []
        group.state = "PreparingRebalance"

    def _other_trigger(self, group: GroupView, line: Line) -> Change:
        found = None if line.cause is None else self._lines.get(line.cause)
        cause = line if found is None else found
        members = [] if cause.member is None else [group.name(cause.member) or ""]
        return Change(cause.seq, cause.at_ms, cause.kind, members, cause)

    def _end(self, rebalance: Rebalance, at_ms: int, outcome: str) -> None:
        rebalance.ended_ms = at_ms
        if rebalance.outcome in ("joining", "syncing"):
            rebalance.outcome = outcome

    def _generation(self, group: GroupView, line: Line, event: GenerationStarted) -> None:
        group.state, group.assignor, group.leader = (
            "CompletingRebalance",
            event.protocol_name,
            group.name(event.leader),
        )
        group.rearmed = (line.at_ms, f"the start of generation {event.generation}")
        group.members = {member_id: group.member(member_id) for member_id in event.members}
        current = group.current
        if current is not None:
            current.generation, current.generation_ms, current.outcome = (
                event.generation,
                line.at_ms,
                "syncing",
            )
            current.leader, current.assignor = group.leader, group.assignor
            current.members = [group.member(member_id).name for member_id in event.members]
            current.awaited = awaited(group, current, line.at_ms)
        for member in group.members.values():
            member.synced, member.learned_ms = False, None

    def _synced(self, group: GroupView, line: Line, event: MemberSynced) -> None:
        member = group.member(event.member_id)
        member.seen_ms, member.seen_by, member.synced = line.at_ms, "sync_group", True
        if event.parked and line.cause is not None:
            self._waiting[line.cause] = line.seq
        if not event.parked and group.state == "Stable":
            self._goes_on(group, member, line.at_ms)

    def _stored(self, group: GroupView, line: Line, event: GenerationStored) -> None:
        current, rows = group.current, event.members
        synced = None if line.cause is None else self._lines.get(line.cause)
        if synced is not None and synced.cause is not None:
            self._waiting.pop(synced.cause, None)
        group.stored = frozenset(row.member_id for row in rows)
        if (
            group.state in ("Stable", "Dead") or current is None
        ):  # a static member was replaced, or a snapshot restored: no rebalance
            for row in rows:
                group.member(row.member_id).assignment = own_assignment(
                    row.assignment, group.protocol_type
                )
            return
        shares = [self._share(group, row, event.protocol_name) for row in rows]
        group.state = "Stable"
        group.rearmed = (line.at_ms, "the answer to its SyncGroup")
        current.stored_ms, current.outcome, current.shares = line.at_ms, "stable", shares
        current.share_by_id = {share.member_id: share for share in shares}
        group.given = _counts(share.partitions or {} for share in shares)
        for member in group.members.values():
            group.went_on(member.client_id)
            if member.synced:
                self._goes_on(group, member, line.at_ms)

    def _share(self, group: GroupView, row: StoredMember, assignor: str) -> Share:
        member = group.member(row.member_id)
        before, now = (
            member.assignment or {},
            own_assignment(row.assignment, group.protocol_type),
        )
        member.assignment = now
        kept = both(member.held, now or {})
        share = Share(
            member.name,
            member.member_id,
            now,
            len(row.assignment),
            minus(now or {}, before),
            minus(before, now or {}),
            cooperative=member.cooperative,
            kept=now if kept == now else kept,
            pause=member.pause,
        )
        if group.protocol_type == CONNECT:
            share.work = read_work(row.assignment)
        if assignor in ("sticky", COOPERATIVE) and group.protocol_type == "consumer":
            share.claim = partial(claims, assignor, row.subscription)
        return share

    def _rejected(self, group: GroupView, line: Line, _: AssignmentRejected) -> None:
        leader = [group.leader or ""]
        group.waiting.append(Change(line.seq, line.at_ms, line.kind, leader, line))

    def _emptied(self, group: GroupView, line: Line, event: GroupEmptied) -> None:
        group.state, group.leader, group.assignor, group.stored = "Empty", None, None, frozenset()
        current = group.current
        if current is not None:
            current.generation, current.generation_ms, current.outcome = (
                event.generation,
                line.at_ms,
                "empty",
            )
            current.awaited = awaited(group, current, line.at_ms)

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
        group.epochs.follow(line, group.state, self.chain)
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
    def _topic_grew(self, line: Line, event: PartitionsAdded) -> None:
        self.partitions[event.topic] = event.first + len(event.replicas)
        self._grown[event.topic] = None

    @on(TopicCreated)
    def _topic_came(self, line: Line, event: TopicCreated) -> None:
        self.partitions[event.topic] = len(event.replicas)
        deleted_ms, groups = self._deleted.pop(event.topic, (0, []))
        for group in groups:
            if group.state != "Dead":
                group.note(line).deleted_ms = deleted_ms

    def _gone(self, group: GroupView, line: Line, event: GroupUnloaded | GroupDeleted) -> None:
        current, unloaded = group.current, isinstance(event, GroupUnloaded)
        if current is not None and current.ended_ms is None:
            self._end(current, line.at_ms, "lost")
        group.refused.clear()
        if unloaded:
            group.given_up_as, group.given_up_ms = group.state, line.at_ms
        else:
            self._consumer_groups.see(line)
            group.share = None
            group.members, group.leader = {}, None
        group.state = "Dead"
        group.note(line)

    def _loaded(self, group: GroupView, line: Line, event: GroupLoaded) -> None:
        group.state, group.given_up_as = event.state, ""
        for member_id, member in group.members.items():
            if member_id not in group.stored:
                self._depart(group, member, line, "not in the stored group")
        group.members = {
            member_id: view
            for member_id, view in group.members.items()
            if member_id in group.stored
        }
        group.rearmed = (line.at_ms, "the loading of the group")
        group.note(line)


_LARGE: Final[dict[type, str]] = {
    GenerationStored: "members",
    MemberJoined: "protocols",
    MemberRejoined: "protocols",
}
"""The field with each member's partitions or subscription. It is most of such a line, and no
cause."""


def _counts(shares: Iterable[Partitions]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for share in shares:
        for topic, numbers in share.items():
            counts[topic] = counts.get(topic, 0) + len(numbers)
    return counts


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


_FOLDS: Final[dict[type, Callable[[Timeline, GroupView, Line, Any], None]]] = {
    GroupCreated: Timeline._created,
    MemberPending: Timeline._pending,
    PendingMemberRemoved: Timeline._pending_removed,
    MemberJoined: Timeline._joined,
    MemberRejoined: Timeline._rejoined,
    MemberReplaced: Timeline._replaced,
    MemberRemoved: Timeline._removed,
    LeaderElected: Timeline._elected,
    RebalanceStarted: Timeline._rebalance,
    GenerationStarted: Timeline._generation,
    MemberSynced: Timeline._synced,
    GenerationStored: Timeline._stored,
    AssignmentRejected: Timeline._rejected,
    GroupEmptied: Timeline._emptied,
    OffsetsCommitted: Timeline._committed,
    PendingOffsetsEnded: Timeline._transaction_ended,
    OffsetsRemoved: Timeline._offsets_removed,
    GroupDeleted: Timeline._gone,
    GroupUnloaded: Timeline._gone,
    GroupLoaded: Timeline._loaded,
    **dict.fromkeys(SHARE_KINDS, Timeline._sharers),
    **dict.fromkeys(get_args(ConsumerEvent), Timeline._consumers),
}
"""The function that changes a group, by the class of its event."""
