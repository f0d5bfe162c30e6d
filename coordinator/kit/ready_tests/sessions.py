"""Sessions of an application's members: their length, and their prolongation while the kit
itself holds a member's requests or its process. An expiry that the kit causes is not charged to
the application."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.core.groups.classic.model import ClassicGroup
from coordinator.core.shards.by_hand import postpone_session

if TYPE_CHECKING:
    from coordinator.server.broker import Broker

    from .under_test import ApplicationUnderTest

_PART = 4
"""A request is held for at most this part of a session: its client renews the session by
requests that wait behind it."""


def held_at_most_s(app: ApplicationUnderTest, most_s: float) -> float:
    """Return for how many seconds a request of the application may be held, at most `most_s`:
    its client gives up a request that is not answered for a session timeout."""
    sessions = app.kafka.run(
        lambda: [ms for each in _serving(app) for ms in _sessions_ms(app, each)]
    )
    return min(most_s, min(sessions, default=45_000) / 1000 / _PART)


def postpone_sessions(app: ApplicationUnderTest, duration_s: float) -> None:
    """Prolong the sessions of the application's members."""
    names, group, by_ms = (
        [member.member_id for member in app.members()],
        app.application.group,
        round(duration_s * 1000),
    )

    def postpone() -> None:
        for broker in _serving(app):
            shard = broker.coordinator.shard_of(group)
            for name in names if shard is not None else ():
                assert shard is not None
                postpone_session(shard, group, name, by_ms)

    app.kafka.run(postpone)


def _serving(app: ApplicationUnderTest) -> list[Broker]:
    group = app.application.group
    return [
        broker
        for broker in app.kafka.brokers.values()
        if broker.coordinator.shard_of(group) is not None
    ]


def _sessions_ms(app: ApplicationUnderTest, broker: Broker) -> list[int]:
    group = app.application.group
    shard = broker.coordinator.shard_of(group)
    assert shard is not None
    membership = shard.groups[group].membership
    if isinstance(membership, ClassicGroup):
        return [member.session_timeout_ms for member in membership]
    environment = shard.config.consumer
    return [] if environment is None else [environment.settings(group).session_timeout_ms]
