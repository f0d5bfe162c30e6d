"""Batches that may stand in a partition once more: what nobody has any more, and what a broker has
forgotten."""

from __future__ import annotations

from tests.history.judges.test_record_judges import _ELECTED, _line, _written, broken


def test_a_former_leader_writes_in_vain_beside_its_successors_marker() -> None:
    """KIP-101: the marker at 1 is in the log, what the former leader wrote there is not, and its
    producer sends that again."""
    marker = _line(
        4,
        "MarkerWritten",
        "data",
        broker=1,
        topic="t",
        partition=0,
        producer_id=8,
        committed=False,
        offset=1,
    )
    first, lost, again = _written(1, 0, 3, 0), _written(5, 1, 3, 1), _written(6, 2, 1, 1)
    assert "idempotent_writes_once" not in broken([first, _ELECTED, marker, lost, again])
    assert "idempotent_writes_once" in broken(
        [first, _ELECTED, marker, lost, again, _written(7, 3, 1, 1)]
    )


def test_who_expired_by_a_clock_that_jumped_may_be_written_again() -> None:
    """producer.id.expiration.ms: looked at every ten minutes, by the broker's wall clock, against
    the time in the records."""
    day, look = 86_400_000, 600_000
    first, jump = _written(1, 0, 1, 0), _line(2, "JumpClock", "fault", broker=1, by_ms=day)
    behind = _line(2, "JumpMemberClock", "fault", client="p-1", by_ms=-day)
    first["at_ms"] = 0
    again = _written(3, 1, 1, 0) | {"at_ms": look}
    assert "idempotent_writes_once" not in broken([first, jump, again])
    assert "idempotent_writes_once" not in broken([first, behind, again])
    assert "idempotent_writes_once" in broken([first, jump, again | {"at_ms": look - 1}])
    assert "idempotent_writes_once" in broken([first, jump | {"by_ms": day - 1}, again])
    assert "idempotent_writes_once" in broken([first, behind | {"client": "p-2"}, again])


def test_records_of_a_topic_that_was_deleted_are_gone_with_it() -> None:
    """Another topic of its name begins at 0; late acknowledgements tell of the first, and count for
    neither."""
    delivered = _line(
        2,
        "RecordsDelivered",
        "member",
        client="p-1",
        topic="t",
        partition=0,
        offset=0,
        count=1,
        acks="all",
        failed=None,
    )
    deleted = _line(3, "TopicDeleted", "cluster", topic="t", topic_id="0a", partitions=1)
    anew = _written(4, 0, 1, 0) | {"producer_id": 9}
    assert broken([_written(1, 0, 1, 0), delivered, anew]) == ["acknowledged_records_stay"]
    assert broken([_written(1, 0, 1, 0), delivered, deleted, anew]) == []
    assert broken([_written(1, 0, 1, 0), deleted, delivered, anew]) == []
