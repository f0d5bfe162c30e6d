"""Each group request in each state of a group: every wrong identity, generation and protocol, in an
old version and the newest.

The group has a static member "a" that leads, a dynamic member "b", and an id that is pending. Dead
is the state of a group that has been deleted. First come the requests that must change nothing,
then a look at the group, then those that may.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from integration_tests.wire.people import (
    ZERO_ID,
    Member,
    describe,
    protocols,
    topic,
    topic_id,
    until,
)
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Link, Session
from integration_tests.wire.registry import scenario

STATES = ("Empty", "PreparingRebalance", "CompletingRebalance", "Stable", "Dead")
NAMED: Plain = {"protocol_type": "consumer", "protocol_name": "range"}


@dataclass(slots=True)
class Scene:
    """A group in a state, and a connection on which anybody's name can be used."""

    group: str
    a: Member
    b: Member
    pending: Member
    other: Link

    def wrong_names(self) -> list[Plain]:
        """Member id and instance id of nobody, of the pending one, and mixed up."""
        pairs = (
            ("ghost", None),
            ("", None),
            (self.pending.member_id, None),
            ("ghost", "ia"),
            (self.b.member_id, "ia"),
            (self.b.member_id, "ib"),
            (self.pending.member_id, "ia"),
            (self.pending.member_id, "ip"),
            (self.a.member_id, "ib"),
        )
        return [{"member_id": member, "group_instance_id": instance} for member, instance in pairs]

    def right_names(self) -> list[Plain]:
        """The members as they are, and the static one without its instance id."""
        a, b = self.a.member_id, self.b.member_id
        return [
            {"member_id": m, "group_instance_id": i} for m, i in ((a, "ia"), (a, None), (b, None))
        ]


def scene(s: Session, state: str) -> Scene:
    """Bring a group into a state."""
    group = s.name("g")
    a, b, pending = (
        Member(s, "a", group, instance="ia"),
        Member(s, "b", group),
        Member(s, "p", group),
    )
    a.join()
    b.enter()
    until(s, group, "PreparingRebalance")
    a.send_join()
    a.take_join()
    b.take_join()
    a.send_sync({a.member_id: "0a", b.member_id: "0b"})
    b.send_sync()
    a.link.expect()
    b.link.expect()
    pending.send_join()
    pending.take_join()
    if state in ("PreparingRebalance", "CompletingRebalance"):
        b.send_join(protocols=protocols("range", metadata="01"))
        until(s, group, "PreparingRebalance")
    if state == "CompletingRebalance":
        pending.leave()
        a.send_join()
        a.take_join()
        b.take_join()
        pending.member_id = ""
        pending.send_join()
        pending.take_join()
    if state in ("Empty", "Dead"):
        for member in (b, a):
            member.leave()
        pending.leave()
        pending.member_id = ""
        until(s, group, "Empty")
        pending.send_join()
        pending.take_join()
    other = s.connect("other", "other")
    if state == "Dead":
        other.ask("DeleteGroups", 2, groups_names=[group])
    return Scene(group, a, b, pending, other)


def in_version(names: Plain, since_instances: bool) -> Plain | None:
    """The names as far as a version has them; None if it cannot say what they say."""
    if since_instances:
        return names
    return None if names["group_instance_id"] is not None else {"member_id": names["member_id"]}


def sync(s: Session, state: str) -> None:
    """SYNC-1, SYNC-2, ENT-2, VAL-1, VER-2, VER-15: SyncGroup"""
    at = scene(s, state)
    generation = at.a.generation

    def ask(version: int, names: Plain, generation: int, **protocol: str | None) -> None:
        shown = in_version(names, version >= 3)
        if shown is not None:
            said = NAMED | protocol if version >= 5 else {}
            at.other.send(
                "SyncGroup",
                version,
                group_id=at.group,
                generation_id=generation,
                assignments=[],
                **shown,
                **said,
            )
            at.other.expect()

    for version in (0, 3, 5):
        for names in at.wrong_names():
            ask(version, names, generation)
        for names in at.right_names():
            for wrong in (generation - 1, generation + 1, -1):
                ask(version, names, wrong)
    for names in (*at.right_names(), {"member_id": "ghost", "group_instance_id": None}):
        for protocol in (
            {"protocol_type": None},
            {"protocol_name": None},
            {"protocol_type": "connect"},
            {"protocol_name": "sticky"},
            {"protocol_type": ""},
            {"protocol_name": ""},
        ):
            ask(5, names, generation, **protocol)
            ask(5, names, generation + 1, **protocol)
    describe(at.other, at.group)
    if state != "CompletingRebalance":
        for version in (0, 3, 5):
            for names in at.right_names():
                ask(version, names, generation)
        return
    follower = s.connect("follower", "b")
    follower.send(
        "SyncGroup",
        5,
        group_id=at.group,
        generation_id=generation,
        assignments=[],
        **at.right_names()[2],
        **NAMED,
    )
    follower.silent(60)
    ask(5, at.right_names()[0], generation)
    follower.expect()


def heartbeat(s: Session, state: str) -> None:
    """HB-1, HB-2, HB-3, VAL-1, VER-3, VER-15, MID-6: Heartbeat"""
    at = scene(s, state)
    generation = at.a.generation
    for version in (0, 3, 4):
        for names in (*at.wrong_names(), *at.right_names()):
            shown = in_version(names, version >= 3)
            for said in (
                (generation, generation - 1, generation + 1, -1) if shown is not None else ()
            ):
                at.other.ask(
                    "Heartbeat", version, group_id=at.group, generation_id=said, **(shown or {})
                )
    describe(at.other, at.group)


def leave(s: Session, state: str) -> None:
    """LV-1, LV-2, LV-3, LV-4, LV-6, LV-8, VAL-1, VER-4, STA-10: LeaveGroup"""
    at = scene(s, state)

    def ask(version: int, *leaving: Plain) -> None:
        if version < 3:
            at.other.ask(
                "LeaveGroup", version, group_id=at.group, member_id=leaving[0]["member_id"]
            )
        else:
            at.other.ask("LeaveGroup", version, group_id=at.group, members=list(leaving))

    harmless = [
        n
        for n in at.wrong_names()
        if n != {"member_id": at.pending.member_id, "group_instance_id": None}
    ]
    for version in (0, 3, 5):
        for names in harmless:
            if (
                in_version(names, version >= 3) is not None
                and names["member_id"] != at.pending.member_id
            ):
                ask(version, names)
        ask(
            version,
            {"member_id": "", "group_instance_id": "nobody"}
            if version >= 3
            else {"member_id": "nobody"},
        )
    ask(5, *(n for n in harmless if n["member_id"] != at.pending.member_id))
    describe(at.other, at.group)
    ask(3, {"member_id": at.pending.member_id, "group_instance_id": "ip"})
    ask(
        5,
        {"member_id": at.pending.member_id, "group_instance_id": None},
        {"member_id": at.pending.member_id, "group_instance_id": None},
    )
    if state != "PreparingRebalance":
        describe(at.other, at.group)
    ask(0, {"member_id": at.b.member_id})
    ask(
        5,
        {"member_id": "", "group_instance_id": "ia"},
        {"member_id": "", "group_instance_id": "ia"},
    )
    if state == "PreparingRebalance":
        at.b.take_join()
    until(s, at.group, "Dead" if state == "Dead" else "Empty")
    describe(at.other, at.group)


def commit(s: Session, state: str) -> None:
    """OC-1, OC-2, OC-3, OC-4, VAL-1, VER-5, VER-15: OffsetCommit"""
    name = topic(s, "t")
    at = scene(s, state)
    generation = at.a.generation

    def ask(version: int, names: Plain, generation: int, offset: int) -> None:
        shown = in_version(names, version >= 7)
        if shown is not None:
            topics = [
                {"name": name, "partitions": [{"partition_index": 0, "committed_offset": offset}]}
            ]
            at.other.ask(
                "OffsetCommit",
                version,
                group_id=at.group,
                generation_id_or_member_epoch=generation,
                topics=topics,
                **shown,
            )

    for version in (2, 7, 9):
        for names in at.wrong_names():
            for said in (generation, -1) if state != "Dead" else (generation,):
                ask(version, names, said, 66)
        for names in at.right_names():
            for said in (generation - 1, generation + 1):
                ask(version, names, said, 66)
    at.other.ask(
        "OffsetFetch",
        9,
        groups=[{"group_id": at.group, "topics": [{"name": name, "partition_indexes": [0]}]}],
    )
    describe(at.other, at.group)
    for version in (2, 7, 9):
        for names in at.right_names():
            for said in (generation, -1):
                ask(version, names, said, version)
    at.other.ask(
        "OffsetFetch",
        9,
        groups=[{"group_id": at.group, "topics": [{"name": name, "partition_indexes": [0]}]}],
    )


def commit_by_id(s: Session, state: str) -> None:
    """OC-1, OC-2, OC-4, OC-6, VER-5, VER-6: OffsetCommit and OffsetFetch by topic id (version
    10)"""
    name = topic(s, "t")
    identity = topic_id(s, name)
    at = scene(s, state)
    generation = at.a.generation
    for names in (*at.wrong_names(), *at.right_names()):
        for said in (generation, generation + 1):
            topics = [
                {"topic_id": i, "partitions": [{"partition_index": 0, "committed_offset": said}]}
                for i in (identity, "f" * 32)
            ]
            at.other.ask(
                "OffsetCommit",
                10,
                group_id=at.group,
                generation_id_or_member_epoch=said,
                topics=topics,
                **names,
            )
    wanted = [
        {"topic_id": identity, "partition_indexes": [0, 1]},
        {"topic_id": ZERO_ID, "partition_indexes": [0]},
    ]
    for member, epoch in (("", -1), (at.b.member_id, generation), ("ghost", 99)):
        at.other.ask(
            "OffsetFetch",
            10,
            groups=[
                {"group_id": at.group, "member_id": member, "member_epoch": epoch, "topics": wanted}
            ],
        )


def admin(s: Session, state: str) -> None:
    """DSC-1, DSC-2, DSC-3, LST-1, LST-2, LST-3, DG-1, OD-1, OD-2, ST-1: DescribeGroups, ListGroups,
    OffsetDelete and DeleteGroups"""
    name = topic(s, "t")
    at = scene(s, state)
    for version in range(7):
        describe(at.other, at.group, version)
    for version in range(6):
        at.other.ask("ListGroups", version, only="groups")
    for asked in (*STATES, state.lower(), state.upper()):
        at.other.ask("ListGroups", 4, only="groups", states_filter=[asked])
        at.other.ask(
            "ListGroups", 5, only="groups", states_filter=[asked], types_filter=["Classic"]
        )
    if state != "Dead":
        at.other.ask(
            "OffsetCommit",
            9,
            group_id=at.group,
            generation_id_or_member_epoch=-1,
            member_id="",
            topics=[{"name": name, "partitions": [{"partition_index": 0, "committed_offset": 5}]}],
        )
    for topics in ([name], [s.name("nope")], []):
        entries = [
            {"name": n, "partitions": [{"partition_index": 0}, {"partition_index": 9}]}
            for n in topics
        ]
        at.other.ask("OffsetDelete", 0, group_id=at.group, topics=entries)
    for version in range(3):
        at.other.ask("DeleteGroups", version, groups_names=[at.group])
    describe(at.other, at.group)


def join(s: Session, state: str) -> None:
    """JOIN-1, JOIN-3, JOIN-4, JOIN-5, PROTO-1, PROTO-6, VAL-1, VER-1, MID-2, MID-7, STA-1:
    JoinGroup"""
    at = scene(s, state)

    def ask(version: int, names: Plain, **other: object) -> None:
        shown = in_version(names, version >= 5)
        if shown is not None:
            fields: Plain = {
                "group_id": at.group,
                "session_timeout_ms": 30_000,
                "rebalance_timeout_ms": 60_000,
            }
            at.other.ask(
                "JoinGroup",
                version,
                **(
                    fields
                    | {"protocol_type": "consumer", "protocols": protocols("range")}
                    | shown
                    | other
                ),
            )

    nobody: Plain = {"member_id": "", "group_instance_id": None}
    wrong = [
        n
        for n in at.wrong_names()
        if n["member_id"] and n != {"member_id": at.pending.member_id, "group_instance_id": None}
    ]
    for version in (1, 5, 9):
        for names in wrong:
            ask(version, names)
        ask(version, {"member_id": "ghost", "group_instance_id": "inew"})
    for names in (
        nobody,
        {"member_id": "", "group_instance_id": "inew"},
        *at.right_names(),
        wrong[0],
    ):
        for version in (5, 9):
            ask(version, names, protocol_type="", protocols=protocols("range"))
            ask(version, names, protocols=[])
            if state not in ("Empty", "Dead"):
                ask(version, names, protocol_type="connect")
                ask(version, names, protocols=protocols("nobody-else-s"))
    ask(9, nobody)
    ask(4, nobody)
    if state not in ("PreparingRebalance", "Dead"):
        describe(at.other, at.group)


def _in(play: Callable[[Session, str], None], state: str) -> Callable[[Session], None]:
    def story(s: Session) -> None:
        play(s, state)

    story.__name__ = f"{play.__name__}_in_{state}"
    story.__doc__ = f"{play.__doc__} in {state}: by strangers, under wrong names, generations and protocols, and rightly."
    return story


for _play in (join, sync, heartbeat, leave, commit, commit_by_id, admin):
    for _state in STATES:
        scenario()(_in(_play, _state))
