"""A share group (KIP-932) of a real Kafka as a test holds it: the answers of
DescribeShareGroupOffsets and ShareGroupDescribe, waits for them, and the group's configuration.

A broker tells nothing about single records, so methods about them skip the test and name
themselves. It must not know where the broker runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from threading import Event, Thread
from typing import Any, Final, NamedTuple

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.kit import arguments
from coordinator.kit.admin import Admin, AdminError
from coordinator.kit.in_process_requests import ControlError
from coordinator.kit.shares.handle import setting_text
from coordinator.kit.thread_calls import DEFAULT_TIMEOUT_S
from coordinator.kit.views.share_records import ShareSnapshot
from coordinator.kit.waiting import WaitTimeoutError, not_in_time
from coordinator.kit.waits.expectations import ExpectationError
from coordinator.kit.waits.share_expectations import ShareExpectation
from coordinator.wire.messages.find_coordinator import FindCoordinatorRequest
from coordinator.wire.messages.share_group_describe import ShareGroupDescribeRequest
from coordinator.wire.messages.share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
)

GROUP: Final = 32
_OF_RECORDS: Final = ("available", "acquired", "acknowledged", "archived", "delivery_count")
_LOOKS_S: Final = 0.1
_WITHIN_S: Final = 30.0
_NOT_YET: Final = frozenset(
    {
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
    }
)
"""A cluster's errors while a coordinator moves, or before there is one."""


class RealShareSnapshot(NamedTuple):
    """A share group as a broker reports it. `starts`: the start offset of each share partition,
    by "topic-partition"; `lag`: number of records up to the end that are not yet acknowledged or
    archived, None while that of a partition is not known."""

    group_id: str
    group_state: str
    members: int
    lag: int | None
    starts: Mapping[str, int]

    def __str__(self) -> str:
        return (
            f"share group {self.group_id!r} is {self.group_state} with {self.members} "
            f"member{'' if self.members == 1 else 's'}, {self.lag} records behind"
        )


class RealShareGroup:
    """One share group of a real Kafka; it need not exist. `admin` opens connections of its own."""

    def __init__(
        self, group_id: str, admin: Callable[[], Admin], configured: Callable[[str, str], None]
    ) -> None:
        self.group_id = group_id
        self._admin = admin
        self._configured = configured

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        _skip(name)

    def snapshot(self) -> RealShareSnapshot:
        """Return the group's state, number of members, and progress. Raises ControlError."""
        with self._admin() as admin:
            return self._seen(admin)

    def configure(self, settings: Mapping[str, object]) -> None:
        """Set configurations of the group, such as share.auto.offset.reset; they are deleted
        after the test. Raises ControlError with Kafka's message for one that it refuses."""
        arguments.mapping("settings", settings, '{"share.auto.offset.reset": "earliest"}')
        values = {name: setting_text(value) for name, value in settings.items()}
        with self._admin() as admin:
            try:
                admin.set_configs(GROUP, self.group_id, values)
            except AdminError as error:
                raise ControlError(
                    f"share group {self.group_id!r} cannot be configured so: {error}"
                ) from None
        for name in values:
            self._configured(self.group_id, name)

    def wait(
        self,
        *,
        state: str | None = None,
        members: int | None = None,
        lag: int | None = None,
        timeout: float = DEFAULT_TIMEOUT_S,
        **of_records: Any,
    ) -> RealShareSnapshot:
        """Wait until all that is given holds at once; return the snapshot in which it does. See
        `ShareGroupHandle.wait`; expectations about records skip the test."""
        arguments.seconds("timeout", timeout)
        expectation = ShareExpectation(state=state, members=members, lag=lag, **of_records)
        future = self.begin_wait(expectation)
        try:
            seen: RealShareSnapshot = future.result(timeout)
        except FutureTimeoutError:
            raise self.timed_out(expectation, future, timeout) from None
        return seen

    def begin_wait(self, expectation: ShareExpectation) -> Future[Any]:
        """Begin to wait on a separate thread; the future receives the snapshot in which the
        expectation holds."""
        for name in _OF_RECORDS:
            if getattr(expectation, name) is not None:
                _skip(f"wait({name}=...)")
        if expectation.is_empty:
            raise ExpectationError("wait for what? Give state, members or lag")
        future: Future[Any] = Future()
        ended = Event()
        future.add_done_callback(lambda done: ended.set())
        Thread(target=self._look, args=(expectation, future, ended), daemon=True).start()
        return future

    def timed_out(
        self, expectation: ShareExpectation, future: Future[Any], timeout: float
    ) -> WaitTimeoutError:
        """Return the error for a wait whose timeout has passed."""
        future.cancel()
        seen = self.snapshot()
        missing = "; ".join(_unmet(expectation, seen)) or "it has now"
        return not_in_time(
            f"share group {self.group_id!r} did not reach {expectation} within {timeout:g} s: {missing}.\nSeen: {seen}."
        )

    def _look(self, expectation: ShareExpectation, future: Future[Any], ended: Event) -> None:
        try:
            with self._admin() as admin:
                seen = self._seen(admin)
                while _unmet(expectation, seen) and not ended.wait(_LOOKS_S):
                    seen = self._seen(admin)
        except (AdminError, ControlError) as error:
            if future.set_running_or_notify_cancel():
                future.set_exception(error)
            return
        if future.set_running_or_notify_cancel():
            future.set_result(seen)

    def _seen(self, admin: Admin) -> RealShareSnapshot:
        until = time.monotonic() + _WITHIN_S
        while True:
            error, found = self._asked(admin)
            if found is not None:
                return found
            if error not in _NOT_YET or time.monotonic() > until:
                raise ControlError(f"share group {self.group_id!r} cannot be seen: {error.name}")
            time.sleep(_LOOKS_S)

    def _asked(self, admin: Admin) -> tuple[ErrorCode, RealShareSnapshot | None]:
        """Return the answer of the group's coordinator; None with an error."""
        find = FindCoordinatorRequest(key_type=0, coordinator_keys=[self.group_id])
        (found,) = admin.ask(find, 4).coordinators
        if found.error_code:
            return ErrorCode(found.error_code), None
        admin.replicas([])  # learns the addresses of the brokers
        describe = ShareGroupDescribeRequest(group_ids=[self.group_id])
        (group,) = admin.ask(describe, 1, found.node_id).groups
        if group.error_code == ErrorCode.GROUP_ID_NOT_FOUND:
            return ErrorCode.NONE, RealShareSnapshot(self.group_id, "Dead", 0, None, {})
        if group.error_code:
            return ErrorCode(group.error_code), None
        asked = DescribeShareGroupOffsetsRequestGroup(group_id=self.group_id, topics=None)
        request = DescribeShareGroupOffsetsRequest(groups=[asked])
        (offsets,) = admin.ask(request, 1, found.node_id).groups
        if offsets.error_code:
            return ErrorCode(offsets.error_code), None
        rows = [(topic, row) for topic in offsets.topics for row in topic.partitions]
        known = [(topic, row) for topic, row in rows if not row.error_code]
        lags = [row.lag for _, row in known]
        behind = sum(lags) if lags and len(known) == len(rows) and min(lags) >= 0 else None
        starts = {
            f"{topic.topic_name}-{row.partition_index}": row.start_offset for topic, row in known
        }
        seen = RealShareSnapshot(
            self.group_id, group.group_state, len(group.members), behind, starts
        )
        return ErrorCode.NONE, seen


def _skip(word: str) -> None:
    pytest.skip(
        f"share_group.{word} is the emulator's own: a broker tells of a share group its state, members, start offsets and lag"
    )


def _unmet(expectation: ShareExpectation, seen: RealShareSnapshot) -> tuple[str, ...]:
    """Return the respects in which the group does not meet the expectation, as phrases."""
    missing = (
        [] if expectation.lag is None or seen.lag is not None else ["its lag is not known yet"]
    )
    others = ShareExpectation(
        state=expectation.state,
        members=expectation.members,
        lag=None if seen.lag is None else expectation.lag,
    )
    told = ShareSnapshot(
        seen.group_id, seen.group_state, seen.members, lag=seen.lag or 0, starts=seen.starts
    )
    return (*others.unmet(told), *missing)
