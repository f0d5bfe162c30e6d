"""Automatic commits of quiet members: the coordinator handles them; the way there and back is
computed.

A commit is in the log, so the coordinator gets it at the instant of its arrival and handles it
as any other. But it gets the request itself, not its bytes, and the member gets the response
when its state is next needed. The rules are those of `skipping`, of which this is a part. This
module must not know when a member is quiet.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from coordinator.server import apis
from coordinator.server.connections import wire_log
from coordinator.server.requests.call import Call
from coordinator.wire.framing import frame, response_header
from coordinator.wire.messages.offset_commit import OffsetCommitRequest, OffsetCommitResponse

if TYPE_CHECKING:
    from coordinator.members.group_member import Heartbeat
    from coordinator.wire.schema import Response

    from ..environment import Environment
    from .connections import ClientConnection
    from .member import SimulatedMember

Place = tuple[int, float, float]
"""Order of things that happen at one instant: the instant, when it was put on the agenda, and
the number of its pipe."""


class Beat(NamedTuple):
    """A heartbeat of a quiet member: the instants of sending, arrival and response."""

    sent_at: int
    arrives: int
    answered: int


def send_for_real(
    world: Environment,
    member: SimulatedMember,
    connection: ClientConnection,
    at: int,
    arrives: int | None,
) -> None:
    """Let a member send what was due at an instant and is in flight, or whose response is, if it
    has arrived."""
    with world.at_earlier(at):
        member.due()
    if arrives is not None:
        with world.at_earlier(arrives):
            connection.pipes[0].go_on()


def skip_heartbeats(
    member: SimulatedMember,
    connection: ClientConnection,
    heartbeat: Heartbeat,
    answer: Response,
    count: int,
    last: Beat,
) -> None:
    """Note that so many heartbeats were sent, the last one at these instants, and answered
    without error."""
    skip_messages(connection, heartbeat, answer, count)
    member.skip_heartbeats(count, last.sent_at, last.answered)


def skip_messages(
    connection: ClientConnection, heartbeat: Heartbeat, answer: Response, count: int
) -> None:
    """Note that so many heartbeats and their responses went over a connection."""
    up, down = connection.links
    size, answer_size = connection.channel.heartbeat_sizes(heartbeat, answer)
    up.skip(count, size)
    down.skip(count, answer_size)
    connection.channel.skip(count)


class Commits:
    """The commits of one quiet time. `arrived` is called when a commit has arrived, which may
    have renewed the member's session. `beat_arrived` and `beat_answered` are called for the
    heartbeat that was in flight when a commit was sent: when it has been sent for real and has
    arrived, and when it has been answered."""

    def __init__(
        self,
        world: Environment,
        member: SimulatedMember,
        connection: ClientConnection,
        arrived: Callable[[], None],
        beat_arrived: Callable[[Beat], None],
        beat_answered: Callable[[Beat], None],
    ) -> None:
        self.world, self.member, self.connection = world, member, connection
        self.arrived, self.beat_arrived, self.beat_answered = arrived, beat_arrived, beat_answered
        machine = member.member
        member.read(world.now)
        self._machine = machine
        self.message = machine.commit_request()
        self.version = connection.channel.version(self.message)
        self._rows = [row for topic in self.message.topics for row in topic.partitions]
        self._keys = [
            (topic.name, row.partition_index)
            for topic in self.message.topics
            for row in topic.partitions
        ]
        self.sizes: tuple[int, int] | None = None
        """The sizes of the request and its response in bytes. They are the same each time,
        because both name the same partitions."""

    def send(self, now: int, beat: Beat | None) -> Commit:
        """Commit all positions of the member now. `beat`: its unanswered heartbeat, if there is
        one."""
        self.member.read(now)
        positions = self._machine.positions
        for key, row in zip(self._keys, self._rows, strict=True):
            position = positions[key]  # type: ignore[index]
            row.committed_offset, row.committed_leader_epoch, row.committed_metadata = position
        up, down = self.connection.links
        if beat is None:
            arrives = now + up.delay_after(0)
            answered = arrives + down.delay_after(0)
        else:  # nothing is overtaken
            arrives = max(beat.arrives, now + up.delay_after(1))
            answered = max(beat.answered, arrives + down.delay_after(1))
        commit = Commit(self, beat, now, arrives, answered)
        came_with_it = (
            beat is not None and arrives == beat.arrives
        )  # then it is delivered when the heartbeat is
        with self.world.at_earlier(beat.sent_at if beat is not None and came_with_it else now):
            self.world.at(arrives, commit.arrive, self.connection.pipes[0].number)
        return commit

    def handle(self, now: int) -> OffsetCommitResponse:
        """Let the coordinator handle the request, as `broker.exchange` calls its handler."""
        world, message, name, side = (
            self.world,
            self.message,
            self.member.name,
            self.connection.broker_side,
        )
        broker = world.brokers.brokers[self.connection.node]
        api = apis.served_by(broker)[OffsetCommitRequest.api_key]
        assert api is not None
        side.client_id = name
        cause = wire_log.seen(broker, side.peer, api.name, self.version, name, message, now)
        call = Call(
            message,
            self.version,
            name,
            side.client_host,
            broker.next_token(),
            now,
            side.listener,
            cause,
            broker.node_id,
            side.peer,
        )
        response = api.handle(broker, call)
        assert isinstance(response, OffsetCommitResponse)
        held = broker.groups.hold_back(call, response)
        assert not held, "of one broker nothing waits to be replicated"
        wire_log.answered(world.log, side.peer, api.name, call, response, now)
        world.settle()
        return response


class Commit:
    """A commit of a quiet member: the instants of sending, arrival and response. `beat`: see
    `Commits.send`."""

    __slots__ = (
        "_beat",
        "_commits",
        "_is_over",
        "_is_refused",
        "_response",
        "answered",
        "arrives",
        "sent_at",
    )

    def __init__(
        self, commits: Commits, beat: Beat | None, sent_at: int, arrives: int, answered: int
    ) -> None:
        self._commits, self._beat = commits, beat
        self.sent_at, self.arrives, self.answered = sent_at, arrives, answered
        self._response: OffsetCommitResponse | None = None
        self._is_over = self._is_refused = False

    def arrive(self) -> None:
        """Let the commit arrive at the coordinator, unless it was sent as bytes after all."""
        if self._is_over:
            return
        commits = self._commits
        self._response = commits.handle(self.arrives)
        commits.arrived()
        if any(row.error_code for topic in self._response.topics for row in topic.partitions):
            self._is_refused = True
            commits.world.wake(commits.member)

    def end(self, world: Environment, member: SimulatedMember, place: Place) -> bool:
        """Bring the member to its state at `place`. Return False if the request or its response
        is in flight then."""
        self._is_over = True
        commits, response, beat = self._commits, self._response, self._beat
        connection = commits.connection
        (up, down), channel = connection.pipes, connection.channel
        answered_since = (
            beat.arrives if beat is not None and beat.answered == self.answered else self.arrives
        )
        if (
            response is not None
            and (self.answered, answered_since, down.number) < place
            and not self._is_refused
        ):
            if beat is not None:
                commits.beat_answered(beat)
            if commits.sizes is None:
                commits.sizes = channel.sizes(commits.message, response)
            up.link.skip(1, commits.sizes[0])
            down.link.skip(1, commits.sizes[1])
            channel.skip(1)
            member.skip_commit(self.sent_at, self.answered)
            return True
        if beat is not None:
            send_for_real(world, member, connection, beat.sent_at, None)
            if (beat.arrives, beat.sent_at, up.number) < place:
                commits.beat_arrived(beat)
        send_for_real(world, member, connection, self.sent_at, None)
        if response is not None:
            up.take_back()
        if beat is not None and (beat.answered, beat.arrives, down.number) < place:
            with world.at_earlier(beat.answered):
                down.go_on()
        if response is not None:
            header = response_header(response.api_key, commits.version, channel.correlation)
            with world.at_earlier(self.arrives):
                down.send(frame(header, response.encode(commits.version)))
        return False
