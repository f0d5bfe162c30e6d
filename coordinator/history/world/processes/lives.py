"""Lives of processes: from a client's first request to its removal, with its configuration as far
as requests show it. If a process logs the stream `member`, from its own start line to its end line.

A log has requests, not processes: each member id is a life of its own. A member whose session
expired counts as dead since its last sign of life, one session timeout before.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from coordinator.events.groups import (
    MemberJoined,
    MemberPending,
    MemberRemoved,
    MemberReplaced,
    Removal,
)
from coordinator.events.groups.consumer import ConsumerMemberRemoved, ConsumerMemberSubscribed
from coordinator.events.handlers import Reader, on
from coordinator.events.line import Line
from coordinator.events.members import (
    ApplicationResumed,
    ApplicationStalled,
    MemberClosing,
    MemberCrashed,
    MemberStarted,
)
from coordinator.wire.consumer_protocol import Subscription

from ..blobs import decoded


@dataclass(slots=True)
class Life:
    """One process as far as the log shows it, from its first request to its removal."""

    client: str
    begun_ms: int
    protocol: str = "classic"
    topics: tuple[str, ...] = ()
    assignors: tuple[str, ...] = ()
    session_ms: int | None = None
    rebalance_ms: int | None = None
    instance: str | None = None
    ended_ms: int | None = None
    how: str = "crash"
    stalls: list[tuple[int, int]] = field(default_factory=list)
    """Times in which its application did not poll, by its own lines: beginning and length in ms."""
    told: bool = False
    """The process has logged its own start and end."""


class Lives(Reader):
    """The lives of all groups, by group and member id, in the order of their beginning: call
    `see` for all lines."""

    def __init__(self) -> None:
        self.of: dict[str, dict[str, Life]] = {}
        self._pending: dict[str, tuple[str, int]] = {}
        """For each assigned member id its client id, and the instant."""
        self._started: dict[str, int] = {}
        self._stalled: dict[str, int] = {}

    @on(MemberPending)
    def _minted(self, line: Line, event: MemberPending) -> None:
        self._pending[event.member_id] = event.client_id, line.at_ms

    def _life(self, line: Line, member: str, client: str) -> Life:
        lives = self.of.setdefault(line.group or "", {})
        life = lives.get(member)
        if life is None:
            _, begun = self._pending.pop(member, ("", line.at_ms))
            told = self._started.pop(client, None)
            life = lives[member] = Life(
                client, begun if told is None else told, told=told is not None
            )
        return life

    @on(MemberJoined)
    def _came(self, line: Line, event: MemberJoined) -> None:
        self._joined(self._life(line, event.member_id, event.client_id), event)

    @on(MemberReplaced)
    def _replaced(self, line: Line, event: MemberReplaced) -> None:
        replaced = self.of.get(line.group or "", {}).get(event.replaced)
        client = event.member_id if replaced is None else replaced.client
        self._joined(self._life(line, event.member_id, client), event)
        if replaced is not None and replaced.ended_ms is None:
            replaced.ended_ms = line.at_ms

    def _joined(self, life: Life, event: MemberJoined | MemberReplaced) -> None:
        life.instance = event.group_instance_id
        life.session_ms, life.rebalance_ms = event.session_timeout_ms, event.rebalance_timeout_ms
        life.assignors = tuple([name for name, _ in event.protocols])
        wishes = [decoded(Subscription.decode, metadata) for _, metadata in event.protocols]
        life.topics = tuple(
            dict.fromkeys(topic for wish in wishes if wish is not None for topic in wish.topics)
        )

    @on(ConsumerMemberSubscribed)
    def _subscribed(self, line: Line, event: ConsumerMemberSubscribed) -> None:
        life = self._life(line, event.member_id, event.client_id)
        classic = event.classic
        life.protocol = "consumer" if classic is None else "classic"
        life.topics, life.instance = event.topics, event.group_instance_id
        life.rebalance_ms = event.rebalance_timeout_ms
        life.assignors = (event.server_assignor,) if event.server_assignor else ()
        if classic is not None:
            life.session_ms = classic.session_timeout_ms
            life.assignors = tuple([name for name, _ in classic.protocols])

    @on(MemberRemoved, ConsumerMemberRemoved)
    def _removed(self, line: Line, event: MemberRemoved | ConsumerMemberRemoved) -> None:
        life = self.of.get(line.group or "", {}).get(event.member_id)
        if life is not None and life.ended_ms is None:
            life.how = "close" if event.reason == Removal.LEFT else "crash"
            silent = life.session_ms or 0 if event.reason == Removal.SESSION_EXPIRED else 0
            life.ended_ms = max(life.begun_ms, line.at_ms - silent)

    @on(MemberStarted)
    def _process_started(self, line: Line, event: MemberStarted) -> None:
        self._started[event.client] = line.at_ms

    @on(ApplicationStalled)
    def _process_stalled(self, line: Line, event: ApplicationStalled) -> None:
        self._stalled[event.client] = line.at_ms

    @on(ApplicationResumed)
    def _process_resumed(self, line: Line, event: ApplicationResumed) -> None:
        begun, life = self._stalled.pop(event.client, None), self._latest(line, event.client)
        if life is not None and begun is not None and line.at_ms > begun:
            life.stalls.append((begun, line.at_ms - begun))

    @on(MemberCrashed, MemberClosing)
    def _process_ended(self, line: Line, event: MemberCrashed | MemberClosing) -> None:
        life = self._latest(line, event.client)
        if life is not None:
            life.ended_ms = line.at_ms
            life.how = "crash" if isinstance(event, MemberCrashed) else "close"

    def _latest(self, line: Line, client: str) -> Life | None:
        """Return the life of a client that began last."""
        lives = self.of.get(line.group or "", {}).values()
        return next((life for life in reversed(lives) if life.client == client), None)
