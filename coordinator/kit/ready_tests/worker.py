"""A worker of a share group (KIP-932) in the hands of a test: started, disturbed, and judged by what
it processed and acknowledged.

`my_worker` has `start(bootstrap_servers)`, `stop()` and `kill()`, the attributes `topic` and
`group`, and tells what it processed by a method `processed()`: (topic, partition, offset) of each
record in order. Without that what only it can tell is not judged. The group begins with the first
record of its topic.

Owns the disturbances; judging is `worker_findings`. It needs no pytest.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from coordinator.events.line import Line, lines_of

from ..in_process_requests import ControlError
from ..waiting import WaitTimeoutError
from . import worker_findings as findings
from .findings import ApplicationError, Finding
from .under_test import PATIENCE_S, check, forget_made_topics
from .worker_findings import Processed

if TYPE_CHECKING:
    from coordinator.members.live.sharing import SharePeerHandle

    from ..emulator.embedded import Emulator
    from ..shares.handle import ShareGroupHandle

PARTITIONS = 2
_SPEAKS = ("ShareFetch", "ShareAcknowledge", "ShareGroupHeartbeat")


class WorkerUnderTest:
    """One worker and the emulator that it works with. Raises TypeError for an object that is no
    worker; the error says what is missing. `patience_s`: seconds that the worker may take for
    anything that a test waits for."""

    def __init__(
        self,
        kafka: Emulator,
        worker: Any,
        *,
        partitions: int = PARTITIONS,
        patience_s: float = PATIENCE_S,
    ) -> None:
        check(worker, "worker")
        self.kafka = kafka
        self.worker = worker
        self.patience_s = patience_s
        self.running = False
        self._others: set[str] = set()
        self._noted: list[Finding] = []
        kafka.create_topic(worker.topic, partitions)
        self.share.configure({"share.auto.offset.reset": "earliest"})

    @property
    def share(self) -> ShareGroupHandle:
        """The worker's group."""
        return self.kafka.share_group(self.worker.group)

    def processed(self) -> list[Processed] | None:
        """Return the records that the worker processed, in order; None if it does not report
        them."""
        told = getattr(self.worker, "processed", None)
        return None if not callable(told) else [(of[0], of[1], of[2]) for of in told()]

    # -- what is done to it

    def start(self) -> None:
        """Start the worker and wait until it is in its group."""
        self.worker.start(self.kafka.bootstrap_servers)
        self.running = True
        self.wait_until(
            lambda: self.share.snapshot().members > 0, "the worker did not join its group"
        )

    def produce(self, count: int, value: bytes = b"record", partition: int | None = None) -> None:
        """Write records, to the partitions in turn or to one."""
        self.kafka.produce(self.worker.topic, [value] * count, partition=partition)

    def wait_holds(self) -> None:
        """Wait until it holds records."""
        self.wait_until(
            lambda: self.share.snapshot().acquired > 0, "the worker acquires no records"
        )

    def stop_and_leave(self) -> None:
        """Stop the worker in good order: it leaves, and releases what it has not processed."""
        mark, done = self.kafka.mark(), self.processed()
        self.running = False
        self.worker.stop()
        done = self.processed() if done is not None else None
        with suppress(WaitTimeoutError):
            self.share.wait(members=0, acquired=0, timeout=self.patience_s)
        seen = self.share.snapshot()
        if seen.members or seen.acquired:
            text = f"it was stopped, and did not close its consumer: {seen}"
            raise ApplicationError(
                [*self.findings(), Finding(findings.DOES_NOT_LEAVE, text)], str(seen)
            )
        self._noted += findings.of_stop(self._lines(mark), self._others, done)

    def kill(self) -> None:
        """End the worker as a process dies: its later requests have no effect, its sessions end,
        and its member is removed."""
        self.running = False
        members = self.kafka.group(self.worker.group).members
        with self._silenced({member.client_id for member in members}):
            self.worker.kill()
            self.end_sessions()
            for member in members:
                with suppress(ControlError, LookupError):
                    self.kafka.group(self.worker.group).remove(member.member_id, "its process died")

    def end_sessions(self) -> None:
        """End the share sessions of its members: records that they hold are released."""
        for member in self.kafka.group(self.worker.group).members:
            with suppress(ControlError, LookupError):
                self.share.end_session(member.member_id)

    @contextmanager
    def _silenced(self, clients: set[str]) -> Iterator[None]:
        faults = [
            self.kafka.disconnect(api, client_id=client, may_miss=True)
            for client in clients
            for api in _SPEAKS
        ]
        try:
            yield
        finally:
            for fault in faults:
                fault.remove()

    @contextmanager
    def another(self) -> Iterator[SharePeerHandle]:
        """Add, for the block, another, quick worker to the group."""
        with self.kafka.share_peer(self.worker.group, [self.worker.topic]) as peer:
            self._others.add(peer.member_id)
            yield peer

    # -- what is awaited

    def wait_until(self, condition: Callable[[], bool], what: str) -> None:
        """Wait for something. Raises ApplicationError."""
        until = time.monotonic() + self.patience_s
        while not condition():
            if time.monotonic() > until:
                text = f"{what} within {self.patience_s:g} s"
                found = [*self.findings(), Finding(findings.NO_RECOVERY, text)]
                raise ApplicationError(found, str(self.share.snapshot()))
            time.sleep(0.005)

    def wait_done(self) -> None:
        """Wait until every record is accepted or archived."""
        try:
            self.share.wait(lag=0, timeout=self.patience_s)
        except WaitTimeoutError as error:
            finding = Finding(findings.NO_RECOVERY, f"records are not finished: {error}")
            raise ApplicationError([*self.findings(), finding]) from None

    # -- what is wrong with it

    def findings(self) -> list[Finding]:
        """Return all findings so far, the most telling first."""
        error = getattr(self.worker, "error", None)
        ended = (
            [Finding(findings.ENDED, f"the worker ended by {type(error).__name__}: {error}")]
            if isinstance(error, BaseException)
            else []
        )
        seen = findings.of_processing(self._lines(0), self._others, self.processed())
        return [*ended, *seen, *self._noted]

    def verify(self) -> None:
        """Raise ApplicationError with all findings, if there are any."""
        if found := self.findings():
            raise ApplicationError(found, self.kafka.explain(self.worker.group))

    def _lines(self, since: int) -> list[Line]:
        return lines_of(self.kafka.events(group=self.worker.group, stream="share", since=since))

    def close(self) -> None:
        """Release everything; the case is over."""
        if self.running:
            self.running = False
            self.worker.stop()
        forget_made_topics(self.kafka, self.worker)
