"""Committed offsets: commit, fetch, delete, expire (OC, OF, OD, EXP)."""

from __future__ import annotations

import pytest

from coordinator.errors import ErrorCode
from coordinator.groups import events as ev
from coordinator.wire.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from coordinator.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from tests.groups.kit import Call, World, subscribe

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
    """OC-1, ENT-6, LST-1: Empty, without a type, even with the empty name; no record of its own (PST-1)."""
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
    assert [(t.name, [p.partition_index for p in t.partitions]) for t in call.topics] == [("t", [0, 1]), ("u", [5])]
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
        OffsetCommitRequestPartition(partition_index=i, committed_offset=i, committed_metadata=m) for i, m in enumerate((long, None, "ok"))
    ]
    topics = [OffsetCommitRequestTopic(name="u", partitions=rows)]
    message = OffsetCommitRequest(group_id="g", generation_id_or_member_epoch=1, member_id="a-1", topics=topics)
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
    """OC-8: negative offsets, the leader epoch, the instant, and an expiry where versions 2-4 name a retention."""
    w = World(now=1_000).stable("a")
    w.commit("a", {T0: -5}, epoch=3, metadata="m", version=6)
    assert w.whole.offsets[T0] == (-5, 3, "m", 1_000, None)
    w.commit("a", {T0: 6}, retention_ms=500, version=2)
    assert w.whole.offsets[T0] == (6, -1, "", 1_000, 1_500)
    w.commit("a", {T0: 7}, retention_ms=-1, version=4)
    assert w.whole.offsets[T0].expire_ms is None


@pytest.mark.parametrize(
    ("failure", "told"), [(13, 14), (3, 15), (19, 15), (7, 15), (6, 16), (56, 16), (10, -1), (18, -1), (4, -1), (87, 87)]
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
    topics = [OffsetFetchRequestTopics(name="u", partition_indexes=[0]), OffsetFetchRequestTopics(name="t", partition_indexes=[5, 1])]
    groups = [
        OffsetFetchRequestGroup(group_id="g", topics=topics),
        OffsetFetchRequestGroup(group_id="unknown", topics=None),
        OffsetFetchRequestGroup(group_id="g", topics=None),
        OffsetFetchRequestGroup(group_id="g", topics=[]),
    ]
    answer = w.ask("x", OffsetFetchRequest(groups=groups), 9)
    shown = [
        [(t.name, p.partition_index, p.committed_offset, p.committed_leader_epoch, p.metadata) for t in g.topics for p in t.partitions]
        for g in answer.groups
    ]
    assert shown[0] == [("u", 0, 20, 4, "m"), ("t", 5, -1, -1, ""), ("t", 1, 11, 4, "m")]
    assert (shown[1], sorted(shown[2]), shown[3]) == ([], [("t", 1, 11, 4, "m"), ("u", 0, 20, 4, "m")], [])
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
    """OF-6, ERR-4, ERR-5: on each partition in version 1, at the top in 2-7, in each group since 8."""
    w = World()
    w.unload()
    if error == 14:
        w.begin_load()
    if error == 15:
        w.shutdown()
    old = OffsetFetchRequest(group_id="g", topics=[OffsetFetchRequestTopic(name="t", partition_indexes=[0, 1])])
    first = w.ask("x", old, 1)
    rows = first.topics[0].partitions
    assert [(p.error_code, p.committed_offset, p.metadata) for p in rows] == [(error, -1, "")] * 2
    second = w.ask("x", old, 2)
    assert (second.error_code, second.topics) == (error, [])
    groups = [OffsetFetchRequestGroup(group_id=name, topics=None) for name in "gh"]
    assert [(g.group_id, g.error_code, g.topics) for g in w.ask("x", OffsetFetchRequest(groups=groups), 8).groups] == [
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
    """OD-2: 86 for what members subscribe to, in every state with members; the rest goes, be it there or not."""
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
    """EXP-8, OD-2, PROTO-6: nothing, if consumers left it; unknown, if others did; so until the next generation begins."""
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


# -- expiry


def expiring(**config: int) -> World:
    """Retention of a day, looked at every minute."""
    return World(offsets_retention_ms=DAY_MS, offsets_retention_check_interval_ms=60_000, **config)


def test_offsets_of_a_simple_group_expire_after_their_commit() -> None:
    """EXP-1, EXP-2, EXP-5, EXP-6: each by itself; with the last one goes the group."""
    w = expiring()
    w.admin_commit({("t", 0): 1})
    w.advance(60_000)
    w.admin_commit({("t", 1): 1})
    w.advance(DAY_MS - 60_001)
    assert len(w.fetch(None)) == 2
    w.advance(1)
    assert w.fetch(None) == {("t", 1): 1}
    w.advance(60_000)
    assert w.list() == {}


def test_a_group_that_had_members_counts_from_when_it_became_empty() -> None:
    """EXP-1, ST-5: not from the commit."""
    w = expiring().stable("a", session_ms=1_000_000)
    w.commit("a", {T0: 1})
    w.advance(600_000)
    w.heartbeat("a")
    w.leave("a")
    w.advance(DAY_MS - 60_000)
    assert w.fetch([T0]) == {T0: 1}
    w.advance(60_000)
    assert w.list() == {}


def test_a_later_commit_does_not_prolong_that() -> None:
    """EXP-1: the base is the instant the group became Empty."""
    w = expiring().stable("a")
    w.leave("a")
    w.admin_commit({T0: 1})
    w.advance(DAY_MS - 120_000)
    w.admin_commit({T0: 2})
    w.advance(180_000)
    assert w.list() == {}


def test_the_age_of_an_empty_group_survives_a_failover() -> None:
    """EXP-1, ERR-7: its record holds the instant it became Empty."""
    w = expiring().stable("a", session_ms=600_000)
    w.commit("a", {T0: 1})
    w.advance(300_000)
    w.leave("a")
    w.advance(DAY_MS - 300_000)
    w.restart()
    w.advance(240_000)
    assert w.fetch([T0]) == {T0: 1}
    w.unload()
    w.finish_load()
    w.advance(60_000)
    assert w.list() == {}


def living(w: World, for_ms: int) -> None:
    """Time passes and a stays alive."""
    for _ in range(for_ms // 1_000_000 + 1):
        w.advance(1_000_000)
        w.heartbeat("a")


def test_in_a_living_group_only_forgotten_topics_expire() -> None:
    """EXP-1, EXP-3: a Stable consumer group keeps what it subscribes to."""
    w = expiring().stable("a", session_ms=1_800_000, protocols={"range": subscribe("mine")})
    w.commit("a", {("mine", 0): 1, ("old", 0): 2})
    living(w, DAY_MS)
    assert w.fetch(None) == {("mine", 0): 1}
    assert w.happened(ev.OffsetsRemoved) == [ev.OffsetsRemoved("expired", (("old", 0),))]


@pytest.mark.parametrize("options", [{"kind": "connect"}, {"protocols": {"range": b"?"}}])
def test_living_groups_of_other_kinds_keep_everything(options: dict[str, object]) -> None:
    """EXP-1, EXP-3: another type, or subscriptions that nobody can read."""
    w = expiring().stable("a", session_ms=1_800_000, **options)
    w.commit("a", {("old", 0): 2})
    living(w, DAY_MS)
    assert w.fetch(None) == {("old", 0): 2}


def test_nothing_expires_during_a_rebalance() -> None:
    """EXP-1: in PreparingRebalance and CompletingRebalance."""
    w = expiring().stable("a", session_ms=1_800_000, rebalance_ms=2 * DAY_MS, protocols={"range": subscribe("mine")})
    w.commit("a", {("old", 0): 2})
    w.join("p", session_ms=1_800_000)
    w.join("a", session_ms=1_800_000, rebalance_ms=2 * DAY_MS, protocols={"range": subscribe("mine")})
    for _ in range(90):
        w.advance(1_000_000)
        w.join("p", member_id="", session_ms=1_800_000)
    assert w.state == "PreparingRebalance"
    assert w.fetch(None) == {("old", 0): 2}
    w.leave("p", *((pending, None) for pending in w.group.pending))
    assert w.state == "CompletingRebalance"
    living(w, 1_000_000)
    assert w.fetch(None) == {("old", 0): 2}


def test_an_own_expiry_stands_before_the_groups() -> None:
    """EXP-2, OC-8: earlier or later than the retention."""
    w = expiring()
    w.admin_commit({("soon", 0): 1}, retention_ms=100_000, version=2)
    w.admin_commit({("late", 0): 1}, retention_ms=2 * DAY_MS, version=2)
    w.advance(60_000)
    assert len(w.fetch(None)) == 2
    w.advance(60_000)
    assert w.fetch(None) == {("late", 0): 1}
    w.advance(2 * DAY_MS - 180_000)
    assert w.fetch(None) == {("late", 0): 1}
    w.advance(60_000)
    assert w.list() == {}


def test_the_check_runs_once_in_an_interval() -> None:
    """EXP-5, CFG-1: at whole intervals after the start, 10 minutes by default, while there is a group to look at."""
    w = World(now=5_000)
    assert w.coordinator.next_deadline() is None
    w.advance(10_000)
    w.admin_commit({T0: 1})
    assert w.coordinator.next_deadline() == 605_000
    w.advance(600_000)
    assert w.coordinator.next_deadline() == 1_205_000
    w.delete(w.group_id)
    w.advance(600_000)
    assert w.coordinator.next_deadline() is None


def test_the_check_deletes_groups_that_are_empty_and_without_offsets() -> None:
    """EXP-6, JOIN-2, LST-5: those with pending ids only, too; their join is unknown then."""
    w = World()
    w.join("p", session_ms=1_800_000)
    w.group_id = "full"
    w.stable("a")
    w.admin_commit({T0: 1}, group="offsets")
    assert w.list() == {"g": "Empty", "full": "Stable", "offsets": "Empty"}
    for _ in range(20):
        w.advance(30_000)
        w.heartbeat("a")
    assert w.list() == {"full": "Stable", "offsets": "Empty"}
    assert w.join("p", group="g").error == UNKNOWN
