"""The ready tests for consumer applications: the example applications pass all of them, with each
client library."""

from __future__ import annotations

import os
from threading import Event
from typing import Any

import pytest

from coordinator import Emulator
from coordinator.kit.ready_tests.cases import ConsumerCases
from coordinator.kit.ready_tests.under_test import ApplicationUnderTest
from tests.testing.applications import INSTANCE_ID, LIBRARIES, application_class

PATIENCE_S = 120.0
"""For each thing that is awaited, on a busy machine."""
ROUNDS = int(os.environ.get("ROUNDS", "1"))
"""How often all of the cases are run with each library by `make fuzz`."""
CASES = [name for name in dir(ConsumerCases) if name.startswith("test_")]


def only(*names: str) -> dict[str, Any]:
    """A class body that leaves all other cases out."""
    assert set(names) <= set(CASES)
    return dict.fromkeys(set(CASES) - set(names))


class TestKafkaPython(ConsumerCases):
    patience_s = PATIENCE_S
    vars().update(
        only(
            "test_everything_is_processed_and_committed",
            "test_it_dies_without_leaving",
            "test_the_coordinator_moves_in_mid_rebalance",
            "test_it_is_too_slow",
            "test_its_listener_raises",
            "test_it_stops_in_the_middle_of_its_work",
        )
    )

    @pytest.fixture
    def kafka_app_under_test(self) -> Any:
        return application_class("kafka-python")()


class TestAiokafka(ConsumerCases):
    patience_s = PATIENCE_S
    vars().update(
        only(
            "test_another_member_comes_and_goes",
            "test_members_come_and_go_quickly",
            "test_a_rebalance_overtakes_a_commit",
            "test_a_record_fails_once",
            "test_a_record_can_never_be_processed",
        )
    )

    @pytest.fixture
    def kafka_app_under_test(self) -> Any:
        return application_class("aiokafka")()


class TestConfluent(ConsumerCases):
    patience_s = PATIENCE_S
    vars().update(
        only(
            "test_its_session_expires",
            "test_assignors_are_mixed",
            "test_brokers_restart_one_after_another",
            "test_commits_are_refused_for_good",
            "test_static_members_restart",
            "test_another_member_does_some_of_the_work",
        )
    )

    @pytest.fixture
    def kafka_app_under_test(self, request: pytest.FixtureRequest) -> Any:
        static = {"group.instance.id": "billing-1"} if "static" in request.node.name else {}
        return application_class("confluent-kafka")(settings=static)


@pytest.mark.thorough
class TestConsumerProtocol(ConsumerCases):
    """A group of the consumer protocol (KIP-848): members hear of changes with their heartbeats,
    every five seconds."""

    patience_s = PATIENCE_S

    @pytest.fixture
    def kafka_app_under_test(self) -> Any:
        return application_class("confluent-kafka")(settings={"group.protocol": "consumer"})


@pytest.mark.thorough
class TestAllOfThem(ConsumerCases):
    patience_s = PATIENCE_S

    @pytest.fixture(
        params=[
            pytest.param(library, id=f"{library}-{number}")
            for library in LIBRARIES
            for number in range(ROUNDS)
        ]
    )
    def kafka_app_under_test(self, request: pytest.FixtureRequest) -> Any:
        is_static = (
            "static" in request.node.name and request.param != "aiokafka"
        )  # a connection of its stays open after 1 of 40 restarts
        static = {INSTANCE_ID[request.param]: "billing-1"} if is_static else {}
        return application_class(request.param)(settings=static)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (object(), "has no method start"),
        (
            type("App", (), {"start": print, "stop": print, "kill": print, "group": "g"})(),
            "its attribute topic is to say a name",
        ),
    ],
)
def test_what_is_no_application_is_told_what_it_lacks(
    kafka: Emulator, given: object, said: str
) -> None:
    with pytest.raises(TypeError, match=said):
        ApplicationUnderTest(kafka, given)


@pytest.mark.parametrize("library", LIBRARIES)
def test_an_application_that_is_killed_in_the_middle_of_its_work_closes_its_consumer(
    kafka: Emulator,
    library: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In this process its connections and its member would stay. Its loop ends, and it is
    cancelled, before it can look at either."""
    working, killed = Event(), Event()

    def work(*record: object) -> None:
        working.set()
        assert killed.wait(PATIENCE_S)

    def resume_work() -> None:
        application.ending.set()
        killed.set()

    kafka.create_topic("orders", 1)
    kafka.produce("orders", ["a"])
    application = application_class(library)(work=work)
    monkeypatch.setattr(application, "resume_work", resume_work)
    application.start(kafka.bootstrap_servers)
    assert working.wait(PATIENCE_S)
    application.kill()
    group = kafka.group("billing")
    group.wait(members=0)
    group.verify().left_cleanly("billing")
