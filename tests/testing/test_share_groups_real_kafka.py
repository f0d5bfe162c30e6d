"""Share groups under `--kafka=real` (KIP-932): views, waits and configurations that a broker has; words
about single records skip. An emulator stands in for the container, and is asked over its socket."""

from __future__ import annotations

import pytest

from coordinator import Emulator
from coordinator.kit.admin import Admin
from coordinator.kit.in_process_requests import ControlError
from coordinator.kit.waiting import WaitTimeoutError
from coordinator.kit.waits.expectations import ExpectationError
from coordinator.testing.on_real_kafka import RealBroker
from tests.inner_pytest import QUIET

pytest_plugins = ["pytester"]

SETTINGS = {"group.share.heartbeat.interval.ms": 100, "group.share.assignment.interval.ms": 0}


def test_a_group_is_configured_awaited_and_seen() -> None:
    with Emulator(config=SETTINGS) as emulator:
        kafka = RealBroker(emulator)  # type: ignore[arg-type]
        kafka.create_topic("jobs", 2)
        share = kafka.share_group("workers")
        assert share.snapshot()[1:] == ("Dead", 0, None, {})
        share.configure({"share.auto.offset.reset": "earliest"})
        kafka.produce("jobs", ["a", "b", "c"])
        with emulator.share_peer("workers", ["jobs"]):
            seen = share.wait(members=1, state="Stable", lag=0)
            assert seen.starts.keys() == {"jobs-0", "jobs-1"}
        assert share.wait(members=0).group_state == "Empty"
        kafka.clear()
        assert share.wait(state="Dead").members == 0
        admin = Admin([("127.0.0.1", int(emulator.bootstrap_servers.rpartition(":")[2]))])
        with admin:
            assert admin.configs(32, "workers", ["share.auto.offset.reset"]) in (
                {},
                {"share.auto.offset.reset": "latest"},
            )
        kafka.close()


def test_what_cannot_be_is_told() -> None:
    with Emulator(config=SETTINGS) as emulator:
        kafka = RealBroker(emulator)  # type: ignore[arg-type]
        share = kafka.share_group("workers")
        with pytest.raises(ControlError, match=r"cannot be configured so: .*share\.no\.such"):
            share.configure({"share.no.such": 1})
        with pytest.raises(WaitTimeoutError, match="its lag is not known yet"):
            share.wait(lag=0, timeout=0.3)
        with pytest.raises(ExpectationError, match="Give state, members or lag"):
            share.wait()
        with pytest.raises(pytest.skip.Exception, match=r"share_group.wait\(acquired=...\) is"):
            share.wait(acquired=1)
        emulator.create_topic("orders", 1)
        with emulator.peer("classic", ["orders"]) as peer:
            peer.wait_stable()
            assert kafka.share_group("classic").snapshot().group_state == "Dead"
        kafka.close()


def test_the_fixtures_have_them_and_words_about_records_skip(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("""
        import coordinator.testing.containers as containers
        from coordinator import Emulator

        class StandsIn(Emulator):
            def __init__(self, config=None, brokers=1):
                super().__init__(config=config, brokers=brokers)

        containers.RealKafka = StandsIn
    """)
    pytester.makepyfile("""
        import pytest

        def test_seen(kafka):
            kafka.share_group("workers").configure({"share.auto.offset.reset": "earliest"})
            assert kafka.share_group("workers").wait(state="Dead", timeout=60).members == 0

        @pytest.mark.asyncio
        async def test_asynchronous(akafka):
            assert (await akafka.share_group("workers").wait(members=0)).group_state == "Dead"

        def test_a_record(kafka):
            kafka.share_group("workers").record("jobs", 0, 0)

        @pytest.mark.asyncio
        async def test_locks(akafka):
            akafka.share_group("workers").expire_locks()
    """)
    result = pytester.runpytest_subprocess(*QUIET, "-rs", "--kafka=real", timeout=120)
    result.assert_outcomes(passed=2, skipped=2)
    result.stdout.fnmatch_lines_random(
        [
            "*share_group.record is the emulator's own: a broker tells*",
            "*share_group.expire_locks is the emulator's own: a broker tells*",
        ]
    )
