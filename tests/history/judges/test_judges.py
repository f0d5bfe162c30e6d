"""Each judge passes a real run's log, and catches a bug planted in it that no other judge
catches."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from coordinator import Emulator
from coordinator.history.judges import ALL, Judgement
from coordinator.history.judges.commits import (
    CommitsStayWithinAssignment,
    CommitsStayWithinGeneration,
    OffsetsOnlyGoBackWhenAsked,
)
from coordinator.history.judges.generations import OneLeader
from coordinator.history.judges.liveness import FewRebalances, StableWithin
from coordinator.history.judges.ownership import RevokedBeforeAssigned
from coordinator.history.world.blobs import assignment
from coordinator.wire.consumer_protocol import Assignment, Subscription, TopicPartitions
from tests.history.judges import test_record_judges
from tests.history.judges.crafted import judge

Line = dict[str, Any]


@pytest.fixture(scope="module")
def run() -> list[Line]:
    """Two members, one of them static, a commit, a static member that comes back, a clean leave."""
    with Emulator({"t": 4}, remember=10_000, seed=3) as kafka:
        group = kafka.group("g")
        with kafka.peer("g", topics=["t"], config={"heartbeat.interval.ms": 50}) as first:
            first.wait_stable()
            first.seek("t", 0, 1)
            first.wait_commit()
            with kafka.peer("g", topics=["t"], config={"group.instance.id": "i"}) as second:
                group.wait(members=2, assigned="all", acted=True)
                second.stop(leave=False)
            with kafka.peer("g", topics=["t"], config={"group.instance.id": "i"}) as third:
                third.wait_stable()
                group.wait(members=2, assigned="all", acted=True)
                third.stop(leave=True)
            group.wait(members=1, assigned="all", acted=True)
        return kafka.events()


def _broken(lines: list[Line]) -> list[str]:
    return [verdict.judge for verdict in judge(lines) if verdict.judgement is Judgement.BROKEN]


def test_a_real_run_keeps_every_promise(run: list[Line]) -> None:
    assert [str(verdict) for verdict in judge(run) if verdict.judgement is Judgement.BROKEN] == []
    not_judged = {
        verdict.judge for verdict in judge(run) if verdict.judgement is Judgement.NOT_JUDGED
    }
    of_records = {
        "no_record_lost",
        "acknowledged_records_stay",
        "idempotent_writes_once",
        "read_committed",
        "exactly_once",
    }
    assert not_judged == of_records  # there is no stream data


def _first(lines: list[Line], kind: str, **fields: Any) -> Line:
    return next(
        line
        for line in lines
        if line["type"] == kind and all(line.get(name) == value for name, value in fields.items())
    )


def _two_owners(lines: list[Line]) -> None:
    stored = [
        line for line in lines if line["type"] == "GenerationStored" and len(line["members"]) == 2
    ][-1]
    everything = Assignment((TopicPartitions("t", (0, 1, 2, 3)),)).encode().hex()
    for member in stored["members"]:
        member["assignment"] = everything


def _assigned_early(lines: list[Line]) -> None:
    """Somebody else is told of a partition just before its owner's listener gives it up."""
    at, revoked = next(
        (i, line)
        for i, line in enumerate(lines)
        if line["type"] == "PartitionsRevoked" and line["partitions"]
    )
    other = {"member": "another", "client": "another", "type": "PartitionsAssigned"}
    lines.insert(at, revoked | other | {"partitions": revoked["partitions"][:1]})
    lines.insert(at + 1, lines[at] | {"type": "PartitionsRevoked"})


def _stale_commit(lines: list[Line]) -> None:
    _first(lines, "RequestSeen", api="offset_commit")["generation"] = 0


def _anothers_partition(lines: list[Line]) -> None:
    _first(lines, "OffsetsCommitted")["offsets"][0]["topic"] = "u"


def _offset_from_nowhere(lines: list[Line]) -> None:
    commit = _first(lines, "OffsetsCommitted")
    at = lines.index(commit)
    ended = {
        name: commit[name]
        for name in ("seq", "at_ms", "run", "stream", "cause", "group", "generation")
    }
    ended |= {
        "type": "PendingOffsetsEnded",
        "producer_id": 1,
        "committed": True,
        "partitions": [{"topic": "t", "partition": 0}],
    }
    lines.insert(at + 1, ended)


def _generation_back(lines: list[Line]) -> None:
    commit = _first(lines, "OffsetsCommitted")
    again = deepcopy(commit) | {"type": "MemberSynced", "generation": 0}
    lines.insert(lines.index(commit) + 1, again)


def _two_leaders(lines: list[Line]) -> None:
    started = next(
        line for line in lines if line["type"] == "GenerationStarted" and len(line["members"]) == 2
    )
    started["leader"] = "nobody"


def _two_of_one_identity(lines: list[Line]) -> None:
    stored = [
        line for line in lines if line["type"] == "GenerationStored" and len(line["members"]) == 2
    ][-1]
    for member in stored["members"]:
        member["group_instance_id"] = "i"


def _answered_twice(lines: list[Line]) -> None:
    answered = _first(lines, "RequestAnswered")
    lines.insert(lines.index(answered) + 1, dict(answered))


def _left_out(lines: list[Line]) -> None:
    """A partition of which nobody commits anything is given to nobody."""
    stored = next(
        line for line in lines if line["type"] == "GenerationStored" and len(line["members"]) == 2
    )
    for member in stored["members"]:
        had = assignment(bytes.fromhex(member["assignment"])) or {}
        given = tuple(number for number in had.get("t", ()) if number != 3)
        member["assignment"] = Assignment((TopicPartitions("t", given),)).encode().hex()


def _revoked_not_lost(lines: list[Line]) -> None:
    revoked = next(
        line for line in lines if line["type"] == "PartitionsRevoked" and line["partitions"]
    )
    del revoked["generation"]


def _never_expires(lines: list[Line]) -> None:
    """The last member is killed in place of leaving, and time goes on."""
    at = max(at for at, line in enumerate(lines) if line["type"] == "PartitionsAssigned")
    crash = lines[at] | {"type": "MemberCrashed"}
    lines[at + 1 :] = [
        crash,
        crash | {"stream": "fault", "type": "RunEnded", "at_ms": crash["at_ms"] + 120_000},
    ]


def _waits_for_ever(lines: list[Line]) -> None:
    """The last join phase does not end."""
    at = max(at for at, line in enumerate(lines) if line["type"] == "RebalanceStarted")
    lines[at + 1 :] = [
        lines[at] | {"stream": "fault", "type": "RunEnded", "at_ms": lines[at]["at_ms"] + 320_000}
    ]


def _two_epochs_behind(lines: list[Line]) -> None:
    """A member of a consumer group that has not heard of its last two epochs is taken at its word."""
    last = lines[-1]
    of_member = last | {"stream": "group", "cause": None, "group": "other", "member": "m"}
    there = {"state": "stable", "held": [], "revoking": [], "previous_member_epoch": 6}
    lines += [
        of_member | there | {"type": "ConsumerMemberReconciled", "member_epoch": 7},
        of_member | {"type": "PreviousEpochAccepted", "member_epoch": 6},
        of_member | {"type": "PreviousEpochAccepted", "member_epoch": 5},
    ]


def _a_change_without_epoch(lines: list[Line]) -> None:
    """A member comes, and no target is made for it."""
    last = lines[-1]
    of_member = last | {"stream": "group", "cause": None, "group": "other", "member": "m"}
    there = {"state": "stable", "held": [], "revoking": [], "at_ms": last["at_ms"] + 1}
    lines += [
        of_member | {"type": "ConsumerGroupCreated"},
        of_member | {"type": "ConsumerMemberSubscribed", "topics": ["t"]},
        of_member | there | {"type": "ConsumerMemberReconciled", "member_epoch": 1},
    ]


def _a_static_member_left_for_good(lines: list[Line]) -> None:
    """Its process closes, with epoch -2, and it is removed as by -1."""
    last = lines[-1]
    of_member = last | {"stream": "group", "cause": None, "group": "other", "member": "m"}
    closing = of_member | {"stream": "member", "type": "MemberClosing", "client": "another"}
    lines += [
        of_member | {"type": "ConsumerMemberSubscribed", "group_instance_id": "other"},
        closing,
        of_member | {"type": "ConsumerMemberRemoved", "reason": "left"},
        of_member | {"type": "GroupEpochBumped", "group_epoch": 2},
    ]


PLANTED: dict[str, Callable[[list[Line]], None]] = {
    "single_owner": _two_owners,
    "revoked_before_assigned": _assigned_early,
    "no_stale_commit": _stale_commit,
    "commits_within_assignment": _anothers_partition,
    "offsets_never_go_back_unasked": _offset_from_nowhere,
    "generations_grow": _generation_back,
    "one_leader": _two_leaders,
    "static_identity": _two_of_one_identity,
    "answered_once": _answered_twice,
    "sessions_end": _never_expires,
    "timeouts_end": _waits_for_ever,
    "assigned_well": _left_out,
    "listeners_are_told": _revoked_not_lost,
    "member_epochs_fence": _two_epochs_behind,
    "changes_bump_epochs": _a_change_without_epoch,
    "static_members_may_return": _a_static_member_left_for_good,
}


def test_every_judge_has_its_planted_bug() -> None:
    # in test_cleaned_logs and in the simulator's test_planted, with brokers that err
    elsewhere = {"logs_cleaned_as_configured", "every_partition_is_marked"}
    known = set(PLANTED) | set(test_record_judges.PLANTED) | elsewhere
    assert known == {kind.name for kind in ALL}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_bug_is_caught_by_its_judge_alone(run: list[Line], name: str) -> None:
    lines = deepcopy(run)
    PLANTED[name](lines)
    assert _broken(lines) == [name]


def test_without_its_stream_a_judge_does_not_judge(run: list[Line]) -> None:
    lines = [line for line in run if line["stream"] != "member"]
    verdicts = {verdict.judge: verdict for verdict in judge(lines)}
    assert verdicts["revoked_before_assigned"].judgement is Judgement.NOT_JUDGED
    assert (
        str(verdicts["revoked_before_assigned"])
        == "revoked_before_assigned: not judged: the log has no stream member"
    )
    assert verdicts["single_owner"].judgement is Judgement.KEPT


def test_findings_before_a_mark_do_not_count(run: list[Line]) -> None:
    lines = deepcopy(run)
    _two_owners(lines)
    (verdict,) = judge(lines, [ALL[0]])
    (later,) = judge(lines, [ALL[0]], since=verdict.findings[-1].seq + 1)
    assert later.judgement is Judgement.KEPT


def test_members_of_a_loaded_group_may_commit() -> None:
    """ERR-7: a coordinator that takes a group over has the members of its stored generation."""
    stored = {"stream": "group", "group": "g", "generation": 1, "cause": None, "at_ms": 0}
    lines: list[Line] = [
        {
            **stored,
            "seq": 1,
            "type": "GenerationStored",
            "protocol_type": "consumer",
            "leader": "m",
            "members": [{"member_id": "m", "group_instance_id": None, "assignment": ""}],
        },
        {**stored, "seq": 2, "type": "GroupUnloaded"},
        {**stored, "seq": 3, "type": "GroupLoaded", "state": "Stable"},
        {**stored, "seq": 4, "type": "OffsetsCommitted", "member": "m", "offsets": []},
    ]
    streams = frozenset({"group", "wire"})
    assert (
        judge(lines, [CommitsStayWithinGeneration], streams=streams)[0].judgement is Judgement.KEPT
    )
    late = [
        lines[0],
        {**lines[2], "broker": 2},
        {**lines[1], "broker": 3},
        lines[3],
    ]  # the former coordinator learns of it later
    assert (
        judge(late, [CommitsStayWithinGeneration], streams=streams)[0].judgement is Judgement.KEPT
    )
    planted = [line for line in lines if line["type"] != "GroupLoaded"]
    assert (
        judge(planted, [CommitsStayWithinGeneration], streams=streams)[0].judgement
        is Judgement.BROKEN
    )


def test_a_former_coordinator_counts_only_if_it_acknowledges() -> None:
    """It may act on until it learns of its successor: nothing of that is replicated, and who asked
    it is told so."""

    def line(seq: int, kind: str, stream: str = "group", **fields: object) -> Line:
        return {
            "seq": seq,
            "at_ms": seq,
            "stream": stream,
            "type": kind,
            "cause": None,
            "group": "g",
            "generation": 1,
            **fields,
        }

    stored = line(
        1,
        "GenerationStored",
        broker=3,
        protocol_type="consumer",
        leader="m",
        members=[{"member_id": "m", "group_instance_id": None, "assignment": ""}],
    )
    loaded = line(2, "GroupLoaded", broker=2, state="Stable")
    expired = line(3, "MemberRemoved", broker=2, member="m", reason="session expired")
    asked = line(4, "RequestSeen", "wire", api="offset_commit", member="m", peer="p")
    written = line(
        5,
        "OffsetsCommitted",
        broker=3,
        member="m",
        offsets=[{"topic": "t", "partition": 0, "offset": 1}],
        cause=4,
    )
    refused = line(
        6,
        "RequestRefused",
        "wire",
        api="offset_commit",
        member="m",
        errors=["NOT_COORDINATOR"],
        cause=4,
    )
    answered = line(6, "RequestAnswered", "wire", api="offset_commit", member="m", cause=4)
    unloaded = line(7, "GroupUnloaded", broker=3)

    def judged(*lines: Line) -> Judgement:
        return judge(lines, [CommitsStayWithinGeneration])[0].judgement

    assert judged(stored, loaded, expired, asked, written, refused, unloaded) is Judgement.KEPT
    assert judged(stored, loaded, expired, asked, written, answered, unloaded) is Judgement.BROKEN
    assert (
        judged(stored, expired | {"broker": 3}, asked, written, refused) is Judgement.BROKEN
    )  # nobody else coordinates it
    gone = line(8, "GroupUnloaded", broker=2)
    assert (
        judged(stored, loaded, expired, gone, asked, written | {"broker": 1}, refused)
        is Judgement.BROKEN
    )  # loaded by none: all counts
    assert (
        judged(stored, loaded, expired, gone, asked, written, refused) is Judgement.KEPT
    )  # it woke when its successor had crashed
    assert judged(stored, loaded, expired, gone, asked, written, answered) is Judgement.BROKEN
    again = line(3, "GroupLoaded", broker=3, state="Stable")
    assert (
        judged(stored, loaded, gone, again, expired | {"broker": 3}, asked, written, refused)
        is Judgement.BROKEN
    )  # it is it again


def test_a_former_member_that_says_no_epoch_commits_while_nobody_is_there() -> None:
    """Kafka takes a commit without an epoch in an empty group, whosever name it bears (K8-OFF-1)."""

    def line(seq: int, kind: str, stream: str = "group", **fields: object) -> Line:
        at = {"seq": seq, "at_ms": seq, "run": "r", "stream": stream, "type": kind}
        return {**at, "cause": None, "group": "g", **fields}

    created = line(1, "ConsumerGroupCreated", broker=1, replaced_classic=False)
    asked = line(2, "RequestSeen", "wire", api="offset_commit", member="m", peer="p")
    offsets = [{"topic": "t", "partition": 0, "offset": 1}]
    written = line(3, "OffsetsCommitted", broker=1, member="m", offsets=offsets, cause=2)

    def judged(*lines: Line) -> Judgement:
        return judge(lines, [CommitsStayWithinGeneration])[0].judgement

    assert judged(created, asked, written) is Judgement.KEPT
    assert judged(created, asked | {"generation": 3}, written) is Judgement.BROKEN
    assert judged(created, asked, written | {"type": "OffsetsPending"}) is Judgement.BROKEN


def test_a_generation_that_was_not_stored_may_begin_again_with_another_leader() -> None:
    """ERR-7: its successor loads the group as it was before, perhaps before the former coordinator
    learns of that."""

    def line(seq: int, kind: str, **fields: object) -> Line:
        return {
            "seq": seq,
            "at_ms": seq,
            "stream": "group",
            "type": kind,
            "cause": None,
            "group": "g",
            "generation": 1,
            **fields,
        }

    begun = line(1, "GenerationStarted", broker=2, leader="a", members=["a", "b"])
    loaded, unloaded = (
        line(2, "GroupLoaded", broker=1, generation=0),
        line(3, "GroupUnloaded", broker=2),
    )
    anew = line(4, "GenerationStarted", broker=1, leader="b", members=["a", "b"])
    assert judge([begun, loaded, unloaded, anew], [OneLeader])[0].judgement is Judgement.KEPT
    assert judge([begun, anew], [OneLeader])[0].judgement is Judgement.BROKEN


def test_who_was_removed_and_does_not_know_owns_nothing() -> None:
    """A paused process goes on with the answer of a SyncGroup that it sent before, and tells of its
    loss without member id."""

    def line(
        seq: int, kind: str, member: str = "", stream: str = "group", **fields: object
    ) -> Line:
        return {
            "seq": seq,
            "at_ms": seq,
            "stream": stream,
            "type": kind,
            "cause": None,
            "group": "g",
            "member": member,
            **fields,
        }

    rows = [{"topic": "t", "partition": 0}]
    removed, late = (
        line(1, "MemberRemoved", "m-1"),
        line(2, "PartitionsAssigned", "m-1", "member", client="m", partitions=rows),
    )
    lost = line(3, "PartitionsLost", "", "member", client="m", partitions=rows)
    other = line(4, "PartitionsAssigned", "o-1", "member", client="o", partitions=rows)

    def judged(*lines: Line) -> Judgement:
        return judge(lines, [RevokedBeforeAssigned], streams=frozenset({"group", "member"}))[
            0
        ].judgement

    assert judged(removed, late, other) is Judgement.KEPT
    assert judged(late, lost, other) is Judgement.KEPT
    assert judged(late, other, line(5, "GenerationStored")) is Judgement.BROKEN
    assert (
        judged(removed, line(2, "GroupLoaded"), late, other) is Judgement.BROKEN
    )  # a member again


def test_what_a_static_member_was_to_give_up_when_it_left_for_a_while_is_free() -> None:
    """K8-LV-2: its application is stalled, and tells later that it lost its partitions; what it was
    to keep it keeps."""

    def assigned(seq: int, member: str, partition: int) -> Line:
        rows = [{"topic": "t", "partition": partition}]
        return {
            "seq": seq,
            "at_ms": seq,
            "stream": "member",
            "type": "PartitionsAssigned",
            "cause": None,
            "group": "g",
            "member": member,
            "client": member,
            "partitions": rows,
        }

    left: Line = {
        "seq": 3,
        "at_ms": 3,
        "stream": "group",
        "type": "ConsumerMemberReconciled",
        "cause": None,
        "group": "g",
        "member": "m",
        "member_epoch": -2,
        "held": [{"topic": "t", "partitions": [0], "epochs": [0]}],
        "revoking": [],
    }

    def judged(*lines: Line) -> Judgement:
        return judge(lines, [RevokedBeforeAssigned], streams=frozenset({"group", "member"}))[
            0
        ].judgement

    had = [assigned(1, "m", 0), assigned(2, "m", 1)]
    assert judged(*had, left, assigned(4, "o", 1)) is Judgement.KEPT
    assert judged(*had, left, assigned(4, "o", 0)) is Judgement.BROKEN
    assert judged(*had, left | {"member_epoch": 5}, assigned(4, "o", 1)) is Judgement.BROKEN


def _quiet(*kinds: tuple[int, str, str]) -> list[Line]:
    return [
        {
            "seq": seq,
            "at_ms": at,
            "stream": stream,
            "type": kind,
            "group": "g",
            "generation": 1,
            "cause": None,
        }
        for seq, (at, stream, kind) in enumerate(kinds, 1)
    ]


def test_a_group_that_does_not_come_to_rest_is_found() -> None:
    started, stored, ended = (
        (0, "member", "MemberStarted"),
        (40, "group", "GenerationStored"),
        (9_000, "fault", "RunEnded"),
    )
    rests = _quiet(started, (10, "group", "RebalanceStarted"), stored, ended)
    waits = _quiet(started, (10, "group", "RebalanceStarted"), ended)
    again = _quiet(
        started,
        (10, "group", "RebalanceStarted"),
        stored,
        (2_000, "group", "RebalanceStarted"),
        ended,
    )
    verdicts = [judge(lines, [lambda: StableWithin(1_000)])[0] for lines in (rests, waits, again)]
    assert [verdict.judgement for verdict in verdicts] == [
        Judgement.KEPT,
        Judgement.BROKEN,
        Judgement.BROKEN,
    ]
    assert [finding.seq for verdict in verdicts for finding in verdict.findings] == [2, 4]


@pytest.mark.parametrize(("learns_ms", "told"), [(0, [4]), (1_500, [])])
def test_a_topic_that_grows_is_over_when_clients_have_learnt_of_it(
    learns_ms: int, told: list[int]
) -> None:
    """A leader lets its group join again when its metadata are renewed, long after the topic grew."""
    lines = _quiet(
        (1, "member", "MemberStarted"),
        (10, "cluster", "PartitionsAdded"),
        (40, "group", "GenerationStored"),
        (1_500, "group", "RebalanceStarted"),
        (1_600, "group", "GenerationStored"),
        (9_000, "fault", "RunEnded"),
    )
    lines[1] |= {"topic": "orders", "added": []}
    [verdict] = judge(lines, [lambda: StableWithin(1_000, learns_ms)])
    assert [finding.seq for finding in verdict.findings] == told


def test_a_member_whose_process_ended_is_out_when_its_session_is_over() -> None:
    """A static one keeps its partitions until then; a session begins anew with a coordinator that
    loads the group (ERR-7)."""

    def line(at: int, kind: str, stream: str = "group", **fields: object) -> Line:
        return {
            "seq": at,
            "at_ms": at,
            "stream": stream,
            "type": kind,
            "cause": None,
            "group": "g",
            "generation": 1,
            **fields,
        }

    stored = line(
        10,
        "GenerationStored",
        protocol_type="consumer",
        members=[{"member_id": "m", "session_timeout_ms": 5_000}],
    )
    killed = line(20, "MemberCrashed", "member", client="c", member="m")
    ended, loaded = line(9_000, "RunEnded", "fault"), line(3_000, "GroupLoaded", state="Stable")

    def judged(bound_ms: int, *lines: Line) -> list[int]:
        return [
            finding.seq for finding in judge(lines, [lambda: StableWithin(bound_ms)])[0].findings
        ]

    assert judged(6_000, stored, killed, ended) == [20]
    assert judged(4_000, stored, killed, ended) == []
    assert judged(6_000, stored, killed, loaded, ended) == []
    assert (
        judged(
            6_000,
            stored,
            killed,
            line(5_000, "MemberRemoved", member="m"),
            line(5_000, "GroupEmptied"),
            ended,
        )
        == []
    )
    assert (
        judged(6_000, stored, killed, line(25, "MemberReplaced", member="n", replaced="m"), ended)
        == []
    )
    shares = line(10, "ShareMemberSubscribed", member="m")
    after = line(200_000, "RunEnded", "fault")
    told = {"resource": "group", "name": "g", "replace": False}
    longer = [["share.session.timeout.ms", 0, "90000"]]
    own = line(5, "ConfigChanged", "cluster", **told, changes=longer)
    gone = line(50_000, "ShareMemberRemoved", member="m")
    assert judged(70_000, shares, killed, after) == [20]
    assert judged(70_000, own, shares, killed, after) == []
    assert judged(100_000, own, shares, killed, after) == [20]
    assert judged(70_000, shares, killed, gone, after) == []
    pending = (
        line(15, "MemberStarted", "member", client="c"),
        line(20, "MemberCrashed", "member", client="c"),
    )
    assert judged(6_000, line(10, "GenerationStored", members=[]), *pending, ended) == []


def test_more_generations_than_allowed_are_found() -> None:
    lines = _quiet(
        (0, "group", "GenerationStarted"),
        (1, "group", "GenerationStarted"),
        (2, "group", "GenerationStarted"),
    )
    [few, enough] = judge(lines, [lambda: FewRebalances(1), lambda: FewRebalances(3)])
    assert [finding.seq for finding in few.findings] == [2]
    assert enough.judgement is Judgement.KEPT


def test_a_static_member_that_did_not_rejoin_in_time_may_be_overtaken() -> None:
    """KIP-345: it stays a member, but the leader may give its partitions to others."""
    rows = [{"topic": "t", "partition": 0}]
    base = {"group": "g", "generation": 1, "cause": None, "at_ms": 0}
    before: list[Line] = [
        {
            **base,
            "seq": 1,
            "stream": "group",
            "type": "MemberJoined",
            "member": "old",
            "group_instance_id": "i",
        },
        {**base, "seq": 2, "stream": "group", "type": "GenerationStarted"},
        {
            **base,
            "seq": 3,
            "stream": "member",
            "type": "PartitionsAssigned",
            "member": "old",
            "partitions": rows,
        },
        {**base, "seq": 4, "stream": "group", "type": "MemberJoined", "member": "new"},
    ]
    rejoined = {**base, "seq": 5, "stream": "group", "type": "MemberRejoined", "member": "old"}
    after = [
        {**base, "seq": 6, "stream": "group", "type": "GenerationStarted"},
        {
            **base,
            "seq": 7,
            "stream": "member",
            "type": "PartitionsAssigned",
            "member": "new",
            "partitions": rows,
        },
    ]
    assert judge([*before, *after], [RevokedBeforeAssigned])[0].judgement is Judgement.KEPT
    assert (
        judge([*before, rejoined, *after], [RevokedBeforeAssigned])[0].judgement is Judgement.BROKEN
    )
    dynamic = [{**before[0], "group_instance_id": None}, *before[1:]]  # it has to be removed first
    assert judge([*dynamic, *after], [RevokedBeforeAssigned])[0].judgement is Judgement.BROKEN
    replaced = {
        **base,
        "seq": 5,
        "stream": "group",
        "type": "MemberReplaced",
        "member": "old",
        "replaced": "a",
        "group_instance_id": "i",
    }
    assert (
        judge([*before, {**replaced, "parked": True}, *after], [RevokedBeforeAssigned])[0].judgement
        is Judgement.BROKEN
    )
    stable = {
        **replaced,
        "parked": False,
    }  # it came back before the rebalance began, and has not rejoined in it
    assert judge([*before, stable, *after], [RevokedBeforeAssigned])[0].judgement is Judgement.KEPT
    late = {
        **after[1],
        "seq": 9,
        "member": "old",
    }  # its application is told of what it had, when its successor has it no more
    taken = {**stable, "member": "next", "replaced": "old"}
    assert (
        judge([*before, taken, *after, late], [RevokedBeforeAssigned])[0].judgement
        is Judgement.KEPT
    )
    assert judge([*before, *after, late], [RevokedBeforeAssigned])[0].judgement is Judgement.BROKEN
    next_one = [{**line, "generation": 2} for line in after]  # it was paused until that had begun
    assert judge([*before, *next_one, late], [RevokedBeforeAssigned])[0].judgement is Judgement.KEPT
    removed = {**base, "seq": 5, "stream": "group", "type": "MemberRemoved", "member": "old"}
    assert (
        judge([*dynamic, removed, *after], [RevokedBeforeAssigned])[0].judgement is Judgement.KEPT
    )


def _cooperative(rejoins: bool, owned: tuple[int, ...]) -> list[str]:
    """What the judge says of a commit for partition 1 by a member that keeps partition 0 alone, and
    owned these when it joined."""
    subscription = Subscription(
        topics=("t",), owned_partitions=(TopicPartitions(topic="t", partitions=owned),)
    )
    kept = Assignment(partitions=(TopicPartitions(topic="t", partitions=(0,)),))
    stored = {
        "member_id": "m",
        "subscription": subscription.encode().hex(),
        "assignment": kept.encode().hex(),
    }
    common = {"group": "g", "generation": 2, "stream": "group", "cause": None, "at_ms": 0}
    lines: list[Line] = [
        common
        | {"seq": 1, "type": "GenerationStored", "protocol_type": "consumer", "members": [stored]}
    ]
    if rejoins:
        lines.append(common | {"seq": 2, "type": "MemberRejoined", "member": "m"})
    lines.append(
        common
        | {
            "seq": 3,
            "type": "OffsetsCommitted",
            "member": "m",
            "offsets": [{"topic": "t", "partition": 1, "offset": 5}],
        }
    )
    (verdict,) = judge(lines, [CommitsStayWithinAssignment])
    return [str(finding) for finding in verdict.findings]


def test_a_cooperative_member_may_finish_what_it_is_about_to_give_up() -> None:
    """It hears of its new assignment at its next poll (KIP-429); once it has joined again it has
    given the rest up."""
    assert _cooperative(rejoins=False, owned=(0, 1)) == []
    assert len(_cooperative(rejoins=False, owned=(0,))) == 1
    assert len(_cooperative(rejoins=True, owned=(0, 1))) == 1


def test_what_members_had_before_a_snapshot_was_restored_does_not_count() -> None:
    """The member that owned the partition is told of nothing: its connection is closed, and the
    group is another one now."""

    def told(seq: int, member: str) -> Line:
        return {
            "seq": seq,
            "at_ms": seq,
            "run": "r",
            "stream": "member",
            "type": "PartitionsAssigned",
            "cause": None,
            "group": "g",
            "member": member,
            "client": member,
            "generation": seq,
            "partitions": [{"topic": "t", "partition": 0}],
        }

    restored = {
        "seq": 2,
        "at_ms": 2,
        "run": "r",
        "stream": "fault",
        "type": "SnapshotRestored",
        "cause": None,
        "topics": ["t"],
        "groups": ["g"],
    }
    streams = frozenset({"group", "member"})
    (broken,) = judge([told(1, "a"), told(3, "b")], [RevokedBeforeAssigned], streams=streams)
    assert broken.judgement is Judgement.BROKEN
    (kept,) = judge(
        [told(1, "a"), restored, told(3, "b")], [RevokedBeforeAssigned], streams=streams
    )
    assert kept.judgement is Judgement.KEPT
    (before,) = judge(
        [told(0, "a"), told(1, "b"), restored, told(3, "c")],
        [RevokedBeforeAssigned],
        streams=streams,
    )
    assert [finding.seq for finding in before.findings] == [1]


def test_a_topic_that_was_deleted_leaves_its_name_to_another_one() -> None:
    """Who had a partition of the first has it by its own word until it sees so; one of the second
    is somebody else's already."""

    def assigned(seq: int, member: str) -> Line:
        rows = [{"topic": "t", "partition": 0}]
        return {
            "seq": seq,
            "at_ms": seq,
            "stream": "member",
            "type": "PartitionsAssigned",
            "cause": None,
            "group": "g",
            "member": member,
            "client": member,
            "partitions": rows,
        }

    def judged(topic: str) -> Judgement:
        deleted: Line = {
            "seq": 2,
            "at_ms": 2,
            "stream": "cluster",
            "type": "TopicDeleted",
            "cause": None,
            "topic": topic,
            "partitions": 1,
        }
        lines = [assigned(1, "m"), deleted, assigned(3, "n")]
        return judge(lines, [RevokedBeforeAssigned], streams=frozenset({"group", "member"}))[
            0
        ].judgement

    assert judged("t") is Judgement.KEPT
    assert judged("another") is Judgement.BROKEN


def _still(*lines: Line) -> list[str]:
    ended = {"at_ms": 9_000, "stream": "fault", "type": "RunEnded"}
    found = judge(
        [{"group": "g", **line, "seq": seq} for seq, line in enumerate((*lines, ended))],
        [lambda: StableWithin(1_000)],
        streams=frozenset({"group", "member"}),
    )
    return [finding.text for finding in found[0].findings]


def test_of_a_group_that_does_not_rest_its_state_is_told_and_who_is_awaited() -> None:
    joined = [{"type": "MemberJoined", "member": name} for name in "ab"]
    begun = {"type": "GenerationStarted", "leader": "a", "members": ["a", "b"], "generation": 1}
    again = [
        {"type": "RebalanceStarted", "reason": "c joins"},
        {"type": "MemberJoined", "member": "c"},
        {"type": "MemberRejoined", "member": "a"},
    ]
    after = "1000 ms after the last churn or fault"
    assert _still(*joined, {"type": "RebalanceStarted"}, begun) == [
        f"group g is CompletingRebalance and waits for the SyncGroup of its leader a, {after}"
    ]
    assert _still(*joined, begun, *again) == [
        f"group g is PreparingRebalance and waits for b, {after}"
    ]
    assert _still(*joined, begun, {"type": "GroupUnloaded"}) == [
        f"group g is not loaded by any coordinator, {after}"
    ]
    late = [{**line, "at_ms": 5_000} for line in again[:1]]
    stored = {"type": "GenerationStored", "members": [], "generation": 1}
    assert _still(*joined, begun, stored, *late) == [
        "group g rebalances (c joins), although nothing disturbed it since 0 ms"
    ]
    subscribed = {"type": "ConsumerMemberSubscribed", "member": "m", "topics": ["t"]}
    bumped = {"type": "GroupEpochBumped", "group_epoch": 2}
    target = {"type": "TargetAssigned", "assignment_epoch": 2, "assignor": "uniform"}
    consumers = [{"type": "ConsumerGroupCreated"}, subscribed, bumped]
    assert _still(*consumers) == [
        f"group g is Assigning and waits for a target assignment for epoch 2, {after}"
    ]
    assert _still(*consumers, target) == [f"group g is Reconciling and waits for m, {after}"]


def test_a_group_is_not_believed_that_a_topic_was_deleted() -> None:
    """Its offsets went, and the log tells of the topic's creation alone."""
    of_topic = {"stream": "cluster", "topic": "t"}
    created = {**of_topic, "type": "TopicCreated", "replicas": [[1]]}
    deleted = {**of_topic, "type": "TopicDeleted"}
    gone = {
        "type": "OffsetsRemoved",
        "group": "g",
        "reason": "topic deleted",
        "partitions": [{"topic": "t", "partition": 0}],
    }

    def found(*lines: Line) -> list[str]:
        (verdict,) = judge(lines, [OffsetsOnlyGoBackWhenAsked])
        return [finding.text for finding in verdict.findings]

    assert found(created, gone) == [
        "the offset of t-0 in group g was deleted with its topic, but the topic was not deleted"
    ]
    assert found(created, deleted, gone) == []
    assert found(created, deleted, created, gone) == [], "a broker may hear of it late"
    assert found(gone) == [], "a topic of which nothing is known"
