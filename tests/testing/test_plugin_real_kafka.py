"""`--kafka=real` of the pytest plugin. An emulator stands in for the container, and is asked over
its socket."""

from __future__ import annotations

import pytest

from tests.inner_pytest import QUIET

pytest_plugins = ["pytester"]

_STANDS_IN = """
    import coordinator.testing.containers as containers
    from coordinator import Emulator

    class StandsIn(Emulator):
        def __init__(self, config=None, brokers=1):
            print(f"broker with {config}")
            super().__init__(config=config, brokers=brokers)

    containers.RealKafka = StandsIn
"""


def test_tests_without_verbs_run_and_others_are_skipped_with_the_reason(
    pytester: pytest.Pytester,
) -> None:
    pytester.makeconftest(_STANDS_IN)
    pytester.makepyfile("""
        import pytest
        from coordinator.kit.in_process_requests import ControlError

        def test_topics_and_records(kafka):
            kafka.create_topic("orders", 3, config={"max.message.bytes": 1000})
            written = kafka.produce("orders", ["a", "b", "c", "d"], headers={"h": "v"})
            assert [(row.partition, row.offset) for row in written] == [(0, 0), (1, 0), (2, 0), (0, 1)]
            assert {row.partition for row in kafka.produce("orders", ["x"] * 2, keys=["same"] * 2)} <= {0, 1, 2}
            with pytest.raises(ControlError, match="already exists"):
                kafka.create_topic("orders")
            with pytest.raises(ControlError, match="has no partition 9: it has 0 to 2"):
                kafka.produce("orders", ["a"], partition=9)
            with pytest.raises(ControlError, match="there is no topic 'other'; there are: orders"):
                kafka.produce("other", ["a"])

        @pytest.mark.kafka(topics={"more": 2})
        def test_clean_again(kafka):
            assert kafka.topics() == {"more": 2}

        @pytest.mark.kafka(config={"group.max.size": 3})
        def test_its_own_settings(kafka):
            assert kafka.topics() == {}

        def test_verbs(kafka):
            kafka.fail("Fetch", "NOT_LEADER_OR_FOLLOWER")

        @pytest.mark.kafka(brokers=2)
        def test_two(kafka):
            raise AssertionError("not reached")

        def test_factory(kafka_factory):
            kafka_factory()

        @pytest.mark.asyncio
        async def test_asynchronous(akafka):
            akafka.create_topic("orders", 1)
            await akafka.group("g").wait(members=1)
    """)
    result = pytester.runpytest_subprocess(
        *QUIET,
        "-rs",
        "-s",
        "--kafka=real",
        timeout=120,
    )
    result.assert_outcomes(passed=3, skipped=4)
    result.stdout.fnmatch_lines_random(
        [
            "*broker with None*",
            "*broker with {'group.max.size': 3}*",
            "*kafka.fail is the emulator's own: --kafka=real runs tests of applications that use none of its verbs*",
            "*brokers=2: with --kafka=real there are 1 or 3*",
            "*kafka_factory starts the emulator: --kafka=real runs tests of the fixtures kafka and akafka*",
            "*kafka.group is the emulator's own*",
        ]
    )


def test_a_leader_that_has_not_learned_of_its_partition_is_asked_again(
    pytester: pytest.Pytester,
) -> None:
    """A real broker shows a leader in its metadata some milliseconds before that leader takes
    records."""
    pytester.makeconftest(_STANDS_IN)
    pytester.makepyfile("""
        def test_produce(kafka):
            kafka.create_topic("orders", 1)
            emulator = kafka._kafka
            for error in ("NOT_LEADER_OR_FOLLOWER", "UNKNOWN_TOPIC_OR_PARTITION"):
                refused = emulator.fail("Produce", error, topic="orders", times=2)
                kafka.produce("orders", ["a"])
                assert refused.hits == 2
            assert emulator.end_offsets("orders") == {0: 2}
    """)
    pytester.runpytest_subprocess(*QUIET, "--kafka=real").assert_outcomes(passed=1)
