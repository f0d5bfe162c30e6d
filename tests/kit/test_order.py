"""`in_order_per_key`: records of a key in the order in which they were processed."""

from __future__ import annotations

import pytest

from coordinator import Emulator
from coordinator.kit.verifying.order import out_of_order
from coordinator.kit.verifying.verification import Verification
from coordinator.kit.waits.expectations import ExpectationError


def rows(*offsets: int) -> list[tuple[str, int, int]]:
    return [("orders", 0, offset) for offset in offsets]


def test_only_records_of_one_key_and_partition_are_compared() -> None:
    keys = {row: b"a" if row[2] % 2 else b"b" for row in rows(*range(6))}
    assert out_of_order(rows(0, 2, 1, 4, 3, 5), keys) == []
    ((record, key, after),) = out_of_order(rows(0, 1, 5, 3, 2, 4), keys)
    assert (record, key, after) == (("orders", 0, 3), b"a", 5)
    elsewhere = {("orders", 1, 0): b"a", ("orders", 0, 5): b"a"}
    assert out_of_order([("orders", 0, 5), ("orders", 1, 0)], elsewhere) == []
    assert out_of_order(rows(9, 8, 7), {}) == []


def test_what_comes_again_counts_when_it_came_first() -> None:
    keys = dict.fromkeys(rows(*range(6)), b"a")
    assert out_of_order(rows(0, 1, 2, 1, 2, 3), keys) == []
    assert [each.record[2] for each in out_of_order(rows(0, 2, 0, 1, 2), keys)] == [1]


def test_the_emulator_knows_the_keys(kafka: Emulator) -> None:
    kafka.create_topic("orders", 1)
    kafka.produce("orders", list("abcd"), keys=["x", "y", "x", "y"], partition=0)
    kafka.group("g").commit({("orders", 0): 4})
    kafka.verify("g").in_order_per_key(rows(1, 0, 3, 2)).in_order_per_key([])
    with pytest.raises(
        AssertionError, match="orders-0 offset 0 was processed after offset 2 of the same key, 'x'"
    ):
        kafka.verify("g").in_order_per_key(rows(2, 0))


def test_a_log_alone_does_not() -> None:
    with pytest.raises(ExpectationError, match="ask an emulator"):
        Verification.of_log("g", []).in_order_per_key(rows(0))
