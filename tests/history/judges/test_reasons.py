"""What coordinators and leaders give as their reason, and the rest of the log does not bear out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from coordinator.history.judges import Judge
from coordinator.history.judges.archived_records import ArchivedForAReason
from coordinator.history.judges.cleaned_logs import LogsAreCleanedAsConfigured
from coordinator.history.judges.reasons import EXPIRATION_MS, ReasonsHold
from coordinator.history.judges.sessions import SessionsEnd
from coordinator.history.judges.timeouts import TimeoutsEnd
from tests.history.judges.crafted import judge

STREAMS = frozenset({"group", "member", "wire", "share", "data", "cluster"})
Fields = dict[str, Any]


def found(*lines: Fields, by: Callable[[], Judge] = ReasonsHold) -> list[str]:
    """What a judge says of lines; each is numbered by its place."""
    numbered = [{"group": "g", **line, "seq": seq} for seq, line in enumerate(lines, 1)]
    (verdict,) = judge(numbered, [by], streams=STREAMS)
    return [finding.text for finding in verdict.findings]


def asked(api: str, **fields: Any) -> Fields:
    return {"stream": "wire", "type": "RequestSeen", "api": api, **fields}


JOINED = {"type": "MemberJoined", "member": "m"}


def test_who_leaves_has_asked_for_it() -> None:
    for left in ("MemberRemoved", "PendingMemberRemoved"):
        gone = {"type": left, "member": "m", "reason": "left"}
        (text,) = found(JOINED, gone)
        assert text == "m is removed from group g because it left, but no request asked for that"
        assert found(asked("leave_group"), {**gone, "cause": 1}) == []
        assert found(asked("sync_group"), {**gone, "cause": 1}) != []


def test_several_members_of_a_consumer_group_may_go_by_one_leave_group() -> None:
    def gone(member: str, cause: int | None) -> Fields:
        return {
            "type": "ConsumerMemberRemoved", "member": member, "reason": "left", "cause": cause,
        }  # fmt: skip

    runs: list[Fields] = []
    for member in ("a", "b"):
        runs += [
            {"stream": "member", "type": "MemberStarted", "client": member},
            {
                "stream": "member",
                "type": "PartitionsAssigned",
                "client": member,
                "member": member,
                "partitions": [{"topic": "t", "partition": 0}],
            },
        ]
    assert found(*runs, asked("leave_group"), gone("a", 5), gone("b", 6)) == []
    assert len(found(*runs, gone("a", None), gone("b", 5))) == 2
    closing = {"stream": "member", "type": "MemberClosing", "client": "a", "member": "a"}
    stalls = {**closing, "type": "ApplicationStalled", "client": "b", "member": "b"}
    assert found(*runs, closing, gone("a", None), stalls, gone("b", None)) == []


def test_a_group_is_full_where_it_has_a_size() -> None:
    full = {"type": "MemberRemoved", "member": "m", "reason": "group is full"}
    emptied = {"type": "GroupEmptied", "generation": 1}
    assert found(emptied, JOINED, full) == [
        "m is removed from group g because it is full, but the group has no limit"
    ]
    assert found(emptied, JOINED, full, by=partial(ReasonsHold, 2)) == [
        "m is removed from group g because it is full, but the group has a limit of 2"
    ]
    assert found(emptied, JOINED, full, by=partial(ReasonsHold, 1)) == []


def test_offsets_and_groups_are_deleted_by_requests() -> None:
    gone = {
        "type": "OffsetsRemoved",
        "reason": "deleted by request",
        "partitions": [{"topic": "t", "partition": 0}],
    }
    assert found(gone) == ["offsets of group g were deleted by request, but there was no request"]
    assert found(asked("offset_delete"), {**gone, "cause": 1}) == []
    group = {"type": "GroupDeleted", "reason": "deleted by request"}
    assert found(group) == ["group g was deleted by request, but there was no request"]
    assert found(asked("delete_groups"), {**group, "cause": 1}) == []


def test_a_group_goes_as_unused_without_members_and_offsets() -> None:
    unused = {"type": "GroupDeleted", "reason": "empty, without offsets"}
    committed = {
        "type": "OffsetsCommitted",
        "offsets": [{"topic": "t", "partition": 0, "offset": 1}],
    }
    expired = {
        "type": "OffsetsRemoved",
        "reason": "expired",
        "partitions": [{"topic": "t", "partition": 0}],
    }
    emptied = {"type": "GroupEmptied", "generation": 1}
    assert found(committed, unused) == ["group g was deleted as unused, but has 1 offsets"]
    assert found(committed, expired, unused) == []
    assert found(emptied, JOINED, unused) == ["group g was deleted as unused, but has 1 members"]
    assert found(emptied, JOINED, emptied, unused) == []
    lost = {
        "stream": "coordinator",
        "type": "LogTruncated",
        "topic": "__consumer_offsets",
        "partition": 0,
        "lost": [1],
    }
    assert found(committed, lost, unused) == [], "a former coordinator alone had it"


OF = {"stream": "transaction", "transactional_id": "pay", "producer_id": 7}


def test_a_transaction_ends_as_it_was_asked_for() -> None:
    ends = {**OF, "type": "TransactionPrepared", "committed": True}
    for reason, api in (
        ("the producer committed", "end_txn"),
        ("a producer was initialized", "init_producer_id"),
    ):
        prepared = {**ends, "reason": reason}
        (text,) = found(prepared)
        assert (
            text
            == f'the transaction of pay ends with the reason "{reason}", but no such request came'
        )
        assert found(asked(api, transactional_id="pay"), {**prepared, "cause": 1}) == []
        assert found(asked(api, transactional_id="other"), {**prepared, "cause": 1}) != []


def test_a_producer_is_told_how_its_transaction_was_decided() -> None:
    aborted = {
        **OF,
        "type": "TransactionPrepared",
        "committed": False,
        "reason": "the producer aborted",
        "cause": 1,
    }
    told = {"stream": "member", "type": "TransactionEnded", "client": "c", "committed": True}
    ends = asked("end_txn", client="c", transactional_id="pay")
    assert found(ends, aborted, told) == [
        "c was answered that its transaction is committed, but it was aborted"
    ]
    assert found(ends, aborted, {**told, "committed": False}) == []
    assert found(ends, aborted, {**told, "failed": "PRODUCER_FENCED"}) == []
    counts = {"type": "PendingOffsetsEnded", "producer_id": 7, "committed": True, "partitions": []}
    assert found(ends, aborted, counts) == [
        "offsets of producer 7 in group g are treated as committed, but its transaction was aborted"
    ]


def test_a_transactional_id_is_forgotten_in_time_or_with_its_topic() -> None:
    begun = {**OF, "type": "ProducerInitialized"}
    forgotten = {**OF, "type": "TransactionalIdExpired", "at_ms": 60_000}
    (text,) = found(begun, forgotten)
    assert text.startswith(f"pay is removed {EXPIRATION_MS - 60_000} ms before")
    assert found(begun, {**forgotten, "at_ms": EXPIRATION_MS}) == []
    gone = {**OF, "type": "TransactionalIdDeleted"}
    topic = {"stream": "cluster", "type": "TopicDeleted", "topic": "__transaction_state"}
    assert found(gone) == ["pay was removed with __transaction_state, which was not deleted"]
    assert found(topic, gone) == []


def test_a_session_is_ended_by_hand_where_hands_are() -> None:
    ended = {
        "type": "MemberRemoved",
        "member": "m",
        "reason": "session expired",
        "detail": "its session was ended by hand",
    }
    share = {
        "type": "ShareMemberRemoved",
        "member": "m",
        "reason": "its session was ended by hand",
    }
    for line in (ended, share):
        assert found(line, by=SessionsEnd) == []
        (text,) = found(line, by=partial(SessionsEnd, by_hand=False))
        assert text.endswith(
            "was ended by hand, according to the log, but nothing ends sessions by hand here"
        )


def test_who_has_joined_or_synced_is_not_removed_as_one_that_did_not() -> None:
    created = {"type": "GroupCreated", "by": "join"}
    begun = {"type": "RebalanceStarted", "deadline_ms": 0}
    gone = {"type": "MemberRemoved", "member": "m", "reason": "did not rejoin in time"}
    of = 'm is removed from group g with the reason "did not'
    assert found(created, begun, JOINED, gone, by=TimeoutsEnd) == [
        f'{of} rejoin in time", but it did so'
    ]
    assert found(created, gone, by=TimeoutsEnd) == [
        f'{of} rejoin in time", but there is no join phase'
    ]
    assert found(gone, by=TimeoutsEnd) == [], "a group of which the beginning is not known"
    generation = {"type": "GenerationStarted", "generation": 1, "members": ["m", "n"]}
    stored = {"type": "GenerationStored", "generation": 1, "members": []}
    synced = {"type": "MemberSynced", "member": "m", "parked": False}
    late = {**gone, "reason": "did not sync in time"}
    steps = [created, begun, JOINED, generation]
    assert found(*steps, stored, synced, late, by=TimeoutsEnd) == [
        f'{of} sync in time", but it did so'
    ]
    assert found(*steps, stored, late, by=TimeoutsEnd) == [], "its time goes on (SYNC-6)"
    assert found(*steps, begun, late, by=TimeoutsEnd) == [
        f'{of} sync in time", but there is no sync phase'
    ]


def test_records_of_a_share_group_are_archived_for_a_reason() -> None:
    place = {"topic": "t", "partition": 0}
    batch = {
        **place,
        "stream": "data",
        "type": "RecordsAppended",
        "offset": 0,
        "last_offset": 4,
        "producer_id": 7,
        "transactional": True,
    }
    marker = {**place, "stream": "data", "type": "MarkerWritten", "offset": 5, "producer_id": 7}

    def archived(reason: str) -> Fields:
        records = [{"first_offset": 2, "last_offset": 3, "state": "Archived"}]
        return {**place, "stream": "share", "type": "RecordsArchived", "reason": reason,
                "records": records}  # fmt: skip

    aborted = archived("their transaction was aborted")
    of = 'offset 2 of t-0 of share group g is archived with the reason "'
    by = ArchivedForAReason
    assert found(batch, {**marker, "committed": False}, aborted, by=by) == []
    (text,) = found(batch, {**marker, "committed": True}, aborted, by=by)
    assert text == of + 'their transaction was aborted", but it was committed'
    (text,) = found({**batch, "transactional": False}, aborted, by=by)
    assert text == of + 'their transaction was aborted", but there was no transaction'
    gone = archived("they left the log")
    assert found(batch, gone, by=by) == [], "somebody may have deleted records"
    alone = partial(by, by_hand=False)
    (text,) = found(batch, gone, by=alone)
    assert text == of + 'they left the log", but no record of the partition was deleted'
    compacted = {**place, "stream": "cluster", "type": "LogCompacted"}
    assert found(batch, compacted, gone, by=alone) == []
    assert found(batch, asked("delete_records"), gone, by=alone) == []


def test_a_log_starts_later_where_somebody_deletes_records() -> None:
    moved = {
        "stream": "cluster",
        "type": "SegmentsDeleted",
        "topic": "t",
        "partition": 0,
        "reason": "log start",
    }
    by = partial(LogsAreCleanedAsConfigured, by_hand=False)
    assert found(moved, by=by) == [
        "segments of t-0 were deleted because its start had moved, but no client has deleted records"
    ]
    assert found(moved, by=LogsAreCleanedAsConfigured) == []
    assert found(asked("delete_records"), moved, by=by) == []
