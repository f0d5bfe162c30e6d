"""Ready tests for workers of share groups (KIP-932): what happens to every worker sooner or later, and
what must not happen to its records then.

    # test_packing.py
    import pytest
    from coordinator.testing.cases import WorkerCases

    @pytest.fixture
    def kafka_worker_under_test():
        return Packing()                  # start(bootstrap_servers), stop(), kill(), processed(); topic and group

    class TestPacking(WorkerCases):
        patience_s = 30

Every case ends with the same verdict (`coordinator.kit.ready_tests.worker_findings`): nothing is accepted
that was not processed, nothing is processed more often than it was given, no lock ends while the
worker is at work. Cases that need more of the worker than it has are skipped, and say what is
missing:

| attribute | what the case does with it |
|---|---|
| `hold_work()`, `resume_work()` | it stops in the middle of a record and sends nothing but heartbeats; it goes on |
| `poison` | the value of a record that can never be processed, and has to be passed by |
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import pytest

from ..emulator.embedded import Emulator
from .findings import Finding
from .lacking import need
from .under_test import PATIENCE_S, ApplicationError
from .worker import PARTITIONS, WorkerUnderTest
from .worker_findings import LOST

RECORDS = 40
"""Number of records that a case writes each time."""


class WorkerCases:
    """Ready tests for a worker of a share group. Derive a test class from this one and define a
    fixture `kafka_worker_under_test`. `patience_s`: seconds that the worker may take for
    anything that a case waits for. `partitions`: number of partitions of its topic."""

    patience_s: ClassVar[float] = PATIENCE_S
    partitions: ClassVar[int] = PARTITIONS

    @pytest.fixture
    def worker(self, kafka: Emulator, kafka_worker_under_test: Any) -> Iterator[WorkerUnderTest]:
        """The worker, not started yet. It is stopped when the case ends."""
        under_test = WorkerUnderTest(
            kafka,
            kafka_worker_under_test,
            partitions=self.partitions,
            patience_s=self.patience_s,
        )
        try:
            yield under_test
        finally:
            under_test.close()

    def test_everything_is_processed_and_accepted(self, worker: WorkerUnderTest) -> None:
        """Records come, many or few, and nothing else happens. Then the worker stops, and later
        goes on where it stopped."""
        worker.produce(7, partition=0)
        worker.start()
        for count in (RECORDS, 1, RECORDS):
            worker.produce(count)
            worker.wait_done()
        worker.stop_and_leave()
        worker.produce(RECORDS)
        worker.start()
        worker.wait_done()
        worker.verify()

    def test_it_dies_with_records_in_hand(self, worker: WorkerUnderTest) -> None:
        """The worker dies while it holds records. They come again; records that it had accepted
        do not, and were processed."""
        need(worker.worker, "hold_work", "resume_work")
        worker.start()
        worker.produce(RECORDS)
        worker.wait_done()
        worker.worker.hold_work()
        worker.produce(RECORDS)
        worker.wait_holds()
        worker.kill()
        worker.worker.resume_work()
        worker.start()
        worker.wait_done()
        worker.verify()

    def test_it_is_slower_than_its_lock(self, worker: WorkerUnderTest) -> None:
        """The locks of the worker's records end while it is at work, and another worker acquires
        the records. Its acknowledgement comes too late and is refused. It goes on with later
        records."""
        need(worker.worker, "hold_work", "resume_work")
        worker.start()
        worker.worker.hold_work()
        worker.produce(RECORDS)
        worker.wait_holds()
        worker.share.expire_locks()
        with worker.another() as other:
            worker.wait_until(
                lambda: bool(other.done), "the records were not delivered to another member"
            )
            worker.worker.resume_work()
            worker.wait_done()
        worker.produce(RECORDS)
        worker.wait_done()
        worker.verify()

    def test_an_acknowledgement_gets_lost(self, worker: WorkerUnderTest) -> None:
        """The worker's acknowledgement is stored, but the connection is cut instead of an
        answer. It goes on, and the record does not come again."""
        worker.start()
        worker.produce(RECORDS)
        worker.wait_done()
        offset = worker.kafka.end_offsets(worker.worker.topic)[0]
        lost = worker.kafka.disconnect(
            None, after=True, topic=worker.worker.topic, partition=0, offset=offset, times=1
        )
        worker.produce(RECORDS, partition=0)
        worker.wait_until(lambda: lost.hits > 0, "the worker acknowledges nothing")
        worker.produce(RECORDS)
        worker.wait_done()
        worker.verify()
        worker.share.verify().done_stays_done()

    def test_its_session_ends(self, worker: WorkerUnderTest) -> None:
        """The worker's share session is gone, as after a broker's restart, so acknowledgements
        of records that it fetched before are refused. The records come again, and it processes
        them again."""
        need(worker.worker, "hold_work", "resume_work")
        worker.start()
        worker.produce(RECORDS)
        worker.wait_done()
        worker.worker.hold_work()
        worker.produce(RECORDS)
        worker.wait_holds()
        worker.end_sessions()
        worker.worker.resume_work()
        worker.produce(RECORDS)
        worker.wait_done()
        worker.verify()

    def test_a_record_can_never_be_processed(self, worker: WorkerUnderTest) -> None:
        """A poison record is rejected, or archived after its last delivery, and the records
        behind it are processed."""
        need(worker.worker, "poison")
        worker.start()
        worker.produce(RECORDS)
        offset = worker.kafka.end_offsets(worker.worker.topic)[0]
        worker.produce(1, worker.worker.poison, partition=0)
        worker.produce(RECORDS)
        worker.wait_done()
        worker.verify()
        if not worker.share.snapshot().archived:
            text = "accepted, and can never be processed: reject it, or release it until the delivery limit is reached"
            raise ApplicationError([Finding(LOST, f"{worker.worker.topic}-0@{offset} {text}")])

    def test_a_deployment_while_it_is_busy(self, worker: WorkerUnderTest) -> None:
        """The worker is stopped in good order while records wait. Records that it has processed
        by then are accepted, the others are released, and the next worker goes on with them."""
        worker.start()
        for _ in range(2):
            before = len(worker.processed() or ())
            worker.produce(RECORDS)
            if worker.processed() is not None:
                worker.wait_until(
                    lambda before=before: len(worker.processed() or ()) > before,  # type: ignore[misc]
                    "the worker processed nothing",
                )
            worker.stop_and_leave()
            worker.start()
        worker.wait_done()
        worker.verify()
