"""A log folded into what a person asks about: each group's rebalances, who took part, who got what,
who stood still, and what caused it.

Works line by line, so a log can be followed while it grows, and in time linear in the log. Reads
plain dictionaries (`coordinator.event_log.read`) and does not depend on the group coordinator.
Lines of unknown types are passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, MutableMapping, MutableSequence
from functools import partial
from typing import Any, Protocol

from ..common.printable import printable
from ..event_log.reader import Line, LineNumbers
from ..wire.connect_protocol import PROTOCOL_TYPE as CONNECT
from ..wire.connect_protocol import read_work, read_worker
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
from .compact import compact
from .consumer_groups import BEGINNINGS, KINDS, ConsumerGroups
from .deeds import KINDS as DEEDS
from .deeds import Deeds
from .epochs import Epochs
from .filed import FiledLines, FiledStory, LogFile
from .inferred_owners import Ownership
from .outside_groups import OutsideGroups
from .owners import PROCESS_ENDED
from .refusals import Refusals
from .shares.groups import KINDS as SHARE_KINDS
from .shares.groups import ShareGroup
from .shares.records import ShareRecords
from .steps import Steps
from .views import (
    Change,
    Departed,
    Gone,
    GroupView,
    MemberView,
    Rebalance,
    Share,
    Unowned,
)
from .waits import awaited, last_sign

_NOBODYS_CAUSE = frozenset(
    {
        "OffsetsCommitted",
        "OffsetsPending",
        "PendingOffsetsEnded",
        "RequestAnswered",
        "RequestRefused",
        "ConnectionOpened",
        "ConnectionClosed",
    }
)
"""Types of lines that no rebalance goes back to; nor does any to what members and records say."""
_ABOUT_OFFSETS = frozenset({"offset_fetch", "offset_commit"})
"""Requests that bring about no rebalance."""
_FINDS = "find_coordinator"
"""Its answers name no group: what it is refused is told of who asked."""
_ABOUT_TOPICS = frozenset({"TopicCreated", "PartitionsAdded", "TopicDeleted"})
_MOST_CAUSES = 64
_SAID = (
    ("owned partitions", "owned_partitions"),
    ("user data", "user_data"),
    ("rack", "rack_id"),
)
"""Parts of a subscription beside its topics."""
_UNASKED = frozenset({"expired", "topic deleted"})
"""Why offsets go although no client asked for it."""


def _is_about(unauthorised: Line, errors: set[str]) -> bool:
    """Is this why a request was refused?"""
    return f"{unauthorised['resource'].upper()}_AUTHORIZATION_FAILED" in errors


class Words(Protocol):
    """Sentences for what can be said only while it happens."""

    def consumer_event(self, group: GroupView, line: Line, *, new: bool) -> str:
        """An event of a consumer group, after it. `new`: its member was none before."""

    def share_group_event(self, group: ShareGroup, line: Line) -> str:
        """An event of a share group, before it; "" if it goes without saying."""

    def share_event(self, known: ShareRecords, line: Line) -> str:
        """The outcome of the records of a share group; "" if it goes without saying."""


class Timeline:
    """All groups of a log. `feed` it line by line. `details`: keep each request and answer that
    belongs to a rebalance, too.

    `words`: says what happens in consumer groups (KIP-848), as it happens; without, only their
    state is followed. `from_text`: lines were read as JSON, so equal texts are many objects; those
    of kept lines are made one. `file`: the lines stand there, so that only the newest are kept.
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
        """Who is who in share groups, and what came back."""
        self.header: Line = {}
        self.numbers = LineNumbers("log")
        self.groups: dict[str, GroupView] = {}
        self.end_ms = 0
        self._lines: MutableMapping[int, Line] = {} if file is None else FiledLines(file)
        self._waiting: dict[int, int] = {}
        """SyncGroups that wait for the leader's, and their events: nothing goes back to them, but
        to the leader's own."""
        self._grown: dict[str, None] = {}
        self._deleted: dict[str, tuple[int, list[GroupView]]] = {}
        self.clocks_ahead_ms: dict[int, int] = {}
        self._ownership: dict[str, Ownership] = {}
        self._unauthorised: Line | None = None  # the last right that somebody had not
        self.outside_groups = OutsideGroups()
        self._deeds = Deeds(_reads)
        self._refusals = Refusals(self._deeds.trouble)
        self._steps = Steps(self._lines) if details else None
        self.partitions: dict[str, int] = {}
        """How many partitions each topic has."""

    def feed(self, line: Line) -> None:
        """Fold one line."""
        if line["at_ms"] > self.end_ms:
            self.end_ms = line["at_ms"]
        stream, kind = line["stream"], line["type"]
        if stream == "run":
            self.header = line
        if kind not in _NOBODYS_CAUSE and stream != "member" and stream != "data":
            kept = _small(line, _LARGE[kind]) if kind in _LARGE else line
            self._lines[line["seq"]] = compact(kept) if self._from_text else kept
        if stream == "cluster" and kind in _ABOUT_TOPICS:
            self._topic(line)
        elif stream == "wire":
            self._wire(line)
        elif kind in PROCESS_ENDED:
            self._ended(line)
        elif kind in DEEDS:
            self._deed(line)
        elif stream == "member":
            self._callback(line)
        elif kind == "FaultInjected":
            self._refusals.met(self.groups.get(line.get("group", "")), line)
        elif stream == "share":
            self._share_records(line)
        elif stream == "group" and kind in _FOLDS:
            self._group(line)

    def _group(self, line: Line) -> None:
        """An event of a group, new ones included."""
        group = self.groups.get(line["group"])
        if group is None:
            group = self.groups[line["group"]] = GroupView(
                line["group"], line["at_ms"], entries=self._story()
            )
            self._ownership[line["group"]] = Ownership()
            if self._steps is not None:
                self._steps.group_came(group)
        kind = line["type"]
        _FOLDS[kind](self, group, line)
        broker = line.get("broker", group.coordinator)
        if kind != "GroupUnloaded" and broker != group.coordinator:
            group.handed_over = (group.coordinator, line["at_ms"])
            group.coordinator = broker
        group.generation = line.get("generation", group.generation)

    def _sharers(self, group: GroupView, line: Line) -> None:
        """An event of a share group. It is told before the group has seen it: what is new is to be
        seen then."""
        known = group.share
        if known is None:
            known = group.share = ShareGroup()
        if line["type"] == "ShareMemberSubscribed":
            group.clients.add(line["client_id"])
            self.share_known.see(line)
        said = "" if self._words is None else self._words.share_group_event(known, line)
        member = line.get("member")
        names = [printable(self.share_known.name(line["group"], member))] if member else []
        known.see(line)
        group.state = known.state()
        if said:
            group.note(line, names).sentence = said

    def _share_records(self, line: Line) -> None:
        """The outcome of a share group's records, as far as there is something to say."""
        self.share_known.see(line)
        self._forget(line["seq"])
        group = self.groups.get(line["group"])
        if group is None or self._words is None:
            return
        said = self._words.share_event(self.share_known, line)
        if said:
            member = line.get("member")
            names = [printable(self.share_known.name(line["group"], member))] if member else []
            group.note(line, names).sentence = said

    def chain(self, seq: int | None) -> list[Line]:
        """A line and its causes, back to what came from outside, but `_MOST_CAUSES` at most: chains
        share their beginnings."""
        chain: list[Line] = []
        while seq is not None and len(chain) < _MOST_CAUSES:
            found = self._lines.get(seq)
            if found is None:
                break
            chain.append(found)
            seq = found["cause"]
        return chain

    # -- one event each

    def _wire(self, line: Line) -> None:
        refused = line["type"] == "AuthorizationRefused"
        if "group" not in line or (refused and line["group"] not in self.groups):
            self.outside_groups.follow(line)
        if refused:
            self._unauthorised = line
            group = self.groups.get(line.get("group", ""))
            if group is not None and line["api"] == _FINDS:
                errors_of = [f"{line['resource'].upper()}_AUTHORIZATION_FAILED"]
                told = {**line, "errors": errors_of, "unauthorised": line}
                self._refusals.refused(group, None, told, "", str(line.get("client", "")))
            return
        self._request(line)
        cause = line["cause"]
        if self._steps is None and line["type"] != "RequestSeen" and cause is not None:
            synced = self._waiting.pop(cause, None)
            if synced is not None:
                self._forget(synced)
            if synced is not None or line.get("api") in _ABOUT_OFFSETS:
                self._forget(cause)

    def _forget(self, seq: int) -> None:
        """Nothing goes back to a line."""
        if seq in self._lines:
            del self._lines[seq]

    def _request(self, line: Line) -> None:
        group = self.groups.get(line.get("group", ""))
        errors, injected = self._refusals.errors(line)
        if self._steps is not None:
            self._steps.wire(group, line, injected)
        if group is None:
            return
        member, kind = group.members.get(line.get("member", "")), line["type"]
        if kind == "RequestAnswered" and member is not None:
            self._answered(group, member, line)
        elif kind in ("RequestSeen", "RequestRefused"):
            if member is not None and not errors:
                member.seen_ms, member.seen_by = line["at_ms"], line.get("api", "")
                if (
                    line.get("api") == "heartbeat" and member.learned_ms is None
                ):  # successful ones are not in the log
                    member.learned_ms, member.learned_by = line["at_ms"], line["seq"]
            if kind == "RequestRefused" and errors:
                seen = self._lines.get(line["cause"]) if line["cause"] is not None else line
                client = str((seen or line).get("client", ""))
                why = self._unauthorised
                if why is not None and why.get("group") == line["group"] and _is_about(why, errors):
                    line = {**line, "unauthorised": why}
                self._refusals.refused(group, member, line, injected, client)

    def _answered(self, group: GroupView, member: MemberView, line: Line) -> None:
        """Answers that come without an event of the group: to a member that joins or syncs while
        the group is Stable (JOIN-4, STA-8)."""
        if group.state != "Stable":
            return
        if line["api"] == "join_group" and not member.cooperative:
            self._ownership[group.group].joins(member, line["at_ms"] - line["waited_ms"])
        elif line["api"] == "sync_group":
            self._goes_on(group, member, line["at_ms"])

    def _callback(self, line: Line) -> None:
        """A member's own word on what its application was told."""
        if line["type"] == "MemberStarted":
            self._deeds.started(line)
        group = self.groups.get(line.get("group", ""))
        member = group.members.get(line.get("member", "")) if group is not None else None
        if (
            group is None
            or member is None
            or line["type"] not in ("PartitionsAssigned", "PartitionsRevoked", "PartitionsLost")
        ):
            return
        partitions: dict[str, list[int]] = {}
        for row in line["partitions"]:
            partitions.setdefault(row["topic"], []).append(row["partition"])
        ownership = self._ownership[group.group]
        if line["type"] == "PartitionsAssigned":
            generation = line.get("generation", group.generation)
            ownership.told_assigned(
                member, by_topic(partitions.items()), generation, line["at_ms"], _unowned(group)
            )
        else:
            ownership.told_given_up(member, by_topic(partitions.items()), line["at_ms"])
        if self._steps is not None:
            self._steps.callback(group, member.name, line)

    def _ended(self, line: Line) -> None:
        """A process's own end: its application has nothing any more, whoever still takes it for a
        member."""
        group = self.groups.get(line.get("group", ""))
        member = group.members.get(line.get("member", "")) if group is not None else None
        if group is not None and member is not None:
            self._ownership[group.group].told_ended(member, line["at_ms"])
        if line["type"] in DEEDS:
            self._deed(line)

    def _goes_on(self, group: GroupView, member: MemberView, at_ms: int) -> None:
        self._ownership[group.group].goes_on(member, group.generation, at_ms, _unowned(group))
        current = group.current
        share = (
            current.share_by_id.get(member.member_id)
            if current is not None and current.outcome == "stable"
            else None
        )
        if share is not None and share.resumed_ms is None:
            share.resumed_ms = at_ms

    def _created(self, group: GroupView, line: Line) -> None:
        group.state, group.created_ms, group.assignor, group.given_up_as = (
            "Empty",
            line["at_ms"],
            None,
            "",
        )

    def _pending(self, group: GroupView, line: Line) -> None:
        group.name(line["member"])

    def _pending_removed(self, group: GroupView, line: Line) -> None:
        name = group.name(line["member"]) or ""
        group.pending_gone = (line["at_ms"], name, line["reason"])
        group.note(line, [name])

    def _joined(self, group: GroupView, line: Line) -> None:
        member = group.member(line["member"])
        member.client_id, member.client_host = line["client_id"], line["client_host"]
        member.group_instance_id = line["group_instance_id"]
        group.clients.add(member.client_id)
        group.protocol_type, group.leader = line["protocol_type"], group.name(line["leader"])
        self._subscribes(group, member, line)
        self._change(group, line, [member.name])

    def _subscribes(self, group: GroupView, member: MemberView, line: Line) -> dict[str, Any]:
        """Take over what a member asks for; returns how that differs from before."""
        before, after = member.subscription, None
        member.offers = tuple(row["name"] for row in line["protocols"])
        if group.protocol_type == CONNECT and line["protocols"]:
            return self._works(member, line)
        if group.protocol_type == "consumer" and line["protocols"]:
            subscriptions = [
                (row["name"], subscription(row["metadata"])) for row in line["protocols"]
            ]
            after = subscriptions[0][1]
            member.cooperative = is_cooperative(subscriptions)
        member.subscription = after
        member.seen_ms, member.seen_by = line["at_ms"], "join_group"
        self._ownership[group.group].joins(member, line["at_ms"])
        if before is None or after is None:
            return {}
        return {
            "topics_added": sorted(set(after.topics) - set(before.topics)),
            "topics_dropped": sorted(set(before.topics) - set(after.topics)),
            "given_up": minus(by_topic(before.owned_partitions), by_topic(after.owned_partitions)),
            "changed": [
                what
                for what, attribute in _SAID
                if getattr(before, attribute) != getattr(after, attribute)
            ],
        }

    def _works(self, member: MemberView, line: Line) -> dict[str, Any]:
        """Take over what a worker of Kafka Connect says of itself; returns which configurations it
        has read since."""
        before, member.worker = member.worker, read_worker(line["protocols"][0]["metadata"])
        member.seen_ms, member.seen_by = line["at_ms"], "join_group"
        if before is None or member.worker is None:
            return {}
        offsets = before.config_offset, member.worker.config_offset
        return {"config_offsets": offsets} if offsets[0] < offsets[1] else {}

    def _rejoined(self, group: GroupView, line: Line) -> None:
        member = group.member(line["member"])
        note = self._subscribes(group, member, line)
        topics = member.subscription.topics if member.subscription is not None else ()
        grown = [
            (topic, self.partitions[topic])
            for topic in self._grown
            if topic in topics and 0 < group.given.get(topic, 0) < self.partitions[topic]
        ]
        note["grown"], note["leads"] = grown, member.name == group.leader
        note["said"] = self._lines.get(line["cause"], {}).get("reason")
        note = {key: value for key, value in note.items() if value}
        self._change(group, line, [member.name], note)

    def _replaced(self, group: GroupView, line: Line) -> None:
        old = group.member(line["replaced"])
        new = group.member(line["member"])
        new.client_id, new.client_host, new.assignment = (
            old.client_id,
            old.client_host,
            old.assignment,
        )
        new.group_instance_id, new.subscription = line["group_instance_id"], old.subscription
        self._depart(group, old, line, "replaced")
        del group.members[line["replaced"]]
        group.leader = group.name(line["leader"])
        self._subscribes(group, new, line)
        if line["parked"]:
            self._change(group, line, [new.name], {"replaced": old.name})
        else:
            group.note(line, [new.name, old.name])

    def _removed(self, group: GroupView, line: Line) -> None:
        member = group.members.pop(line["member"], None) or MemberView(
            line["member"], group.name(line["member"]) or ""
        )
        note: dict[str, Any] = {
            "last_sign": last_sign(group, member, line),
            "trouble": self._deeds.trouble(member.client_id, line["at_ms"]),
            "led": group.leader == member.name,
        }
        group.leader = group.name(line["leader"])
        had = self._depart(group, member, line, line["reason"])
        if had:
            going = group.current is not None and group.state == "PreparingRebalance"
            gone = Gone(member.name, had, note["last_sign"][0] if note["last_sign"] else None)
            (group.current.gone if going and group.current is not None else group.gone).append(gone)
        self._change(group, line, [member.name], note)

    def _depart(self, group: GroupView, member: MemberView, line: Line, reason: str) -> Partitions:
        """A member id goes; returns what it had, or would have had again at the end of its
        rebalance."""
        had = member.pause.partitions if member.pause is not None else member.held
        group.departed[member.member_id] = Departed(
            member.name,
            line["at_ms"],
            reason,
            member.held,
            member.held_generation,
            client_id=member.client_id,
        )
        self._ownership[group.group].removed(member, line["at_ms"])
        return had

    def _change(
        self, group: GroupView, line: Line, members: list[str], note: dict[str, Any] | None = None
    ) -> None:
        """A change of membership: part of the rebalance that runs, else kept for the one that it
        may start."""
        kept = self._lines.get(line["seq"], line)
        change = Change(line["seq"], line["at_ms"], line["type"], members, kept, note or {})
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
        trigger = (
            before[-1]
            if before and before[-1].seq == line["cause"]
            else self._other_trigger(group, line)
        )
        if before and before[-1] is trigger:
            before.pop()
            together: list[
                Change
            ] = []  # leaves of one batch, members that did not sync: one trigger
            while (
                before
                and before[-1].kind == trigger.kind
                and before[-1].line["cause"] == trigger.line["cause"]
            ):
                together.append(before.pop())
            trigger.members[:0] = [name for change in reversed(together) for name in change.members]
        others = before
        previous = group.current
        if previous is not None and previous.ended_ms is None:
            self._end(previous, line["at_ms"], "interrupted")
        group.current = Rebalance(
            group.group,
            line["seq"],
            line["at_ms"],
            trigger,
            line["reason"],
            group.state,
            line["delay_ms"],
            self.chain(line["cause"]),
            changes=others,
            gone=group.gone,
            steps=group.steps,
        )
        group.entries.append(group.current)
        group.gone, group.steps = [], []
        group.state = "PreparingRebalance"

    def _other_trigger(self, group: GroupView, line: Line) -> Change:
        cause = self._lines.get(line["cause"]) if line["cause"] is not None else None
        cause = cause or line
        return Change(
            cause["seq"],
            cause["at_ms"],
            cause["type"],
            [group.name(cause["member"]) or ""] if "member" in cause else [],
            cause,
        )

    def _end(self, rebalance: Rebalance, at_ms: int, outcome: str) -> None:
        rebalance.ended_ms = at_ms
        if rebalance.outcome in ("joining", "syncing"):
            rebalance.outcome = outcome

    def _generation(self, group: GroupView, line: Line) -> None:
        group.state, group.assignor, group.leader = (
            "CompletingRebalance",
            line["protocol_name"],
            group.name(line["leader"]),
        )
        group.rearmed = (line["at_ms"], f"the start of generation {line['generation']}")
        group.members = {member_id: group.member(member_id) for member_id in line["members"]}
        current = group.current
        if current is not None:
            current.generation, current.generation_ms, current.outcome = (
                line["generation"],
                line["at_ms"],
                "syncing",
            )
            current.leader, current.assignor = group.leader, group.assignor
            current.members = [group.member(member_id).name for member_id in line["members"]]
            current.awaited = awaited(group, current, line["at_ms"])
        for member in group.members.values():
            member.synced, member.learned_ms = False, None

    def _synced(self, group: GroupView, line: Line) -> None:
        member = group.member(line["member"])
        member.seen_ms, member.seen_by, member.synced = line["at_ms"], "sync_group", True
        if line["parked"] and line["cause"] is not None:
            self._waiting[line["cause"]] = line["seq"]
        if not line["parked"] and group.state == "Stable":
            self._goes_on(group, member, line["at_ms"])

    def _stored(self, group: GroupView, line: Line) -> None:
        current, rows = group.current, line["members"]
        synced = self._lines.get(line["cause"])
        if synced is not None:
            self._waiting.pop(synced["cause"], None)
        group.stored = frozenset(row["member_id"] for row in rows)
        if (
            group.state in ("Stable", "Dead") or current is None
        ):  # a static member was replaced, or a snapshot restored: no rebalance
            for row in rows:
                group.member(row["member_id"]).assignment = own_assignment(
                    row["assignment"], group.protocol_type
                )
            return
        shares = [self._share(group, row, line) for row in rows]
        group.state = "Stable"
        group.rearmed = (line["at_ms"], "the answer to its SyncGroup")
        current.stored_ms, current.outcome, current.shares = line["at_ms"], "stable", shares
        current.share_by_id = {share.member_id: share for share in shares}
        group.given = _counts(share.partitions or {} for share in shares)
        wanted = {
            topic
            for member in group.members.values()
            if member.subscription
            for topic in member.subscription.topics
        }
        self._ownership[group.group].keep_topics(wanted)
        for member in group.members.values():
            if member.synced:
                self._goes_on(group, member, line["at_ms"])

    def _share(self, group: GroupView, row: dict[str, Any], line: Line) -> Share:
        member = group.member(row["member_id"])
        before, now = (
            member.assignment or {},
            own_assignment(row["assignment"], group.protocol_type),
        )
        member.assignment = now
        kept = both(member.held, now or {})
        share = Share(
            member.name,
            member.member_id,
            now,
            len(row["assignment"]) // 2,
            minus(now or {}, before),
            minus(before, now or {}),
            cooperative=member.cooperative,
            kept=now if kept == now else kept,
            pause=member.pause,
        )
        if group.protocol_type == CONNECT:
            share.work = read_work(row["assignment"])
        if line["protocol_name"] in ("sticky", COOPERATIVE) and group.protocol_type == "consumer":
            share.claim = partial(claims, line["protocol_name"], row["subscription"])
        return share

    def _rejected(self, group: GroupView, line: Line) -> None:
        group.waiting.append(
            Change(line["seq"], line["at_ms"], line["type"], [group.leader or ""], line)
        )

    def _emptied(self, group: GroupView, line: Line) -> None:
        group.state, group.leader, group.assignor, group.stored = "Empty", None, None, frozenset()
        self._ownership[group.group].clear()
        current = group.current
        if current is not None:
            current.generation, current.generation_ms, current.outcome = (
                line["generation"],
                line["at_ms"],
                "empty",
            )
            current.awaited = awaited(group, current, line["at_ms"])

    def _committed(self, group: GroupView, line: Line) -> None:
        group.commits += 1

    def _transaction_ended(self, group: GroupView, line: Line) -> None:
        group.commits += bool(line["partitions"])

    def _consumers(self, group: GroupView, line: Line) -> None:
        before, kind = group.consumer, line["type"]
        member = line.get("member")
        if kind == "ConsumerMemberSubscribed":
            group.introduce(line["member"], line["client_id"])
        new = before is None or kind in BEGINNINGS or member not in before.members
        if kind in KINDS:
            group.consumer = self._consumer_groups.see(line)
            group.state = "Stable" if group.consumer is None else group.consumer.state()
        if self._words is None:
            return
        if group.epochs is None:
            group.epochs = Epochs(self._story())
        group.epochs.follow(line, group.state, self.chain)
        note = group.note(line, [group.name(member) or ""] if member else [])
        note.sentence = self._words.consumer_event(group, line, new=new)

    def _offsets_removed(self, group: GroupView, line: Line) -> None:
        """Offsets that a group loses unasked are told: those that expired, and those of a topic
        that was deleted."""
        if line["reason"] not in _UNASKED or not line["partitions"]:
            return
        broker = line.get("broker")
        note = group.note(line)
        note.clock_ahead_ms = self.clocks_ahead_ms.get(broker, 0) if isinstance(broker, int) else 0

    def _deed(self, line: Line) -> None:
        if line["type"] == "JumpClock":
            ahead_ms = self.clocks_ahead_ms.get(line["broker"], 0)
            self.clocks_ahead_ms[line["broker"]] = ahead_ms + line["by_ms"]
        self._deeds.follow(self.groups.values(), line)

    def _topic(self, line: Line) -> None:
        """A topic came, grew or went; one that groups read when it went may come again."""
        topic, kind = line["topic"], line["type"]
        if kind == "TopicDeleted":
            reading = [group for group in self.groups.values() if _reads(group, topic)]
            if reading:
                self._deleted[topic] = (line["at_ms"], reading)
            return
        self.partitions[topic] = line["partitions"]
        if kind == "PartitionsAdded":
            self._grown[topic] = None
            return
        deleted_ms, groups = self._deleted.pop(topic, (0, []))
        for group in groups:
            if group.state != "Dead":
                group.note(line).deleted_ms = deleted_ms

    def _gone(self, group: GroupView, line: Line) -> None:
        current, broker = group.current, line.get("broker")
        if line["type"] == "GroupUnloaded" and group.coordinator not in (None, broker):
            group.note(line).moved = True  # its next coordinator has loaded it already
            return
        if current is not None and current.ended_ms is None:
            self._end(current, line["at_ms"], "lost")
        if line["type"] == "GroupDeleted":
            self._consumer_groups.see(line)
            group.share = None
            group.members, group.leader = {}, None
            self._ownership[group.group].clear()
        else:
            group.given_up_as = group.state
        group.state = "Dead"
        group.note(line)

    def _loaded(self, group: GroupView, line: Line) -> None:
        group.state, group.given_up_as = line["state"], ""
        for member_id, member in group.members.items():
            if member_id not in group.stored:
                self._depart(group, member, line, "not in the stored group")
        group.members = {
            member_id: view
            for member_id, view in group.members.items()
            if member_id in group.stored
        }
        group.rearmed = (line["at_ms"], "the loading of the group")
        group.note(line)


_LARGE = {
    "GenerationStored": "members",
    "MemberJoined": "protocols",
    "MemberRejoined": "protocols",
}
"""By type: what each member has, or says of itself. It is most of such a line, and no cause."""


def _small(line: Line, large: str) -> Line:
    return {key: value for key, value in line.items() if key != large}


def _counts(shares: Iterable[Partitions]) -> dict[str, int]:
    """How many partitions of each topic are given."""
    counts: dict[str, int] = {}
    for share in shares:
        for topic, numbers in share.items():
            counts[topic] = counts.get(topic, 0) + len(numbers)
    return counts


def _reads(group: GroupView, topic: str) -> bool:
    """Does a member of the group subscribe to a topic, or have partitions of it?"""
    if group.consumer is not None:
        return any(
            name == topic for member in group.consumer.members.values() for name, _ in member.held
        )
    return any(
        member.subscription is not None and topic in member.subscription.topics
        for member in group.members.values()
    )


def _unowned(group: GroupView) -> Unowned:
    """Where the time without an owner counts that ends now: in the last rebalance."""
    return group.current.unowned if group.current is not None else Unowned()


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
    "OffsetsRemoved": Timeline._offsets_removed,
    "GroupDeleted": Timeline._gone,
    "GroupUnloaded": Timeline._gone,
    "GroupLoaded": Timeline._loaded,
    **dict.fromkeys(SHARE_KINDS, Timeline._sharers),
    **dict.fromkeys(
        (
            *(KINDS - {"GroupDeleted"}),
            "AssignmentFailed",
            "FormerInstanceIdKept",
            "PreviousEpochAccepted",
            "TopicRegexResolved",
            "TopicRegexForgotten",
        ),
        Timeline._consumers,
    ),
}
