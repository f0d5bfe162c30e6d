"""`explain` of a group that its clients were never let into."""

from __future__ import annotations

import pytest

from coordinator import Emulator
from coordinator.kit.in_process_requests import ControlError


def test_a_group_that_was_only_refused_is_explained() -> None:
    rights = ["User:b may Read topic orders"]
    with Emulator(
        {"orders": 1}, security="SASL_PLAINTEXT", users={"b": "s"}, acls=rights, remember=1_000
    ) as kafka:
        mark = kafka.mark()
        with kafka.peer("billing", ["orders"], user="b", keep_going=True):
            kafka.wait_for("AuthorizationRefused", group="billing", since=mark)
        assert "no ACL allows User:b Describe on group billing" in kafka.explain("billing")
        assert kafka.timeline("billing")["groups"] == []
        with pytest.raises(ControlError, match="nothing has happened to a group 'biling'"):
            kafka.explain("biling")


def test_a_group_whose_clients_met_faults_alone_is_explained() -> None:
    with Emulator({"orders": 1}, remember=1_000) as kafka:
        refused = kafka.fail("JoinGroup", "GROUP_AUTHORIZATION_FAILED", group="billing")
        kafka.peer("billing", ["orders"])
        refused.wait_hit()
        text = kafka.explain("billing")
    assert "group billing: 1 JoinGroup request of client consumer-billing-1 met an injected" in text
    assert "GROUP_AUTHORIZATION_FAILED" in text
