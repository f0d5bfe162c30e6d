"""Ready tests of workers of share groups: one without a mistake passes them all, and each mistake is
found and named first."""

from __future__ import annotations

import re
from typing import Any

import pytest

pytest.importorskip("confluent_kafka", minversion="2.15")

from coordinator import Emulator
from coordinator.kit.ready_tests import worker_findings as f
from coordinator.kit.ready_tests.findings import ApplicationError
from coordinator.kit.ready_tests.worker import WorkerUnderTest
from coordinator.testing.cases import WorkerCases
from tests.testing import share_workers as workers

CONFIG = {
    "group.share.heartbeat.interval.ms": 100,
    "group.share.assignment.interval.ms": 0,
    "group.share.record.lock.duration.ms": 60_000,  # as long as can be: a busy machine is no slow worker
}
pytestmark = [pytest.mark.kafka(config=CONFIG), pytest.mark.unmeasured]


@pytest.fixture
def kafka_worker_under_test() -> workers.Packing:
    return workers.Packing()


class TestPacking(WorkerCases):
    """A worker without a mistake."""

    patience_s = 120


DIES, DEPLOYED, POISONED = (
    "test_it_dies_with_records_in_hand",
    "test_a_deployment_while_it_is_busy",
    "test_a_record_can_never_be_processed",
)
EVERYTHING = "test_everything_is_processed_and_accepted"


class Watched(WorkerUnderTest):
    """Goes on when the worker has made its mistake. What never comes then is awaited for a
    moment."""

    def wait_done(self) -> None:
        if isinstance(self.worker, workers.FailsOnPoison):
            self.worker.thread.join(self.patience_s)
        if isinstance(self.worker, workers.FailsOnPoison | workers.StandsStill):
            self.patience_s = 1.0
        super().wait_done()

    def stop_and_leave(self) -> None:
        if isinstance(self.worker, workers.DoesNotClose):
            self.patience_s = 1.0
        super().stop_and_leave()

    def wait_holds(self) -> None:
        # it is ended when it has accepted, not while its word is on its way
        if isinstance(self.worker, workers.AcceptsFirst):
            assert self.worker.accepted.wait(self.patience_s)
        else:
            super().wait_holds()


@pytest.mark.parametrize(
    ("kind", "case", "name"),
    [
        (workers.AcceptsFirst, DIES, f.LOST),
        (workers.WorksTwice, EVERYTHING, f.TOO_OFTEN),
        (workers.IsTooSlow, EVERYTHING, f.SLOW),
        (workers.ForgetsItsLastWords, DEPLOYED, f.UNACKNOWLEDGED),
        (workers.DoesNotClose, DEPLOYED, f.DOES_NOT_LEAVE),
        (workers.FailsOnPoison, POISONED, f.ENDED),
        (workers.AcceptsPoison, POISONED, f.LOST),
        (workers.StandsStill, EVERYTHING, f.NO_RECOVERY),
    ],
)
def test_a_mistake_is_named(kind: type[workers.Packing], case: str, name: str) -> None:
    locks = {"group.share.record.lock.duration.ms": 1_000} if kind is workers.IsTooSlow else {}
    with Emulator(config={**CONFIG, **locks}, remember=100_000) as kafka:
        worker = Watched(kafka, kind(), patience_s=60)
        try:
            with pytest.raises(ApplicationError) as caught:
                getattr(WorkerCases(), case)(worker)
        finally:
            worker.close()
            if isinstance(worker.worker, workers.DoesNotClose):
                worker.worker.left.close()
        assert caught.value.findings[0].name == name, caught.value


def test_every_name_is_described_and_has_its_worker() -> None:
    described = re.findall(r"^\| ([a-z ]+) \|", f.__doc__ or "", re.MULTILINE)
    names = {
        f.LOST,
        f.TOO_OFTEN,
        f.SLOW,
        f.UNACKNOWLEDGED,
        f.DOES_NOT_LEAVE,
        f.ENDED,
        f.NO_RECOVERY,
    }
    assert set(described) - {"name"} == names


@pytest.mark.parametrize(
    ("lacks", "told"),
    [("kill", "has no method kill()"), ("group", "its attribute group is to say a name")],
)
def test_what_is_no_worker(kafka: Emulator, lacks: str, told: str) -> None:
    has: dict[str, Any] = {
        "start": lambda self, servers: None,
        "stop": lambda self: None,
        "kill": lambda self: None,
        "topic": "jobs",
        "group": "packing",
    }
    del has[lacks]
    with pytest.raises(TypeError, match=re.escape(told)):
        WorkerUnderTest(kafka, type("Odd", (), has)())


class Small:
    """A worker that tells nothing, and lacks what some cases need."""

    topic, group = "jobs", "packing"

    def __init__(self) -> None:
        self.inner = workers.Packing()

    def start(self, bootstrap_servers: str) -> None:
        self.inner.start(bootstrap_servers)

    def stop(self) -> None:
        self.inner.stop()

    def kill(self) -> None:
        self.inner.kill()


def test_a_worker_that_tells_nothing_is_judged_by_what_it_acknowledges(kafka: Emulator) -> None:
    worker = WorkerUnderTest(kafka, Small(), patience_s=60)
    assert worker.processed() is None
    WorkerCases().test_a_deployment_while_it_is_busy(worker)
    with pytest.raises(pytest.skip.Exception, match="Small has no hold_work and no resume_work"):
        WorkerCases().test_it_dies_with_records_in_hand(worker)
    worker.close()
