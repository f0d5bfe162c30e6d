"""Random lives of a group: seeded sequences of every group request, right and wrong, by a few
members.

The seed alone decides what is done, together with what was answered; so two brokers that answer
alike are sent alike. Time plays no part (all timeouts are long), nor does chance in the broker:
members whose order in a hash of random ids would be felt are avoided, by never letting the leader
of three or more leave.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from integration_tests.wire.people import (
    Member,
    describe,
    protocols,
    state,
    subscription,
    topic,
    until,
)
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.scenarios.offsets import at, commit, committed

SEEDS = range(1, 17)
STEPS = 45
FIRST_POLL_MS = 250
POLL_MS = 60
DUE_POLL_MS = 5_000
"""How long to wait for an answer that the group's state says must come: far beyond what a busy
broker takes."""

JOINING, SYNCING = "PreparingRebalance", "CompletingRebalance"
"""The states of a group in which a JoinGroup and a SyncGroup wait."""

ASSIGNORS = (
    ("range",),
    ("range", "roundrobin"),
    ("roundrobin", "range"),
    ("sticky", "range"),
    ("sticky",),
)


class Play:
    """One group, its members, and a source of randomness."""

    def __init__(self, s: Session, seed: int) -> None:
        self.s = s
        self.rng = random.Random(seed)
        self.group = s.name("g")
        self.topic = topic(s, "t", 2)
        self.admin = s.connect("admin")
        labels = self.rng.choice(("ab", "ab", "abc"))
        self.members = [
            Member(s, label, self.group, version=self.rng.choice((3, 5, 8, 9))) for label in labels
        ]
        self.parked: dict[str, str] = {}
        self.was = "Dead"
        self.next: dict[str, str] = {}
        self.leader_id = ""
        for member in self.members:
            if member.version >= 5 and self.rng.random() < 0.35:
                member.instance = "i-" + member.link.name

    def run(self) -> None:
        """Do so many random things."""
        kinds: list[tuple[int, Callable[[Member], None]]] = [
            (60, self.proper),
            (10, self.join),
            (8, self.sync),
            (6, self.heartbeat),
            (4, self.leave),
            (8, self.commit),
            (3, self.hang_up),
            (3, self.restart),
            (6, self.forsaken),
            (4, self.look),
            (2, self.simple_commit),
            (1, self.delete_group),
            (2, self.delete_offsets),
            (2, self.strangers),
        ]
        weights = [weight for weight, _ in kinds]
        for _ in range(STEPS):
            member = self.rng.choice(self.members)
            act = self.rng.choices(kinds, weights)[0][1]
            busy = member.link.name in self.parked
            if busy and act in (
                self.proper,
                self.join,
                self.sync,
                self.heartbeat,
                self.leave,
                self.commit,
            ):
                act = self.hang_up if self.rng.random() < 0.1 else self.look
            act(member)
            self.collect()
        self.look(self.members[0])

    # -- waiting
    # -----------------------------------------------------------------------------------------------------

    def park(self, member: Member, waits_in: str) -> None:
        """A request was sent that may have to wait, in this state of the group and no other."""
        self.parked[member.link.name] = waits_in
        self.collect(member)

    def collect(self, first: Member | None = None) -> None:
        """Take the answers that have come. A request that goes through the group's own queue comes
        first: it ends after whatever was asked before it, and so do the answers that this set free.
        """
        if not self.parked:
            return
        self.s.stage().ask_quietly(
            "Heartbeat", 4, group_id=self.group, generation_id=0, member_id="nobody"
        )
        parked = [m for m in self.members if m.link.name in self.parked]
        was, self.was = self.was, state(self.s, self.group)
        by_timer = self.was == "PreparingRebalance" and was in ("Empty", "Dead")
        answered = [
            m.link.poll(DUE_POLL_MS if by_timer else self.patience_ms(m, m is first))
            for m in parked
        ]
        if any(answered):  # what answered one perhaps set others free: their answers are on the way
            answered = [
                now or m.link.poll(self.patience_ms(m, True))
                for m, now in zip(parked, answered, strict=True)
            ]
        for member, now in zip(parked, answered, strict=True):
            if now:
                del self.parked[member.link.name]
                self.take(member)

    def patience_ms(self, member: Member, just_sent: bool) -> int:
        """How long to wait for an answer: long for one that must come in the state of the group,
        else until a refusal would be here.

        The first rebalance of an Empty group ends by a timer of no length, so what waits for that
        one is due, too.
        """
        if state(self.s, self.group) != self.parked[member.link.name]:
            return DUE_POLL_MS
        return FIRST_POLL_MS if just_sent else POLL_MS

    def take(self, member: Member) -> None:
        """Take an answer, and remember what a proper client would do next."""
        answer = member.last_answer = member.link.expect()
        joined = "generation_id" in answer
        if joined:
            member.learn(answer)
            self.leader_id = answer["leader"] or self.leader_id
        if answer["error_code"] in (25, 82):
            member.member_id = ""
        self.next[member.link.name] = (
            "join" if answer["error_code"] else "sync" if joined else "heartbeat"
        )

    # -- what may happen
    # ---------------------------------------------------------------------------------------------

    def proper(self, member: Member) -> None:
        """What a proper client would do now."""
        match self.next.get(member.link.name, "join"):
            case "join":
                member.send_join()
                self.park(member, JOINING)
            case "sync":
                named = {
                    m.member_id: f"{self.rng.randrange(256):02x}"
                    for m in self.members
                    if m.member_id
                }
                chosen = str((member.last_answer or {}).get("protocol_name") or "range")
                member.send_sync(named if member.leader else None, protocol_name=chosen)
                self.park(member, SYNCING)
            case _:
                if member.heartbeat()["error_code"]:
                    self.next[member.link.name] = "join"

    def forsaken(self, _: Member) -> None:
        """Remove the members whose ids nobody holds any more, as their sessions' end would."""
        held = {m.member_id for m in self.members}
        described = self.s.stage().ask_quietly("DescribeGroups", 6, groups=[self.group])["groups"][
            0
        ]["members"]
        gone = [m["member_id"] for m in described if m["member_id"] not in held]
        if len(gone) == 1 and (len(described) <= 2 or gone[0] != self.leader_id):
            self.admin.ask(
                "LeaveGroup",
                4,
                group_id=self.group,
                members=[{"member_id": gone[0], "group_instance_id": None}],
            )
            self.emptied()

    def join(self, member: Member) -> None:
        """Join: mostly rightly."""
        fields: Plain = {}
        if self.rng.random() < 0.25:
            named = self.rng.choice((subscription(), subscription(self.topic), "00"))
            fields["protocols"] = protocols(*self.rng.choice(ASSIGNORS), metadata=named)
        roll = self.rng.random()
        if roll < 0.04:
            fields["member_id"] = "ghost"
        elif roll < 0.08:
            fields["member_id"] = ""
        elif roll < 0.10:
            fields["protocol_type"] = "connect"
        elif roll < 0.12:
            fields["protocols"] = []
        member.send_join(**fields)
        self.park(member, JOINING)

    def sync(self, member: Member) -> None:
        """Sync: a leader names members, some perhaps not."""
        version = (
            self.rng.choice((0, 2, 3, 4, 5)) if member.instance is None else self.rng.choice((3, 5))
        )
        named = {
            m.member_id: f"{self.rng.randrange(256):02x}"
            for m in self.members
            if m.member_id and self.rng.random() < 0.8
        }
        fields: Plain = {}
        if version >= 5:
            chosen = (member.last_answer or {}).get("protocol_name") or "range"
            fields["protocol_name"] = chosen if self.rng.random() < 0.95 else "nope"
        if self.rng.random() < 0.08:
            fields["generation_id"] = member.generation + self.rng.choice((-1, 1))
        member.send_sync(named, version, **fields)
        self.park(member, SYNCING)

    def heartbeat(self, member: Member) -> None:
        """Heartbeat: mostly of the right generation."""
        off = self.rng.choice((0, 0, 0, 0, -1, 1))
        member.heartbeat(self.rng.choice((3, 4)), generation_id=member.generation + off)

    def leave(self, member: Member) -> None:
        """Leave, unless it would be for the hash to say who leads next."""
        if (
            member.leader
            and len(
                self.s.stage().ask_quietly("DescribeGroups", 6, groups=[self.group])["groups"][0][
                    "members"
                ]
            )
            > 2
        ):
            return self.look(member)
        version = (
            self.rng.choice((0, 2, 3, 5)) if member.instance is None else self.rng.choice((3, 4, 5))
        )
        if member.instance is not None and self.rng.random() < 0.5:
            member.leave(version, members=[{"member_id": "", "group_instance_id": member.instance}])
        else:
            member.leave(version)
        if self.rng.random() < 0.7:
            member.member_id = ""
        return self.emptied()

    def emptied(self) -> None:
        """A join phase without members ends by a timer of no length when an id is pending: let it,
        before anything else comes."""
        found = self.s.stage().ask_quietly("DescribeGroups", 6, groups=[self.group])["groups"][0]
        if found["group_state"] == "PreparingRebalance" and not found["members"]:
            until(self.s, self.group, "Empty")

    def commit(self, member: Member) -> None:
        """Commit as a member."""
        version = self.rng.choice((2, 5, 8, 9)) if member.instance is None else 9
        member.commit(
            self.topic, self.rng.randrange(1000), self.rng.choice((0, 1, 1, 5)), version=version
        )

    def hang_up(self, member: Member) -> None:
        """Close the connection, its parked request with it; come back on another one. Not while an
        id is on its way: nobody would ever learn it."""
        if member.link.name in self.parked and not member.member_id:
            return
        self.parked.pop(member.link.name, None)
        member.reconnect()

    def restart(self, member: Member) -> None:
        """Forget the member id, as a process does that starts again."""
        if member.link.name not in self.parked:
            self.hang_up(member)
            member.member_id = ""

    def look(self, _: Member) -> None:
        """What an admin sees."""
        describe(self.admin, self.group, self.rng.choice((0, 3, 5, 6)))
        committed(self.admin, self.group, self.topic, 0, 1, version=self.rng.choice((1, 5, 9)))

    def simple_commit(self, _: Member) -> None:
        """A commit without a member."""
        commit(
            self.admin,
            self.group,
            self.topic,
            at(0, self.rng.randrange(1000)),
            version=self.rng.choice((2, 7, 9)),
        )

    def delete_group(self, _: Member) -> None:
        """Delete the group, if that can be."""
        self.admin.ask("DeleteGroups", 2, groups_names=[self.group])

    def delete_offsets(self, _: Member) -> None:
        """Delete an offset, if that can be."""
        self.admin.ask(
            "OffsetDelete",
            0,
            group_id=self.group,
            topics=[{"name": self.topic, "partitions": [{"partition_index": 1}]}],
        )

    def strangers(self, member: Member) -> None:
        """Requests in the name of nobody, or of a member under a wrong instance id."""
        wrong: Plain = self.rng.choice(
            (
                {"member_id": "ghost"},
                {"group_instance_id": "i-nobody"},
                {"group_instance_id": "i-a"},
            )
        )
        fields: Plain = {
            "group_id": self.group,
            "member_id": member.member_id,
            "generation_id": member.generation,
        } | wrong
        self.admin.ask("Heartbeat", 4, **fields)
        self.admin.ask(
            "LeaveGroup",
            3,
            group_id=self.group,
            members=[{"member_id": "ghost", "group_instance_id": None}],
        )


def episode(seed: int) -> Callable[[Session], None]:
    """The scenario of one seed."""

    def play(s: Session) -> None:
        Play(s, seed).run()

    play.__name__ = f"seed_{seed:03}"
    return play


for _seed in SEEDS:
    scenario()(episode(_seed))
