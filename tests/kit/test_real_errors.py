"""Faults that answer as no broker does are warned of; what an injected error leaves behind is
said."""

from __future__ import annotations

import warnings

import pytest

from coordinator import Emulator
from coordinator.kit.faults import FaultError, from_plain, to_plain
from coordinator.kit.real_errors import ANSWERED, ImprobableErrorWarning
from coordinator.wire.messages import API_KEYS


def test_an_error_that_no_broker_answers_is_warned_of_by_name() -> None:
    with Emulator() as kafka:
        with pytest.warns(ImprobableErrorWarning, match=r"answers OffsetCommit with OFFSET_OUT"):
            fault = kafka.fail("OffsetCommit", "OFFSET_OUT_OF_RANGE", may_miss=True)
        assert "it answers COORDINATOR_LOAD_IN_PROGRESS, " in str(fault)


def test_no_warning_if_it_is_meant() -> None:
    with Emulator() as kafka, warnings.catch_warnings():
        warnings.simplefilter("error")
        fault = kafka.fail("OffsetCommit", "OFFSET_OUT_OF_RANGE", any_error=True, may_miss=True)
        assert "no broker" not in str(fault)
        kafka.fail("OffsetCommit", "ILLEGAL_GENERATION", may_miss=True)
        kafka.fail("DescribeGroups", "OFFSET_OUT_OF_RANGE", may_miss=True)  # no table: not judged
        kafka.fail(None, "NOT_COORDINATOR", may_miss=True)


def test_an_injected_unknown_member_says_that_the_member_stays() -> None:
    """VAL-1 would have put it out before."""
    fault = from_plain({"action": "fail", "api": "Heartbeat", "error": "UNKNOWN_MEMBER_ID"})
    assert "the group keeps the member" in str(fault)
    assert "remove()" in str(fault)
    other = from_plain({"action": "fail", "api": "OffsetCommit", "error": "UNKNOWN_MEMBER_ID"})
    assert "remove()" not in str(other)


def test_any_error_is_plain_true_or_false() -> None:
    plain = {"action": "fail", "api": "Heartbeat", "error": "NOT_COORDINATOR", "any_error": True}
    assert to_plain(from_plain(plain)) == plain
    with pytest.raises(FaultError, match="any_error: 1; true or false"):
        from_plain(plain | {"any_error": 1})


def test_every_api_of_the_table_is_one_of_kafkas() -> None:
    assert ANSWERED.keys() <= set(API_KEYS.values())
    assert from_plain({"action": "observe", "api": "Fetch"}).improbable == ""
