"""Triggers: actions that wait for something in the log, such as the nth commit of a member or the
join phase of a group, or for a state, such as a group that is far behind.

Has the words for events of the log; those for states are in `conditions`. An action happens
after the line that triggers it, never within. This module must not know what the actions do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, get_args

from coordinator.events import EventLog
from coordinator.events.groups import (
    GenerationStarted,
    GenerationStored,
    MemberJoined,
    OffsetsCommitted,
    OffsetsPending,
    RebalanceStarted,
)
from coordinator.events.groups.consumer import ConsumerMemberSubscribed
from coordinator.events.groups.share import ShareMemberSubscribed
from coordinator.events.line import Line
from coordinator.events.members import (
    AcknowledgementsEnded,
    PartitionsAssigned,
    PartitionsRevoked,
    RecordsDelivered,
    RecordsPolled,
    SharedRecordsPolled,
)
from coordinator.events.members import Event as MemberEvent

from .conditions import LOOK_MS, OF_MEMBERS, Condition, Kind, condition

if TYPE_CHECKING:
    from .sight import Sight

Action = Callable[[str], None]
"""The action. It is called with the member for which the trigger was seen, or ""."""

WHEN: Final[dict[str, tuple[type, ...]]] = {
    "join phase": (RebalanceStarted,),
    "sync phase": (GenerationStarted,),
    "stable": (GenerationStored,),
    "join": (MemberJoined, ConsumerMemberSubscribed, ShareMemberSubscribed),
    "commit": (OffsetsCommitted, OffsetsPending),
    "poll": (RecordsPolled, SharedRecordsPolled),
    "acknowledged": (AcknowledgementsEnded,),
    "assigned": (PartitionsAssigned,),
    "revoked": (PartitionsRevoked,),
    "delivery": (RecordsDelivered,),
}
"""The words for what a scenario can wait for, and the events that show it."""
WHEN_OF_PRODUCERS: Final = ("delivery",)


class Client(Protocol):
    """A member or a producer, as conditions see it."""

    @property
    def ready(self) -> bool:
        """Return True if the member has its part of an assignment."""

    @property
    def polls(self) -> bool:
        """Return True if its application polls."""


class Watched(Protocol):
    """The world whose states are checked."""

    frozen: set[str | int]

    @property
    def now(self) -> int:
        """Milliseconds since the beginning."""

    @property
    def members(self) -> Mapping[str, Client]:
        """Members and producers by name."""

    def at(self, instant: int, action: Callable[[], None], pipe: int = 0) -> None:
        """Call an action at an instant."""

    def seen(self) -> Sight:
        """Return queries about the brokers, for conditions and targets of a scenario."""


class Trigger(NamedTuple):
    """Wait for the `nth` occurrence of something, then `after_ms` longer. `of`: a group, or a
    member by its client id; "": any. `again`: how often a state counts once more, each time at
    least `pause_ms` later."""

    when: str
    of: str
    nth: int
    after_ms: int
    again: int = 0
    pause_ms: int = 30_000


class Triggers:
    """The triggers of one world."""

    def __init__(self, world: Watched, log: EventLog) -> None:
        self._world = world
        self._log = log
        self._waiting: dict[type, list[tuple[Trigger, list[int], Action]]] = {}
        self._asked: list[tuple[str, Trigger, list[int]]] = []

    def wait(self, trigger: Trigger, action: Action, what: str = "") -> None:
        """Call `action` at the trigger: once, or for a state as often as the trigger says.
        `what`: the piece of the scenario, for `unseen`."""
        seen = [0]
        self._asked.append((what, trigger, seen))
        state = condition(trigger.when)
        if state is not None:
            _Watch(self._world, trigger, state, seen, action)
            return
        self._log.heard = self._hear
        entry = (trigger, seen, action)
        for kind in WHEN[trigger.when]:
            self._waiting.setdefault(kind, []).append(entry)

    def unseen(self) -> Iterator[str]:
        """Yield one sentence for each trigger that was not seen."""
        for what, trigger, (seen,) in self._asked:
            of = f" of {trigger.of}" if trigger.of else ""
            if seen < trigger.nth and condition(trigger.when) is not None:
                yield f"{what} did not happen: it waits for {trigger.when!r}{of}, which was not seen"
            elif seen < trigger.nth:
                yield f"{what} did not happen: it waits for {trigger.when!r}{of} number {trigger.nth}, and {seen} were seen"

    def _hear(self, line: Line) -> None:
        for trigger, seen, action in self._waiting.get(line.kind, ()):
            if not _is_of(line, trigger.of):
                continue
            seen[0] += 1
            if seen[0] == trigger.nth:
                who = _client_of(line)
                world = self._world
                world.at(world.now + trigger.after_ms, lambda who=who, action=action: action(who))  # type: ignore[misc]


def _is_of(line: Line, whom: str) -> bool:
    """Return True if a line concerns this group or member. Brokers know members by ids, which
    begin with their client ids."""
    if not whom or whom in (line.group, _named_client(line)):
        return True
    member = line.member or ""
    return (
        member.startswith(f"{whom}-")
        and not member.removeprefix(f"{whom}-").partition("-")[0].isdecimal()
    )


def _named_client(line: Line) -> str | None:
    """Return the client id in an event, or None."""
    event = line.event
    if isinstance(event, MemberJoined | ConsumerMemberSubscribed | ShareMemberSubscribed):
        return event.client_id
    if isinstance(event, get_args(MemberEvent)):
        client: str = event.client
        return client
    return None


def _client_of(line: Line) -> str:
    """Return the client id that a line names, in a field or as the beginning of a member id; or
    ""."""
    named = _named_client(line)
    if named:
        return named
    parts = (line.member or "").split("-")
    number = next((at for at, part in enumerate(parts) if at and part.isdecimal()), None)
    return "-".join(parts[: number + 1]) if number is not None else ""


class _Watch:
    """One state that is checked once a second, until it has been seen often enough."""

    def __init__(
        self,
        world: Watched,
        trigger: Trigger,
        state: Condition,
        seen: list[int],
        action: Action,
    ) -> None:
        self._world = world
        self._trigger = trigger
        self._state = state
        self._seen = seen
        self._action = action
        self._since: dict[str, int] = {}
        """The instant since which each member has been in the state."""
        self._last: dict[str, int] = {}
        """The instant at which the state was last seen, by member; "" stands for the group."""
        world.at(world.now + LOOK_MS, self._look)

    def _look(self) -> None:
        world, trigger = self._world, self._trigger
        for who in self._subjects():
            last = self._last.get(who)
            if self._seen[0] > trigger.again or (
                last is not None and world.now - last < trigger.pause_ms
            ):
                continue
            self._seen[0] += 1
            self._last[who] = world.now
            self._since.pop(who, None)  # it counts anew
            world.at(world.now + trigger.after_ms, lambda who=who: self._action(who))  # type: ignore[misc]
        if self._seen[0] <= trigger.again:
            world.at(world.now + LOOK_MS, self._look)

    def _subjects(self) -> list[str]:
        """Return the members for which the state is seen now; "" stands for the group."""
        if self._state.kind in OF_MEMBERS:
            return self._members()
        sight, group, amount = self._world.seen(), self._trigger.of, self._state.amount
        value = (
            sight.lag(group)
            if self._state.kind in (Kind.LAG_ABOVE, Kind.LAG_BELOW)
            else sight.member_count(group)
        )
        if value is None:
            return []
        above = self._state.kind in (Kind.LAG_ABOVE, Kind.MEMBERS_ABOVE)
        return [""] if (value > amount if above else value < amount) else []

    def _members(self) -> list[str]:
        now, of = self._world.now, self._trigger.of
        so = {
            name
            for name, client in self._world.members.items()
            if (name == of or name.rpartition("-")[0] == of)
            and (
                name in self._world.frozen
                or not (client.ready if self._state.kind is Kind.NOT_READY else client.polls)
            )
        }
        self._since = {
            name: self._since.get(name, now) for name in self._world.members if name in so
        }
        return [name for name, since in self._since.items() if now - since >= self._state.amount]
