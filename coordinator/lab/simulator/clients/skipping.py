"""Skips requests that change nothing: the state of a quiet member and its coordinator after them is
computed, not played.

A member is quiet while it sends only heartbeats that are answered without error, and refreshes
of metadata that have not changed. The event log, the draws, the bytes sent and everything that
follows are the same as if each request had been sent (`World(skips=False)` sends them). A member
is quiet only in a stable group, or at the last epoch of a consumer group (KIP-848), over links
that are neither cut nor limited in bandwidth, among brokers that run, have the same metadata and
have no fault of requests in force. Anything that could change that first ends the quiet of all
members (`World.catch_up`); requests in flight at that instant are then sent in full. This module
must not know what ends it.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Final, NamedTuple

from coordinator.core.groups.classic.model import ClassicGroup
from coordinator.core.groups.classic.states import STABLE
from coordinator.core.groups.consumer.model import ConsumerMembership
from coordinator.core.groups.consumer.renewal import renewal
from coordinator.core.shards.timers import TimerKey, TimerKind
from coordinator.wire.framing import frame, response_header
from coordinator.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse

from .connections import ClientConnection
from .skipped_commits import (
    Beat,
    Commit,
    Commits,
    Place,
    send_for_real,
    skip_heartbeats,
    skip_messages,
)
from .skipped_refreshes import Planned, Refresh, is_open, longest_ms, plan, refresh_now

if TYPE_CHECKING:
    from coordinator.core.shards.timers import Timers
    from coordinator.members.group_member import GroupMember, Heartbeat
    from coordinator.server.broker import Broker
    from coordinator.wire.schema import Response

    from ..environment import Environment
    from .member import SimulatedMember

_FIRST_PLANNED: Final = 5
_MOST_PLANNED: Final = 80
"""Number of refreshes that are planned at once, at most; each time twice as many, because a
disturbance makes the rest of a plan useless."""
_NEVER: Final = 1 << 62
_ALL_IS_WELL: Final = HeartbeatResponse()


class Renewing(NamedTuple):
    """Effect of each heartbeat of a quiet member at its coordinator: its session is renewed.
    `answer`: the response."""

    heartbeat: Heartbeat
    answer: Response
    timers: Timers
    session: TimerKey
    session_ms: int


class Quiet:
    """A member's quiet time, which may begin with a refresh of its metadata and contain others.
    `until`: the instant at which the member has something else to do."""

    __slots__ = (
        "_commits",
        "_connection",
        "_held",
        "_interval_ms",
        "_member",
        "_part",
        "_planned",
        "_reach",
        "_renewing",
        "_world",
        "until",
    )

    def __init__(
        self,
        world: Environment,
        member: SimulatedMember,
        until: int,
        connection: ClientConnection,
        renewing: Renewing,
        refresh: Refresh | None,
    ) -> None:
        self._world = world
        self._member = member
        self.until = until
        self._connection = connection
        self._renewing = renewing
        self._interval_ms = member.member.beat_interval_ms
        self._part: Refresh | Commit | None = None
        self._planned: list[Planned] = []
        """The refreshes that follow `_part`, if that is a refresh."""
        self._reach = _FIRST_PLANNED
        self._commits: Commits | None = None
        self._held = renewing.timers.get(renewing.session)
        renewing.timers.arm(renewing.session, _NEVER)
        if refresh is not None:
            self._refreshes_from(refresh)

    def _refreshes_from(self, first: Refresh) -> None:
        """Begin a refresh now, and plan the ones that follow as far as nothing else comes
        between."""
        machine = self._member.member
        self._part, self._planned = first, plan(machine, self._connection, first, self._reach)
        self._reach = min(2 * self._reach, _MOST_PLANNED)
        last = self._planned[-1].refresh if self._planned else first
        due, others = last.next_due(machine), machine.offsets_due
        self.until = due if others is None else min(due, others)

    def end(self, place: Place, sent_before: int) -> None:
        """Bring the member and its coordinator to their state at `place`; heartbeats due before
        `sent_before` have been sent."""
        self._end(place, sent_before)
        self._member.catch_up_reading()

    def _end(self, place: Place, sent_before: int) -> None:
        if self._part is not None and not self._pass(self._part, place, sent_before):
            return
        if self._part is None:
            self._let_go()
        beat = self._settle_beats(sent_before, place)
        if beat is not None:
            send_for_real(self._world, self._member, self._connection, beat.sent_at, None)
            if (beat.arrives, beat.sent_at, self._connection.pipes[0].number) < place:
                self._beat_arrived(beat)

    def _let_go(self) -> None:
        """Arm the session's timer again, for the latest sign of life."""
        assert self._held is not None, f"{self._member.name} has no session at its coordinator"
        self._renewing.timers.arm(self._renewing.session, self._held)

    def _pass(self, part: Refresh | Commit, place: Place, sent_before: int) -> bool:
        """Bring the member to its state after a commit, or after the refreshes that began before
        an instant. Return False if one of them is in flight at `place`."""
        timers, session = self._renewing.timers, self._renewing.session
        self._let_go()
        if not part.end(self._world, self._member, place):
            renewed = timers.get(session)
            if (
                renewed is not None and self._held is not None and renewed < self._held
            ):  # by a heartbeat that was sent before the commit
                self._let_go()
            return False
        self._let_go()
        begun = [each for each in self._planned if each.refresh.asked_at < sent_before]
        if not begun:
            return True
        self._pass_over(begun[:-1])
        beats, refresh = begun[-1]
        self._skip(beats, self._beat(self._member.member.beat_at, beats))
        return refresh.end(self._world, self._member, place)

    def _pass_over(self, planned: list[Planned]) -> None:
        """Bring the member to its state after these refreshes and the heartbeats before them."""
        machine, interval_ms = self._member.member, self._interval_ms
        sent, beat_at = 0, machine.beat_at
        for beats, refresh in planned:
            sent += beats
            beat_at += beats * interval_ms
            machine.skip_round(beats, beat_at - interval_ms, refresh.asked_at, refresh.answered)
        if planned:
            planned[0].refresh.skip(len(planned))
            skip_messages(self._connection, self._renewing.heartbeat, self._renewing.answer, sent)

    def _settle_beats(self, sent_before: int, place: Place) -> Beat | None:
        """Bring the member to its state after its heartbeats that were due before an instant and
        are answered at `place`. Return the heartbeat that is in flight, or None."""
        first, interval = self._member.member.beat_at, self._interval_ms
        sent = max(0, -((first - sent_before) // interval))
        if not sent:
            return None
        beat = self._beat(first, sent)
        if (beat.answered, beat.arrives, self._connection.pipes[1].number) < place:
            self._skip(sent, beat)
            return None
        if sent > 1:
            self._skip(sent - 1, self._beat(first, sent - 1))
        return beat

    def _beat(self, first: int, nth: int) -> Beat:
        """Return the nth heartbeat, counted from the one that is sent at `first`."""
        up, down = self._connection.links
        sent_at = first + (nth - 1) * self._interval_ms
        arrives = sent_at + up.delay_after(nth - 1)
        return Beat(sent_at, arrives, arrives + down.delay_after(nth - 1))

    def go_on(self, now: int) -> bool:
        """Let the member do what it has to do now (commit, or ask for metadata) and stay quiet.
        Return False if it cannot be skipped: something else is in flight, or may be before the
        response, or several brokers store a commit. Then its state must be computed step by
        step."""
        machine, world, part = self._member.member, self._world, self._part
        if part is None:
            self._let_go()
        elif (self._planned[-1].refresh if self._planned else part).answered >= now:
            return False
        else:
            self._pass(part, (now, inf, inf), now)
            self._part, self._planned = None, []
        beat = self._settle_beats(now, (now, inf, inf))
        self.hold()
        if machine.beat_at + (beat is not None) * self._interval_ms <= now + longest_ms(
            self._connection
        ):
            return False  # the next one is due soon
        config, metadata_due, offsets_due = (
            machine.config,
            machine.metadata_due,
            machine.offsets_due,
        )
        if metadata_due == now and beat is None and (offsets_due is None or offsets_due > now):
            refresh = refresh_now(world, self._member, machine)
            if refresh is None:
                return False
            self._refreshes_from(refresh)
            return True
        broker = world.brokers.brokers[self._connection.node]
        if (
            machine.commits_at != now
            or len(world.brokers.brokers) > 1
            or broker.tape is not None
            or metadata_due is None
            or metadata_due <= now + longest_ms(self._connection)
        ):
            return False
        if self._commits is None:
            self._commits = Commits(
                world,
                self._member,
                self._connection,
                self.hold,
                self._beat_arrived,
                self._beat_answered,
            )
        self._part = self._commits.send(now, beat)
        self.until = min(metadata_due, now + config.auto_commit_interval_ms)
        return True

    def hold(self) -> None:
        """Keep the session of a quiet member from ending; a sign of life may have renewed it."""
        timers, session = self._renewing.timers, self._renewing.session
        ends = timers.get(session)
        if ends != _NEVER:
            self._held = ends
            timers.arm(session, _NEVER)

    def _beat_arrived(self, beat: Beat) -> None:
        """Note that the last heartbeat has arrived: its response is in flight, whatever has
        happened since."""
        renewing, channel = self._renewing, self._connection.channel
        up, down = self._connection.pipes
        up.take_back()
        renewing.timers.arm(renewing.session, beat.arrives + renewing.session_ms)
        version = channel.version(renewing.heartbeat)
        header = response_header(renewing.heartbeat.api_key, version, channel.correlation)
        with self._world.at_earlier(beat.arrives):
            down.send(frame(header, renewing.answer.encode(version)))

    def _beat_answered(self, beat: Beat) -> None:
        """Note that the heartbeat in flight when a commit was sent has been answered."""
        assert self._held is not None, f"{self._member.name} has no session at its coordinator"
        renewing = self._renewing
        self._held = max(self._held, beat.arrives + renewing.session_ms)
        skip_heartbeats(
            self._member, self._connection, renewing.heartbeat, renewing.answer, 1, beat
        )

    def _skip(self, count: int, last: Beat) -> None:
        """Note that `count` heartbeats were sent and answered."""
        renewing = self._renewing
        renewing.timers.arm(renewing.session, last.arrives + renewing.session_ms)
        skip_heartbeats(
            self._member, self._connection, renewing.heartbeat, renewing.answer, count, last
        )


def begin(world: Environment, member: SimulatedMember, *, refreshes: bool = False) -> Quiet | None:
    """Return the quiet time of a member that begins now; None if it is not quiet, or has other
    things to do before its next heartbeat. `refreshes`: its metadata are due now; then also None
    if they have changed, or if a heartbeat is due before the response."""
    if member.application is not None:
        return None
    machine, connection = member.member, member.only_link
    if not isinstance(connection, ClientConnection) or not machine.is_quiet:
        return None
    refresh, due = None, machine.metadata_due
    if refreshes and due == world.now:
        refresh = refresh_now(world, member, machine)
        due = None if refresh is None else refresh.next_due(machine)
    others = machine.offsets_due
    if due is None or (
        refresh is None and machine.beat_at < world.now
    ):  # it may be late, after its host or its link was stopped
        return None
    until = due if others is None else min(due, others)
    if until <= machine.beat_at or not _is_quick(connection, machine):
        return None
    if not world.brokers.calm or not {member.name, connection.node}.isdisjoint(world.frozen):
        return None
    renewing = _renewing(
        world.brokers.brokers[connection.node], machine.heartbeat(), member.name, connection
    )
    if renewing is None or machine.beat_interval_ms + longest_ms(connection) >= renewing.session_ms:
        return None
    return Quiet(world, member, until, connection, renewing, refresh)


def _renewing(
    broker: Broker, heartbeat: Heartbeat, client_id: str, connection: ClientConnection
) -> Renewing | None:
    """Return the effect of a heartbeat at its coordinator, or None if it does more than renew a
    session, or is refused."""
    group_id, member_id = heartbeat.group_id, heartbeat.member_id
    shard = broker.coordinator.shard_of(group_id)
    if shard is None:
        return None
    group = shard.groups[group_id].membership
    if isinstance(heartbeat, HeartbeatRequest):
        if (
            not isinstance(group, ClassicGroup)
            or group.state is not STABLE
            or group.generation != heartbeat.generation_id
        ):
            return None
        if group.refuse_member(member_id, heartbeat.group_instance_id):
            return None
        session_ms = group.members[member_id].session_timeout_ms
        return Renewing(
            heartbeat,
            _ALL_IS_WELL,
            shard.timers,
            TimerKey(int(TimerKind.SESSION), group_id, member_id),
            session_ms,
        )
    environment = shard.config.consumer
    if environment is None or not isinstance(group, ConsumerMembership):
        return None
    renewed = renewal(group, heartbeat, client_id, connection.broker_side.client_host, environment)
    if renewed is None:
        return None
    session = TimerKey(int(TimerKind.CONSUMER_SESSION), group_id, member_id)
    return Renewing(
        heartbeat, renewed.response, shard.timers, session, renewed.settings.session_timeout_ms
    )


def _is_quick(connection: ClientConnection, member: GroupMember) -> bool:
    """Return True if each heartbeat is answered before the next one, and before any timeout that
    depends on it."""
    config, longest = member.config, longest_ms(connection)
    interval = member.beat_interval_ms
    return (
        longest < interval
        and longest < config.request_timeout_ms
        and interval + longest < config.session_timeout_ms
        and interval + longest < config.max_poll_interval_ms
        and is_open(connection)
    )
