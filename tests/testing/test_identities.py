"""Who an application is to its brokers: each finding is there where it must be, and not where
nothing is wrong."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from coordinator.apptests import findings, identities
from coordinator.apptests.findings import CommitSeen

Line = dict[str, Any]


def names(found: list[findings.Finding]) -> list[str]:
    return [finding.name for finding in found]


def seen(api: str, **fields: Any) -> Line:
    return {"type": "RequestSeen", "seq": 1, "api": api, "client": "app", "group": "g", **fields}


def joined(group: str = "g") -> Line:
    return {"type": "MemberJoined", "seq": 2, "group": group, "member": "app-1"}


def test_a_consumer_of_another_group_is_named() -> None:
    (found,) = identities.nobody([], [joined("g-1"), joined("g-2")], "g")
    assert (found.name, found.text) == (
        findings.ELSEWHERE,
        "it says that its group is 'g', and joined 'g-1', 'g-2'",
    )
    assert identities.nobody([], [joined("g-1"), joined()], "g") == []
    assert identities.nobody([], [], "g") == []


def test_who_reads_and_commits_without_joining_is_no_member() -> None:
    assert names(identities.nobody([], [seen("offset_fetch")], "g")) == [findings.NO_MEMBER]
    assert identities.nobody([], [seen("offset_fetch", group="h")], "g") == []
    assert identities.nobody([], [seen("join_group"), seen("offset_fetch")], "g") == []
    alone = CommitSeen({("t", 0): 3}, 3, "app", 1, by_member=False)
    assert names(identities.nobody([alone], [seen("offset_fetch")], "g")) == [findings.NO_MEMBER]


def static(seq: int, member: str, name: str, replaced: str = "") -> Line:
    """A static member's coming, in a classic group."""
    kind = (
        {"type": "MemberReplaced", "replaced": replaced} if replaced else {"type": "MemberJoined"}
    )
    return {
        **kind,
        "seq": seq,
        "at_ms": 10 * seq,
        "group": "g",
        "member": member,
        "group_instance_id": name,
    }


def test_members_that_take_each_others_place_share_an_instance_id() -> None:
    lines = [static(2, "a", "one"), static(3, "b", "one", "a"), static(4, "c", "one", "b")]
    (found,) = identities.shared_instance(lines, "g", 1)
    assert (found.name, "'one' took each other's place 2 times" in found.text) == (
        findings.SHARED,
        True,
    )
    assert identities.shared_instance(lines[:2], "g", 1) == []
    assert identities.shared_instance(lines, "h", 1) == []
    subscribed = {
        "type": "ConsumerMemberSubscribed",
        "seq": 2,
        "at_ms": 20,
        "group": "g",
        "member": "a",
        "classic": None,
        "group_instance_id": "two",
    }
    replaced = {
        "type": "ConsumerMemberReplaced",
        "seq": 3,
        "at_ms": 30,
        "group": "g",
        "member": "b",
        "replaced": "a",
        "subscription": {"group_instance_id": "two"},
    }
    assert "'two'" in identities.shared_instance([subscribed, replaced], "g", 0)[0].text


def test_who_is_told_that_another_has_its_instance_id_is_named_among_restarts() -> None:
    def wire(seq: int, kind: str, peer: str, **fields: Any) -> Line:
        return {
            "seq": seq,
            "at_ms": 10 * seq,
            "group": "g",
            "cause": None,
            "type": kind,
            "peer": peer,
            **fields,
        }

    joins = wire(3, "RequestSeen", "h:2", api="join_group", client="app")
    lines = [static(2, "a", "one"), joins, {**static(4, "b", "one", "a"), "cause": 3}]
    asks = wire(5, "RequestSeen", "h:1", api="offset_commit", member="a")
    fenced = wire(6, "RequestRefused", "", member="a", errors=["FENCED_INSTANCE_ID"], cause=5)

    def found(
        *more: Line, running: tuple[int, int] = (0, 50), others: Collection[str] = ()
    ) -> list[findings.Finding]:
        return identities.shared_instance([*lines, *more], "g", 9, [running], others)

    (told,) = found(asks, fenced)
    assert (told.name, told.text) == (
        findings.SHARED,
        "a was refused with FENCED_INSTANCE_ID (line 6, at 60 ms): another consumer has its group.instance.id",
    )
    heartbeat = {**fenced, "peer": "h:1", "cause": None}
    assert names(found(heartbeat)) == [findings.SHARED]
    assert found({**asks, "peer": "h:2"}, fenced) == []  # it took its own place
    assert found(asks, {**fenced, "cause": 1}) == []  # it had asked before
    assert found(asks, {**fenced, "member": "b"}) == []
    assert found(asks, fenced, others={"a"}) == []  # its process was killed
    assert found(asks, fenced, running=(0, 6)) == []  # it was stopped
    unreleased = {**heartbeat, "member": "c", "errors": ["UNRELEASED_INSTANCE_ID"]}
    assert "c was refused with UNRELEASED_INSTANCE_ID" in found(unreleased)[0].text
    assert found({**unreleased, "member": "b"}) == []  # a test's fault: it is a member


def test_a_member_that_leaves_for_an_error_that_passes_is_named() -> None:
    common: Line = {"group": "g", "member": "app-1", "at_ms": 0}
    asked = {**common, "type": "RequestSeen", "seq": 5, "api": "leave_group", "peer": "h:1"}
    gone = {**common, "type": "MemberRemoved", "seq": 6, "cause": 5, "reason": "left"}
    assert names(identities.left([asked, gone], "g", (), 5)) == [findings.LEAVES]
    assert identities.left([asked, gone], "g", (), 7) == []
    assert identities.left([asked, gone], "g", {"app-1"}, 5) == []
    assert identities.left([asked, {**gone, "reason": "session expired"}], "g", (), 5) == []
    back = {**asked, "seq": 7, "api": "join_group"}
    assert identities.left([asked, gone, back], "g", (), 5) == []  # it had unsubscribed
    assert identities.left([asked, gone], "g", (), 5, {"h:1"}) == []  # it is about to be back
    another = {**back, "peer": "h:2"}
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
