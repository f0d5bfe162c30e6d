"""What has a timeout ends when it is over: for each timer a log in which it ends a millisecond too
late, one in which it ends a millisecond too soon, and one in which it ends in time. Judged as under
virtual time, to the millisecond."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from coordinator.history.judges.grace import virtual_time
from coordinator.history.judges.sessions import SessionsEnd
from coordinator.history.judges.timeouts import TimeoutsEnd
from tests.history.judges.test_kept_promises import Line, Log

EXACT = virtual_time(100, 5_000)


def exact_timeouts() -> TimeoutsEnd:
    return TimeoutsEnd(10_000, EXACT.late_ms)


def _joined(log: Log, member: str, timeout_ms: int) -> None:
    log.group("MemberJoined", 0, member=member, rebalance_timeout_ms=timeout_ms)


def _join_phase(log: Log, at_ms: int) -> None:
    """REB-5: m rejoined, n did not; 30 s are the longest timeout of both."""
    _joined(log, "m", 30_000)
    _joined(log, "n", 20_000)
    log.group("GenerationStarted", 0, members=["m", "n"], generation=1)
    rows = [
        {"member_id": "m", "rebalance_timeout_ms": 30_000},
        {"member_id": "n", "rebalance_timeout_ms": 20_000},
    ]
    log.group("GenerationStored", 0, members=rows, generation=1)
    log.group("RebalanceStarted", 1_000, delay_ms=None)
    log.group("MemberRejoined", 1_000, member="m", rebalance_timeout_ms=30_000)
    log.group("MemberRemoved", 1_000 + at_ms, member="n", reason="did not rejoin in time")
    log.group("GenerationStarted", 1_000 + at_ms, members=["m"], generation=2)


def _static_member_away(log: Log, at_ms: int) -> None:
    """REB-5: the next generation begins without n, which stays a member."""
    _join_phase(log, at_ms)
    log.lines = [line for line in log.lines if line["type"] != "MemberRemoved"]
    log.lines[-1]["members"] = ["m", "n"]


def _sync_phase(log: Log, at_ms: int) -> None:
    """SYNC-6."""
    _joined(log, "m", 30_000)
    log.group("GenerationStarted", 0, members=["m"], generation=1)
    log.group("MemberRemoved", at_ms, member="m", reason="did not sync in time")
    log.group("GroupEmptied", at_ms)


def _initial_delay(log: Log, at_ms: int) -> None:
    """DLY-1, DLY-2: three seconds, twice, and the rest of the longest rebalance timeout."""
    _joined(log, "m", 33_000)
    log.group("RebalanceStarted", 0, delay_ms=3_000)
    for round_ms in range(3_000, 33_000, 3_000):
        log.group("DelayExtended", round_ms, delay_ms=3_000)
    log.group("GenerationStarted", 3_000 + at_ms, members=["m"], generation=1)


def _pending(log: Log, at_ms: int) -> None:
    """MID-5."""
    log.group("MemberPending", 0, member="m", client_id="c", deadline_ms=30_000)
    log.group("PendingMemberRemoved", at_ms, member="m", reason="session expired")


def _revocation(log: Log, at_ms: int) -> None:
    """K8-REC-6."""
    log.group("ConsumerMemberSubscribed", 0, member="m", classic=None, rebalance_timeout_ms=30_000)
    log.group(
        "ConsumerMemberReconciled", 0, member="m", state="unrevoked partitions", member_epoch=4
    )
    log.group("ConsumerMemberRemoved", at_ms, member="m", reason="did not revoke in time")


def test_who_left_for_a_while_has_no_time_to_revoke() -> None:
    """K8-LV-2: a static member, until its session is over."""
    log = Log()
    _revocation(log, 60_000)
    log.lines.insert(-1, {**log.lines[-2], "at_ms": 10_000, "member_epoch": -2})
    assert len(log.blamed(exact_timeouts)) == 1, "it is removed for what it did not owe"
    log.lines[-1]["reason"] = "session expired"
    assert log.blamed(exact_timeouts) == []


TIMERS: dict[str, Callable[[Log, int], None]] = {
    "join phase": _join_phase,
    "join phase, static": _static_member_away,
    "sync phase": _sync_phase,
    "initial delay": _initial_delay,
    "time to join": _pending,
    "time to revoke": _revocation,
}


@pytest.mark.parametrize("what", TIMERS)
def test_a_timer_ends_at_its_millisecond(what: str) -> None:
    for at_ms, wrong in ((29_999, "ends 1 ms before"), (30_000, ""), (30_001, "continues at")):
        log = Log()
        TIMERS[what](log, at_ms)
        found = log.blamed(exact_timeouts)
        assert len(found) == bool(wrong), (at_ms, found)
        assert all(wrong in text for text in found)


@pytest.mark.parametrize("what", TIMERS)
def test_in_real_time_ten_seconds_are_allowed(what: str) -> None:
    for at_ms, count in ((19_999, 1), (20_000, 0), (40_000, 0), (40_001, 1)):
        log = Log()
        TIMERS[what](log, at_ms)
        assert len(log.blamed(TimeoutsEnd)) == count


def _transaction(at_ms: int) -> list[str]:
    log = Log()
    name = {"transactional_id": "t"}
    log.line("transaction", "ProducerInitialized", 0, timeout_ms=30_000, **name)
    log.line("transaction", "PartitionsEnlisted", 0, **name)
    fields = {"producer_id": 1, "committed": False, "reason": "not ended within 30000 ms"}
    log.line("transaction", "TransactionPrepared", at_ms, **name, **fields)
    return log.blamed(exact_timeouts)


def test_a_transaction_is_aborted_at_the_next_look_after_its_timeout() -> None:
    assert _transaction(30_000) == _transaction(40_000) == []
    assert _transaction(29_999) == [
        "the transaction of t ends 1 ms before its timeout of 30000 ms is over"
    ]
    assert _transaction(40_001) == [
        "the transaction of t continues at 40001 ms, although its timeout is 30000 ms"
    ]


def test_an_expiry_may_end_an_initial_delay() -> None:
    """DLY-4."""
    log = Log()
    _joined(log, "m", 30_000)
    log.group("RebalanceStarted", 0, delay_ms=3_000)
    log.group("PendingMemberRemoved", 1_000, member="p", reason="session expired")
    log.group("GenerationStarted", 1_000, members=["m"], generation=1)
    assert log.blamed(exact_timeouts) == []


def test_who_loads_a_group_times_revocations_anew_and_no_phase() -> None:
    """ERR-7."""
    log = Log()
    _revocation(log, 30_000)
    removal = log.lines.pop()
    log.group("GroupLoaded", 10_000, state="Reconciling")
    log.lines.append(removal | {"at_ms": 30_000})
    assert log.blamed(exact_timeouts) == [
        "the time to revoke of m ends 10000 ms before its timeout of 30000 ms is over"
    ]
    log.lines[-1] = removal | {"at_ms": 40_000}
    assert log.blamed(exact_timeouts) == []
    phases = Log()
    _joined(phases, "m", 30_000)
    phases.group("RebalanceStarted", 0, delay_ms=None)
    phases.group("GroupLoaded", 10_000, state="Empty")
    phases.ends(100_000)
    assert phases.blamed(exact_timeouts) == []


# -- sessions


def _expired(at_ms: int, *between: Line) -> list[str]:
    """A member of 45 s, stored at 1 s, whose session ends at an instant."""
    log = Log()
    told = {"member": "m", "client": "c", "group": "g"}
    log.line("member", "PartitionsAssigned", 1_000, partitions=[], **told)
    log.group("GenerationStarted", 1_000, generation=1, members=["m"])
    row = {"member_id": "m", "session_timeout_ms": 45_000}
    log.group("GenerationStored", 1_000, generation=1, members=[row])
    log.lines += [{"seq": 90 + at, "cause": None, **line} for at, line in enumerate(between)]
    log.group("MemberRemoved", at_ms, member="m", reason="session expired")
    return log.blamed(lambda: SessionsEnd(45_000, EXACT))


def _pause(at_ms: int) -> Line:
    return {"at_ms": at_ms, "stream": "fault", "type": "PauseMember", "client": "c"}


def _commit(at_ms: int) -> Line:
    return {
        "at_ms": at_ms,
        "stream": "group",
        "type": "OffsetsCommitted",
        "group": "g",
        "member": "m",
    }


def test_a_session_does_not_end_before_it_is_over() -> None:
    """SES-1: after the generation began, and after a commit."""
    assert _expired(46_000) == []
    assert _expired(45_999) == [
        "the session of m in group g ends 1 ms before its 45000 ms are over"
    ]
    assert _expired(65_000, _commit(20_000)) == []
    assert _expired(64_999, _commit(20_000)) == [
        "the session of m in group g ends 1 ms before its 45000 ms are over"
    ]


def _expired_of_share_group(at_ms: int, *between: Line) -> list[str]:
    """The same of a member of a share group, which took its target over at 1 s; whether it goes on
    nobody knows, as its application is stalled."""
    log = Log()
    log.line("member", "MemberStarted", 500, **_WHO)
    log.group("ShareGroupCreated", 900)
    log.group("ShareMemberSubscribed", 900, member="m")
    log.group("ShareMemberReconciled", 1_000, member="m", member_epoch=2)
    log.line("member", "ApplicationStalled", 1_000, **_WHO)
    log.lines += [{"seq": 90 + at, "cause": None, **line} for at, line in enumerate(between)]
    log.group("ShareMemberRemoved", at_ms, member="m", reason="session expired")
    return log.blamed(partial(SessionsEnd, None, EXACT, 45_000))


def test_a_session_of_a_share_group_ends_at_its_time() -> None:
    """SH-HB-4: after its last sign of life, and, of who was well, after its last heartbeat."""
    assert _expired_of_share_group(46_000) == []
    assert _expired_of_share_group(45_999) == [
        "the session of m in group g ends 1 ms before its 45000 ms are over"
    ]
    loaded = {"at_ms": 20_000, "stream": "group", "type": "GroupLoaded", "group": "g"}
    assert _expired_of_share_group(65_000, loaded) == []
    assert "ends 1 ms before" in _expired_of_share_group(64_999, loaded)[0]
    assert _expired_of_share_group(99_800, _pause(60_000)) == []
    assert _expired_of_share_group(105_100, _pause(60_000)) == []
    assert "ends 1 ms before" in _expired_of_share_group(99_799, _pause(60_000))[0]
    assert "it is still a member" in _expired_of_share_group(105_101, _pause(60_000))[0]


def test_the_session_of_who_is_well_does_not_end() -> None:
    """Its last heartbeat cannot have been long ago."""
    resumed = {"at_ms": 30_000, "stream": "member", "type": "ApplicationResumed", **_WHO}
    (found,) = _expired_of_share_group(46_000, resumed)
    assert found.startswith("the session of m in group g ends ")
    reset = {"at_ms": 40_000, "stream": "fault", "type": "ResetMember", "client": "c"}
    assert _expired_of_share_group(46_000, resumed, reset) == []


def test_who_was_well_until_it_fell_silent_had_sent_its_heartbeats() -> None:
    """It is paused at 60 s: its last heartbeat came 5 s and twice the links' 100 ms before that at
    the earliest, and 100 ms after it at the latest."""
    assert _expired(99_800, _pause(60_000)) == []
    assert _expired(105_100, _pause(60_000)) == []
    assert "ends 1 ms before" in _expired(99_799, _pause(60_000))[0]
    assert "it is still a member" in _expired(105_101, _pause(60_000))[0]


def test_who_was_not_well_may_have_sent_none() -> None:
    resumed = {"at_ms": 50_000, "stream": "fault", "type": "MemberResumed", "client": "c"}
    assert _expired(75_000, _pause(30_000), resumed, _pause(60_000)) == []


def test_who_is_killed_while_it_is_cut_off_was_silent_before() -> None:
    cut = _pause(40_000) | {"type": "CutMember", "direction": "to_broker"}
    told = {"stream": "member", "type": "MemberCrashed", "group": "g", "member": "m", "client": "c"}
    assert _expired(80_000, cut, {"at_ms": 60_000, **told}) == []
    assert _expired(79_799, cut, {"at_ms": 60_000, **told}) != []


def test_who_was_cut_off_before_it_told_its_id_was_silent_from_then_on() -> None:
    """Its own word that it was assigned something came a millisecond after that."""
    told = {"stream": "member", "type": "MemberCrashed", "group": "g", "member": "m", "client": "c"}
    cut = _pause(900) | {"type": "CutMember", "direction": "to_broker"}
    log = Log()
    log.lines += [{"seq": 1, "cause": None, **cut}]
    log.line("member", "PartitionsAssigned", 1_000, partitions=[], **_WHO)
    log.group("GenerationStarted", 1_000, generation=1, members=["m"])
    row = {"member_id": "m", "session_timeout_ms": 45_000}
    log.group("GenerationStored", 1_000, generation=1, members=[row])
    log.lines += [{"seq": 90, "cause": None, "at_ms": 30_000, **told}]
    log.group("MemberRemoved", 46_000, member="m", reason="session expired")
    assert log.blamed(lambda: SessionsEnd(45_000, EXACT)) == []


_WHO = {"member": "m", "client": "c", "group": "g"}


def test_a_member_that_leaves_for_a_while_renews_no_session() -> None:
    """K8-LV-2."""
    left = {"at_ms": 20_000, "stream": "group", "type": "ConsumerMemberReconciled", "group": "g"}
    assert _expired(46_000, {**left, "member": "m", "member_epoch": -2}) == []
    assert len(_expired(46_000, {**left, "member": "m", "member_epoch": 3})) == 1
