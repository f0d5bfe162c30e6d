"""Counts over the raw lines of a log, in plain lines, by which the outputs are checked.

Nothing of the product's readers of logs is imported here: what they may all misread together is
found by whoever counts apart from them. Lines of a broker that another one succeeded as coordinator
are in no count, but for commits that it acknowledges. Only the bytes of a classic assignment are decoded by
`coordinator.wire`. The states and members that the counts stand on are checked against
`coordinator.core.groups.evolve` by `tests/test_recount.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import Any

from coordinator.wire.consumer_protocol import Assignment

Line = dict[str, Any]
Place = tuple[str, int]
_COMMITS = ("offset_commit", "txn_offset_commit")
_COMES = ("GroupCreated", "GroupLoaded")
_COMES_OR_GOES = (*_COMES, "GroupDeleted", "GroupUnloaded")
_PROCESS_ENDED = ("MemberCrashed", "MemberClosed", "MemberFailed")


class Group:
    """One group as its lines have it."""

    def __init__(self) -> None:
        self.protocol = "classic"
        self.state = "Empty"
        self.broker: int | None = None
        """Who serves it."""
        self.begun_ms = 0
        """When its last rebalance began."""
        self.number = 0
        """Its generation, or its group epoch."""
        self.members: set[str] = set()
        self.upgraded: set[str] = set()
        """Members of the classic group that became this consumer group, until they follow."""
        self.stored: set[str] = set()
        """Members of the classic group that a load finds."""
        self.owner: dict[Place, str] = {}
        self.process: dict[Place, str] = {}
        self.clients: dict[str, str] = {}


class Recount:
    """The counts of one log. Feed it every line in order."""

    def __init__(self, lines: Iterable[Line] = ()) -> None:
        self.groups: dict[str, Group] = {}
        self.begun: dict[str, int] = {}
        """Rebalances by group."""
        self.completed = self.moved = self.moved_between_processes = 0
        self.rebalancing_ms: list[int] = []
        """Of each classic rebalance that became Stable, from its beginning."""
        self.joined = self.expired = 0
        """Member ids, one that joined once more counts again."""
        self.commits = self.refusals = self.refused_commits = 0
        self.unavailable_ms = 0
        self._former: dict[tuple[str, int | None], Group] = {}
        """Groups as brokers have them that others took them from."""
        self._partitions = 0
        """Of __consumer_offsets."""
        self._leaders: dict[int, int] = {}
        """Who loaded each of them last."""
        self._unsure: dict[int, int] = {}
        """Offsets that a former coordinator was asked to commit, by the request."""
        self._expired: set[tuple[str, str]] = set()
        """Who expired and has not joined once more."""
        self._holder: dict[tuple[str, Place], str] = {}
        self._free_since: dict[tuple[str, Place], int] = {}
        self._now = 0
        for line in lines:
            self.feed(line)

    @property
    def rebalances(self) -> int:
        """Those that began, in all groups."""
        return sum(self.begun.values())

    def finish(self) -> Recount:
        """The log has ended: partitions that nobody has were without an owner until now."""
        self.unavailable_ms += sum(self._now - since for since in self._free_since.values())
        self._free_since.clear()
        return self

    def feed(self, line: Line) -> None:
        """Count one line."""
        self._now = max(self._now, line["at_ms"])
        if line["stream"] == "group":
            counts = self._is_of_coordinator(line)
            self._group(line, counts)
            if line["type"] in ("OffsetsCommitted", "OffsetsPending"):
                if counts:
                    self.commits += len(line["offsets"])
                elif line["cause"] is not None:
                    self._unsure[line["cause"]] = len(line["offsets"])
        elif line["type"] == "TopicCreated" and line["topic"] == "__consumer_offsets":
            self._partitions = len(line["replicas"])
        elif line["type"] == "PartitionsLoading" and "broker" in line:
            self._leaders |= dict.fromkeys(line["partitions"], line["broker"])
        elif line["type"] == "RequestAnswered":
            self.commits += self._unsure.pop(line["cause"], 0)
        elif line["stream"] == "member":
            self._told(line)
        elif line["type"] == "RequestRefused":
            self.refusals += 1
            self.refused_commits += line["api"] in _COMMITS

    # -- who an application's listener says has what

    def _told(self, line: Line) -> None:
        kind, group, client = line["type"], line.get("group", ""), line["client"]
        places = [(group, (row["topic"], row["partition"])) for row in line.get("partitions", ())]
        if kind == "PartitionsAssigned":
            for place in places:
                since = self._free_since.pop(place, None)
                if since is not None:
                    self.unavailable_ms += self._now - since
                self._holder[place] = client
        elif kind in ("PartitionsRevoked", "PartitionsLost"):
            self._free(place for place in places if self._holder.get(place) == client)
        elif kind in _PROCESS_ENDED:
            self._free(
                place
                for place, holder in list(self._holder.items())
                if (place[0], holder) == (group, client)
            )

    def _free(self, places: Iterable[tuple[str, Place]]) -> None:
        for place in places:
            del self._holder[place]
            self._free_since[place] = self._now

    def _is_of_coordinator(self, line: Line) -> bool:
        """Whether the broker of a line coordinates the group, as far as is known."""
        broker = line.get("broker")
        leader = None
        if self._partitions:
            leader = self._leaders.get(_partition(line["group"], self._partitions))
        if broker is None or leader is None:
            return line["type"] in _COMES or (line["group"], broker) not in self._former
        return bool(broker == leader)

    def _removed(self, name: str, member: str, reason: str, counts: bool) -> None:
        """A coordinator saw a member go, which another one may have seen as well."""
        if reason == "session expired" and counts:
            self.expired += (name, member) not in self._expired
            self._expired.add((name, member))

    # -- groups

    def served(self, name: str, line: Line) -> Group:
        """A group as the broker of a line has it, which another one may have taken it from."""
        group = self.groups.setdefault(name, Group())
        return self._former.get((name, line.get("broker")), group)

    def _taken_over(self, name: str, line: Line) -> Group:
        """A broker serves a group from now on; what the one before does with it is its own."""
        group, broker = self.groups.setdefault(name, Group()), line.get("broker")
        self._former.pop((name, broker), None)
        if group.broker not in (None, broker):
            self._former[name, group.broker] = group
            group = self.groups[name] = copy(group)  # of partitions there is one owner
            group.members, group.upgraded = set(group.members), set(group.upgraded)
        group.broker = broker
        return group

    def _group(self, line: Line, counts: bool) -> None:
        kind, name, member = line["type"], line["group"], line.get("member", "")
        group = self._taken_over(name, line) if kind in _COMES else self.served(name, line)
        if "generation" in line and group.protocol == "classic":
            group.number = line["generation"]
        if kind in ("RebalanceStarted", "GroupEpochBumped"):
            self.begun[name] = self.begun.get(name, 0) + counts
        if kind == "RebalanceStarted":
            group.state = "PreparingRebalance"
            group.begun_ms = line["at_ms"]
        elif kind == "GenerationStarted":
            group.state, group.members = "CompletingRebalance", set(line["members"])
        elif kind == "GenerationStored":
            if group.state == "CompletingRebalance" and counts:
                self.completed += 1
                self.rebalancing_ms.append(line["at_ms"] - group.begun_ms)
            group.state = "Stable"
            self._stored(group, line)
            if line["protocol_type"] == "consumer" and counts:
                for row in line["members"]:
                    self._give(
                        group, row["member_id"], row["client_id"], _places(row["assignment"])
                    )
        elif kind == "GroupEmptied":
            group.state, group.members, group.stored = "Empty", set(), set()
        elif kind == "MemberJoined":
            self._came(name, member, counts)
            group.members.add(member)
        elif kind == "MemberReplaced":
            self._replaced(group, line["replaced"], member, counts)
        elif kind in ("MemberRemoved", "ConsumerMemberRemoved", "ShareMemberRemoved"):
            self._removed(name, member, line["reason"], counts)
            group.members.discard(member)
        elif kind in _COMES_OR_GOES:
            self._comes_or_goes(group, line)
        elif kind.startswith("Share"):
            self._share(group, line, member, counts)
        else:
            self._consumer(group, line, member, counts)

    def _comes_or_goes(self, group: Group, line: Line) -> None:
        kind = line["type"]
        if kind == "GroupUnloaded":
            group.state = "Dead"
        elif kind == "GroupDeleted":
            group.state, group.members, group.stored = "Dead", set(), set()
        elif kind == "GroupLoaded":
            group.state = line["state"]
            if group.protocol == "classic":
                group.members = set(group.stored)
        else:
            group.protocol, group.state, group.members = "classic", "Empty", set()
            group.number = 0

    def _consumer(self, group: Group, line: Line, member: str, counts: bool) -> None:
        """Events of consumer groups (KIP-848). Their state is not followed."""
        kind = line["type"]
        if kind in ("ConsumerGroupCreated", "ConsumerGroupUpgraded"):
            # those of an upgraded group follow, each by its subscription
            group.protocol, group.members = "consumer", set()
            group.upgraded = set(line.get("members", ()))
            group.number = line.get("group_epoch", 1)
        elif kind == "MembershipReset":
            group.protocol, group.state, group.members = "classic", "Empty", set()
            group.stored, group.number = set(), 0
        elif kind == "ConsumerGroupDowngraded":
            group.protocol, group.state = "classic", "Stable"
            self._stored(group, line)
            group.number = line["generation"]
        elif kind == "ConsumerMemberSubscribed":
            if member not in group.members and member not in group.upgraded:
                self._came(line["group"], member, counts)
            group.members.add(member)
            group.upgraded.discard(member)
            group.clients[member] = line["client_id"]
        elif kind == "ConsumerMemberReplaced":
            self._replaced(group, line["replaced"], member, counts)
            group.clients[member] = line["subscription"]["client_id"]
        elif kind == "GroupEpochBumped":
            group.number = line["group_epoch"]
        elif kind == "TargetAssigned" and counts:
            for row in line["targets"]:
                places = [
                    (each["topic"], at) for each in row["topics"] for at in each["partitions"]
                ]
                self._give(group, row["member_id"], group.clients[row["member_id"]], places)

    def _stored(self, group: Group, line: Line) -> None:
        group.stored = {row["member_id"] for row in line["members"]}
        group.members = set(group.stored)

    def _share(self, group: Group, line: Line, member: str, counts: bool) -> None:
        """Events of share groups (KIP-932). Their epochs are in none of the counts."""
        kind = line["type"]
        if kind == "ShareGroupCreated":
            group.protocol, group.members, group.number = "share", set(), 1
        elif kind == "ShareMemberSubscribed":
            if member not in group.members:
                self._came(line["group"], member, counts)
            group.members.add(member)
        elif kind == "ShareGroupEpochBumped":
            group.number = line["group_epoch"]

    def _came(self, name: str, member: str, counts: bool) -> None:
        if counts:
            self.joined += 1
            self._expired.discard((name, member))

    def _replaced(self, group: Group, old: str, new: str, counts: bool) -> None:
        group.members.discard(old)
        group.members.add(new)
        if not counts:
            return
        self.joined += 1
        group.owner |= {place: new for place, has in group.owner.items() if has == old}

    def _give(self, group: Group, member: str, client: str, places: Iterable[Place]) -> None:
        for place in places:
            self.moved += group.owner.get(place, member) != member
            self.moved_between_processes += group.process.get(place, client) != client
            group.owner[place], group.process[place] = member, client


def _partition(group: str, partitions: int) -> int:
    """The partition of __consumer_offsets that holds a group (CFG-2), for names of ASCII."""
    h = 0
    for unit in group.encode("ascii"):
        h = (31 * h + unit) % 2**32
    return min(h, 2**32 - h) % partitions if h != 2**31 else 0


def _places(assignment: str) -> list[Place]:
    if not assignment:
        return []
    decoded = Assignment.decode(bytes.fromhex(assignment))
    return [(topic, number) for topic, numbers in decoded.partitions for number in numbers]


def lost_ms(lines: list[Line]) -> int:
    """Partition-milliseconds that all groups of a log lost together."""
    groups = {line.get("group") for line in lines if line["stream"] == "group"}
    return sum(
        Lost(line for line in lines if line.get("group") in (None, name)).within(
            0, lines[-1]["at_ms"]
        )
        for name in groups
    )


class Lost:
    """Time in which nobody worked on a partition that a group had agreed to read, of a log of one
    group whose members tell what they have.

    Nobody had it, or its owners were paused or did not poll, or no live broker led it.
    """

    def __init__(self, lines: Iterable[Line]) -> None:
        self._spans: list[tuple[int, int, bool]] = []
        self._lost_since: dict[Place, tuple[int, bool]] = {}
        self._wanted: set[Place] = set()
        self._topics: dict[str, int] = {}
        self._agreed: set[str] = set()
        self._owners: dict[Place, set[str]] = {}
        self._still: set[tuple[str, str]] = set()
        self._clients: dict[str, str] = {}
        self._ended: set[str] = set()
        self._leaders: dict[Place, int] = {}
        self._down: set[int] = set()
        now = 0
        for line in lines:
            now = line["at_ms"]
            self._see(line)
            for place in self._wanted:
                lost = self._is_lost(place)
                since, owned = self._lost_since.get(place, (0, None))
                if owned is not None and owned != lost:
                    self._spans.append((since, now, owned))
                    del self._lost_since[place]
                if lost is not None:
                    self._lost_since.setdefault(place, (now, lost))
        self._spans += [(since, now, owned) for since, owned in self._lost_since.values()]

    def within(self, low: int, high: int, *, owned: bool | None = None) -> int:
        """Partition-milliseconds between two instants; `owned`: the part in which there was an
        owner, or the part in which there was none."""
        return sum(
            max(0, min(end, high) - max(begin, low))
            for begin, end, had_owner in self._spans
            if owned in (None, had_owner)
        )

    def _is_lost(self, place: Place) -> bool | None:
        """None if somebody works on it, else whether it has an owner."""
        owners = self._owners.get(place, set())
        still = {client for _, client in self._still}
        leader = self._leaders.get(place)
        lost = owners <= still or leader == -1 or leader in self._down
        return bool(owners) if lost else None

    def _see(self, line: Line) -> None:
        kind = line["type"]
        if kind in ("TopicCreated", "PartitionsAdded") and not line["topic"].startswith("__"):
            first = min(line.get("added", [0]))
            for number, brokers in enumerate(line["replicas"], first):
                self._leaders[line["topic"], number] = brokers[0]
            self._topics[line["topic"]] = first + len(line["replicas"])
            if line["topic"] in self._agreed:
                self._agree([line["topic"]])
        elif "leader_id" in line:
            self._leaders[line["topic"], line["partition"]] = line["leader_id"]
        elif kind == "StopBroker":
            self._down.add(line["broker"])
        elif kind in ("StartBroker", "BrokerUnfenced"):
            self._down.discard(line["broker"])
        elif kind == "GenerationStarted":
            self._agree(line["subscribed_topics"] or self._topics)
        elif kind in ("TargetAssigned", "ShareTargetAssigned"):
            self._agree({row["topic"] for each in line["targets"] for row in each["topics"]})
        elif kind.startswith("ShareMember"):
            self._shared(line)
        elif line["stream"] in ("member", "fault"):
            self._process(line)

    def _process(self, line: Line) -> None:
        """What a member's process says, and what was done to it."""
        kind, client = line["type"], line.get("client", "")
        told = line.get("partitions", ()) if line["stream"] == "member" else ()
        for row in told:
            owners = self._owners.setdefault((row["topic"], row["partition"]), set())
            (owners.add if kind == "PartitionsAssigned" else owners.discard)(client)
        if kind == "MemberStarted":
            self._ended.discard(client)
        if kind in _PROCESS_ENDED:
            self._ended.add(client)
            for owners in self._owners.values():
                owners.discard(client)
            self._still -= {("paused", client), ("stalled", client)}
        elif kind in ("PauseMember", "ApplicationStalled"):
            self._still.add(("paused" if kind == "PauseMember" else "stalled", client))
        elif kind in ("MemberResumed", "ApplicationResumed"):
            self._still.discard(("paused" if kind == "MemberResumed" else "stalled", client))

    def _shared(self, line: Line) -> None:
        """Who has which partitions in a share group: a partition may have several owners."""
        kind, member = line["type"], line["member"]
        if kind == "ShareMemberSubscribed":
            self._clients = {m: c for m, c in self._clients.items() if c != line["client_id"]}
            self._clients[member] = line["client_id"]
            return
        client = self._clients.get(member)
        if client is None:  # the id that its process had before it was started again
            return
        for owners in self._owners.values():
            owners.discard(client)
        if kind == "ShareMemberReconciled" and client not in self._ended:
            for row in line["partitions"]:
                for number in row["partitions"]:
                    self._owners.setdefault((row["topic"], number), set()).add(client)

    def _agree(self, topics: Iterable[str]) -> None:
        self._agreed |= set(topics)
        self._wanted |= {
            (topic, number) for topic in topics for number in range(self._topics.get(topic, 0))
        }
