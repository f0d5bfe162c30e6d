"""Promises of single requests, of timeouts and of groups at rest: for each a log that breaks it,
beside one that is excused."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from coordinator.history.judges import Judge
from coordinator.history.judges.commits import OffsetsOnlyGoBackWhenAsked
from coordinator.history.judges.liveness import StableWithin
from coordinator.history.judges.records import AcknowledgedRecordsStay
from coordinator.history.judges.requests import AnsweredOnce
from coordinator.history.judges.timeouts import TimeoutsEnd
from coordinator.history.judges.transactions import OnlyCommittedIsRead
from coordinator.wire.consumer_protocol import Assignment, Subscription, TopicPartitions
from tests.history.judges.crafted import judge

Line = dict[str, Any]
STREAMS = frozenset({"group", "wire", "member", "data", "transaction"})


class Log:
    """Lines as a run would write them. `group`, `wire`, ...: each appends one and answers its
    number."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self._numbers = count(1)

    def line(
        self, stream: str, kind: str, at_ms: int, cause: int | None = None, **fields: Any
    ) -> int:
        seq = next(self._numbers)
        self.lines.append(
            {"seq": seq, "at_ms": at_ms, "stream": stream, "type": kind, "cause": cause, **fields}
        )
        return seq

    def group(self, kind: str, at_ms: int, cause: int | None = None, **fields: Any) -> int:
        return self.line("group", kind, at_ms, cause, **{"group": "g", **fields})

    def ends(self, at_ms: int) -> None:
        self.line("fault", "RunEnded", at_ms)

    def blamed(self, *judges: Any) -> list[str]:
        return [
            finding.text
            for verdict in judge(self.lines, judges, streams=STREAMS)
            for finding in verdict.findings
        ]


def _asks(log: Log, api: str, at_ms: int, **fields: Any) -> int:
    return log.line(
        "wire",
        "RequestSeen",
        at_ms,
        api=api,
        version=9,
        client="c",
        peer="p:1",
        group="g",
        **{"member": "m", **fields},
    )


def _joins(log: Log, *, excuse: str) -> None:
    """A JoinGroup that has no answer when its generation has begun."""
    log.line("data", "ConnectionOpened", 0, broker=1, peer="p:1", client="c", listener="PLAINTEXT")
    asked = _asks(log, "join_group", 0, member="")
    log.group("MemberJoined", 0, asked, member="m", rebalance_timeout_ms=300_000)
    if excuse == "fault":
        log.line(
            "fault",
            "FaultInjected",
            1,
            asked,
            client="c",
            api="join_group",
            action="lose_answer",
            fault="",
        )
    if excuse == "closed":
        log.line("data", "ConnectionClosed", 1, broker=1, peer="p:1", client="c")
    if excuse == "removed":
        log.group("MemberRemoved", 1, member="m", reason="left")
    if excuse == "stopped":
        log.line("fault", "StopBroker", 1, broker=1, how="pause")
    if excuse != "waits":
        log.group("GenerationStarted", 3_000, members=["m"], leader="m", generation=1)
    if excuse == "answered":
        log.line("wire", "RequestAnswered", 3_000, asked, api="join_group", waited_ms=3_000)
    log.ends(100_000)


def test_a_request_that_is_forgotten() -> None:
    log = Log()
    _joins(log, excuse="")
    assert log.blamed(AnsweredOnce) == [
        "the join_group of c is not answered at 100000 ms, although it waits for no other member"
    ]


@pytest.mark.parametrize("excuse", ["answered", "closed", "fault", "removed", "stopped", "waits"])
def test_a_request_that_nobody_waits_for_or_that_waits_itself(excuse: str) -> None:
    log = Log()
    _joins(log, excuse=excuse)
    assert log.blamed(AnsweredOnce) == []


def _leaves(*, removed: bool = False, loaded: bool = False, error: bool = False) -> list[str]:
    log = Log()
    if loaded:
        log.group("GroupLoaded", 0, state="Stable")
    asked = _asks(log, "leave_group", 0)
    if removed:
        log.group("MemberRemoved", 0, asked, member="m", reason="left")
    if error:
        log.line(
            "wire", "RequestRefused", 0, asked, api="leave_group", errors=["UNKNOWN_MEMBER_ID"]
        )
    else:
        log.line("wire", "RequestAnswered", 0, asked, api="leave_group")
    return log.blamed(AnsweredOnce)


def test_who_leaves_is_taken_out() -> None:
    assert _leaves() == ["m was answered that it left group g, but no member was removed"]
    assert _leaves(removed=True) == _leaves(loaded=True) == _leaves(error=True) == []


def _commits(*, stored: bool, error: str = "", tells: bool = True) -> list[str]:
    log = Log()
    if tells:
        log.line("member", "MemberStarted", 0, client="c", group="g")
    asked = _asks(log, "offset_commit", 0)
    if stored:
        log.group("OffsetsCommitted", 0, asked, member="m", offsets=[])
    if error:
        log.line("wire", "RequestRefused", 0, asked, api="offset_commit", errors=[error])
    else:
        log.line("wire", "RequestAnswered", 0, asked, api="offset_commit")
    return log.blamed(AnsweredOnce)


def test_commits_are_stored_if_they_are_acknowledged_and_only_then() -> None:
    assert _commits(stored=False) == [
        "the commit of c, line 2, was acknowledged, but is not stored"
    ]
    assert _commits(stored=True, error="ILLEGAL_GENERATION") == [
        "the offset_commit of line 2 was refused with ILLEGAL_GENERATION, but has changed offsets"
    ]
    assert _commits(stored=False, tells=False) == []  # another client's may be empty
    assert (
        _commits(stored=True, error="COORDINATOR_NOT_AVAILABLE") == []
    )  # it was not replicated in time
    assert _commits(stored=True) == _commits(stored=False, error="ILLEGAL_GENERATION") == []


def _phases(kind: str, *, lasts_ms: int, fault: str = "") -> list[str]:
    log = Log()
    log.group("MemberJoined", 0, member="m", rebalance_timeout_ms=30_000)
    log.group("RebalanceStarted", 0, delay_ms=None)
    if kind == "sync":
        log.group("GenerationStarted", 0, members=["m"], generation=1)
    if fault:
        log.line("fault", fault, 20_000, broker=1)
    log.ends(lasts_ms)
    return log.blamed(TimeoutsEnd)


def test_phases_end() -> None:
    assert _phases("join", lasts_ms=41_000) == [
        "the join phase of group g continues at 41000 ms, although its timeout is 30000 ms"
    ]
    assert _phases("sync", lasts_ms=41_000) == [
        "the sync phase of group g continues at 41000 ms, although its timeout is 30000 ms"
    ]
    for kind in ("join", "sync"):
        assert (
            _phases(kind, lasts_ms=39_000)
            == _phases(kind, lasts_ms=41_000, fault="MoveCoordinator")
            == []
        )
        assert _phases(kind, lasts_ms=400_000, fault="StopBroker") == []


def test_a_join_phase_is_extended_only_where_nobody_waits() -> None:
    log = Log()
    log.group("MemberJoined", 0, member="m", rebalance_timeout_ms=30_000)
    log.group("RebalanceStarted", 0, delay_ms=None)
    waited = list(log.lines)
    log.group("JoinPhaseExtended", 30_000)
    assert log.blamed(TimeoutsEnd) == ["group g extends its join phase, although m has joined"]
    log.lines = waited
    log.group("GenerationStarted", 1, members=["m"], generation=1)
    log.group(
        "GenerationStored",
        1,
        members=[{"member_id": "m", "rebalance_timeout_ms": 30_000}],
        generation=1,
    )
    log.group("RebalanceStarted", 2, delay_ms=None)
    log.group("JoinPhaseExtended", 30_002)  # m, which is static, is away
    assert log.blamed(TimeoutsEnd) == []


def test_transactions_end() -> None:
    log = Log()
    log.line("transaction", "ProducerInitialized", 0, transactional_id="t", timeout_ms=10_000)
    log.line("transaction", "PartitionsEnlisted", 0, transactional_id="t")
    begun = list(log.lines)
    log.ends(31_000)
    assert log.blamed(TimeoutsEnd) == [
        "the transaction of t continues at 31000 ms, although its timeout is 10000 ms"
    ]
    log.lines = begun
    log.line(
        "transaction",
        "TransactionPrepared",
        10_000,
        transactional_id="t",
        producer_id=1,
        committed=False,
    )
    log.ends(31_000)
    assert log.blamed(TimeoutsEnd) == []


def test_a_transaction_is_marked_once_it_is_decided_and_not_again() -> None:
    log = Log()
    decided = log.line(
        "transaction", "TransactionPrepared", 0, transactional_id="t", producer_id=1, committed=True
    )
    log.line(
        "data",
        "MarkerWritten",
        0,
        decided,
        topic="t",
        partition=0,
        offset=5,
        producer_id=1,
        committed=True,
    )
    log.line(
        "transaction",
        "TransactionCompleted",
        0,
        transactional_id="t",
        producer_id=1,
        producer_epoch=0,
        previous_producer_id=-1,
    )
    complete = list(log.lines)
    log.line(
        "data",
        "MarkerWritten",
        1,
        decided,
        topic="t",
        partition=0,
        offset=6,
        producer_id=1,
        committed=True,
    )
    assert log.blamed(OnlyCommittedIsRead) == [
        "t-0: producer 1 gets another marker, although its transaction is complete by line 3"
    ]
    log.lines = [*complete, {**log.lines[-1], "cause": 40}]  # WriteTxnMarkers, by hand
    assert log.blamed(OnlyCommittedIsRead) == []
    log.lines = complete
    log.line(
        "coordinator",
        "LogTruncated",
        1,
        topic="__transaction_state",
        partition=0,
        lost=[3],
        restored=[],
    )
    log.line(
        "data",
        "MarkerWritten",
        1,
        None,
        topic="t",
        partition=0,
        offset=6,
        producer_id=1,
        committed=True,
    )
    assert log.blamed(OnlyCommittedIsRead) == []


def test_what_a_consumer_was_given_is_not_written_anew() -> None:
    log = Log()
    written: Line = {
        "topic": "t",
        "partition": 0,
        "offset": 0,
        "last_offset": 2,
        "producer_id": 1,
        "producer_epoch": 0,
        "transactional": False,
    }
    log.line("data", "RecordsAppended", 0, broker=1, **written)
    before = list(log.lines)
    log.line(
        "member",
        "RecordsPolled",
        1,
        topic="t",
        partition=0,
        ranges=[[0, 2]],
        client="c",
        group="g",
        isolation="read_committed",
    )
    given = list(log.lines)
    log.line("data", "RecordsAppended", 2, broker=1, **{**written, "offset": 1, "last_offset": 1})
    assert log.blamed(AcknowledgedRecordsStay) == [
        "t-0: offset 1 is written again, although it was acknowledged or received by a consumer"
    ]
    anew = log.lines[-1]
    log.lines = [*before, anew]
    assert log.blamed(AcknowledgedRecordsStay) == []
    unclean = {
        **anew,
        "stream": "cluster",
        "type": "LeaderElected",
        "leader_id": 1,
        "reason": "unclean election",
    }
    log.lines = [*given, unclean, anew]
    assert log.blamed(AcknowledgedRecordsStay) == []


def test_offsets_that_are_used_do_not_expire() -> None:
    log = Log()
    row = {"member_id": "m", "subscription": Subscription(("t",)).encode().hex()}
    log.group("GenerationStored", 0, members=[row], generation=1)
    gone: Line = {"reason": "expired", "partitions": [{"topic": "t", "partition": 0}]}
    log.group("OffsetsRemoved", 1, **gone)
    assert log.blamed(OffsetsOnlyGoBackWhenAsked) == [
        "the offset of t-0 expired, although members of group g subscribe to its topic"
    ]
    log = Log()
    log.group("GenerationStored", 0, members=[row], generation=1)
    log.group("OffsetsRemoved", 1, **{**gone, "partitions": [{"topic": "u", "partition": 0}]})
    log.group("GroupEmptied", 2, generation=2)
    log.group("OffsetsRemoved", 3, **gone)
    assert log.blamed(OffsetsOnlyGoBackWhenAsked) == []


def _rests(
    *,
    told: tuple[int, ...] = (0, 1),
    given: tuple[int, ...] = (0, 1),
    made: int = 2,
    excuse: str = "",
) -> list[str]:
    """A group of one member at rest: what it was told, what its group has given it, how many
    partitions there are."""

    def judges() -> Judge:
        return StableWithin(10_000)

    log = Log()
    log.line("cluster", "TopicCreated", 0, topic="t", replicas=[[1]] * made)
    log.line("member", "MemberStarted", 0, client="c", group="g")
    log.line(
        "member",
        "PartitionsAssigned",
        5,
        client="c",
        group="g",
        member="m",
        partitions=[{"topic": "t", "partition": partition} for partition in told],
    )
    row = {
        "member_id": "m",
        "client_id": "c",
        "subscription": Subscription(("t",)).encode().hex(),
        "session_timeout_ms": 10_000,
        "group_instance_id": None,
        "assignment": Assignment((TopicPartitions("t", given),)).encode().hex(),
    }
    log.group("GenerationStored", 5, members=[row], generation=1, protocol_type="consumer")
    if excuse == "busy":
        log.line(
            "member",
            "RecordsPolled",
            6,
            client="c",
            group="g",
            member="m",
            topic="t",
            partition=0,
            ranges=[[0, 1]],
        )
    if excuse == "slow":
        log.line("fault", "SlowMember", 6, client="c")
    if excuse == "grows":
        log.line("cluster", "PartitionsAdded", 6, topic="t", partitions=made + 1, added=[made])
    if excuse == "deleted":
        log.line("cluster", "TopicDeleted", 6, topic="t", partitions=made)
    if excuse.startswith("replaced"):
        log.group(
            "MemberReplaced", 6, member="m", replaced="l", group_instance_id="i", generation=1
        )
    if excuse == "replaced, then stored anew":
        log.group("GenerationStarted", 7, generation=2)
        log.group("GenerationStored", 7, members=[row], generation=2, protocol_type="consumer")
    log.ends(60_000)
    return log.blamed(judges)


def test_at_rest_applications_have_what_they_were_given_and_all_is_given() -> None:
    assert _rests() == _rests(excuse="grows") == []
    assert _rests(told=(0,)) == ["c of group g was not told that it has t-1"]
    assert _rests(told=(0, 1), given=(0,)) == [
        "c of group g was not told that it lost t-1",
        "t-1 has no owner in group g",
    ]
    assert _rests(made=3) == ["t-2 has no owner in group g"]
    assert _rests(made=3, excuse="replaced") == [], "who was to join once more joined as another"
    assert _rests(made=3, excuse="replaced, then stored anew") == ["t-2 has no owner in group g"]
    assert (
        _rests(told=(0,), excuse="busy")
        == _rests(told=(0,), excuse="slow")
        == _rests(told=(0,), excuse="deleted")
        == []
    )
