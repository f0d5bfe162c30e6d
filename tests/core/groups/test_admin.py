"""What operators see and do: describe, list, delete (DSC, LST, DG)."""

from __future__ import annotations

import pytest

from coordinator.base.java_hash import coordinator_partition, in_compute_order, topic_partition_hash
from coordinator.events import groups as ev
from coordinator.wire.messages.describe_groups import DescribeGroupsRequest
from coordinator.wire.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from tests.core.groups.kit import World


def in_state(state: str) -> World:
    """A group of a and b in this state; both have an assignment from the generation before, but for
    Empty."""
    w = World().stable("a", "b")
    if state in ("PreparingRebalance", "CompletingRebalance"):
        w.join("a")
    if state == "CompletingRebalance":
        w.join("b")
    if state == "Empty":
        w.leave("a"), w.leave("b")
    assert w.state == state
    return w


@pytest.mark.parametrize(("version", "error"), [(0, 0), (5, 0), (6, 69)])
def test_a_missing_group_is_described_as_dead(version: int, error: int) -> None:
    """DSC-1, VER-8: an error with a message from version 6 on."""
    row = World().describe("nope", version=version)
    assert (row.group_id, row.group_state, row.error_code) == ("nope", "Dead", error)
    assert (row.protocol_type, row.protocol_data, row.members) == ("", "", [])
    assert row.error_message == ("Group nope not found." if error else None)


@pytest.mark.parametrize("state", ["Empty", "PreparingRebalance", "CompletingRebalance", "Stable"])
def test_what_is_shown_in_which_state(state: str) -> None:
    """DSC-2, ST-1: protocol and metadata in Stable only; stored assignments whenever there are
    members."""
    row = in_state(state).describe()
    assert (row.group_state, row.protocol_type) == (state, "consumer")
    assert row.protocol_data == ("range" if state == "Stable" else "")
    metadata = b"meta" if state == "Stable" else b""
    expected = [] if state == "Empty" else [("a-1", metadata, b"a"), ("b-2", metadata, b"b")]
    assert (
        sorted((m.member_id, m.member_metadata, m.member_assignment) for m in row.members)
        == expected
    )


def test_after_a_rebalance_from_completing_assignments_are_empty() -> None:
    """DSC-2, REB-1."""
    w = in_state("CompletingRebalance")
    w.enter("c")
    assert {m.member_assignment for m in w.describe().members} == {b""}


def test_who_the_members_are() -> None:
    """DSC-3: the host in Java's form, as the driver gave it."""
    w = World()
    w.enter("a")
    w.enter("s", instance="i")
    w.settle()
    rows = [
        (m.member_id, m.group_instance_id, m.client_id, m.client_host) for m in w.describe().members
    ]
    assert sorted(rows, key=str) == [
        ("a-1", None, "a", "/127.0.0.1"),
        ("i-2", "i", "s", "/127.0.0.1"),
    ]


def test_operations_are_told_when_asked_for() -> None:
    """DSC-4, VER-8: READ, DELETE, DESCRIBE, DESCRIBE_CONFIGS, ALTER_CONFIGS; nothing for what is
    refused (seen on Kafka 4.4.0)."""
    w = World().stable("a")
    assert w.describe().authorized_operations == -(1 << 31)
    assert w.describe(operations=True).authorized_operations == 3400
    assert w.describe("nope", operations=True).authorized_operations == 3400
    assert w.describe("nope", operations=True, version=6).authorized_operations == -(1 << 31)


def test_each_group_has_its_own_error() -> None:
    """DSC-5, ERR-4, ERR-5, ENT-6: one partition is elsewhere, another loads; "" may be asked
    for."""
    w = World().stable("a")
    away, loading = "group", "test-group"
    w.unload(coordinator_partition(away, 50))
    w.begin_load(coordinator_partition(loading, 50))
    answer = w.ask("x", DescribeGroupsRequest(groups=["g", away, loading, ""]), 5)
    assert {row.group_id: row.error_code for row in answer.groups} == {
        "g": 0,
        away: 16,
        loading: 14,
        "": 0,
    }
    assert {row.group_id: row.group_state for row in answer.groups} == {
        "g": "Stable",
        away: "",
        loading: "",
        "": "Dead",
    }


def test_groups_are_described_by_partition() -> None:
    """HM-3 for computeIfAbsent: the order of a real broker's answer, not the request's."""
    asked = [f"group-{i}" for i in range(9)]
    answer = World().ask("x", DescribeGroupsRequest(groups=asked), 5)
    partitions = [coordinator_partition(name, 50) for name in asked]
    order = in_compute_order(
        partitions, lambda index: topic_partition_hash("__consumer_offsets", index)
    )
    shown = [row.group_id for row in answer.groups]
    assert shown == sorted(asked, key=lambda name: order.index(coordinator_partition(name, 50)))
    assert shown != asked


def listing() -> World:
    """Groups in four states; one is simple."""
    w = in_state("PreparingRebalance")
    w.clients.clear()
    w.group_id = "stable"
    w.stable("c", kind="connect")
    w.admin_commit({("t", 0): 1}, group="simple")
    w.clients.clear()
    w.join("p", group="pending")
    return w


def test_every_group_is_listed() -> None:
    """LST-1, LST-5: with type of protocol, state and type of group."""
    w = listing()
    answer = w.ask("x", ListGroupsRequest(), 5)
    rows = {
        row.group_id: (row.protocol_type, row.group_state, row.group_type) for row in answer.groups
    }
    assert rows == {
        "g": ("consumer", "PreparingRebalance", "classic"),
        "stable": ("connect", "Stable", "classic"),
        "simple": ("", "Empty", "classic"),
        "pending": ("", "Empty", "classic"),
    }


@pytest.mark.parametrize(
    ("states", "types", "found"),
    [
        ([], [], {"g", "stable", "simple", "pending"}),
        (["stable"], [], {"stable"}),
        ([" STABLE ", "Empty"], [], {"stable", "simple", "pending"}),
        (["preparingrebalance"], ["classic"], {"g"}),
        (["nonsense"], [], set()),
        ([""], [], set()),
        (["nonsense", "Stable"], [], {"stable"}),
        ([], ["CLASSIC"], {"g", "stable", "simple", "pending"}),
        ([], [" classic "], set()),  # types are not trimmed
        ([], ["consumer"], set()),
        ([], ["consumer", "Classic"], {"g", "stable", "simple", "pending"}),
        (["Stable"], ["share"], set()),
    ],
)
def test_filters(states: list[str], types: list[str], found: set[str]) -> None:
    """LST-2, LST-3."""
    assert set(listing().list(states, types)) == found


def test_old_versions_have_no_filters_and_no_states() -> None:
    """LST-4, VER-9: the fields are not on the wire."""
    reply = listing().ask("x", ListGroupsRequest(), 3).reply
    assert reply.encode(3) != reply.encode(4)
    assert all(
        row.group_state == row.group_type == ""
        for row in ListGroupsResponse.decode(3, reply.encode(3)).groups
    )
    assert ListGroupsRequest.decode(3, ListGroupsRequest().encode(3)).states_filter == []


@pytest.mark.parametrize(
    ("state", "error"),
    [("Empty", 0), ("PreparingRebalance", 68), ("CompletingRebalance", 68), ("Stable", 68)],
)
def test_only_an_empty_group_is_deleted(state: str, error: int) -> None:
    """DG-1, ST-6: with all its offsets; later requests find no group."""
    w = in_state(state)
    w.coordinator.groups["g"].offsets.clear()
    if state == "Empty":
        w.admin_commit({("t", 0): 1})
    before = w.snapshot()
    assert w.delete() == {"g": error}
    if error:
        assert w.snapshot() == before
    else:
        assert (w.list(), w.fetch(None)) == ({}, {})
        assert w.heartbeat("a").error == 25
        assert w.delete() == {"g": 69}


def test_deleting_several() -> None:
    """DG-1, DG-2, ENT-6: each by itself, the same one once, "" like any other."""
    w = World().stable("a")
    w.admin_commit({("t", 0): 1}, group="")
    assert w.delete("nope", "", "g", "", "nope") == {"nope": 69, "": 0, "g": 68}
    assert w.happened(ev.GroupDeleted) == [ev.GroupDeleted("deleted by request")]


def test_a_group_with_pending_ids_only_can_be_deleted() -> None:
    """DG-3: and nothing of it is due later."""
    w = World()
    w.join("p")
    assert w.delete() == {"g": 0}
    assert w.join("p").error == 25
    w.advance(1_000_000)


def test_a_deleted_group_is_gone_for_good() -> None:
    """PST-5, DG-1: also after a failover; a new one of that name begins at generation 0."""
    w = in_state("Empty")
    w.admin_commit({("t", 0): 1})
    w.delete()
    w.restart()
    assert (w.list(), w.fetch(None)) == ({}, {})
    w.clients.clear()
    w.enter("a")
    assert w.group.generation == 0
