"""Several faults in one change of a group's settings: which of them is told."""

from __future__ import annotations

from itertools import permutations

from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.scenarios.configs import APPEND, GROUP, SET, SUBTRACT, alter


def _told(s: Session, *settings: tuple[str, str]) -> None:
    """Each pair of settings, in both orders; nothing is changed."""
    a = s.connect()
    for one, other in permutations(settings, 2):
        pair = ((name, SET, value) for name, value in (one, other))
        alter(a, GROUP, s.name("g"), *pair, validate_only=True)


@scenario()
def two_faults_of_values(s: Session) -> None:
    """Values are read in the order in which Kafka has its settings; an unknown name comes first."""
    _told(
        s,
        ("share.isolation.level", "x"),
        ("share.auto.offset.reset", "x"),
        ("consumer.heartbeat.interval.ms", "x"),
        ("consumer.session.timeout.ms", "0"),
        ("nope", "x"),
    )


@scenario()
def two_faults_of_bounds(s: Session) -> None:
    """Then bounds: of a heartbeat interval before those of a session; then what both come to."""
    _told(
        s,
        ("share.session.timeout.ms", "1"),
        ("share.heartbeat.interval.ms", "999999"),
        ("consumer.session.timeout.ms", "999999"),
        ("consumer.heartbeat.interval.ms", "1"),
        ("share.record.lock.duration.ms", "3600000"),
    )


@scenario(since="4.4")
def two_faults_of_newer_settings(s: Session) -> None:
    """Of internal settings, too; the assignor is looked at before heartbeats, and the name of a
    topic for dead letters last."""
    _told(
        s,
        ("streams.assignor.name", "x"),
        ("streams.session.timeout.ms", "5000"),
        ("streams.heartbeat.interval.ms", "60000"),
        ("streams.num.warmup.replicas", "999"),
        ("streams.num.standby.replicas", "-1"),
        ("streams.acceptable.recovery.lag", "-1"),
        ("consumer.assignor.offload.enable", "x"),
        ("share.isolation.level", "x"),
        ("errors.deadletterqueue.topic.name", "__x"),
    )


@scenario(since="4.4")
def a_list_that_nothing_is_added_to(s: Session) -> None:
    """The controller takes none of a group's settings for a list."""
    a, name = s.connect(), "streams.rack.aware.assignment.tags"
    for operation in (APPEND, SUBTRACT):
        alter(a, GROUP, s.name("g"), (name, operation, "a"), validate_only=True)
