"""A share group as a test holds it: look at its records, wait for them, end locks and sessions.

Every look shows one instant; `wait` returns when all its conditions hold at the same instant.
The values are in `kit/views/share_records.py`, conditions in
`kit/waits/share_expectations.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import TYPE_CHECKING, Any

from coordinator.base.keyword_errors import nearest_keywords
from coordinator.core.share_partitions.model import SharePartitionKey
from coordinator.core.share_partitions.release import TEST_ENDED
from coordinator.core.share_states.model import ShareStateKey
from coordinator.server.shares.sessions import SessionKey
from coordinator.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)

from .. import arguments
from ..client_requests import asked
from ..in_process_requests import ControlError, check
from ..thread_calls import DEFAULT_TIMEOUT_S
from ..views.share_records import ShareRecord, ShareSnapshot
from ..waiting import WaitTimeoutError, not_in_time
from ..waits.expectations import ExpectationError
from ..waits.share_expectations import ShareExpectation
from . import views as share_views

if TYPE_CHECKING:
    from coordinator.core.share_partitions.model import SharePartition

    from ..client_requests import Done, Steps
    from ..session import KitSession
    from ..thread_calls import Runner
    from ..verifying.verification import Verification

_GROUP, _SET = 32, 0
DEFAULT_MOST = 1_000
"""Number of records of a partition that are shown by default."""


@nearest_keywords
class ShareGroupHandle:
    """One share group of a running emulator. The object can be made before the group exists and
    used after the group is gone."""

    def __init__(
        self,
        run: Runner,
        done: Done,
        session: KitSession,
        group_id: str,
        verify: Callable[..., Verification],
        obstacles: Callable[[str], list[str]],
    ) -> None:
        self._run = run
        self._verify = verify
        self._done = done
        self._session = session
        self._obstacles = obstacles
        self.group_id = group_id

    # -- looking

    def snapshot(self) -> ShareSnapshot:
        """Return the number of records in each state, and the number of members, at this
        instant."""
        return self._run(lambda: share_views.snapshot(self._session, self.group_id))

    def record(self, topic: str, partition: int, offset: int) -> ShareRecord:
        """Return one record as the group reads it: its state, its delivery count, the member
        that holds it and the time left of its lock. Raises ControlError for a record that does
        not exist."""
        return self._run(
            lambda: share_views.record(self._session, self.group_id, topic, partition, offset)
        )

    def records(
        self, topic: str, partition: int = 0, *, most: int = DEFAULT_MOST
    ) -> list[ShareRecord]:
        """Return the records of a partition that the group has reached, in order, at most the
        first `most`."""
        return self._run(
            lambda: share_views.records(self._session, self.group_id, topic, partition, most)
        )

    def verify(self, *, since: int = 0) -> Verification:
        """Return assertions about what happened to the group, from a `mark` on. Each raises
        AssertionError with the lines that contradict it."""
        return self._verify(self.group_id, since=since)

    def obstacles(self) -> list[str]:
        """Return obstacles of the group, in sentences: see `Kit.obstacles`."""
        return self._obstacles(self.group_id)

    # -- waiting

    def wait(
        self,
        *,
        state: str | None = None,
        members: int | None = None,
        available: int | None = None,
        acquired: int | None = None,
        acknowledged: int | None = None,
        archived: int | None = None,
        delivery_count: int | None = None,
        lag: int | None = None,
        timeout: float = DEFAULT_TIMEOUT_S,
    ) -> ShareSnapshot:
        """Wait until everything that is given holds at the same instant; return what is seen then.
        See `ShareExpectation` for the arguments.

        `timeout` in seconds. Raises WaitTimeoutError, which says what is missing and what was
        seen.
        """
        arguments.seconds("timeout", timeout)
        expectation = ShareExpectation(
            state=state,
            members=members,
            available=available,
            acquired=acquired,
            acknowledged=acknowledged,
            archived=archived,
            delivery_count=delivery_count,
            lag=lag,
        )
        future = self.begin_wait(expectation)
        try:
            result: ShareSnapshot = future.result(timeout)
        except FutureTimeoutError:
            raise self.timed_out(expectation, future, timeout) from None
        return result

    def begin_wait(self, expectation: ShareExpectation) -> Future[Any]:
        """Wait without blocking: the future gets what is seen when the expectation is met."""
        if expectation.is_empty:
            raise ExpectationError(
                "wait for what? Give state, members, available, acquired, acknowledged, archived, delivery_count or lag"
            )
        session, group_id = self._session, self.group_id
        return self._run(
            lambda: session.waits.begin(
                lambda: expectation.unmet(share_views.snapshot(session, group_id)),
                lambda: share_views.snapshot(session, group_id),
            )
        )

    def timed_out(
        self, expectation: ShareExpectation, future: Future[Any], timeout: float
    ) -> WaitTimeoutError:
        """End a wait whose time is over. Return the error to raise."""
        obstacles = self.obstacles()

        def look() -> WaitTimeoutError:
            self._session.waits.end(future)
            seen = share_views.snapshot(self._session, self.group_id)
            missing = "; ".join(expectation.unmet(seen)) or "it has now"
            text = f"share group {self.group_id!r} did not reach {expectation} within {timeout:g} s: {missing}.\nSeen: {seen}."
            return not_in_time("\n".join([text, *obstacles]))

        return self._run(look)

    # -- acting

    def configure(self, settings: Mapping[str, object]) -> None:
        """Set configurations of the group, such as share.auto.offset.reset, as a tool does.
        Raises ControlError with Kafka's text if it refuses one."""
        arguments.mapping("settings", settings, '{"share.auto.offset.reset": "earliest"}')
        rows = [
            AlterableConfig(name=name, config_operation=_SET, value=setting_text(value))
            for name, value in settings.items()
        ]

        def put() -> Steps[None]:
            resource = AlterConfigsResource(
                resource_type=_GROUP, resource_name=self.group_id, configs=rows
            )
            answer = yield from asked(
                self._session,
                self._session.any_broker(),
                IncrementalAlterConfigsRequest(resources=[resource]),
                IncrementalAlterConfigsResponse,
            )
            of = answer.responses[0]
            check(
                of.error_code,
                f"share group {self.group_id!r} cannot be configured so: {of.error_message}",
            )

        return self._done(put(), DEFAULT_TIMEOUT_S)

    def expire_locks(
        self, topic: str | None = None, partition: int | None = None, offset: int | None = None
    ) -> int:
        """End locks now, as if their time were over: of one record, of a partition, of a topic,
        or all. Return the number of released records. Raises ControlError if there was no lock."""

        def end() -> int:
            found = self._chosen(topic, partition)
            given_back = 0
            for broker, one in found:
                low = one.start_offset if offset is None else offset
                high = one.next_offset - 1 if offset is None else offset
                given_back += broker.services.shares.releases.give_back(
                    one, low, high, TEST_ENDED, self._session.now()
                )
            if not given_back:
                seen = share_views.snapshot(self._session, self.group_id)
                where = _where(topic, partition, offset)
                raise ControlError(f"nothing is held {where}: {seen}")
            return given_back

        return self._run(end)

    def release(self, member: str) -> int:
        """Release all records that a member holds; its session goes on. Return their number.
        Raises LookupError, and ControlError if it holds none."""

        def take_back() -> int:
            member_id = self._member(member)
            given_back = sum(
                broker.services.shares.releases.release(
                    one, member_id, "a test took it back", self._session.now()
                )
                for broker, one in share_views.partitions(self._session, self.group_id)
            )
            if not given_back:
                raise ControlError(f"{member} holds no record of share group {self.group_id!r}")
            return given_back

        return self._run(take_back)

    def end_session(self, member: str) -> None:
        """End a member's share sessions, as the loss of its connection does. Its next request is
        refused with SHARE_SESSION_NOT_FOUND, and records that it holds are released. Raises
        LookupError, ControlError."""

        def end() -> None:
            key = SessionKey(self.group_id, self._member(member))
            ended = [
                broker
                for broker in self._session.brokers()
                if broker.services.shares.end_session(
                    key, "a test ended its session", self._session.now()
                )
            ]
            if not ended:
                raise ControlError(f"{member} has no share session: it has not fetched yet")

        return self._run(end)

    def move_start(self, topic: str, partition: int, offset: int) -> None:
        """Move the start offset (SPSO) of a share partition, whatever is in flight. Raises
        ControlError if the group never read the partition."""
        arguments.counted("offset", offset)

        def move() -> None:
            broker = share_views.leading(self._session, topic, partition)
            key = ShareStateKey(self.group_id, broker.cluster.topics[topic].id, partition)
            states = broker.services.shares.persister
            _, known = states.summary(key)
            if known is None:
                raise ControlError(
                    f"share group {self.group_id!r} has not begun with {topic}-{partition}: a member has to subscribe first"
                )
            now = self._session.now()
            decision = states.initialize(key, known.state_epoch, offset, now)
            check(decision.error, f"{topic}-{partition} cannot begin at {offset}")
            broker.services.shares.begin_anew(
                SharePartitionKey(self.group_id, topic, partition), now
            )

        return self._run(move)

    def _member(self, name: str) -> str:
        """Return the member id for any name of a member. A name that is no member's is returned
        unchanged if it holds records; else raises LookupError."""
        arguments.text("member", name)
        group = self._session.group(self.group_id)
        try:
            return group.member(name).member_id
        except LookupError:
            held = {
                run.condition.member_id
                for _, one in share_views.partitions(self._session, self.group_id)
                for run in one.in_flight_runs()
            }
            if name in held:
                return name
            raise

    def _chosen(self, topic: str | None, partition: int | None) -> list[tuple[Any, SharePartition]]:
        if topic is not None and partition is not None:
            self._session.check_partition(topic, partition)
        return [
            (broker, one)
            for broker, one in share_views.partitions(self._session, self.group_id)
            if topic in (None, one.key.topic) and partition in (None, one.key.partition)
        ]


def setting_text(value: object) -> str:
    """Return a setting's value as Kafka writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _where(topic: str | None, partition: int | None, offset: int | None) -> str:
    if topic is None and partition is None and offset is None:
        return "at all"
    if topic is None:
        place = "any topic" if partition is None else f"partition {partition} of any topic"
    else:
        place = topic if partition is None else f"{topic}-{partition}"
    return f"of {place}" if offset is None else f"at {place}, record {offset}"
