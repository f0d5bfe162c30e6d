"""Requests that change nothing, skipped: what a quiet member and its coordinator would be after
them is worked out, not played.

A member is quiet while it only heartbeats and is answered well, and asks for metadata that have not
changed. Rules: the event log, the draws, the bytes sent and all that follows are the same as if
each request had been sent (`World(skips=False)` sends them). A member is quiet only in a stable
group, or at the last epoch of a consumer group (KIP-848), over links that are whole and have no
limit of bandwidth, among brokers that run, know the same and have no fault of requests in force.
Anything that could change that ends the quiet of all members first (`World.catch_up`); what is on
its way at that instant is then sent in full. Does not depend on what ends it.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Final, NamedTuple

from ...broker.call import Call, Encoded
from ...broker.handlers import metadata
from ...groups.classic.model import ClassicGroup
from ...groups.classic.states import STABLE
from ...groups.consumer.model import ConsumerMembership
from ...groups.consumer.renewal import renewal
from ...members.connections.driver import metadata_request
from ...shards.timers import TimerKey, TimerKind
from ...wire.framing import frame, response_header
from ...wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from .connections import ClientConnection
from .skipped_commits import Beat, Commit, Commits, Place, send_for_real, skip_heartbeats

if TYPE_CHECKING:
    from ...broker.core import Broker
    from ...members.effects import FetchMetadata
    from ...members.group_member import GroupMember, Heartbeat
    from ...shards.timers import Timers
    from ...wire.messages.metadata import MetadataRequest
    from ...wire.schema import Response
    from ..environment import Environment
    from .member import SimulatedMember

_REFRESH: Final = "refresh"
_MOST_KEPT: Final = 128
"""Answers to Metadata that a broker keeps; beyond that, those to refreshes are not kept a second
time."""
_NEVER: Final = 1 << 62
_ALL_IS_WELL: Final = HeartbeatResponse()


class Renewing(NamedTuple):
    """What each heartbeat of a quiet member does at its coordinator: its session ends so much
    later. `answer`: what it is answered."""

    heartbeat: Heartbeat
    answer: Response
    timers: Timers
    session: TimerKey
    session_ms: int


class Refresh(NamedTuple):
    """A member asks for metadata that have not changed, now: what is sent, and when it arrives and
    is answered."""

    connection: ClientConnection
    sizes: tuple[int, int]
    asked_at: int
    arrives: int
    answered: int

    def end(self, world: Environment, member: SimulatedMember, place: Place) -> bool:
        """Bring the member to where it is at `place`; False: the question or its answer is on its
        way then."""
        up, down = self.connection.pipes
        has_arrived = (self.arrives, self.asked_at, up.number) < place
        if has_arrived and (self.answered, self.arrives, down.number) < place:
            up.link.skip(1, self.sizes[0])
            down.link.skip(1, self.sizes[1])
            self.connection.channel.skip(1)
            member.skip_metadata(self.asked_at, self.answered)
            return True
        send_for_real(
            world, member, self.connection, self.asked_at, self.arrives if has_arrived else None
        )
        return False


class Quiet:
    """A member's quiet time, which may begin with a refresh of its metadata. `until`: when the
    member has something else to do."""

    __slots__ = (
        "_commits",
        "_connection",
        "_held",
        "_interval_ms",
        "_member",
        "_part",
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
        self._part: Refresh | Commit | None = refresh
        self._commits: Commits | None = None
        self._held = renewing.timers.get(renewing.session)
        renewing.timers.arm(renewing.session, _NEVER)

    def end(self, place: Place, sent_before: int) -> None:
        """Bring the member and its coordinator to where they are at `place`; heartbeats due before
        `sent_before` have been sent."""
        self._end(place, sent_before)
        self._member.catch_up_reading()

    def _end(self, place: Place, sent_before: int) -> None:
        timers, session = self._renewing.timers, self._renewing.session
        assert self._held is not None
        timers.arm(session, self._held)
        if self._part is not None:
            if not self._part.end(self._world, self._member, place):
                renewed = timers.get(session)
                if (
                    renewed is not None and renewed < self._held
                ):  # by a heartbeat that was sent before the commit
                    timers.arm(session, self._held)
                return
            timers.arm(session, self._held)
        beat = self._settle_beats(sent_before, place)
        if beat is not None:
            send_for_real(self._world, self._member, self._connection, beat.sent_at, None)
            if (beat.arrives, beat.sent_at, self._connection.pipes[0].number) < place:
                self._beat_arrived(beat)

    def _settle_beats(self, sent_before: int, place: Place) -> Beat | None:
        """Bring the member to where it is after its heartbeats that were due before an instant and
        are answered at `place`. Answers the one that is not."""
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
        """The nth heartbeat from one that is sent at `first`."""
        up, down = self._connection.links
        sent_at = first + (nth - 1) * self._interval_ms
        arrives = sent_at + up.delay_after(nth - 1)
        return Beat(sent_at, arrives, arrives + down.delay_after(nth - 1))

    def go_on(self, now: int) -> bool:
        """Let the member do what it has to do now, commit or ask for metadata, and be quiet further
        on. False: it has to be brought to where it is. So it is if anything else is on its way, or
        could be before this is answered, and if several brokers store a commit.
        """
        machine, world, part, renewing = (
            self._member.member,
            self._world,
            self._part,
            self._renewing,
        )
        if part is not None:
            if part.answered >= now:
                return False
            part.end(world, self._member, (now, inf, inf))
            self._part = None
        assert self._held is not None
        renewing.timers.arm(renewing.session, self._held)
        beat = self._settle_beats(now, (now, inf, inf))
        self.hold()
        if machine.beat_at + (beat is not None) * self._interval_ms <= now + _longest(
            self._connection
        ):
            return False  # the next one is due soon
        config, metadata_due, offsets_due = (
            machine.config,
            machine.metadata_due,
            machine.offsets_due,
        )
        if metadata_due == now and beat is None and (offsets_due is None or offsets_due > now):
            refresh = self._part = _refresh(world, self._member, machine)
            if refresh is None:
                return False
            due = refresh.answered + max(config.metadata_max_age_ms, config.retry_backoff_ms)
            self.until = due if offsets_due is None else min(due, offsets_due)
            return True
        broker = world.brokers.brokers[self._connection.node]
        if (
            machine.commits_at != now
            or len(world.brokers.brokers) > 1
            or broker.tape is not None
            or metadata_due is None
            or metadata_due <= now + _longest(self._connection)
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
        """The member may have shown that it lives: then its session ends later. It does not end
        while the member is quiet."""
        timers, session = self._renewing.timers, self._renewing.session
        ends = timers.get(session)
        if ends != _NEVER:
            self._held = ends
            timers.arm(session, _NEVER)

    def _beat_arrived(self, beat: Beat) -> None:
        """The heartbeat that was sent last has arrived: its answer is on its way, whatever has
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
        """The heartbeat that was on its way when a commit was sent has been answered."""
        assert self._held is not None
        renewing = self._renewing
        self._held = max(self._held, beat.arrives + renewing.session_ms)
        skip_heartbeats(
            self._member, self._connection, renewing.heartbeat, renewing.answer, 1, beat
        )

    def _skip(self, count: int, last: Beat) -> None:
        """So many heartbeats were sent and answered."""
        renewing = self._renewing
        renewing.timers.arm(renewing.session, last.arrives + renewing.session_ms)
        skip_heartbeats(
            self._member, self._connection, renewing.heartbeat, renewing.answer, count, last
        )


def begin(world: Environment, member: SimulatedMember, *, refreshes: bool = False) -> Quiet | None:
    """The quiet time of a member that begins now; None if it is not quiet, or has other things to
    do before its next heartbeat.

    `refreshes`: its metadata are due now; None, too, if they have changed, or if a heartbeat is due
    before they would be answered.
    """
    machine = member.member
    if not machine.is_quiet:
        return None
    connection = member.only_link
    if not isinstance(connection, ClientConnection):
        return None
    refresh, due = None, machine.metadata_due
    if refreshes and due == world.now:
        refresh = _refresh(world, member, machine)
        due = (
            None
            if refresh is None
            else refresh.answered
            + max(machine.config.metadata_max_age_ms, machine.config.retry_backoff_ms)
        )
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
    if renewing is None or machine.beat_interval_ms + _longest(connection) >= renewing.session_ms:
        return None
    return Quiet(world, member, until, connection, renewing, refresh)


def _renewing(
    broker: Broker, heartbeat: Heartbeat, client_id: str, connection: ClientConnection
) -> Renewing | None:
    """What a heartbeat does at its coordinator; None if it does more than to renew a session, or is
    refused."""
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


def _refresh(world: Environment, member: SimulatedMember, machine: GroupMember) -> Refresh | None:
    """The refresh of a member's metadata that begins now, if they are the same as before and arrive
    before its next heartbeat is due."""
    connection, question, now = member.any_link, machine.metadata_question(), world.now
    if not isinstance(connection, ClientConnection) or question is None or question.topics is None:
        return None
    if (
        connection.node in world.frozen
        or not _is_open(connection)
        or machine.beat_at <= now + _longest(connection)
    ):
        return None
    message, channel = metadata_request(question), connection.channel
    body = _metadata(
        world.brokers.brokers[connection.node], question, message, channel.version(message), now
    )
    if body is None or body != channel.metadata:
        return None
    up, down = connection.pipes
    arrives = now + up.link.delay_after(0)
    return Refresh(
        connection, channel.sizes(message, body), now, arrives, arrives + down.link.delay_after(0)
    )


def _metadata(
    broker: Broker, question: FetchMetadata, message: MetadataRequest, version: int, now: int
) -> bytes | None:
    """What a broker would answer; None if asking could change something."""
    kept, key = broker.cluster.kept, (_REFRESH, version, question)
    body = kept.get(key)
    if body is None:
        assert question.topics is not None
        if not question.topics <= broker.cluster.topics.keys():  # asking could make them
            return None
        answer = metadata.handle(
            broker,
            Call(message, version, "", "/10.0.0.1", -1, now, "PLAINTEXT", None, broker.node_id),
        )
        if not isinstance(answer, Encoded):
            return None
        body = answer.body
        if len(kept) < _MOST_KEPT:
            kept[key] = body
    return body


def _is_open(connection: ClientConnection) -> bool:
    """Is nothing on a connection, and does each message arrive by its delay alone, which is some
    time?"""
    up, down = connection.links
    return (
        not (
            up.is_cut
            or down.is_cut
            or up.bytes_per_second
            or down.bytes_per_second
            or up.delay_ms[0] < 1
            or down.delay_ms[0] < 1
        )
        and connection.is_idle
    )


def _longest(connection: ClientConnection) -> int:
    """The longest that a question and its answer take."""
    up, down = connection.links
    return up.delay_ms[1] + down.delay_ms[1]


def _is_quick(connection: ClientConnection, member: GroupMember) -> bool:
    """Is each heartbeat answered before the next one, and before anything that waits for it runs
    out?"""
    config, longest = member.config, _longest(connection)
    interval = member.beat_interval_ms
    return (
        longest < interval
        and longest < config.request_timeout_ms
        and interval + longest < config.session_timeout_ms
        and interval + longest < config.max_poll_interval_ms
        and _is_open(connection)
    )
