"""One run of a scenario: makes the world, lets it happen, and judges its log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from coordinator.base.collector import collecting_seldom
from coordinator.events.faults import RunEnded
from coordinator.events.line import Line
from coordinator.history.judges import ALL, OF_SHARE_GROUPS, Judge, Verdict, judge
from coordinator.history.judges.archived_records import ArchivedForAReason
from coordinator.history.judges.by_members import OwnedOnce, SettledWithin
from coordinator.history.judges.cleaned_logs import LogsAreCleanedAsConfigured
from coordinator.history.judges.expiry import CHECK_MS, RETENTION_MS, OffsetsExpireInTime
from coordinator.history.judges.failures import NoMemberFails
from coordinator.history.judges.grace import Grace, virtual_time
from coordinator.history.judges.hearing import RebalancesAreHeardOf
from coordinator.history.judges.liveness import FewRebalances, RefusalsEnd, StableWithin
from coordinator.history.judges.reasons import EXPIRATION_MS, NO_LIMIT, ReasonsHold
from coordinator.history.judges.requests import WITHIN_MS, AnsweredOnce
from coordinator.history.judges.rights import AclsDecide
from coordinator.history.judges.sessions import SessionsEnd
from coordinator.history.judges.share_locks import LocksLast
from coordinator.history.judges.share_members import ReleasedComeAgain
from coordinator.history.judges.sharing import DeliveriesAreCounted, DoneStaysDone
from coordinator.history.judges.timeouts import LOOKS_MS, TimeoutsEnd

from .churn import Churn
from .files.model import Scenario
from .nemesis import Nemesis
from .world import World

if TYPE_CHECKING:
    from coordinator.events import EventLog

_ALLOCATIONS: Final = 5_000_000
"""Surplus of allocations after which Python's garbage collector runs; the default is 700."""
_CONSUMER_SESSION_MS: Final = 45_000  # group.consumer.session.timeout.ms
_SHARE_SESSION_MS: Final = 45_000  # group.share.session.timeout.ms
_HEARTBEAT_MS: Final = 5_000  # group.consumer.heartbeat.interval.ms, and of share groups
_LOCKS: Final = "group.share.record.lock.duration.ms"
_LOCK_MS: Final = 30_000
_DELIVERIES: Final = "group.share.delivery.count.limit"
_DELIVERY_LIMIT: Final = 5
_QUEUED_BYTES: Final = 1 << 16
"""Bytes of a member that may at most wait for the bandwidth of its link when it falls silent."""
STREAMS: Final = frozenset({"group", "wire", "member", "fault", "data", "transaction"})
"""The streams that a simulation's log has, even if it has no line of them."""


def run_scenario(
    scenario: Scenario,
    seed: int,
    log: EventLog,
    begin: Callable[[World], None] | None = None,
    *,
    skips: bool = True,
) -> World:
    """Run a scenario and flush the log. The same scenario and seed write the same log. `begin`
    is called with the world before time passes; it may put readings, or what no file can
    express, on the agenda. `skips`: see `World`; the log is the same."""
    log.data = True
    world = World(
        seed=seed,
        log=log,
        topics=scenario.topics,
        groups=scenario.groups,
        brokers=scenario.brokers,
        config=scenario.broker_config,
        zones=scenario.wires.zones,
        release=scenario.release,
        delay_ms=scenario.delay_ms,
        metadata_delay_ms=scenario.metadata_delay_ms,
        bytes_per_second=scenario.bandwidth,
        skips=skips and scenario.rights is None,  # what is skipped asks nobody whether it may be
    )
    world.wires = scenario.wires
    if scenario.rights is not None:
        from .rights import SimulatedRights  # few scenarios have users

        world.rights = SimulatedRights(world, scenario.rights)
    if scenario.broker_capacity:
        for node in world.nodes():
            world.hosts.limit_requests(node, scenario.broker_capacity)
    Churn(world, scenario)
    Nemesis(world, scenario)
    if begin is not None:
        begin(world)
    log.gathers = True  # no client outlives a simulated broker's log
    try:
        with collecting_seldom(_ALLOCATIONS):
            world.run(scenario.duration_ms)
    finally:
        log.gathers = False
    log.append(RunEnded(), at_ms=world.now)
    log.flush()
    return world


def grace_of(scenario: Scenario) -> Grace:
    """Return the tolerance of judges of time for a scenario under virtual time: the delays of
    its links, and the longest time between two heartbeats of one member."""
    bandwidth = scenario.wires.least_bandwidth
    queue_ms = _QUEUED_BYTES * 1000 // bandwidth if bandwidth else 0
    heartbeats_ms = [
        kind.config(f"{kind.name}-1").heartbeat_interval_ms for kind in scenario.members
    ]
    of_brokers = scenario.broker_config
    heartbeats_ms += [
        int(of_brokers.get(f"group.{kind}.heartbeat.interval.ms", _HEARTBEAT_MS))
        for kind in ("consumer", "share")
    ]
    heartbeats_ms += [
        int(config.get("share.heartbeat.interval.ms", 0)) for config in scenario.groups.values()
    ]
    late_ms = max((kind.late_ms[1] for kind in scenario.members), default=0)
    return virtual_time(scenario.wires.longest_ms + queue_ms, max(heartbeats_ms) + late_ms)


def _sessions(scenario: Scenario, grace: Grace) -> Callable[[], Judge]:
    """Return the maker of the judge of sessions, with the session timeouts of consumer and share
    groups."""
    config = scenario.broker_config
    session_ms = int(config.get("group.consumer.session.timeout.ms", _CONSUMER_SESSION_MS))
    share_ms = int(config.get("group.share.session.timeout.ms", _SHARE_SESSION_MS))
    return partial(SessionsEnd, session_ms, grace, share_ms, by_hand=_by_hand(grace))


def _by_hand(grace: Grace) -> bool:
    """Return True if somebody may end sessions and locks by hand, which is possible in real time
    only."""
    return grace.heartbeat_ms is None


def judges_of(scenario: Scenario, grace: Grace | None = None) -> list[Callable[[], Judge]]:
    """Return the makers of the judges: those that the scenario names, or all if it names none,
    and those of its bounds. `grace`: how exact the run's instants are; by default as in virtual
    time."""
    grace = grace or grace_of(scenario)
    chosen: list[Callable[[], Judge]] = [
        kind
        for kind in (*ALL, *OF_SHARE_GROUPS)
        if not scenario.judges or kind.name in scenario.judges
    ]
    if grace.heartbeat_ms is not None:
        chosen += [
            made
            for kind, made in _of_virtual_time(scenario, grace).items()
            if not scenario.judges or kind.name in scenario.judges
        ]
    if SessionsEnd in chosen:
        chosen[chosen.index(SessionsEnd)] = _sessions(scenario, grace)
    if AnsweredOnce in chosen:
        replicated_ms = int(scenario.broker_config.get("offsets.commit.timeout.ms", 0))
        chosen[chosen.index(AnsweredOnce)] = partial(AnsweredOnce, WITHIN_MS + replicated_ms)
    if TimeoutsEnd in chosen:
        looks_ms = int(
            scenario.broker_config.get(
                "transaction.abort.timed.out.transaction.cleanup.interval.ms", LOOKS_MS
            )
        )
        chosen[chosen.index(TimeoutsEnd)] = partial(TimeoutsEnd, looks_ms, grace.late_ms)
    for index, kind in enumerate(chosen):
        if kind is LocksLast:
            duration_ms = int(scenario.broker_config.get(_LOCKS, _LOCK_MS))
            chosen[index] = partial(LocksLast, duration_ms, grace.late_ms, by_hand=_by_hand(grace))
        elif kind is DeliveriesAreCounted:
            limit = int(scenario.broker_config.get(_DELIVERIES, _DELIVERY_LIMIT))
            chosen[index] = partial(DeliveriesAreCounted, limit, by_hand=_by_hand(grace))
        elif kind in (DoneStaysDone, ArchivedForAReason, LogsAreCleanedAsConfigured):
            chosen[index] = partial(kind, by_hand=_by_hand(grace))
    if scenario.rights is not None and (not scenario.judges or AclsDecide.name in scenario.judges):
        chosen.append(AclsDecide)
    return chosen + bounds_of(scenario)


def _of_virtual_time(scenario: Scenario, grace: Grace) -> dict[type[Judge], Callable[[], Judge]]:
    """Return the makers of the judges in OF_VIRTUAL_TIME."""
    config = scenario.broker_config
    retention_ms = int(config.get("offsets.retention.minutes", RETENTION_MS // 60_000)) * 60_000
    check_ms = int(config.get("offsets.retention.check.interval.ms", CHECK_MS))
    return {
        RebalancesAreHeardOf: partial(RebalancesAreHeardOf, grace),
        OffsetsExpireInTime: partial(OffsetsExpireInTime, retention_ms, check_ms, grace.late_ms),
        ReasonsHold: partial(
            ReasonsHold,
            int(config.get("group.max.size", NO_LIMIT)),
            int(config.get("transactional.id.expiration.ms", EXPIRATION_MS)),
        ),
    }


LATE_MS = 1_000
"""Clients of the classic protocol learn of topics by a refresh of metadata, when these are old,
over their links. In the consumer protocol the coordinator knows at once."""


def bounds_of(scenario: Scenario) -> list[Callable[[], Judge]]:
    """Return the makers of the judges of a scenario's bounds."""
    chosen: list[Callable[[], Judge]] = [partial(NoMemberFails, scenario.may_fail)]
    if scenario.stable_within_ms is not None:
        learns_ms = _learns_ms(scenario)
        chosen.append(partial(StableWithin, scenario.stable_within_ms, learns_ms))
        chosen.append(partial(ReleasedComeAgain, scenario.stable_within_ms))
        chosen.append(partial(RefusalsEnd, scenario.stable_within_ms, learns_ms))
    if scenario.most_rebalances is not None:
        chosen.append(partial(FewRebalances, scenario.most_rebalances))
    return chosen


def _learns_ms(scenario: Scenario) -> int:
    """Return the longest time, in ms, that members may take to learn of topics and racks."""
    configs = [kind.config(kind.name) for kind in scenario.members]
    ages = [each.metadata_max_age_ms for each in configs if not each.speaks_consumer]
    return max(ages) + LATE_MS if ages else 0


def judges_of_members(scenario: Scenario) -> list[Callable[[], Judge]]:
    """Return the makers of the judges of members' own lines, for runs on brokers that write no
    log."""
    chosen: list[Callable[[], Judge]] = [OwnedOnce]
    if scenario.stable_within_ms is not None:
        chosen.append(partial(SettledWithin, scenario.stable_within_ms, _learns_ms(scenario)))
    return chosen


def verdicts(
    scenario: Scenario,
    lines: Iterable[Line],
    streams: frozenset[str] = STREAMS,
    grace: Grace | None = None,
    also: Sequence[Callable[[], Judge]] = (),
) -> list[Verdict]:
    """Return the judges' verdicts on a scenario's log. `streams`: the streams of the log.
    `grace`: see `judges_of`. `also`: makers of further judges."""
    return judge(lines, [*judges_of(scenario, grace), *also], streams=streams)
