"""Ready tests of applications with short sessions: what the kit keeps waiting does not cost a member
its place, and what it causes is not charged to the application."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("kafka")
pytest.importorskip("confluent_kafka")

from coordinator import Emulator
from coordinator.core.shards.by_hand import session_ends
from coordinator.kit.ready_tests.cases import ConsumerCases
from coordinator.kit.ready_tests.disturbing import verify_restart
from coordinator.kit.ready_tests.sessions import held_at_most_s
from coordinator.kit.ready_tests.under_test import ApplicationUnderTest
from coordinator.kit.ready_tests.withheld_news import news_withheld
from tests.testing import small_applications as small
from tests.testing.applications import INSTANCE_ID, application_class

PATIENCE_S = 120.0
SESSION_S = (1, 2, 6, 45)
CASES = (
    "test_another_member_comes_and_goes",
    "test_another_member_gets_what_waits",
    "test_its_session_expires",
    "test_commits_are_refused_for_good",
)
QUICK = {(CASES[0], 1), (CASES[1], 2), (CASES[3], 1)}


def of_session(session_s: float, between: str) -> dict[str, Any]:
    """The settings of a session, by a library's way to write them."""
    interval_ms = min(round(session_s * 1000 / 3), 3000)
    wanted = {"session timeout ms": round(session_s * 1000), "heartbeat interval ms": interval_ms}
    return {name.replace(" ", between): value for name, value in wanted.items()}


def play(kafka: Emulator, application: Any, case: str) -> ApplicationUnderTest:
    under_test = ApplicationUnderTest(kafka, application, patience_s=PATIENCE_S)
    try:
        getattr(ConsumerCases(), case)(under_test)
    finally:
        under_test.close()
    return under_test


@pytest.mark.parametrize(
    ("case", "session_s"),
    [
        pytest.param(case, each, marks=() if (case, each) in QUICK else pytest.mark.thorough)
        for case in CASES
        for each in SESSION_S
    ],
)
def test_a_right_application_passes_whatever_its_session(
    kafka: Emulator, case: str, session_s: float
) -> None:
    play(kafka, small.CommitsEveryTurn(of_session(session_s, "_")), case)


@pytest.mark.thorough
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("library", INSTANCE_ID)
@pytest.mark.parametrize("session_s", SESSION_S)
def test_with_each_library(kafka: Emulator, library: str, case: str, session_s: float) -> None:
    settings = of_session(session_s, "." if library == "confluent-kafka" else "_")
    play(kafka, application_class(library)(settings=settings), case)


def test_a_slow_restart_within_a_short_session_is_no_rebalance(kafka: Emulator) -> None:
    class Slow(application_class("kafka-python")):  # type: ignore[misc]
        starts = 0

        def start(self, bootstrap_servers: str) -> None:
            self.starts += 1
            if self.starts == 2:  # its process takes longer to start than its session lasts
                kafka.advance(seconds=3, silent=["billing"], grace=0)
            super().start(bootstrap_servers)

    settings = {**of_session(1, "_"), "group_instance_id": "billing-1"}
    play(kafka, Slow(settings=settings), "test_static_members_restart")


def test_a_rebalance_that_a_member_asks_for_when_it_is_back_is_none_of_its_restart(
    kafka: Emulator,
) -> None:
    app = ApplicationUnderTest(kafka, small.Static())
    static = {"group.instance.id": "billing-1"}
    with app.group.peer(["orders"], config=static) as before:
        before.wait_stable()
        mark = kafka.mark()
        before.crash()
    with app.group.peer(["orders"], config=static) as back:
        number = back.wait_stable().generation
        verify_restart(app, since=mark)
        back.rebalance()
        number = back.wait_stable(after_generation=number).generation
        assert kafka.events("RebalanceStarted", since=mark)
        verify_restart(app, since=mark)
        app.group.rebalance("somebody else wants it")
        back.wait_stable(after_generation=number)
        with pytest.raises(AssertionError, match="somebody else wants it"):
            verify_restart(app, since=mark)
    app.close()


def lives_on_unheard(kafka: Emulator, mark: int) -> None:
    """Wait until heartbeats of the application have been answered without the news since this mark,
    and see that they put off the end of its session."""
    member = kafka.group("billing").member("billing")

    def ends() -> int | None:
        shard = kafka.coordinator.shard_of("billing")
        assert shard is not None
        return session_ends(shard, "billing", member.member_id)

    kafka.wait_for("FaultInjected", since=mark, action="withhold", timeout=PATIENCE_S)
    before = kafka.run(ends)
    kafka.wait_for(
        "FaultInjected", since=kafka.mark(), count=2, action="withhold", timeout=PATIENCE_S
    )
    assert before is not None
    assert (kafka.run(ends) or 0) > before


class TestWithheldNews:
    """Sessions of 45 s, which a busy machine keeps; that they go on is seen by their ends."""

    def test_a_member_hears_nothing_and_lives_on(self, kafka: Emulator) -> None:
        application = small.KafkaPython()  # commits nothing meanwhile, which would count, too
        application.settings = {"session_timeout_ms": 45_000}
        app = ApplicationUnderTest(kafka, application, patience_s=PATIENCE_S)
        try:
            app.start()
            mark = kafka.mark()
            with news_withheld(app) as news, app.peer():
                app.group.wait(members=2, state="PreparingRebalance")
                lives_on_unheard(kafka, mark)
                assert len(app.members()) == 1
                told = kafka.events("RequestRefused", since=mark, group="billing")
                assert not [line for line in told if "REBALANCE_IN_PROGRESS" in line["errors"]]
                app.produce(6)
                app.wait_reached(
                    {("orders", 0): 1}, "a record"
                )  # whatever else it asks is answered
                news.end()
            app.wait_alone()
            assert not kafka.events("MemberRemoved", since=mark, reason="session expired")
            assert "a ready test withholds the news of a rebalance" in kafka.explain("billing")
            app.verify()
        finally:
            app.close()

    @pytest.mark.kafka(config={"group.consumer.heartbeat.interval.ms": 100})
    def test_a_member_of_a_consumer_group_hears_nothing_and_lives_on(self, kafka: Emulator) -> None:
        application = application_class("confluent-kafka")(
            settings={"group.protocol": "consumer", "statistics.interval.ms": 50}
        )
        app = ApplicationUnderTest(kafka, application, patience_s=PATIENCE_S)
        try:
            app.start()
            (before,) = app.members()
            mark = kafka.mark()
            with news_withheld(app) as news, app.peer():
                app.group.wait(members=2)
                lives_on_unheard(kafka, mark)
                (member,) = app.members()
                assert (member.epoch, member.assignment) == (before.epoch, before.assignment)
                news.end()
                app.wait_shared()
            app.wait_alone()
            removed = kafka.events("ConsumerMemberRemoved", since=mark)
            assert [line["reason"] for line in removed] == ["left"]  # the peer
            app.verify()
        finally:
            app.close()

    def test_a_request_waits_for_a_part_of_a_session_at_most(self, kafka: Emulator) -> None:
        app = ApplicationUnderTest(
            kafka, small.CommitsEveryTurn(of_session(20, "_")), patience_s=PATIENCE_S
        )
        try:
            assert held_at_most_s(app, 10.0) == 10.0  # nobody is there
            app.start()
            assert held_at_most_s(app, 10.0) == 5.0
            assert held_at_most_s(app, 0.1) == 0.1
        finally:
            app.close()
