"""How long the ready tests wait is what `patience_s` says, for faults that no request meets too."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from coordinator import Emulator
from coordinator.kit.ready_tests.disturbing import wait_hit
from coordinator.kit.ready_tests.under_test import ApplicationError, ApplicationUnderTest
from coordinator.members.effects import Position
from coordinator.members.live import PeerHandle


class Idle:
    """Asks for nothing."""

    topic, group = "orders", "billing"

    def start(self, bootstrap_servers: str) -> None:
        """Nothing is begun."""

    def stop(self) -> None:
        """Nothing runs."""

    kill = stop


def test_a_fault_that_nobody_meets_is_awaited_as_long_as_patience_says(kafka: Emulator) -> None:
    app = ApplicationUnderTest(kafka, Idle(), patience_s=0.25)
    try:
        refused = kafka.fail("OffsetCommit", "NOT_COORDINATOR", group="billing", may_miss=True)
        with pytest.raises(ApplicationError, match=r"it commits nothing: .* 0\.25 s"):
            wait_hit(app, refused, "it commits nothing")
    finally:
        app.close()


def test_a_peer_that_waits_for_an_application_which_ended_is_no_member_afterwards(
    kafka: Emulator,
) -> None:
    """A static member that ended does not leave: the rebalance waits for it, and so does the
    LeaveGroup of who joined, behind its JoinGroup."""
    app = ApplicationUnderTest(kafka, Idle())
    try:
        static = {"group.instance.id": "billing-1"}
        with app.group.peer(["orders"], config=static) as ended:
            ended.wait_stable()
            ended.crash()
        with app.peer():
            app.group.wait(members=2, state="PreparingRebalance")
        assert [member.instance_id for member in app.group.members] == ["billing-1"]
    finally:
        app.close()


class HasNone(ApplicationUnderTest):
    """All partitions are the peer's."""

    def members(self) -> list[Any]:
        return [SimpleNamespace(assignment=())]


class LosesOne(ApplicationUnderTest):
    """A second consumer of the application comes when records are written to its share, and
    partition 1 goes to the peer. Partition 0 is committed by `consumer`."""

    consumer: PeerHandle
    looks = 0

    def members(self) -> list[Any]:
        self.looks += 1
        places = (("orders", 0), ("orders", 1))
        return [SimpleNamespace(assignment=places if self.looks == 1 else places[:1])]

    def produce(self, count: int, value: bytes = b"record") -> None:
        super().produce(count, value)
        (place,) = (tp for tp in self.consumer.owned if tp.partition == 0)
        self.consumer.wait_commit({place: Position(self.ends()["orders", 0])})


def test_nothing_is_awaited_of_who_has_no_partition_but_of_who_has_no_member(
    kafka: Emulator,
) -> None:
    app, gone = HasNone(kafka, Idle()), ApplicationUnderTest(kafka, Idle(), patience_s=0.25)
    try:
        with app.group.peer(["orders"]) as peer:
            peer.wait_stable()
            app.produce_to_its_share(6)
            gone.peer_clients.add(peer.client_id)
            with pytest.raises(ApplicationError, match="did not commit what was written"):
                gone.produce_to_its_share(6)
    finally:
        app.close()
        gone.close()


def test_nothing_is_awaited_in_a_partition_that_went_to_a_peer(kafka: Emulator) -> None:
    app = LosesOne(kafka, Idle())
    config = {"enable.auto.commit": "false"}
    try:
        with app.group.peer(["orders"], config=config) as app.consumer:
            app.consumer.wait_stable()
            app.produce_to_its_share(6)
    finally:
        app.close()
