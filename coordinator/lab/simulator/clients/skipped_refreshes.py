"""Metadata refreshes of quiet members: their requests, the instants of their responses, and the
refreshes that follow while the member stays quiet.

The rules are those of `skipping`, of which this is a part. A refresh is skipped only if its
response is the same as before. Several are planned at once, each beginning when all before it
have been answered. This module must not know when a member is quiet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from coordinator.base.slices import whole
from coordinator.members.connections.driver import metadata_request
from coordinator.server.handlers import metadata
from coordinator.server.requests.call import Call, Encoded, Sliced

from .connections import ClientConnection
from .skipped_commits import Place, send_for_real

if TYPE_CHECKING:
    from coordinator.members.effects import FetchMetadata
    from coordinator.members.group_member import GroupMember
    from coordinator.server.broker import Broker
    from coordinator.wire.messages.metadata import MetadataRequest

    from ..environment import Environment
    from .member import SimulatedMember

_REFRESH: Final = "refresh"
_MOST_KEPT: Final = 128
"""Number of responses to Metadata that a broker keeps; beyond that, those to refreshes are not
kept as well."""


class Refresh(NamedTuple):
    """A member's refresh of metadata that have not changed: the request, and the instants of its
    arrival and its response."""

    connection: ClientConnection
    sizes: tuple[int, int]
    asked_at: int
    arrives: int
    answered: int

    def is_over(self, place: Place) -> bool:
        """Return True if it has been answered at `place`."""
        return (self.answered, self.arrives, self.connection.pipes[1].number) < place

    def skip(self, count: int) -> None:
        """Note that so many like it were sent and answered."""
        up, down = self.connection.links
        up.skip(count, self.sizes[0])
        down.skip(count, self.sizes[1])
        self.connection.channel.skip(count)

    def end(self, world: Environment, member: SimulatedMember, place: Place) -> bool:
        """Bring the member to its state at `place`. Return False if the request or its response
        is in flight then."""
        if self.is_over(place):
            self.skip(1)
            member.skip_metadata(self.asked_at, self.answered)
            return True
        has_arrived = (self.arrives, self.asked_at, self.connection.pipes[0].number) < place
        send_for_real(
            world, member, self.connection, self.asked_at, self.arrives if has_arrived else None
        )
        return False

    def next_due(self, member: GroupMember) -> int:
        """Return the instant at which the member asks again."""
        return self.answered + max(
            member.config.metadata_max_age_ms, member.config.retry_backoff_ms
        )


class Planned(NamedTuple):
    """A refresh that follows another one. `beats`: number of heartbeats sent between the two, at
    least one; each is answered before this refresh begins."""

    beats: int
    refresh: Refresh


def refresh_now(
    world: Environment, member: SimulatedMember, machine: GroupMember
) -> Refresh | None:
    """Return the refresh of a member's metadata that begins now, if these are unchanged and
    arrive before its next heartbeat is due; else None."""
    connection, question, now = member.any_link, machine.metadata_question(), world.now
    if not isinstance(connection, ClientConnection) or question is None or question.topics is None:
        return None
    if (
        connection.node in world.frozen
        or not is_open(connection)
        or machine.beat_at <= now + longest_ms(connection)
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


def plan(
    machine: GroupMember, coordinator: ClientConnection, first: Refresh, most: int
) -> list[Planned]:
    """Return the refreshes that follow one that begins now, at most so many, up to the first
    that might coincide with a heartbeat, its response, or a commit."""
    planned: list[Planned] = []
    (up, down), others = first.connection.links, machine.offsets_due
    shared = up is coordinator.links[0]
    takes_ms = max(longest_ms(coordinator), longest_ms(first.connection))
    beat_at, interval_ms = machine.beat_at, machine.beat_interval_ms
    due, drawn = first.next_due(machine), 1
    every_ms = due - first.answered
    while len(planned) < most and (others is None or due < others):
        beats = -((beat_at - due) // interval_ms)
        beat_at += beats * interval_ms
        if beats < 1 or not beat_at - interval_ms + takes_ms <= due < beat_at - takes_ms:
            break
        if shared:
            drawn += beats
        arrives = due + up.delay_after(drawn)
        answered = arrives + down.delay_after(drawn)
        planned.append(
            Planned(beats, Refresh(first.connection, first.sizes, due, arrives, answered))
        )
        drawn += 1
        due = answered + every_ms
    return planned


def _metadata(
    broker: Broker, question: FetchMetadata, message: MetadataRequest, version: int, now: int
) -> bytes | None:
    """Return the response that a broker would give, or None if the request could change
    something."""
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
        if isinstance(answer, Sliced):
            answer = whole(answer.work, now)
        if not isinstance(answer, Encoded):
            return None
        body = answer.body
        if len(kept) < _MOST_KEPT:
            kept[key] = body
    return body


def is_open(connection: ClientConnection) -> bool:
    """Return True if nothing is in flight on a connection, and each message arrives after a
    positive delay alone."""
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


def longest_ms(connection: ClientConnection) -> int:
    """Return the longest time in ms that a request and its response take."""
    up, down = connection.links
    return up.delay_ms[1] + down.delay_ms[1]
