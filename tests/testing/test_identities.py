"""Who an application is to its brokers: each finding is there where it must be, and not where
nothing is wrong."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from coordinator.kit.ready_tests import findings, identities
from coordinator.kit.ready_tests.findings import CommitSeen, Line
from tests.lines import line_from


def names(found: list[findings.Finding]) -> list[str]:
    return [finding.name for finding in found]


def line(kind: str, seq: int, **fields: Any) -> Line:
    stream = "wire" if kind.startswith("Request") else "group"
    of = {"stream": stream, "type": kind, "seq": seq, "at_ms": 10 * seq, "group": "g"}
    return line_from({**of, **fields})


def seen(api: str, **fields: Any) -> Line:
    return line("RequestSeen", 1, **{"api": api, "client": "app", **fields})


def joined(group: str = "g") -> Line:
    return line("MemberJoined", 2, group=group, member="app-1")


def test_a_consumer_of_another_group_is_named() -> None:
    (found,) = identities.without_members([], [joined("g-1"), joined("g-2")], "g")
    assert (found.name, found.text) == (
        findings.ELSEWHERE,
        "it says that its group is 'g', but it joined 'g-1', 'g-2'",
    )
    assert identities.without_members([], [joined("g-1"), joined()], "g") == []
    assert identities.without_members([], [], "g") == []


def test_who_reads_and_commits_without_joining_is_no_member() -> None:
    assert names(identities.without_members([], [seen("offset_fetch")], "g")) == [
        findings.NO_MEMBER
    ]
    assert identities.without_members([], [seen("offset_fetch", group="h")], "g") == []
    assert identities.without_members([], [seen("join_group"), seen("offset_fetch")], "g") == []
    alone = CommitSeen({("t", 0): 3}, 3, "app", 1, by_member=False)
    assert names(identities.without_members([alone], [seen("offset_fetch")], "g")) == [
        findings.NO_MEMBER
    ]


def static(seq: int, member: str, name: str, replaced: str = "", cause: int | None = None) -> Line:
    """A static member's coming, in a classic group."""
    who = {"member": member, "group_instance_id": name, "cause": cause}
    if replaced:
        return line("MemberReplaced", seq, replaced=replaced, **who)
    return line("MemberJoined", seq, **who)


def test_members_that_take_each_others_place_share_an_instance_id() -> None:
    lines = [static(2, "a", "one"), static(3, "b", "one", "a"), static(4, "c", "one", "b")]
    (found,) = identities.shared_instance(lines, "g", 1)
    assert (found.name, "'one' replaced each other 2 times" in found.text) == (
        findings.SHARED,
        True,
    )
    assert identities.shared_instance(lines[:2], "g", 1) == []
    assert identities.shared_instance(lines, "h", 1) == []
    two = {"group_instance_id": "two"}
    subscribed = line("ConsumerMemberSubscribed", 2, member="a", **two)
    replaced = line("ConsumerMemberReplaced", 3, member="b", replaced="a", subscription=two)
    assert "'two'" in identities.shared_instance([subscribed, replaced], "g", 0)[0].text


def test_who_is_told_that_another_has_its_instance_id_is_named_among_restarts() -> None:
    joins = line("RequestSeen", 3, peer="h:2", api="join_group", client="app")
    lines = [static(2, "a", "one"), joins, static(4, "b", "one", "a", cause=3)]

    def asking(peer: str) -> Line:
        return line("RequestSeen", 5, peer=peer, api="offset_commit", member="a")

    def refused(
        member: str = "a",
        error: str = "FENCED_INSTANCE_ID",
        peer: str | None = None,
        cause: int | None = 5,
    ) -> Line:
        fields = {"member": member, "errors": [error], "cause": cause}
        return line("RequestRefused", 6, **fields | ({} if peer is None else {"peer": peer}))

    asks, fenced = asking("h:1"), refused()

    def found(
        *more: Line, running: tuple[int, int] = (0, 50), others: Collection[str] = ()
    ) -> list[findings.Finding]:
        return identities.shared_instance([*lines, *more], "g", 9, [running], others)

    (told,) = found(asks, fenced)
    assert (told.name, told.text) == (
        findings.SHARED,
        "a was refused with FENCED_INSTANCE_ID (line 6, at 60 ms): another consumer has its group.instance.id",
    )
    heartbeat = refused(peer="h:1", cause=None)
    assert names(found(heartbeat)) == [findings.SHARED]
    assert found(asking("h:2"), fenced) == []  # it took its own place
    assert found(asks, refused(cause=1)) == []  # it had asked before
    assert found(asks, refused("b")) == []
    assert found(asks, fenced, others={"a"}) == []  # its process was killed
    assert found(asks, fenced, running=(0, 6)) == []  # it was stopped

    def unreleased(member: str) -> Line:
        return refused(member, "UNRELEASED_INSTANCE_ID", "h:1", cause=None)

    assert "c was refused with UNRELEASED_INSTANCE_ID" in found(unreleased("c"))[0].text
    assert found(unreleased("b")) == []  # a test's fault: it is a member


def test_a_member_that_leaves_for_an_error_that_passes_is_named() -> None:
    def asks(seq: int, api: str, peer: str) -> Line:
        return line("RequestSeen", seq, at_ms=0, member="app-1", api=api, peer=peer)

    def removed(reason: str) -> Line:
        return line("MemberRemoved", 6, at_ms=0, member="app-1", cause=5, reason=reason)

    asked, gone = asks(5, "leave_group", "h:1"), removed("left")
    assert names(identities.left([asked, gone], "g", (), 5)) == [findings.LEAVES]
    assert identities.left([asked, gone], "g", (), 7) == []
    assert identities.left([asked, gone], "g", {"app-1"}, 5) == []
    assert identities.left([asked, removed("session expired")], "g", (), 5) == []
    back = asks(7, "join_group", "h:1")
    assert identities.left([asked, gone, back], "g", (), 5) == []  # it had unsubscribed
    assert identities.left([asked, gone], "g", (), 5, {"h:1"}) == []  # it is about to be back
    another = asks(7, "join_group", "h:2")
    assert names(identities.left([asked, gone, another], "g", (), 5)) == [findings.LEAVES]


def test_a_producer_with_another_transactional_id_is_named() -> None:
    drawn = seen("init_producer_id", transactional_id="drawn-17")
    (found,) = identities.other_transactional_id([drawn], "app-tx")
    assert (found.name, "'app-tx'" in found.text, "'drawn-17'" in found.text) == (
        findings.OTHER_ID,
        True,
        True,
    )
    assert (
        identities.other_transactional_id(
            [drawn, seen("init_producer_id", transactional_id="app-tx")], "app-tx"
        )
        == []
    )
    assert identities.other_transactional_id([seen("init_producer_id")], "app-tx") == []
