"""Committed offsets: commit, fetch, delete (OC, OF, OD)."""

from __future__ import annotations

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.events import groups as ev
from coordinator.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from coordinator.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from tests.core.groups.callers import Call, subscribe
from tests.core.groups.kit import World

UNKNOWN, ILLEGAL, IN_PROGRESS, FENCED = 25, 22, 27, 82
T0 = ("t", 0)
DAY_MS = 86_400_000


def errors(call: Call) -> list[int]:
    return [partition.error_code for topic in call.topics for partition in topic.partitions]


# -- who may commit


@pytest.mark.parametrize(("version", "error"), [(8, ILLEGAL), (9, 69)])
def test_a_commit_with_a_generation_needs_a_group(version: int, error: int) -> None:
    """OC-1, VER-5."""
    w = World()
    assert errors(w.commit("a", {T0: 1}, generation=0, version=version)) == [error]
    assert w.coordinator.groups == {}


def test_a_commit_without_generation_makes_a_simple_group() -> None:
    """OC-1, ENT-6, LST-1: Empty, without a type, even with the empty name; no record of its own
    (PST-1)."""
    w = World("")
    assert errors(w.admin_commit({T0: 7})) == [0]
    assert (w.state, w.group.protocol_type, w.fetch([T0])) == ("Empty", None, {T0: 7})
    assert w.happened(ev.GroupCreated) == [ev.GroupCreated("commit")]


def test_an_empty_group_takes_commits_from_anybody_without_generation() -> None:
    """OC-2: whatever member and instance id are; TR-7."""
    w = World().stable("a")
    w.leave("a")
    for who in ({"member_id": ""}, {"member_id": "nobody"}, {"member_id": "a-1", "instance": "i"}):
        assert errors(w.commit("x", {T0: 1}, generation=-1, **who)) == [0]
    assert errors(w.commit("x", {T0: 1}, generation=2, member_id="")) == [UNKNOWN]  # OC-3
    assert errors(w.commit("x", {T0: 1}, generation=0, member_id="a-1")) == [UNKNOWN]
    assert errors(w.commit("x", {T0: 1}, generation=0, member_id="")) == [UNKNOWN]


@pytest.mark.parametrize("state", ["PreparingRebalance", "CompletingRebalance", "Stable"])
def test_a_group_with_members_checks_who_commits(state: str) -> None:
    """OC-2, OC-3: VAL-1, then generation 22, anonymous 25; then 27 in CompletingRebalance only."""
    w = World()
    w.enter("s", instance="i"), w.enter("b")
    w.tick()
    if state != "CompletingRebalance":
        w.settle()
    if state == "PreparingRebalance":
        w.enter("c")
    assert w.state == state
    right = IN_PROGRESS if state == "CompletingRebalance" else 0
    for error, who in (
        (UNKNOWN, {"member_id": "", "generation": -1}),
        (UNKNOWN, {"member_id": "nobody", "generation": 1}),
        (UNKNOWN, {"member_id": "", "generation": 1}),
        (UNKNOWN, {"instance": "other"}),
        (FENCED, {"instance": "i"}),
        (FENCED, {"member_id": "", "generation": -1, "instance": "i"}),
        (ILLEGAL, {"generation": -1}),
        (ILLEGAL, {"generation": 0}),
        (ILLEGAL, {"generation": 2}),
        (right, {}),
    ):
        before = w.snapshot()
        assert errors(w.commit("b", {T0: 1}, **who)) == [error], who
        assert (w.snapshot() == before) == bool(error)


def test_a_group_error_stands_on_every_partition() -> None:
    """OC-4."""
    w = World().stable("a")
    call = w.commit("a", {("t", 0): 1, ("t", 1): 1, ("u", 5): 1}, generation=9)
    assert [(t.name, [p.partition_index for p in t.partitions]) for t in call.topics] == [
        ("t", [0, 1]),
        ("u", [5]),
    ]
    assert errors(call) == [ILLEGAL] * 3


@pytest.mark.parametrize("state", ["Stable", "PreparingRebalance"])
def test_a_commit_keeps_the_session_alive(state: str) -> None:
    """OC-7, SES-1: even one whose metadata is refused; an illegal one does not."""
    w = World().stable("a", "b", session_ms=10_000)
    if state == "PreparingRebalance":
        w.join("a")
    for metadata in ("", "x" * 5000):
        w.advance(9_000)
        w.heartbeat("a")
        w.commit("b", {T0: 1}, metadata=metadata)
    w.advance(9_000)
    w.heartbeat("a")
    assert w.names() == {"a", "b"}
    assert w.state == state
    w.commit("b", {T0: 1}, generation=0)
    w.advance(1_000)
    assert w.names() == {"a"}


# -- what is kept


def test_metadata_is_measured_in_utf_16_units() -> None:
    """OC-5, CFG-1: 4096 are allowed; beyond, that partition alone gets 12."""
    w = World().stable("a")
    fits, wide, long = "x" * 4096, "\N{GRINNING FACE}" * 2048, "\N{GRINNING FACE}" * 2048 + "x"
    for metadata, error in ((fits, 0), (wide, 0), (long, 12), ("x" * 4097, 12)):
        assert errors(w.commit("a", {T0: 1}, metadata=metadata)) == [error]
    rows = [
        OffsetCommitRequestPartition(partition_index=i, committed_offset=i, committed_metadata=m)
        for i, m in enumerate((long, None, "ok"))
    ]
    topics = [OffsetCommitRequestTopic(name="u", partitions=rows)]
    message = OffsetCommitRequest(
        group_id="g", generation_id_or_member_epoch=1, member_id="a-1", topics=topics
    )
    assert errors(w.ask("a", message, 9)) == [12, 0, 0]
    assert w.fetch([("u", 0), ("u", 1), ("u", 2)]) == {("u", 0): -1, ("u", 1): 1, ("u", 2): 2}
    assert w.whole.offsets["u", 1].metadata == ""  # null


def test_a_commit_of_which_nothing_is_left_writes_nothing() -> None:
    """OC-5."""
    w = World().stable("a")
    before = w.snapshot()
    assert errors(w.commit("a", {T0: 1}, metadata="x" * 4097)) == [12]
    assert w.snapshot() == before
    assert w.happened(ev.OffsetsCommitted) == []


def test_what_is_stored() -> None:
    """OC-8: negative offsets, the leader epoch, the instant, and an expiry where versions 2-4 name
    a retention."""
    w = World(now=1_000).stable("a")
    w.commit("a", {T0: -5}, epoch=3, metadata="m", version=6)
    assert w.whole.offsets[T0] == (-5, 3, "m", 1_000, None)
    w.commit("a", {T0: 6}, retention_ms=500, version=2)
    assert w.whole.offsets[T0] == (6, -1, "", 1_000, 1_500)
    w.commit("a", {T0: 7}, retention_ms=-1, version=4)
    assert w.whole.offsets[T0].expire_ms is None


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (13, 14),
        (3, 15),
        (19, 15),
        (7, 15),
        (6, 16),
        (56, 16),
        (10, -1),
        (18, -1),
        (4, -1),
        (87, 87),
    ],
)
def test_a_commit_that_cannot_be_written(failure: int, told: int) -> None:
    """ERR-1: told on every partition, and nothing is kept."""
    w = World().stable("a")
    before = w.snapshot()
    w.config.append_error = ErrorCode(failure)
    assert errors(w.commit("a", {("t", 0): 1, ("t", 1): 1})) == [told, told]
    assert w.snapshot() == before
    other = World(append_error=ErrorCode(failure))
    assert errors(other.admin_commit({T0: 1})) == [told]
    assert other.coordinator.groups == {}


# -- fetching


@pytest.mark.parametrize("version", [1, 2, 7, 8, 9])
def test_an_unknown_group_has_no_offsets(version: int) -> None:
    """OF-1, OF-2, VER-6: -1, -1, "", without error; nobody asks whether the partition exists."""
    for w in (World(), World().stable("a")):
        assert w.fetch([T0, ("nowhere", 99)], version=version) == {T0: -1, ("nowhere", 99): -1}
        if version >= 2:
            assert w.fetch(None, version=version) == {}
        assert w.fetch([], version=version) == {}  # OF-3


def test_the_answers_to_a_fetch() -> None:
    """OF-2, OF-3, OF-9: what is asked in the order asked; null means all."""
    w = World()
    w.admin_commit({("t", 1): 11, ("u", 0): 20}, epoch=4, metadata="m")
    topics = [
        OffsetFetchRequestTopics(name="u", partition_indexes=[0]),
        OffsetFetchRequestTopics(name="t", partition_indexes=[5, 1]),
    ]
    groups = [
        OffsetFetchRequestGroup(group_id="g", topics=topics),
        OffsetFetchRequestGroup(group_id="unknown", topics=None),
        OffsetFetchRequestGroup(group_id="g", topics=None),
        OffsetFetchRequestGroup(group_id="g", topics=[]),
    ]
    answer = w.ask("x", OffsetFetchRequest(groups=groups), 9)
    shown = [
        [
            (t.name, p.partition_index, p.committed_offset, p.committed_leader_epoch, p.metadata)
            for t in g.topics
            for p in t.partitions
        ]
        for g in answer.groups
    ]
    assert shown[0] == [("u", 0, 20, 4, "m"), ("t", 5, -1, -1, ""), ("t", 1, 11, 4, "m")]
    assert (shown[1], sorted(shown[2]), shown[3]) == (
        [],
        [("t", 1, 11, 4, "m"), ("u", 0, 20, 4, "m")],
        [],
    )
    assert [g.group_id for g in answer.groups] == ["g", "unknown", "g", "g"]


def test_membership_does_not_matter_for_a_fetch() -> None:
    """OF-8, VER-6."""
    w = World().stable("a")
    w.commit("a", {T0: 3})
    asked = OffsetFetchRequestGroup(group_id="g", member_id="nobody", member_epoch=77, topics=None)
    answer = w.ask("x", OffsetFetchRequest(groups=[asked], require_stable=True), 9).groups[0]
    assert (answer.error_code, answer.topics[0].partitions[0].committed_offset) == (0, 3)


@pytest.mark.parametrize("error", [16, 14, 15])
def test_where_a_groups_error_stands(error: int) -> None:
    """OF-6, ERR-4, ERR-5: on each partition in version 1, at the top in 2-7, in each group since
    8."""
    w = World()
    w.unload()
    if error == 14:
        w.begin_load()
    if error == 15:
        w.shutdown()
    old = OffsetFetchRequest(
        group_id="g", topics=[OffsetFetchRequestTopic(name="t", partition_indexes=[0, 1])]
    )
    first = w.ask("x", old, 1)
    rows = first.topics[0].partitions
    assert [(p.error_code, p.committed_offset, p.metadata) for p in rows] == [(error, -1, "")] * 2
    second = w.ask("x", old, 2)
    assert (second.error_code, second.topics) == (error, [])
    groups = [OffsetFetchRequestGroup(group_id=name, topics=None) for name in "gh"]
    assert [
        (g.group_id, g.error_code, g.topics)
        for g in w.ask("x", OffsetFetchRequest(groups=groups), 8).groups
    ] == [
        ("g", error, []),
        ("h", error, []),
    ]


# -- deleting


def test_offset_delete_is_refused_as_a_whole() -> None:
    """OD-1, ENT-6: 24, 69, and 68 for members of another type; topics are empty then."""
    w = World().stable("a", kind="connect")
    for group, error in (("", 24), ("unknown", 69), ("g", 68)):
        call = w.delete_offsets([T0], group=group)
        assert (call.error, call.topics) == (error, [])
    w.leave("a")
    assert w.delete_offsets([T0]).ok


def test_subscribed_topics_keep_their_offsets() -> None:
    """OD-2: 86 for what members subscribe to, in every state with members; the rest goes, be it
    there or not."""
    w = World().stable("a", protocols={"range": subscribe("mine")})
    w.commit("a", {("mine", 0): 1, ("other", 0): 2, ("other", 1): 3})
    call = w.delete_offsets([("mine", 0), ("other", 0), ("nothing", 7)])
    assert (call.error, errors(call)) == (0, [86, 0, 0])
    assert w.fetch(None) == {("mine", 0): 1, ("other", 1): 3}
    w.enter("b", protocols={"range": subscribe("new")})
    assert errors(w.delete_offsets([("mine", 0)])) == [86]
    w.leave("a"), w.leave("b")
    assert w.state == "Empty"
    assert errors(w.delete_offsets([("mine", 0)])) == [0]
    assert w.fetch([("mine", 0)]) == {("mine", 0): -1}


def test_unknown_subscriptions_count_as_all_topics() -> None:
    """OD-2, EXP-8."""
    w = World().stable("a", protocols={"range": b"?"})
    assert errors(w.delete_offsets([T0])) == [86]


@pytest.mark.parametrize(("kind", "error"), [("consumer", 0), ("connect", 86)])
def test_what_an_emptied_group_is_known_to_subscribe_to(kind: str, error: int) -> None:
    """EXP-8, OD-2, PROTO-6: nothing, if consumers left it; unknown, if others did; so until the
    next generation begins."""
    w = World(initial_rebalance_delay_ms=3_000).stable("a", kind=kind)
    w.leave("a")
    w.enter("b", protocols={"range": subscribe("t")})
    assert errors(w.delete_offsets([T0])) == [error]
    w.advance(3_000)
    assert errors(w.delete_offsets([T0])) == [86]


def test_deleted_topics_take_their_offsets_along() -> None:
    """EXP-7: in all groups."""
    w = World()
    for group in "gh":
        w.admin_commit({("t", 0): 1, ("t", 1): 2, ("u", 0): 3}, group=group)
    w.delete_partitions(("t", 0), ("t", 1), ("nothing", 0))
    for group in "gh":
        assert w.fetch(None, group=group) == {("u", 0): 3}
    assert len(w.happened(ev.OffsetsRemoved)) == 2
