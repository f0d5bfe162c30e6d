"""The testing kit in Python: one method for each thing that a test can do with a running emulator.

`Kit` is the base class of `Emulator`: topics and records, groups, faults, waits, the clock. It
applies the data of this package between two requests; all methods may be called from any thread.
It must not know sockets or asyncio: the emulator gives it `run` and the brokers. The code behind
a method is loaded when the method is first used, so that an emulator that only serves does not
load it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import Future, wait
from concurrent.futures import TimeoutError as FutureTimeoutError
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from coordinator.base.keyword_errors import nearest_keywords

from .cluster_kit import ClusterKit
from .injection.fault_words import FaultWords, milliseconds
from .security.kit import SecurityKit
from .thread_calls import DEFAULT_TIMEOUT_S
from .topic_kit import TopicKit

if TYPE_CHECKING:
    from coordinator.events import EventLog, Line
    from coordinator.history.world.timeline import Timeline
    from coordinator.history.world.views import GroupView

    from .event_waits import EventPattern
    from .faults import Fault
    from .group.handle import GroupHandle
    from .injection.fault_board import FaultHandle
    from .journal import Journal
    from .restoring.snapshot import Snapshot
    from .session import KitSession
    from .shares.handle import ShareGroupHandle
    from .verifying.verification import Verification
    from .waiting import LoopFuture, WaitTimeoutError

T = TypeVar("T")
DEFAULT_GRACE_S = 5.0
"""Seconds of real time that `advance` waits for living members that a rebalance waits for."""


@nearest_keywords
class Kit(TopicKit, ClusterKit, SecurityKit, FaultWords["FaultHandle"]):
    """Methods of a running emulator for tests."""

    _kit: KitSession | None = None

    if TYPE_CHECKING:  # the emulator's own

        def run(self, function: Callable[[], T]) -> T: ...
        def _new_session(self) -> KitSession: ...
        def mark(self) -> int: ...
        def _log_lines(self) -> list[Line]: ...
        def _known_lines(self) -> list[Line]: ...
        def event_log(self) -> EventLog: ...

    @property
    def _session(self) -> KitSession:
        if self._kit is None:
            self._kit = self.run(self._new_session)
        return self._kit

    # -- rights, passwords, certificates

    def secure(self, verb: str, words: Mapping[str, Any]) -> dict[str, Any]:
        """Carry out one of `access.VERBS` and return its answer."""
        from .security.access import carry_out

        session = self._session
        return self.run(lambda: carry_out(session.any_broker(), session.now(), verb, words))

    def drop_connections(self) -> None:
        """Close all connections of clients, as a network failure does. Clients connect and log
        in again."""
        self.run(self._session.disconnect)

    # -- groups

    def group(self, group_id: str) -> GroupHandle:
        """Return a group, which need not exist yet: to look at, to wait for, to act on."""
        from . import arguments
        from .group.handle import GroupHandle

        arguments.group(group_id)
        peer = getattr(self, "peer")  # noqa: B009 - the emulator's own, whose options the kit does not repeat
        return GroupHandle(
            self.run,
            self._done,
            self._session,
            group_id,
            self.verify,
            peer,
            self.timeline,
            self.obstacles,
        )

    def share_group(self, group_id: str) -> ShareGroupHandle:
        """Return a share group (KIP-932), which need not exist yet: its records, waits for them,
        and actions on it."""
        from . import arguments
        from .shares.handle import ShareGroupHandle

        arguments.group(group_id)
        return ShareGroupHandle(
            self.run, self._done, self._session, group_id, self.verify, self.obstacles
        )

    def groups(self) -> list[str]:
        """Return the ids of all groups, sorted."""
        session = self._session
        return self.run(lambda: sorted(session.group_ids()))

    # -- time

    def advance(
        self,
        seconds: float = 0,
        *,
        hours: float = 0,
        silent: Collection[str] = (),
        grace: float = DEFAULT_GRACE_S,
    ) -> list[dict[str, Any]]:
        """Advance the coordinators' clock by `seconds` and `hours`, from deadline to deadline.
        Return the events of the jump as lines of the event log.

        Members with an open connection keep their sessions, because they would have sent
        heartbeats meanwhile; peers that are paused and members named in `silent` do not. If a
        rebalance waits for living members, they get `grace` seconds of real time before the
        clock goes on. Record timestamps, transactions and the expiry of offsets follow the
        clock; clients' own clocks do not.
        """
        from . import arguments

        arguments.seconds("grace", grace)
        mark = self.mark()
        for answered in self.advancing(arguments.jump(seconds, hours), silent=silent):
            answered.check_thread()
            wait([answered], grace)
        return self.fallen_due(mark)

    def advancing(
        self, seconds: float, *, silent: Collection[str] = ()
    ) -> Iterator[LoopFuture[None]]:
        """Run `advance` in steps: wait for each future, at most as long as the grace, before the
        next step."""
        from . import arguments
        from .advancing import Advance

        session, names = self._session, arguments.listed("silent", silent)
        advance = self.run(
            lambda: Advance(session, milliseconds(seconds), names)
        )  # raises for a name that nobody has
        ended = False
        while not ended:
            ended = self.run(advance.step)
            answered = self.run(lambda: session.waits.begin(advance.awaited, lambda: None))
            try:
                yield answered
            finally:
                self.run(partial(session.waits.end, answered))

    def fallen_due(self, mark: int) -> list[dict[str, Any]]:
        """Return the events since a mark, without requests and responses; nothing without an
        event log."""
        return (
            [plain for plain in self.events(since=mark) if plain["stream"] != "wire"]
            if mark
            else []
        )

    def _check_partition(self, topic: str, partition: int) -> None:
        session = self._session
        self.run(lambda: session.check_partition(topic, partition))

    # -- the log

    def events(
        self,
        kind: str | None = None,
        *,
        group: str | None = None,
        stream: str | None = None,
        since: int = 0,
        **fields: Any,
    ) -> list[dict[str, Any]]:
        """Return lines of the event log (docs/event_log.md), oldest first: of a type, group or
        stream, since a `mark`, with these fields. Raises ExpectationError for a type, a stream
        or a field that does not exist."""
        from .event_waits import check_words

        check_words(kind, group, stream, fields, since)
        wanted = {"type": kind, "group": group, "stream": stream} | fields
        given = {name: value for name, value in wanted.items() if value is not None}
        lines = self.run(self._log_lines)
        return [
            plain
            for plain in (line.plain for line in lines if line.seq >= since)
            if all(plain.get(name) == value for name, value in given.items())
        ]

    def begin_wait_for(self, pattern: EventPattern) -> Future[list[dict[str, Any]]]:
        """Wait without blocking: the future gets the lines when they exist."""
        from .event_waits import begin

        session = self._session
        return self.run(lambda: begin(session, pattern, self.event_log(), self._log_lines))

    def wait_for(
        self,
        /,
        kind: str | None = None,
        *,
        group: str | None = None,
        stream: str | None = None,
        since: int | None = None,
        count: int = 1,
        timeout: float = DEFAULT_TIMEOUT_S,
        **fields: Any,
    ) -> list[dict[str, Any]]:
        """Wait for lines of the event log: `kafka.wait_for("MemberRemoved", group="billing",
        since=mark)`. Return the first `count`.

        The arguments are those of `events`. Without `since` only lines from now on count. Raises
        WaitTimeoutError, which says what else happened to the group meanwhile.
        """
        from . import arguments
        from .event_waits import EventPattern

        arguments.seconds("timeout", timeout)
        pattern = EventPattern(
            kind, group, stream, self.mark() if since is None else since, count, fields
        )
        future = self.begin_wait_for(pattern)
        try:
            return future.result(timeout)
        except FutureTimeoutError:
            raise self.timed_out(pattern, future, timeout) from None

    def timed_out(
        self, pattern: EventPattern, future: Future[Any], timeout: float
    ) -> WaitTimeoutError:
        """End a wait for events whose time is over. Return the error to raise."""
        from .event_waits import timed_out

        session, obstacles = self._session, self.obstacles(pattern.group)
        return self.run(
            lambda: timed_out(session, pattern, future, timeout, self._log_lines(), obstacles)
        )

    def explain(self, group: str | None = None, generation: int | None = None) -> str:
        """Return why each rebalance happened, in sentences: what `coordinator explain` prints
        for this run."""
        from coordinator.history.explain.output import as_text, timeline_of

        lines = self.run(self._log_lines)
        timeline = timeline_of(iter(lines), "this run", details=False)
        views = _views(timeline, group, lines)
        text = list(as_text(timeline, views, generation))
        if group is not None and not views:
            from .injection.met import told

            text += told(lines, group)
        return "\n".join(text)

    def obstacles(self, group: str | None = None) -> list[str]:
        """Return obstacles of a group, or of all groups and clients, in sentences: stopped
        brokers, cut links, members that a rebalance waits for, clients that were refused and
        have not gone on since. Empty if there are none, or if this emulator keeps no event log."""
        from coordinator.history.explain.obstacles import sentence
        from coordinator.history.explain.output import timeline_of
        from coordinator.history.world.obstacles import obstacles

        lines = self.run(self._known_lines)
        return [sentence(each) for each in obstacles(timeline_of(iter(lines), "this run"), group)]

    def timeline(self, group: str | None = None, generation: int | None = None) -> dict[str, Any]:
        """Return the rebalances as plain values, as `coordinator explain --format json` prints
        them (docs/event_log.md): cause, durations, and the partitions that each member got and
        lost."""
        from coordinator.history.explain.output import as_plain, timeline_of

        lines = self.run(self._log_lines)
        timeline = timeline_of(iter(lines), "this run", details=False)
        return as_plain(timeline, _views(timeline, group, lines), generation)

    def verify(self, group: str, *, since: int = 0) -> Verification:
        """Return assertions about what happened to a group:
        `kafka.verify("billing").single_owner().rebalances(at_most=2)`."""
        from .verifying.verification import Verification

        return Verification(
            group,
            self.run(self._log_lines),
            self.group(group).snapshot(),
            since,
            lambda topic, index: [
                record.offset for record in self.records(topic, index, committed=True)
            ],
            lambda topic, index: {
                record.offset: record.key
                for record in self.records(topic, index)
                if record.key is not None
            },
        )

    def journal(self, most: int | None = None) -> Journal:
        """Return the journal of clients' requests and their responses. It begins with the first
        call and keeps the latest `most` requests (10,000)."""
        from .in_process_requests import ControlError
        from .journal import MOST, Journal, Records

        session = self._session

        def records() -> Records:
            if session.records is None:
                session.records = Records(session.brokers, MOST if most is None else most)
            elif most not in (None, session.records.most):
                raise ControlError(
                    f"most={most}: the journal is kept already, of {session.records.most} requests"
                )
            return session.records

        return Journal(self.run(records), self.run)

    # -- faults

    def add_fault(self, fault: Fault) -> FaultHandle:
        """Put a fault in force. `fail`, `delay` and similar methods build one and call this."""
        from .injection.fault_board import FaultHandle

        session = self._session
        return FaultHandle(
            session.faults, self.run(lambda: session.add_fault(fault)), self.run, session.now
        )

    def clear_faults(self) -> None:
        """End all faults; requests that they hold go on."""
        session = self._session
        self.run(lambda: session.faults.clear(session.now()))

    def faults(self, *, ended: bool = False) -> list[FaultHandle]:
        """Return the faults in force, in the order in which they were added; with `ended` also
        those that were removed."""
        from .injection.fault_board import FaultHandle

        session = self._session
        active = self.run(
            lambda: list(session.faults.all if ended else session.faults.in_force.values())
        )
        return [FaultHandle(session.faults, each, self.run, session.now) for each in active]

    def missed_faults(self) -> list[str]:
        """Return the faults that no request met, as text, without those that may be missed."""
        if self._kit is None:
            return []
        session = self._kit
        return self.run(lambda: [str(active.fault) for active in session.faults.never_hit()])

    # -- the whole

    def reset(self, *, keep_topics: Collection[str] = ()) -> None:
        """Make the emulator clean for the next test: stop all peers, and remove faults, groups with
        their settings, and topics. Topics in `keep_topics` stay, with their records.

        Peers end as by `crash` and do not join again; clients of other processes go on. Raises
        ControlError for topics that do not exist.
        """
        from .restoring.resetting import reset

        session = self._session
        self.run(lambda: reset(session, keep_topics))

    def snapshot(self) -> Snapshot:
        """Return topics, records, groups, offsets and transactions as they are now. `restore`
        brings them back, here any number of times, or at another emulator with the same broker
        ids. Raises ControlError while a broker does not run."""
        from .restoring.snapshot import take

        session = self._session
        return self.run(lambda: take(session))

    def restore(self, snapshot: Snapshot) -> None:
        """Restore a snapshot.

        All connections are closed; clients connect again and go on with the restored state.
        Groups are as a coordinator loads them: in their last stable generation, with new
        sessions. Faults and settings stay. Raises ControlError for a snapshot that cannot be
        restored here; then nothing has changed.
        """
        from .restoring.snapshot import restore

        session = self._session
        self.run(lambda: restore(session, snapshot))

    def story(self) -> str:
        """Return the report of a failed test: the state of each group, its timeline, the last
        request and response of each member, and all faults."""
        from .failure_report import story

        session = self._session
        return self.run(lambda: story(session, self._log_lines()))


def _views(timeline: Timeline, group: str | None, lines: list[Line]) -> list[GroupView]:
    """Return the timeline of a group, or of each group; nothing for a group that clients only
    tried to reach. Raises ControlError for a group that no line names."""
    from coordinator.history.world.obstacles import obstacles

    from .in_process_requests import ControlError

    if group is not None and group not in timeline.groups:
        if any(line.group == group for line in lines) or obstacles(timeline, group):
            return []
        raise ControlError(
            f"nothing has happened to a group {group!r}; the groups of this run are: {', '.join(timeline.groups) or 'none'}"
        )
    return [view for name, view in timeline.groups.items() if group in (None, name)]
