"""What a run with ready tests says at its end: what to add to an application to run the cases that
were skipped; and nothing about topics that the application itself names."""

from __future__ import annotations

import pytest

from coordinator.kit.ready_tests.lacking import Lack, table
from tests.inner_pytest import PLAIN

pytest_plugins = ["pytester"]

_SUITE = """
    import pytest
    from coordinator.testing.cases import ConsumerCases, WorkerCases

    class Small:
        topic, group, keeps_offsets = "orders", "billing", False

        def start(self, bootstrap_servers): ...
        def stop(self): ...
        def kill(self): ...

    class Other(Small):
        def hold_work(self): ...

    @pytest.fixture
    def kafka_worker_under_test():
        return Small()

    class TestWorker(WorkerCases): ...

    class TestConsumer(ConsumerCases):
        @pytest.fixture(params=[Small, Other])
        def kafka_app_under_test(self, request):
            return request.param()
"""
_SKIPPED = "slow or listener or never or once or later or fenced or middle or hand or session_ends"


@pytest.mark.parametrize("processes", [["-p", "no:xdist"], ["-n", "2"]], ids=["one", "several"])
def test_skipped_cases_stand_in_one_table(pytester: pytest.Pytester, processes: list[str]) -> None:
    pytester.makepyfile(_SUITE)
    result = pytester.runpytest_subprocess(*PLAIN, "-q", "-k", _SKIPPED, *processes, timeout=120)
    shown = result.stdout.str()
    assert result.ret == 0, shown
    first, _, rest = shown.partition("add to Small")
    assert "ready tests that were skipped for want of something" in first
    small, _, other = rest.partition("add to Other")
    assert small, shown
    assert "hold_work(), resume_work()" in small
    assert small.index("test_it_dies_with_records_in_hand") < small.index("test_it_is_too_slow")
    assert small.index("flaky") < small.index("transactional_id"), "not every one needs that"
    rows = {
        line.split("  ")[0]: line.split()[-1] for line in other.splitlines() if line[:1].strip()
    }
    assert rows["resume_work()"] == "test_it_is_too_slow"
    assert rows["fail_listener()"] == "test_its_listener_raises"
    assert rows["processed() or output_topic"] == "test_it_stops_in_the_middle_of_its_work"
    assert (
        rows["transactional_id, output_topic (if it works in transactions)"]
        == "test_its_transaction_is_fenced_midway"
    )
    assert "docs/testing_ready.md says what each of them is for." in other


def test_a_run_without_such_skips_has_no_table(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        import pytest

        def test_it():
            pytest.skip("for another reason")
    """)
    result = pytester.runpytest_subprocess(*PLAIN, "-p", "no:xdist", timeout=60)
    result.assert_outcomes(skipped=1)
    result.stdout.no_fnmatch_line("*for want of*")


def test_each_set_of_attributes_is_one_row() -> None:
    assert table([]) == []
    lacks = [
        Lack("Billing", ("hold_work", "resume_work"), "test_one"),
        Lack("Billing", ("poison",), "test_two"),
        Lack("Billing", ("hold_work", "resume_work"), "test_three"),
        Lack("Billing", ("hold_work", "resume_work"), "test_one"),
    ]
    assert table(lacks) == [
        "add to Billing              to run",
        "hold_work(), resume_work()  test_one",
        "                            test_three",
        "poison                      test_two",
    ]


def test_topics_that_the_application_names_are_not_taken_for_misspelt(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile("""
        from contextlib import closing

        import pytest
        from coordinator.testing.under_test import ApplicationUnderTest
        from coordinator.kit.ready_tests.worker import WorkerUnderTest

        class Application:
            topic, group, output_topic, new_topic = "orders", "billing", "invoices", "offers"

            def start(self, bootstrap_servers): ...
            def stop(self): ...
            def kill(self): ...

        @pytest.mark.parametrize("kind", [ApplicationUnderTest, WorkerUnderTest])
        def test_it(kafka, kind):
            with (
                closing(kind(kafka, Application())),
                kafka.peer("others", ["orders", "invoices", "offers", "invioces"]) as peer,
            ):
                peer.wait_stable(members=1)
                kafka.group("others").wait(assigned="all")
    """)
    result = pytester.runpytest_subprocess(*PLAIN, "-p", "no:xdist", timeout=120)
    result.assert_outcomes(passed=2, warnings=2)
    result.stdout.fnmatch_lines(["*AutoCreatedTopicWarning: topic 'invioces' was made*"])
    for name in ("invoices", "offers"):
        result.stdout.no_fnmatch_line(f"*topic '{name}' was made*")
