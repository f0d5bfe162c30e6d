"""Parts of a scenario that a run did not reach: the run ended before, a step was done only once or
was impossible, or had no effect.

That is no error, because a file may be run for a shorter time with `--set duration=1m`, and the
effect of a fault depends on what came before. This module must not know how anything is carried
out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from coordinator.events.faults import FaultInjected, FaultSkipped, RequestFaultBegan
from coordinator.events.line import Line
from coordinator.events.members import MemberFailed, MemberStarted, PartitionsAssigned
from coordinator.kit.faults import Observe
from coordinator.server.handlers.fetch import RACK_AWARE_SELECTOR
from coordinator.server.settings.broker_configs import (
    HONOURED,
    HONOURED_BY_SEVERAL,
    HONOURED_IF_GIVEN,
    broker_defs,
)

from .churn import QUIET_END_MS
from .files.model import MemberKind, Scenario

_MOST_NOTES: Final = 10


def unreached(scenario: Scenario) -> Iterator[str]:
    """Yield one sentence for each piece of churn, each fault and each kind of client that begins
    after the end of the run, or never."""
    end = scenario.duration_ms
    yield from _shown_only(scenario)
    for table, kinds in (("members", scenario.kinds), ("producers", scenario.producers)):
        for kind in kinds:
            if kind.count and kind.start_ms[0] > end:
                yield f"{table} {kind.name} start after the end of the run: from {kind.start_ms[0]} ms on, duration = {end} ms"
    for number, churn in enumerate(scenario.churn):
        if churn["when"] is None and churn["at"] > end:
            where = scenario.lines[f"churn {number}"]
            yield f"{where}: churn {churn['kind']} is after the end of the run: at = {churn['at']} ms, duration = {end} ms"
        elif (
            churn["kind"] == "poisson"
            and churn["until"] is None
            and churn["at"] >= end - QUIET_END_MS
        ):
            yield f"{scenario.lines[f'churn {number}']}: churn poisson: nobody comes or goes in the last 2 minutes of a run: give until"
    for producer in scenario.producers:
        if producer.start_ms[0] <= end and producer.stop_ms <= producer.start_ms[0]:
            yield f"producers {producer.name} write nothing: they stop at {producer.stop_ms} ms (default: 30 s before the end): give stop"
    for fault in scenario.faults:
        if fault.trigger is None and fault.at_ms > end:
            yield f"{fault.line}: this fault is after the end of the run: at = {fault.at_ms} ms, duration = {end} ms"


def _shown_only(scenario: Scenario) -> Iterator[str]:
    """Yield one sentence for each setting of brokers that has no effect in this run."""
    acted_on = HONOURED | HONOURED_IF_GIVEN
    acted_on |= HONOURED_BY_SEVERAL if scenario.brokers > 1 else frozenset()
    for name, value in sorted(scenario.broker_config.items()):
        if name in HONOURED_BY_SEVERAL and name not in acted_on:
            yield f"brokers.config: {name} changes nothing with one broker: give brokers.count"
        elif name == "replica.selector.class" and value not in ("", RACK_AWARE_SELECTOR):
            yield f"brokers.config: {name} = {value} is not known here, so consumers read from leaders: {RACK_AWARE_SELECTOR} is"
        elif name in broker_defs() and name not in acted_on:
            yield f"brokers.config: {name} is shown only: nothing depends on it here"


def skipped(lines: Iterable[Line]) -> Iterator[str]:
    """Yield one sentence for each fault that could not be carried out or undone at its time, by
    the run's event log."""
    told = [
        f"at {line.at_ms / 1000:g} s a fault was skipped: {line.event.why}"
        for line in lines
        if line.kind is FaultSkipped
    ]
    yield from told[:_MOST_NOTES]
    if len(told) > _MOST_NOTES:
        yield f"{len(told) - _MOST_NOTES} more faults were skipped: the log has them as FaultSkipped"


def unmet(scenario: Scenario, lines: Iterable[Line]) -> Iterator[str]:
    """Yield one sentence for each fault of requests that began and that no request met, by the
    run's event log. Faults that may miss, or only count, are left out."""
    waits = {
        str(plan.request): plan.line
        for plan in scenario.faults
        if plan.request is not None
        and not plan.request.may_miss
        and not isinstance(plan.request.action, Observe)
    }
    began: dict[str, None] = {}
    for line in lines:
        if line.kind is RequestFaultBegan:
            began.setdefault(line.event.fault)
        elif line.kind is FaultInjected:
            waits.pop(line.event.fault, None)
    for fault in began:
        if fault in waits:
            yield f"{waits[fault]}: no request met this fault, {fault} (may_miss = true allows it)"


def idle(scenario: Scenario, lines: Iterable[Line]) -> Iterator[str]:
    """Yield one sentence for each kind of members that was never assigned a partition, by the
    run's event log. Judges see little in such a run."""
    kinds = {
        kind.name: kind
        for kind in scenario.kinds
        if isinstance(kind, MemberKind) and kind.count and kind.start_ms[1] < scenario.duration_ms
    }
    started: set[str] = set()
    failed: dict[str, str] = {}
    for line in lines:
        if line.kind not in _OF_PROCESSES:
            continue
        match line.event:
            case PartitionsAssigned(client):
                kinds.pop(_kind_of(client), None)
            case MemberStarted(client):
                started.add(_kind_of(client))
            case MemberFailed(client, _, why):
                failed.setdefault(_kind_of(client), f"; {client} failed: {why}")
    for name in kinds:
        if name in started:
            yield f"members {name}: none of them was ever assigned a partition{failed.get(name, '')}"


_OF_PROCESSES: Final = frozenset({PartitionsAssigned, MemberStarted, MemberFailed})


def _kind_of(client: str) -> str:
    return client.rpartition("-")[0]
