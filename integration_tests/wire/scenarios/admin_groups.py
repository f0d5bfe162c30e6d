"""DescribeGroups 0-6, ListGroups 0-5, DeleteGroups 0-2 by version and state."""

from __future__ import annotations

from integration_tests.wire.people import Member, describe, protocols, stable, topic, until
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.scenarios.offsets import at, commit, committed


@scenario()
def describe_in_every_version_and_state(s: Session) -> None:
    """DSC-1, DSC-2, DSC-3, VER-8, ST-1, ST-4: nobody, Empty, both halves of a rebalance, Stable; a
    static member among them."""
    admin = s.connect("admin")
    group = s.name("g")
    a, b = (
        Member(s, "a", group, instance="ia"),
        Member(s, "b", group, protocols=protocols("range", metadata="0b")),
    )

    def look() -> None:
        for version in range(7):
            describe(admin, group, version)

    look()
    a.join()
    look()
    a.sync({a.member_id: "aa"})
    look()
    b.enter()
    until(s, group, "PreparingRebalance")
    look()
    a.send_join()
    a.take_join()
    b.take_join()
    look()
    a.send_sync({a.member_id: "aa"})
    b.send_sync()
    a.link.expect()
    b.link.expect()
    look()
    a.leave()
    b.leave()
    look()


@scenario()
def describe_several(s: Session) -> None:
    """DSC-4, ENT-6: unknown, empty-named and doubled groups; operations that are allowed, when
    asked for."""
    admin = s.connect("admin")
    group = s.name("g")
    stable(s, group, "a")
    for version in (0, 3, 5, 6):
        answer = admin.ask_quietly(
            "DescribeGroups", version, groups=[group, s.name("x"), "", s.name("x")]
        )
        for found in sorted(answer["groups"], key=lambda g: str(g["group_id"])):
            s.say("group", {k: v for k, v in found.items() if k != "members"})
        admin.ask("DescribeGroups", version, groups=[])
    for version in (3, 6):
        admin.ask("DescribeGroups", version, groups=[group], include_authorized_operations=True)
        admin.ask(
            "DescribeGroups", version, groups=[s.name("x")], include_authorized_operations=True
        )


@scenario(repeats=False)
def doubled_groups_stand_with_their_partition(s: Session) -> None:
    """DSC-5: groups come by the partition that holds them, those that are named twice, too."""
    a, names = s.connect(), [s.name(label) for label in "abcdef"]
    for asked in ((0, 1, 0), (5, 4, 3, 2, 1, 0, 5, 4, 3), (2, 2, 3, 2), (1, 0, 5, 0, 1, 1)):
        a.ask("DescribeGroups", 5, groups=[names[at] for at in asked])


@scenario()
def list_in_every_version(s: Session) -> None:
    """LST-1, LST-5, VER-9: simple, pending-only, Stable, joining and emptied groups."""
    admin = s.connect("admin")
    name = topic(s, "t")
    commit(admin, s.name("simple"), name, at(0, 1))
    pending = Member(s, "p", s.name("pending"))
    pending.send_join()
    pending.take_join()
    until(s, s.name("pending"), "Empty")
    stable(s, s.name("stable"), "a")
    Member(s, "b", s.name("joined")).join()
    (gone,) = stable(s, s.name("emptied"), "c")
    gone.leave()
    Member(s, "d", s.name("connect"), protocol_type="connect").join()
    for version in range(6):
        admin.ask("ListGroups", version, only="groups")


@scenario()
def list_with_filters(s: Session) -> None:
    """LST-2, LST-3: case and blanks do not matter, unknown words match nothing, both filters must
    agree."""
    admin = s.connect("admin")
    stable(s, s.name("stable"), "a")
    (gone,) = stable(s, s.name("emptied"), "c")
    gone.leave()
    Member(s, "b", s.name("joined")).join()
    for states in (
        ["Stable"],
        ["stable", "EMPTY"],
        [" Stable "],
        ["CompletingRebalance"],
        ["nope"],
        ["Dead"],
        [""],
        ["nope", "Stable"],
        ["Assigning"],
    ):
        admin.ask("ListGroups", 4, only="groups", states_filter=states)
        admin.ask("ListGroups", 5, only="groups", states_filter=states)
    for types in (
        ["classic"],
        ["CLASSIC"],
        [" classic "],
        ["consumer"],
        ["share"],
        ["nope"],
        [""],
        ["nope", "classic"],
    ):
        admin.ask("ListGroups", 5, only="groups", types_filter=types)
    admin.ask("ListGroups", 5, only="groups", states_filter=["Empty"], types_filter=["classic"])
    admin.ask("ListGroups", 5, only="groups", states_filter=["Empty"], types_filter=["consumer"])


@scenario()
def delete_in_every_version_and_state(s: Session) -> None:
    """DG-1, DG-2, DG-3, ST-6, VER-10: 69, 68, and 0 with everything gone; twice in a request."""
    admin = s.connect("admin")
    name = topic(s, "t")
    for version in range(3):
        group = s.name(f"g{version}")
        admin.ask("DeleteGroups", version, groups_names=[group])
        a = Member(s, "a", group)
        a.join()
        admin.ask("DeleteGroups", version, groups_names=[group])
        a.sync({})
        admin.ask("DeleteGroups", version, groups_names=[group])
        a.commit(name, 7)
        b = Member(s, "b", group)
        b.enter()
        until(s, group, "PreparingRebalance")
        admin.ask("DeleteGroups", version, groups_names=[group])
        a.leave()
        b.take_join()
        b.leave()
        committed(admin, group, name, 0)
        admin.ask("DeleteGroups", version, shuffled="results", groups_names=[group, group])
        committed(admin, group, name, 0)
        describe(admin, group)
        b.heartbeat()
        b.send_join()
        b.take_join()
        admin.ask("DeleteGroups", version, groups_names=[])


@scenario()
def delete_a_group_of_pending_members(s: Session) -> None:
    """DG-3: a pending-only group is Empty, may be deleted, and its ids are forgotten."""
    admin = s.connect("admin")
    group = s.name("g")
    a = Member(s, "a", group)
    a.send_join()
    a.take_join()
    until(s, group, "Empty")
    admin.ask("DeleteGroups", 2, groups_names=[group])
    a.send_join()
    a.take_join()


@scenario()
def delete_several(s: Session) -> None:
    """DG-1: each group has its own fate."""
    admin = s.connect("admin")
    name = topic(s, "t")
    commit(admin, s.name("simple"), name, at(0, 1))
    stable(s, s.name("stable"), "a")
    admin.ask(
        "DeleteGroups",
        2,
        shuffled="results",
        groups_names=[s.name("stable"), s.name("nope"), s.name("simple")],
    )
    admin.ask("ListGroups", 5, only="groups")
    committed(admin, s.name("simple"), name, 0)
