"""Metrics in Prometheus' text format, by the names of Kafka's own group coordinator
(`GroupCoordinatorMetrics` of 4.3).

The names are those that Prometheus' JMX exporter makes of Kafka's MBeans, so that dashboards can
read them. An MBean `kafka.server:type=group-coordinator-metrics` with the attribute
`group-count` and the tag `protocol` becomes
`kafka_server_group_coordinator_metrics_group_count{protocol="classic"}`; Yammer's
`kafka.coordinator.group:type=GroupMetadataManager, name=NumGroups` becomes
`kafka_coordinator_group_groupmetadatamanager_numgroups`. Gauges are read from the groups.
Counters count lines of the event log since the port was opened. The time that groups lost is told
under a name of our own: Kafka has none for it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from coordinator.core.shards.availability import Leadership
from coordinator.events.groups import OffsetsCommitted, OffsetsPending, OffsetsRemoved
from coordinator.events.groups.consumer import GroupEpochBumped
from coordinator.events.groups.share import ShareGroupEpochBumped
from coordinator.events.line import Line
from coordinator.history.world.groups.classic_groups import STATE_TYPES, ClassicGroups
from coordinator.history.world.lost_time.partitions import Lost
from coordinator.history.world.world import World

if TYPE_CHECKING:
    from ..emulator.embedded import Emulator

_OURS = "kafka_server_group_coordinator_metrics_"
_LOST = "coordinator_group_lost_partition_seconds"
_YAMMER = "kafka_coordinator_group_groupmetadatamanager_"
_CLASSIC = ("PreparingRebalance", "CompletingRebalance", "Stable", "Dead", "Empty")
_CONSUMER = ("Empty", "Assigning", "Reconciling", "Stable", "Dead")
_SHARE = ("Empty", "Stable", "Dead")
_COUNTS = {
    "offset_commit_count": "committed offsets, those of transactions as they are written",
    "offset_expiration_count": "offsets that expired",
    "offset_deletion_count": "offsets that were deleted, expired ones left out",
    "group_completed_rebalance_count": "rebalances of classic groups that went from CompletingRebalance to Stable",
    "consumer_group_rebalance_count": "new assignments of KIP-848 groups: their group epoch rose",
    "share_group_rebalance_count": "new assignments of share groups: their group epoch rose",
}
_STREAM = re.compile(r'"stream":"(\w+)","type":"(\w+)"')
_PASSED_OVER = frozenset({"data", "share", "run"})
_COMMITS = frozenset(kind.__name__ for kind in (OffsetsCommitted, OffsetsPending, OffsetsRemoved))
_TYPE = re.compile(r'"stream":"group","type":"(\w+)"')
_STATES = {Leadership.LED: "active", Leadership.LOADING: "loading"}
_COUNTED = frozenset(
    kind.__name__
    for kind in (
        *STATE_TYPES,
        OffsetsCommitted,
        OffsetsPending,
        OffsetsRemoved,
        GroupEpochBumped,
        ShareGroupEpochBumped,
    )
)
"""Types of the lines that are counted; other lines are not read."""


class Counts:
    """Kafka's counters, from the lines of an event log. They are the sums of all brokers' counters,
    a former coordinator's among them. `completing`: groups that are in CompletingRebalance before
    the first line."""

    def __init__(self, completing: Iterable[str] = ()) -> None:
        self.values: Counter[str] = Counter()
        self._classic = ClassicGroups(completing)

    def see(self, line: Line) -> None:
        """Count the next line."""
        if line.kind in STATE_TYPES:
            completed = self._classic.see(line)
            self.values["group_completed_rebalance_count"] += completed
            return
        match line.event:
            case GroupEpochBumped():
                self.values["consumer_group_rebalance_count"] += 1
            case ShareGroupEpochBumped():
                self.values["share_group_rebalance_count"] += 1
            case OffsetsCommitted(_, offsets) | OffsetsPending(_, _, offsets):
                self.values["offset_commit_count"] += len(offsets)
            case OffsetsRemoved(reason, partitions):
                expired = reason == "expired"
                name = "offset_expiration_count" if expired else "offset_deletion_count"
                self.values[name] += len(partitions)


class LostTimes:
    """The time that each group lost, by the lines of an event log. Lines that tell nothing of it,
    such as commits, are not read."""

    def __init__(self) -> None:
        self._world = World()
        self._lost = self._world.timeline.lost_time

    def follow(self, text: str) -> None:
        """Read the text of the next line."""
        found = _STREAM.search(text)
        if found is None or (found[1] not in _PASSED_OVER and found[2] not in _COMMITS):
            self.see(Line.of(json.loads(text)))

    def see(self, line: Line) -> None:
        """Read the next line."""
        self._world.see(line)

    def by_group(self, now_ms: int) -> dict[str, Lost]:
        """Return the time that each group lost until now."""
        end_ms = max(now_ms, self._world.timeline.end_ms)
        return {name: self._lost.of(name, end_ms) for name in self._lost.groups}


class Metrics:
    """The metrics of one emulator; `close` ends the counting."""

    def __init__(self, kafka: Emulator) -> None:
        self._kafka = kafka
        self._counts = Counts(
            name
            for name in kafka.groups()
            if kafka.group(name).snapshot().state == "CompletingRebalance"
        )
        self._lost: LostTimes | None = None
        """Made when somebody asks first: it reads nearly every line, which takes the time of others."""
        self._log = kafka.event_log()
        self._log.followers.append(self._follow)

    def close(self) -> None:
        """Stop counting."""
        with suppress(ValueError):
            self._log.followers.remove(self._follow)

    def _follow(self, text: str) -> None:
        if self._lost is not None:
            self._lost.follow(text)
        found = _TYPE.search(text)
        if found is not None and found[1] in _COUNTED:
            self._counts.see(Line.of(json.loads(text)))

    def exposition(self) -> str:
        """Return all metrics at this instant, in Prometheus' text format."""
        groups = [self._kafka.group(name).snapshot() for name in self._kafka.groups()]
        classic, consumer, share = (
            Counter(group.state for group in groups if group.type == kind)
            for kind in ("classic", "consumer", "share")
        )
        lines = _gauge(
            _OURS + "group_count",
            "groups by protocol",
            "protocol",
            {"classic": classic.total(), "consumer": consumer.total(), "share": share.total()},
        )
        lines += _gauge(
            _OURS + "classic_group_count",
            "classic groups by state",
            "state",
            {state: classic[state] for state in _CLASSIC},
        )
        lines += _gauge(
            _OURS + "consumer_group_count",
            "KIP-848 groups by state",
            "state",
            {state.lower(): consumer[state] for state in _CONSUMER},
        )
        lines += _gauge(
            _OURS + "share_group_count",
            "share groups by state",
            "state",
            {state.lower(): share[state] for state in _SHARE},
        )
        lines += _gauge(
            _OURS + "num_partitions",
            "partitions of __consumer_offsets that are led",
            "state",
            self._partitions(),
        )
        for name, told in _COUNTS.items():
            lines += [
                f"# HELP {_OURS}{name} {told}",
                f"# TYPE {_OURS}{name} counter",
                f"{_OURS}{name} {self._counts.values[name]}",
            ]
        lines += _plain(_YAMMER + "numgroups", "classic groups", classic.total())
        for state in _CLASSIC:
            lines += _plain(
                f"{_YAMMER}numgroups{state.lower()}",
                f"classic groups that are {state}",
                classic[state],
            )
        lines += _plain(
            _YAMMER + "numoffsets",
            "committed offsets",
            sum(len(group.committed) for group in groups),
        )
        lines += [
            f"# HELP {_LOST} time in which nobody worked on partitions that a group reads, at least and at most",
            f"# TYPE {_LOST} gauge",
        ]
        kafka = self._kafka
        lost_by_group = kafka.run(lambda: self._lost_times().by_group(kafka.server.now()))
        for name, lost in lost_by_group.items():
            for bound, ms in (("at_least", lost.least_ms), ("at_most", lost.most_ms)):
                lines.append(f'{_LOST}{{group="{_label(name)}",bound="{bound}"}} {ms / 1000}')
        return "\n".join(lines) + "\n"

    def _lost_times(self) -> LostTimes:
        """Return the lost times, which follow the log from the first call on."""
        if self._lost is None:
            self._lost = LostTimes()
            for plain in self._kafka.events():
                self._lost.see(Line.of(plain))
        return self._lost

    def _partitions(self) -> Mapping[str, int]:
        states: Counter[str] = Counter()
        for broker in self._kafka.brokers.values():
            availability = broker.coordinator.availability
            states.update(
                _STATES.get(availability.of(index), "")
                for index in range(broker.coordinator.config.offsets_topic_partitions)
            )
        return {state: states[state] for state in ("active", "loading", "failed")}


def _label(text: str) -> str:
    """Return a text as the value of a label."""
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _gauge(name: str, told: str, label: str, values: Mapping[str, int]) -> list[str]:
    rows: Iterable[str] = (f'{name}{{{label}="{key}"}} {value}' for key, value in values.items())
    return [f"# HELP {name} {told}", f"# TYPE {name} gauge", *rows]


def _plain(name: str, told: str, value: int) -> list[str]:
    return [f"# HELP {name} {told}", f"# TYPE {name} gauge", f"{name} {value}"]
