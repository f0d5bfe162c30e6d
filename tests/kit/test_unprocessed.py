"""`no_gaps` and `exactly_once`: which records an application had to process."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator import Emulator
from coordinator.kit.verifying.unprocessed import processed_twice, unprocessed
from coordinator.kit.waits.expectations import ExpectationError

ORDERS = ("orders", 0)


def rows(*offsets: int) -> list[tuple[str, int, int]]:
    return [(*ORDERS, offset) for offset in offsets]


@pytest.fixture
def kafka() -> Any:
    with Emulator({"orders": 1}, seed=1, remember=10_000) as emulator:
        yield emulator


def test_records_that_were_skipped_at_the_start_are_a_gap(kafka: Emulator) -> None:
    """An application with auto.offset.reset=latest comes after ten records, and commits past
    them."""
    kafka.produce("orders", [str(number) for number in range(12)], partition=0)
    kafka.group("g").commit({ORDERS: 12})
    verified = kafka.verify("g")
    with pytest.raises(
        AssertionError, match=r"never processed: 0, 1, .* 9; if the application"
    ) as e:
        verified.no_gaps(rows(10, 11))
    assert 'beginning="first processed", or beginning={("orders", 0): 10}' in str(e.value)
    verified.no_gaps(rows(10, 11), beginning={ORDERS: 10})
    verified.exactly_once(rows(10, 11), beginning="first processed")
    with pytest.raises(AssertionError, match=r"never processed: 10$"):
        verified.exactly_once(rows(9, 11), beginning="first processed")


def test_what_was_committed_before_need_not_be_processed(kafka: Emulator) -> None:
    kafka.produce("orders", list("abcde"), partition=0)
    kafka.group("g").commit({ORDERS: 2})
    mark = kafka.mark()
    kafka.group("g").commit({ORDERS: 5})
    kafka.verify("g", since=mark).exactly_once(rows(2, 3, 4))
    with pytest.raises(AssertionError, match=r"never processed: 0, 1;"):
        kafka.verify("g").no_gaps(rows(2, 3, 4))


def test_offsets_that_came_with_a_snapshot_are_where_processing_begins(kafka: Emulator) -> None:
    kafka.produce("orders", list("abcde"), partition=0)
    kafka.group("g").commit({ORDERS: 2})
    kafka.restore(kafka.snapshot())
    kafka.produce("orders", list("abc"), partition=0)
    end = kafka.end_offsets("orders")[0]
    kafka.group("g").commit({ORDERS: end})
    kafka.verify("g").no_gaps(rows(*range(2, end)))


def test_markers_and_aborted_records_are_none_to_process(kafka: Emulator) -> None:
    kafka.produce("orders", ["a", "b"], partition=0, transactional_id="pay")
    kafka.produce("orders", ["never"], partition=0, transactional_id="pay", abort=True)
    kafka.produce("orders", ["c"], partition=0)
    end = kafka.end_offsets("orders")[0]
    assert end == 6  # markers stand at 2 and 4, an aborted record at 3
    kafka.group("g").commit({ORDERS: end})
    kafka.verify("g").exactly_once(rows(0, 1, 5))
    with pytest.raises(AssertionError, match=r"never processed: 5$"):
        kafka.verify("g").no_gaps(rows(0, 1))


def test_deleted_records_are_none_to_process(kafka: Emulator) -> None:
    kafka.produce("orders", list("abcd"), partition=0)
    kafka.group("g").commit({ORDERS: 4})
    kafka.truncate("orders", 0, 3)
    kafka.verify("g").exactly_once(rows(3))


@pytest.mark.parametrize("wrong", ["first", "latest"])
def test_another_word_for_the_beginning_is_refused(kafka: Emulator, wrong: Any) -> None:
    with pytest.raises(ExpectationError, match='or "first processed"'):
        kafka.verify("g").no_gaps([], beginning=wrong)


def test_many_records_are_judged_in_linear_time() -> None:
    """Each record is looked at once: of a list that counts how often it is searched."""

    class Searched(tuple[str, int, int]):
        __slots__ = ()
        compared = 0

        def __eq__(self, other: object) -> bool:
            Searched.compared += 1
            return tuple.__eq__(self, other)

        __hash__ = tuple.__hash__

    count = 2_000
    many = [Searched((*ORDERS, offset)) for offset in range(count)]
    assert processed_twice([*many, many[7]]) == [many[7]]
    assert unprocessed(many[1:], {ORDERS: count}, {ORDERS: range(count)}) == {ORDERS: [0]}
    assert Searched.compared < 5 * count
