"""Heartbeats that change nothing, skipped: what a quiet member and its coordinator would be after them is worked out, not played.

A member is quiet while it does nothing but heartbeat and every heartbeat is answered well at once. Rules: the event log, the draws, the
bytes sent and all that follows are the same as if each had been sent (`World(skips=False)` sends them). A member is quiet only in a
stable group, over links that are whole and have no limit of bandwidth, among brokers that run, know the same and have no fault of
requests in force. Anything that could change that ends the quiet of all members first (`World.catch_up`); a heartbeat that is on its
way at that instant is then sent in full. Does not depend on what ends it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..groups.classic.model import ClassicGroup
from ..groups.classic.states import STABLE
from ..members.member import Member
from ..shards.timers import TimerKey, TimerKind
from ..wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from .connections import ClientConnection

if TYPE_CHECKING:
    from ..group_coordinator import GroupCoordinator
    from ..shards.timers import Timers
    from .environment import Environment
    from .member import SimulatedMember

Place = tuple[int, float, float]
"""When something happens, among what happens at one instant: the instant, when it was put on the agenda, and its pipe's number."""
_NEVER: Final = 1 << 62
_ANSWER: Final = HeartbeatResponse()


class Quiet:
    """A member's quiet time. `until`: when the member has something else to do."""

    __slots__ = ("_connection", "_coordinator", "_heartbeat", "_held", "_member", "_timers", "_world", "until")

    def __init__(
        self, world: Environment, member: SimulatedMember, until: int, connection: ClientConnection, heartbeat: HeartbeatRequest,
        coordinator: GroupCoordinator, timers: Timers,
    ) -> None:  # fmt: skip
        self._world = world
        self._member = member
        self.until = until
        self._connection = connection
        self._heartbeat = heartbeat
        self._coordinator = coordinator
        self._timers = timers
        self._held = timers.get(self._session)
        timers.arm(self._session, _NEVER)

    @property
    def _session(self) -> TimerKey:
        return TimerKey(int(TimerKind.SESSION), self._heartbeat.group_id, self._heartbeat.member_id)

    def end(self, place: Place, sent_before: int) -> None:
        """Bring the member and its coordinator to where they are at `place`; heartbeats due before `sent_before` have been sent."""
        member = self._member.member
        assert isinstance(member, Member) and self._held is not None
        first, interval = member.beat_at, member.config.heartbeat_interval_ms
        self._timers.arm(self._session, self._held)
        sent = max(0, -((first - sent_before) // interval))
        if not sent:
            return
        last = first + (sent - 1) * interval
        up, down = self._connection.pipes
        arrives = last + up.link.delay_after(sent - 1)
        has_arrived = (arrives, last, up.number) < place
        answered = arrives + down.link.delay_after(sent - 1)
        whole = sent if has_arrived and (answered, arrives, down.number) < place else sent - 1
        if whole:
            self._skip(whole, first + (whole - 1) * interval)
        if whole < sent:
            self._send(last, arrives if has_arrived else None)

    def _skip(self, count: int, last: int) -> None:
        """So many heartbeats were sent, the last one at `last`, and answered."""
        up, down = self._connection.pipes
        arrives = last + up.link.delay_after(count - 1)
        answered = arrives + down.link.delay_after(count - 1)
        response = self._coordinator.heartbeat(self._heartbeat, arrives)
        assert not response.error_code, f"a skipped heartbeat of {self._member.name} is refused with {response.error_code}"
        asked, answer = self._connection.channel.sizes(self._heartbeat, response)
        up.link.skip(count, asked)
        down.link.skip(count, answer)
        self._connection.channel.skip(count)
        self._member.skip_heartbeats(count, last, answered)

    def _send(self, at: int, arrives: int | None) -> None:
        """Send the heartbeat that is on its way, or whose answer is, if it has arrived."""
        world = self._world
        with world.at_earlier(at):
            self._member.due()
        if arrives is not None:
            with world.at_earlier(arrives):
                self._connection.pipes[0].go_on()


def begin(world: Environment, member: SimulatedMember) -> Quiet | None:
    """The quiet time of a member that begins now; None if it is not quiet, or has other things to do before its next heartbeat."""
    connection, machine = member.only_link, member.member
    if not isinstance(connection, ClientConnection) or not isinstance(machine, Member):
        return None
    until = machine.quiet_until()
    if until is None or not world.now <= machine.beat_at < until:  # it may be late, after its host or its link was stopped
        return None
    if not connection.is_idle or not _is_quick(connection, machine):
        return None
    if not world.brokers.calm or not {member.name, connection.node}.isdisjoint(world.frozen):
        return None
    heartbeat = machine.heartbeat()
    coordinator = world.brokers.brokers[connection.node].coordinator
    shard = coordinator.shard_of(heartbeat.group_id)
    group = None if shard is None else shard.groups[heartbeat.group_id].membership
    if shard is None or not isinstance(group, ClassicGroup) or group.state is not STABLE or group.generation != heartbeat.generation_id:
        return None
    if group.refuse_member(heartbeat.member_id, heartbeat.group_instance_id):
        return None
    return Quiet(world, member, until, connection, heartbeat, coordinator, shard.timers)


def _is_quick(connection: ClientConnection, member: Member) -> bool:
    """Is each heartbeat answered before the next one, and before anything that waits for it runs out? None takes no time at all."""
    links = [pipe.link for pipe in connection.pipes]
    if any(link.is_cut or link.bytes_per_second or link.delay_ms[0] < 1 for link in links):
        return False
    longest = sum(link.delay_ms[1] for link in links)
    config = member.config
    return longest < min(
        config.heartbeat_interval_ms, config.request_timeout_ms, config.session_timeout_ms - config.heartbeat_interval_ms,
        config.max_poll_interval_ms - config.heartbeat_interval_ms)
