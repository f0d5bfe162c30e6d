"""One live run of a scenario: on brokers of our own, or on any Kafka."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import replace

from coordinator.events import EventLog
from coordinator.events.faults import RunEnded
from coordinator.events.line import Line
from coordinator.history.judges import Verdict

from ..simulator.churn import Churn
from ..simulator.files.model import Scenario
from ..simulator.nemesis import Nemesis
from ..simulator.run import STREAMS, grace_of, judges_of_members, run_scenario, verdicts
from . import emulator
from .kafka import Kafka
from .world import Cluster, LiveWorld

_LEAVE_WITHIN_S = 10.0
_WARM_UP_MS = 15_000
_OF_MEMBERS = frozenset({"member", "fault"})
"""The streams of a log that was written without the brokers."""


Began = Callable[[str, LiveWorld], None]


def run_live(
    scenario: Scenario,
    seed: int,
    log: EventLog,
    kafka: Kafka | None = None,
    began: Began | None = None,
) -> int:
    """Run a scenario in real time and flush the log. Return the number of members at the end.

    `kafka`: a prepared cluster, or None for an emulator. `began` is called with the brokers'
    addresses and the world before time passes. An error in a member or a broker is raised.
    """
    _warm_up(scenario)
    return asyncio.run(_run(scenario, seed, log, kafka, began))


def _warm_up(scenario: Scenario) -> None:
    """Run a little of the scenario in virtual time first: codecs of messages are compiled at
    first use, which would delay the first requests."""
    members = tuple(replace(kind, count=min(kind.count, 2)) for kind in scenario.members)
    share_members = tuple(
        replace(kind, count=min(kind.count, 2)) for kind in scenario.share_members
    )
    producers = tuple(replace(kind, count=min(kind.count, 1)) for kind in scenario.producers)
    run_scenario(
        replace(
            scenario,
            members=members,
            share_members=share_members,
            producers=producers,
            churn=(),
            faults=(),
            duration_ms=_WARM_UP_MS,
        ),
        1,
        EventLog(),
    )


async def _run(
    scenario: Scenario, seed: int, log: EventLog, kafka: Kafka | None, began: Began | None
) -> int:
    epoch_ms = int(time.time() * 1000)
    log.data = True
    cluster: Cluster = (
        kafka.cluster()
        if kafka is not None
        else await emulator.start(scenario, seed, log, epoch_ms)
    )
    world = LiveWorld(
        cluster,
        seed=seed,
        log=log,
        epoch_ms=epoch_ms,
        delay_ms=scenario.delay_ms,
        bytes_per_second=scenario.bandwidth,
    )
    try:
        world.wires = scenario.wires
        Churn(world, scenario)
        Nemesis(world, scenario)
        if began is not None:
            began(
                ",".join(f"{address.host}:{address.port}" for address in cluster.addresses), world
            )
        await world.pass_time(scenario.duration_ms)
        members = len(world.members)
        log.append(RunEnded(), at_ms=world.now)
        log.flush()
        if kafka is not None:
            await world.leave(_LEAVE_WITHIN_S)
        return members
    finally:
        world.close()
        await cluster.stop()


def live_verdicts(scenario: Scenario, lines: Iterable[Line], *, foreign: bool) -> list[Verdict]:
    """Return the judges' verdicts. For a log that members alone have written, judges that need
    more do not judge, and others judge by the members' own lines."""
    grace = grace_of(scenario)._replace(late_ms=scenario.grace_ms, heartbeat_ms=None)
    if foreign:
        return verdicts(scenario, lines, _OF_MEMBERS, grace, judges_of_members(scenario))
    return verdicts(scenario, lines, STREAMS, grace)
