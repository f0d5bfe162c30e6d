"""Actions of ready tests on an application's commits and its group, by the requests of the protocol
that the application uses.

A group of the consumer protocol (KIP-848) has no rebalance that all members join, so other
errors and another member take its place.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Set
from typing import TYPE_CHECKING

from coordinator.events.faults import FaultInjected
from coordinator.events.groups import MemberRejoined
from coordinator.events.line import lines_of
from coordinator.events.wire import RequestSeen
from coordinator.history.world.groups.spans import BEGUN

from ..in_process_requests import ControlError
from . import findings, identities
from .findings import Finding
from .refused_heartbeats import connections, refused_for_good
from .sessions import held_at_most_s, postpone_sessions
from .under_test import PARTITIONS, ApplicationError, ApplicationUnderTest

if TYPE_CHECKING:
    from ..injection.fault_board import FaultHandle

_CLOSES_S = 0.1
"""Seconds that it may take, after an application has gone on, until a connection that its
library gave up is seen to be closed."""
REST = 3
"""Number of rebalances that are tolerated although everything was done: a client may still ask
for one because of what it has just learned."""


def commits_fail(app: ApplicationUnderTest, times: int | None = None) -> FaultHandle:
    """Refuse the application's commits as if a rebalance had overtaken them. Offsets in a
    transaction that names no member are only counted: no rebalance overtakes them, and Kafka
    accepts them (KIP-447)."""
    api, error = (
        "OffsetCommit",
        "STALE_MEMBER_EPOCH" if app.speaks_consumer else "REBALANCE_IN_PROGRESS",
    )
    if app.transactional:
        api, error = "TxnOffsetCommit", "ILLEGAL_GENERATION"
        if not names_member(app):
            return app.kafka.observe(api, group=app.application.group, times=times, may_miss=True)
    return app.kafka.fail(api, error, group=app.application.group, times=times, may_miss=True)


def names_member(app: ApplicationUnderTest) -> bool:
    """Return True if the application's transactional offset commits name the member. Those of
    older client libraries (aiokafka 0.14) do not."""
    lines = lines_of(app.kafka.events(group=app.application.group))
    return any(
        line.member is not None
        for line in lines
        if isinstance(event := line.event, RequestSeen) and event.api == "txn_offset_commit"
    )


def coordinator_of(app: ApplicationUnderTest) -> int:
    """Return the broker that coordinates the application's group. Raises LookupError if none
    does."""
    group = app.application.group
    brokers = app.kafka.run(
        lambda: [
            broker.node_id
            for broker in app.kafka.brokers.values()
            if broker.coordinator.shard_of(group)
        ]
    )
    if not brokers:
        raise LookupError(f"no broker coordinates group {group!r} now")
    return brokers[0]


def gone(app: ApplicationUnderTest) -> bool:
    """Wait until the application's members have left. Return False if they have not when its
    patience is over. A static member does not leave; its closed connection counts."""
    until = time.monotonic() + app.patience_s
    while any(member.connected or member.instance_id is None for member in app.members()):
        if time.monotonic() > until:
            return False
        time.sleep(0.005)
    return True


def gave_up(app: ApplicationUnderTest, members: Set[str], since: int) -> bool:
    """Wait until these members of a consumer group, whose heartbeats are refused for good, have
    closed their connections. The application's patience begins when all of them have been
    refused. Return False if it ends first."""
    until, told = time.monotonic() + app.heartbeat_interval_s + app.patience_s, False
    while True:
        refused = refused_for_good(lines_of(app.kafka.events(since=since)), app.application.group)
        connected = connections(app.kafka)
        here = [
            member for member in app.members() if member.member_id in members and member.connected
        ]
        if all(
            member.member_id in refused and refused[member.member_id].event.peer not in connected
            for member in here
        ):
            return True
        if not told and all(member.member_id in refused for member in here):
            until, told = time.monotonic() + app.patience_s, True
        if time.monotonic() > until:
            return False
        time.sleep(0.005)


def rebalance(app: ApplicationUnderTest, reason: str) -> None:
    """Start a rebalance of the application's group; in the consumer protocol by another member
    that joins and leaves."""
    if app.speaks_consumer:
        with app.peer():
            app.wait_shared()
        return
    app.wait(
        findings.NO_RECOVERY, "the application is no settled member", state="Stable", assigned="all"
    )
    try:
        app.group.rebalance(reason)
    except ControlError as error:
        if not app.members():  # those that there are rebalance already
            found = Finding(
                findings.LEAVES, f"it has left where its group was to rebalance: {error}"
            )
            went = identities.gone(
                lines_of(app.kafka.events()), app.application.group, app.told.peers
            )
            raise ApplicationError([found, *went, *app.findings()]) from None


def wait_hit(
    app: ApplicationUnderTest, fault: FaultHandle, what: str, name: str = findings.NO_RECOVERY
) -> None:
    """Wait until a request of the application met a fault. Raises ApplicationError, with all
    findings, if none does."""
    mark = app.kafka.mark()
    try:
        fault.wait_hit(timeout=app.patience_s)
    except ControlError as error:
        known = [] if name == findings.BLOCKS else app.why_not(mark, offsets=True)
        raise ApplicationError(
            [*app.findings(), *known, Finding(name, f"{what}: {error}")]
        ) from None


def verify_rest(app: ApplicationUnderTest, *, since: int) -> None:
    """Raise ApplicationError if the group rebalanced more than a few times since this mark,
    although no member came or went."""
    seen = app.evidence()
    found = findings.restless(seen.lines, seen.group, since, REST)
    if found:
        left = seen.left_for_its_poll(seen.told.undisturbed(), wrong=True)
        raise ApplicationError([*dict.fromkeys([*left, *app.findings(), *found])])


def verify_restart(app: ApplicationUnderTest, *, since: int) -> None:
    """Raise AssertionError if a static member that was started again since this mark caused a
    rebalance. A rebalance that it requests itself under its new member id does not count:
    kafka-python does so if it is the leader and fetched metadata while it joined."""
    lines = lines_of(app.kafka.events(group=app.application.group, since=since))
    back = {line.seq for line in lines if line.kind is MemberRejoined}
    if any(line.kind in BEGUN and line.cause not in back for line in lines):
        app.group.verify().rebalances(0, since=since)


def verify_stayed(app: ApplicationUnderTest, *, since: int) -> None:
    """Raise ApplicationError if a member of the application left since this mark."""
    seen = app.evidence()

    def left(connected: Collection[str]) -> list[Finding]:
        return identities.left(seen.lines, seen.group, seen.told.peers, since, connected)

    if left(()):  # a consumer that closes leaves, and then closes its connections
        app.wait_a_moment(lambda: bool(left(connections(app.kafka))))
    found = seen.left_for_its_poll([(since, sys.maxsize)]) or left(connections(app.kafka))
    if found:
        raise ApplicationError([*found, *app.findings()])


def waits_for_commits(app: ApplicationUnderTest, wait_s: float) -> bool:
    """Return True if the application processes nothing while one of its commits is not answered,
    for `wait_s` seconds in all. One commit is held for a part of its member's session at most.

    An application that commits asynchronously, or leaves commits to its library, goes on
    processing; no error is raised to it either.
    """
    until = time.monotonic() + wait_s
    while True:
        most_s = held_at_most_s(app, min(wait_s, max(until - time.monotonic(), 0.0)))
        if not _waits_for_commit(app, most_s):
            return False
        if time.monotonic() >= until:
            return True


def _waits_for_commit(app: ApplicationUnderTest, most_s: float) -> bool:
    mark = app.kafka.mark()
    with app.kafka.hold(
        "OffsetCommit", group=app.application.group, times=1, may_miss=True
    ) as held:
        app.produce(PARTITIONS)
        wait_hit(app, held, "the application commits nothing")
        postpone_sessions(app, most_s)
        before, until = len(app.processed() or ()), time.monotonic() + most_s
        app.produce(10 * PARTITIONS)
        while len(app.processed() or ()) <= before:
            if time.monotonic() > until:
                return True
            time.sleep(0.005)
        return _given_up(app, mark)


def _given_up(app: ApplicationUnderTest, since: int) -> bool:
    """Return True if the client closed the connection of an unanswered commit: heartbeats behind
    it got no response either, so its library gave the connection up."""
    lines = lines_of(app.kafka.events(since=since))
    held = {
        line.cause
        for line in lines
        if line.kind is FaultInjected and line.group == app.application.group
    }
    peers = {line.event.peer for line in lines if line.kind is RequestSeen and line.seq in held}
    until = time.monotonic() + _CLOSES_S
    while peers & connections(app.kafka):
        if time.monotonic() > until:
            return False
        time.sleep(0.005)
    return bool(peers)
