"""A log folded into what a person asks about: each group's rebalances, who took part, who got what, and what caused it.

Works line by line, so a log can be followed while it grows. Reads plain dictionaries (`coordinator.event_log.read`); of the
heart it knows nothing. Lines of unknown types are passed over. It tells what was logged and holds no rule of the protocol.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..wire.consumer_protocol import Subscription
from .blobs import assignment, by_topic, decoded, minus
from .reader import Line
from .views import Change, GroupView, MemberView, Note, Rebalance, Share

_CAUSE_TYPES_FORGOTTEN = frozenset({"OffsetsCommitted", "OffsetsPending", "PendingOffsetsEnded", "RequestAnswered"})
_ROUTINE_REFUSALS = frozenset({"MEMBER_ID_REQUIRED", "REBALANCE_IN_PROGRESS"})


class Timeline:
    """All groups of a log. `feed` it line by line."""

    def __init__(self) -> None:
        self.header: Line = {}
        self.groups: dict[str, GroupView] = {}
        self.end_ms = 0
        self._lines: dict[int, Line] = {}
        self._growth: dict[str, Line] = {}
        self.partitions: dict[str, int] = {}
        """How many partitions each topic has."""

    def feed(self, line: Line) -> None:
        """Fold one line."""
        self.end_ms = max(self.end_ms, line["at_ms"])
        stream, kind = line["stream"], line["type"]
        if stream == "run":
            self.header = line
        if kind not in _CAUSE_TYPES_FORGOTTEN:
            self._lines[line["seq"]] = line
        if stream == "cluster" and kind in ("TopicCreated", "PartitionsAdded"):
            self.partitions[line["topic"]] = line["partitions"]
            if kind == "PartitionsAdded":
                self._growth[line["topic"]] = line
        elif stream == "wire":
            self._wire(line)
        elif stream == "group" and kind in _FOLDS:
            group = self.groups.get(line["group"])
            if group is None:
                group = self.groups[line["group"]] = GroupView(line["group"], line["at_ms"])
            _FOLDS[kind](self, group, line)
            group.generation = line.get("generation", group.generation)

    def chain(self, seq: int | None) -> list[Line]:
        """A line and its causes, back to what came from outside."""
        chain: list[Line] = []
        while seq is not None and seq in self._lines:
            chain.append(self._lines[seq])
            seq = chain[-1]["cause"]
        return chain

    # -- one event each ------------------------------------------------------------------------------------------------

    def _wire(self, line: Line) -> None:
        group = self.groups.get(line.get("group", ""))
        if group is None or line["type"] not in ("RequestSeen", "RequestRefused"):
            return
        member = group.members.get(line.get("member", ""))
        errors = line.get("errors", [])
        if member is not None and not set(errors) - _ROUTINE_REFUSALS:
            member.seen_ms, member.seen_by = line["at_ms"], line.get("api", "")
        if line["type"] == "RequestRefused" and set(errors) - _ROUTINE_REFUSALS:
            self._note(group, line, [name] if (name := group.name(line.get("member"))) else [])

    def _note(self, group: GroupView, line: Line, members: list[str] | None = None) -> None:
        group.entries.append(Note(line["at_ms"], line["seq"], line["type"], group.generation, members or [], line))

    def _created(self, group: GroupView, line: Line) -> None:
        group.state, group.created_ms, group.assignor, group.given_up_as = "Empty", line["at_ms"], None, ""

    def _pending(self, group: GroupView, line: Line) -> None:
        group.name(line["member"])

    def _pending_removed(self, group: GroupView, line: Line) -> None:
        self._note(group, line, [group.name(line["member"]) or ""])

    def _joined(self, group: GroupView, line: Line) -> None:
        member = group.member(line["member"])
        member.client_id, member.client_host = line["client_id"], line["client_host"]
        member.group_instance_id = line["group_instance_id"]
        group.protocol_type, group.leader = line["protocol_type"], group.name(line["leader"])
        self._subscribes(group, member, line)
        self._change(group, line, [member.name])

    def _subscribes(self, group: GroupView, member: MemberView, line: Line) -> dict[str, Any]:
        """Take over what a member asks for; returns how that differs from before."""
        before, after = member.subscription, None
        if group.protocol_type == "consumer" and line["protocols"]:
            after = decoded(Subscription.decode, line["protocols"][0]["metadata"])
        member.subscription = after
        member.seen_ms, member.seen_by = line["at_ms"], "join_group"
        if before is None or after is None:
            return {}
        return {
            "topics_added": sorted(set(after.topics) - set(before.topics)),
            "topics_dropped": sorted(set(before.topics) - set(after.topics)),
            "given_up": minus(by_topic(before.owned_partitions), by_topic(after.owned_partitions)),
            "owned_changed": before.owned_partitions != after.owned_partitions,
        }

    def _rejoined(self, group: GroupView, line: Line) -> None:
        member = group.member(line["member"])
        note = self._subscribes(group, member, line)
        topics = member.subscription.topics if member.subscription is not None else ()
        last = group.current
        grown = [growth for topic, growth in self._growth.items() if topic in topics and last and growth["seq"] > last.seq]
        note["grown"] = [(growth["topic"], growth["partitions"]) for growth in grown]
        note["leads"] = member.name == group.leader
        self._change(group, line, [member.name], note)

    def _replaced(self, group: GroupView, line: Line) -> None:
        old = group.member(line["replaced"])
        new = group.member(line["member"])
        new.client_id, new.client_host, new.assignment = old.client_id, old.client_host, old.assignment
        new.group_instance_id, new.subscription = line["group_instance_id"], old.subscription
        del group.members[line["replaced"]]
        group.leader = group.name(line["leader"])
        self._subscribes(group, new, line)
        if line["parked"]:
            self._change(group, line, [new.name], {"replaced": old.name})
        else:
            self._note(group, line, [new.name, old.name])

    def _removed(self, group: GroupView, line: Line) -> None:
        member = group.members.pop(line["member"], None) or MemberView(line["member"], group.name(line["member"]) or "")
        note: dict[str, Any] = {"last_sign": last_sign(group, member, line), "led": group.leader == member.name}
        group.leader = group.name(line["leader"])
        self._change(group, line, [member.name], note)

    def _change(self, group: GroupView, line: Line, members: list[str], note: dict[str, Any] | None = None) -> None:
        """A change of membership: part of the rebalance that runs, else kept for the one that it may start."""
        change = Change(line["seq"], line["at_ms"], line["type"], members, line, note or {})
        current = group.current
        if group.state == "PreparingRebalance" and current is not None:
            current.changes.append(change)
        else:
            group.waiting.append(change)

    def _elected(self, group: GroupView, line: Line) -> None:
        group.leader = group.name(line["member"])
        self._change(group, line, [group.leader or ""])

    def _rebalance(self, group: GroupView, line: Line) -> None:
        before, group.waiting = group.waiting, []
        trigger = before[-1] if before and before[-1].seq == line["cause"] else self._other_trigger(group, line)
        for change in before[-2::-1]:  # leaves of one batch, members that did not sync: one trigger
            if change.kind != trigger.kind or change.line["cause"] != trigger.line["cause"]:
                break
            trigger.members[:0] = change.members
            before.remove(change)
        others = [change for change in before if change is not trigger]
        previous = group.current
        if previous is not None and previous.ended_ms is None:
            self._end(previous, line["at_ms"], "interrupted")
        causes = self.chain(line["cause"])
        group.entries.append(
            Rebalance(
                group.group, line["seq"], line["at_ms"], trigger, line["reason"], group.state, line["delay_ms"], causes, changes=others
            )
        )
        group.state = "PreparingRebalance"

    def _other_trigger(self, group: GroupView, line: Line) -> Change:
        cause = self._lines.get(line["cause"]) if line["cause"] is not None else None
        cause = cause or line
        return Change(cause["seq"], cause["at_ms"], cause["type"], [group.name(cause["member"]) or ""] if "member" in cause else [], cause)

    def _end(self, rebalance: Rebalance, at_ms: int, outcome: str) -> None:
        rebalance.ended_ms = at_ms
        if rebalance.outcome in ("joining", "syncing"):
            rebalance.outcome = outcome

    def _generation(self, group: GroupView, line: Line) -> None:
        group.state, group.assignor, group.leader = "CompletingRebalance", line["protocol_name"], group.name(line["leader"])
        group.rearmed = (line["at_ms"], f"the start of generation {line['generation']}")
        group.members = {member_id: group.member(member_id) for member_id in line["members"]}
        current = group.current
        if current is not None:
            current.generation, current.generation_ms, current.outcome = line["generation"], line["at_ms"], "syncing"
            current.leader, current.assignor = group.leader, group.assignor
            current.members = [group.member(member_id).name for member_id in line["members"]]

    def _synced(self, group: GroupView, line: Line) -> None:
        member = group.member(line["member"])
        member.seen_ms, member.seen_by = line["at_ms"], "sync_group"

    def _stored(self, group: GroupView, line: Line) -> None:
        current = group.current
        shares = [self._share(group, row) for row in line["members"]]
        group.stored = frozenset(row["member_id"] for row in line["members"])
        if group.state == "Stable" or current is None:  # a static member was replaced without a rebalance
            return
        group.state = "Stable"
        group.rearmed = (line["at_ms"], "the answer to its SyncGroup")
        current.stored_ms, current.outcome, current.shares = line["at_ms"], "stable", shares

    def _share(self, group: GroupView, row: dict[str, Any]) -> Share:
        member = group.member(row["member_id"])
        before, now = member.assignment or {}, assignment(row["assignment"]) if group.protocol_type == "consumer" else None
        member.assignment = now
        size = len(row["assignment"]) // 2
        return Share(member.name, member.member_id, now, size, minus(now or {}, before), minus(before, now or {}))

    def _rejected(self, group: GroupView, line: Line) -> None:
        group.waiting.append(Change(line["seq"], line["at_ms"], line["type"], [group.leader or ""], line))

    def _emptied(self, group: GroupView, line: Line) -> None:
        group.state, group.leader, group.assignor, group.stored = "Empty", None, None, frozenset()
        current = group.current
        if current is not None:
            current.generation, current.generation_ms, current.outcome = line["generation"], line["at_ms"], "empty"

    def _committed(self, group: GroupView, line: Line) -> None:
        group.commits += 1

    def _transaction_ended(self, group: GroupView, line: Line) -> None:
        group.commits += bool(line["partitions"])

    def _gone(self, group: GroupView, line: Line) -> None:
        current = group.current
        if current is not None and current.ended_ms is None:
            self._end(current, line["at_ms"], "lost")
        if line["type"] == "GroupDeleted":
            group.members, group.leader = {}, None
        else:
            group.given_up_as = group.state
        group.state = "Dead"
        self._note(group, line)

    def _loaded(self, group: GroupView, line: Line) -> None:
        group.state, group.given_up_as = line["state"], ""
        group.members = {member_id: view for member_id, view in group.members.items() if member_id in group.stored}
        group.rearmed = (line["at_ms"], "the loading of the group")
        self._note(group, line)


def last_sign(group: GroupView, member: MemberView, line: Line) -> tuple[int, str] | None:
    """When an expired member was last heard of, and by what: (instant, API or what renewed all sessions or "heartbeat").

    Heartbeats that succeed are not logged: if nothing that was logged fits, it was one.
    """
    silence, _, unit = (line["detail"] or "").partition(" ")
    if unit != "ms" or not silence.isdecimal() or line["reason"] == "left":
        return None
    at_ms = line["at_ms"] - int(silence)
    for seen_ms, seen_by in ((member.seen_ms, member.seen_by), group.rearmed):
        if seen_by and abs(seen_ms - at_ms) <= _TIMERS_ARE_LATE_MS:
            return seen_ms, seen_by
    return at_ms, "heartbeat"


_TIMERS_ARE_LATE_MS = 5


_FOLDS: dict[str, Callable[[Timeline, GroupView, Line], None]] = {
    "GroupCreated": Timeline._created,
    "MemberPending": Timeline._pending,
    "PendingMemberRemoved": Timeline._pending_removed,
    "MemberJoined": Timeline._joined,
    "MemberRejoined": Timeline._rejoined,
    "MemberReplaced": Timeline._replaced,
    "MemberRemoved": Timeline._removed,
    "LeaderElected": Timeline._elected,
    "RebalanceStarted": Timeline._rebalance,
    "GenerationStarted": Timeline._generation,
    "MemberSynced": Timeline._synced,
    "GenerationStored": Timeline._stored,
    "AssignmentRejected": Timeline._rejected,
    "GroupEmptied": Timeline._emptied,
    "OffsetsCommitted": Timeline._committed,
    "PendingOffsetsEnded": Timeline._transaction_ended,
    "GroupDeleted": Timeline._gone,
    "GroupUnloaded": Timeline._gone,
    "GroupLoaded": Timeline._loaded,
}
