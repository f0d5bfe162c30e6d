"""The kit on an event loop: peers that live on the emulator's loop, and waits that can be awaited
from any loop and thread.

This module starts peers and drives work in steps (`kit/client_requests.py`) without blocking.
How a peer fits its group is in `peers.py`, which is loaded with the first peer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from coordinator.base.forgotten_awaits import await_is_watched
from coordinator.base.keyword_errors import nearest_keywords

from ..kit import Kit
from ..thread_calls import DEFAULT_TIMEOUT_S

if TYPE_CHECKING:
    from coordinator.events import Line
    from coordinator.members.effects import RebalanceListener
    from coordinator.members.live import Fleet, PeerHandle
    from coordinator.members.live.sharing import SharePeerHandle
    from coordinator.server.broker import Broker

    from ..client_requests import Steps
    from ..session import KitSession
    from ..topics import Value, Written

T = TypeVar("T")


@await_is_watched
@nearest_keywords
class LoopKit(Kit):
    """Methods of a running emulator that need its event loop: peers, and what can be awaited."""

    _loop_thread: int
    """The thread of the loop that the peers live on."""

    if TYPE_CHECKING:  # the emulator's own

        def _every_broker(self) -> Collection[Broker]: ...
        def _fleet(self, user: str | None) -> Fleet: ...
        def _known_lines(self) -> list[Line]: ...
        def _instant(self) -> int: ...

    def peer(
        self,
        group: str,
        topics: Iterable[str] | None = None,
        *,
        pattern: str | None = None,
        config: Mapping[str, object] | None = None,
        listener: RebalanceListener | None = None,
        keep_going: bool = False,
        protocol: str | None = None,
        user: str | None = None,
    ) -> PeerHandle:
        """Start a live member of a group: `with kafka.peer("billing", topics=["orders"]) as peer:
        peer.wait_stable()`.

        `topics`: a list of names. `pattern`: instead, a regular expression that whole names must
        match. `config`: settings by Kafka's names; `partition.assignment.strategy` also takes
        classes. A fault ends the peer unless `keep_going`. `protocol`: classic or consumer
        (KIP-848). By default the peer fits the group: its protocol, and all assignors there are,
        those of the group's members first. `user`: the user to log in as, at the first secured
        listener; without one the peer may do everything.

        Raises MemberConfigError, FleetError, ControlError for impossible ones. Safe from any
        thread.
        """
        from coordinator.members import MemberConfig
        from coordinator.members.live import PeerHandle

        from ..arguments import settings_of
        from .peers import fitting, last_assignor

        given = {
            "group.id": group,
            **({} if protocol is None else {"group.protocol": protocol}),
            **settings_of(config),
        }

        def last_used() -> str | None:
            return last_assignor(self._known_lines(), group)

        asked = MemberConfig.from_properties(
            self.run(lambda: fitting(self._every_broker(), group, given, last_used)) | given
        )
        fleet = self._fleet(user)
        return PeerHandle(
            fleet,
            lambda: fleet.peer(
                asked, topics=topics, pattern=pattern, listener=listener, keep_going=keep_going
            ),
            self._loop_thread,
            lambda: self._stable_members(group),
        )

    def share_peer(
        self,
        group: str,
        topics: Iterable[str],
        *,
        processing_ms: int = 0,
        release: float = 0.0,
        reject: float = 0.0,
        renew_ms: int = 0,
        config: Mapping[str, object] | None = None,
        user: str | None = None,
    ) -> SharePeerHandle:
        """Start a consumer of a share group (KIP-932) that processes what it fetches: `with
        kafka.share_peer("workers", ["jobs"], processing_ms=50, reject=0.1) as peer: ...`.

        `processing_ms`: time for each record. `release`, `reject`: probability, from 0 to 1,
        that it releases or rejects a record. `renew_ms`: interval at which it renews the locks
        of records that it is processing; 0: never. These three need explicit acknowledgement and
        switch it on. `config`: settings by Kafka's names, such as share.acknowledgement.mode and
        max.poll.records. Raises MemberConfigError for impossible settings. Safe from any thread.
        """
        from coordinator.members.applications.sharing import Work
        from coordinator.members.live.sharing import SharePeer, SharePeerHandle
        from coordinator.members.share.config import ShareConfig

        from ..arguments import settings_of

        work = Work(processing_ms, release, reject, renew_ms=renew_ms)
        explicit = {"share.acknowledgement.mode": "explicit"} if work.is_explicit else {}
        asked = ShareConfig.from_properties({"group.id": group, **explicit, **settings_of(config)})
        work = work.checked(implicit=asked.implicit)
        fleet = self._fleet(user)
        return SharePeerHandle(
            fleet, lambda: SharePeer(fleet, asked, topics, work), self._loop_thread
        )

    def _stable_members(self, group: str) -> int:
        """Return the number of members of a group, or 0 if the group is not Stable."""
        now = self._instant()
        return max((_stable_members(each, group, now) for each in self._every_broker()), default=0)

    # -- what is awaited

    async def produce_when_ready(
        self,
        name: str,
        values: Iterable[Value],
        *,
        timeout: float = DEFAULT_TIMEOUT_S,
        **words: Any,
    ) -> list[Written]:
        """Write records as `produce` does, as a coroutine for any loop: wait for leaders and for
        replicas in sync as a client does, up to `timeout` seconds."""
        written: list[Written] = await self.awaited.produce(name, values, timeout=timeout, **words)
        return written

    @property
    def awaited(self) -> Any:
        """The same emulator with methods that are awaited, for those that may have to wait, such
        as `await kafka.awaited.truncate("orders", 0)`."""
        return _Awaited(self)

    async def when_ready(self, steps: Steps[T], timeout: float = DEFAULT_TIMEOUT_S) -> T:
        """Run work in steps for at most `timeout` seconds; return its result. Raises
        ControlError, which says what is missing."""
        from .. import arguments
        from ..client_requests import Errand

        arguments.seconds("timeout", timeout)
        errand, waited = Errand(self._session, steps), None
        try:
            async with asyncio.timeout(timeout):
                while (waited := self.run(errand.go_on)) is not None:
                    await asyncio.wrap_future(waited)
        except TimeoutError:
            assert waited is not None
            late = waited
            raise self.run(lambda: errand.ended(late, timeout)) from None
        return errand.result


class _Awaited(Kit):
    """The kit whose work in steps is awaited instead of blocking."""

    def __init__(self, kafka: LoopKit) -> None:
        self._kafka = kafka
        self.run = kafka.run  # type: ignore[method-assign]

    @property
    def _session(self) -> KitSession:
        return self._kafka._session

    def _waits(self) -> bool:
        return True

    def _done(self, steps: Steps[T], timeout: float, instead: str = "") -> Any:
        return self._kafka.when_ready(steps, timeout)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kafka, name)


def _stable_members(broker: Broker, group_id: str, now: int) -> int:
    """Return the number of members of a group of any protocol, or 0 if the group is not Stable
    or this broker does not coordinate it."""
    from coordinator.core.groups.requests import Request, RequestContext
    from coordinator.wire.messages.describe_groups import (
        DescribeGroupsRequest,
        DescribeGroupsResponse,
    )

    asked = Request(RequestContext(0), DescribeGroupsRequest(groups=[group_id]))
    [(_, message)] = broker.coordinator.handle(asked, now).replies
    assert isinstance(message, DescribeGroupsResponse)
    [row] = message.groups
    if row.group_state == "Stable":
        return len(row.members)
    group = broker.coordinator.groups.get(group_id)
    if group is None or group.is_classic or str(group.state) != "Stable":
        return 0
    return len(group.members)
