"""Stories of classic groups: members that join and go, rebalances with their triggers, generations
and shares. Each function handles one class of events of a group, and fills its `GroupView`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final

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
    PendingMemberRemoved,
    RebalanceStarted,
    Removal,
    StoredMember,
)
from coordinator.events.line import Line
from coordinator.events.wire import RequestSeen
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
    own_assignment,
    subscription,
)
from .kept_lines import KeptLines
from .topics import Topics
from .views import Change, Departed, Gone, GroupView, MemberView, Rebalance, Share, Trouble
from .waits import awaited, last_sign


class ClassicStory:
    """Handles events of classic groups. `trouble`: returns what a client went through that is not
    over, or was over only now."""

    def __init__(
        self,
        lines: KeptLines,
        topics: Topics,
        trouble: Callable[[str, int], Trouble | None],
    ) -> None:
        self._lines = lines
        self._topics = topics
        self._trouble = trouble

    def folds(self) -> dict[type, Callable[[GroupView, Line, Any], None]]:
        """Return the function that changes a group, by the class of its event."""
        return {kind: partial(fold, self) for kind, fold in _FOLDS.items()}

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
            (topic, self._topics.partitions[topic])
            for topic in self._topics.grown
            if topic in topics and 0 < group.given.get(topic, 0) < self._topics.partitions[topic]
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
            "trouble": self._trouble(member.client_id, line.at_ms),
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
        kept = self._lines.get(line.seq) or line
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
            self._lines.chain(line.cause),
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

    @staticmethod
    def _end(rebalance: Rebalance, at_ms: int, outcome: str) -> None:
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
            self._lines.wait_for_leader(line.cause, line.seq)
        if not event.parked and group.state == "Stable":
            goes_on(group, member, line.at_ms)

    def _stored(self, group: GroupView, line: Line, event: GenerationStored) -> None:
        current, rows = group.current, event.members
        synced = None if line.cause is None else self._lines.get(line.cause)
        if synced is not None and synced.cause is not None:
            self._lines.leader_came(synced.cause)
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
                goes_on(group, member, line.at_ms)

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

    def _gone(self, group: GroupView, line: Line, event: GroupUnloaded | GroupDeleted) -> None:
        current, unloaded = group.current, isinstance(event, GroupUnloaded)
        if current is not None and current.ended_ms is None:
            self._end(current, line.at_ms, "lost")
        group.refused.clear()
        if unloaded:
            group.given_up_as, group.given_up_ms = group.state, line.at_ms
        else:
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


def goes_on(group: GroupView, member: MemberView, at_ms: int) -> None:
    """Note that a member's SyncGroup was answered: it consumes what it was given."""
    inferred_owners.goes_on(member, group.generation, at_ms)
    current = group.current
    share = (
        current.share_by_id.get(member.member_id)
        if current is not None and current.outcome == "stable"
        else None
    )
    if share is not None and share.resumed_ms is None:
        share.resumed_ms = at_ms


def _counts(shares: Iterable[Partitions]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for share in shares:
        for topic, numbers in share.items():
            counts[topic] = counts.get(topic, 0) + len(numbers)
    return counts


_FOLDS: Final[dict[type, Callable[[ClassicStory, GroupView, Line, Any], None]]] = {
    GroupCreated: ClassicStory._created,
    MemberPending: ClassicStory._pending,
    PendingMemberRemoved: ClassicStory._pending_removed,
    MemberJoined: ClassicStory._joined,
    MemberRejoined: ClassicStory._rejoined,
    MemberReplaced: ClassicStory._replaced,
    MemberRemoved: ClassicStory._removed,
    LeaderElected: ClassicStory._elected,
    RebalanceStarted: ClassicStory._rebalance,
    GenerationStarted: ClassicStory._generation,
    MemberSynced: ClassicStory._synced,
    GenerationStored: ClassicStory._stored,
    AssignmentRejected: ClassicStory._rejected,
    GroupEmptied: ClassicStory._emptied,
    GroupDeleted: ClassicStory._gone,
    GroupUnloaded: ClassicStory._gone,
    GroupLoaded: ClassicStory._loaded,
}
"""The function that changes a group, by the class of its event."""
