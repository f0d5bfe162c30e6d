"""Settings of share groups: a group's own configuration within the broker's bounds, else the
broker's values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from coordinator.core.share_partitions.states import Deliveries

from ..settings.definitions import parse_whole, trim
from ..settings.group_configs import settable_defs

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..settings.broker_configs import BrokerConfigs

FEATURE = "share.version"
DEAD_LETTERS_SINCE = 2
_BROKER_KNOWS = (
    "record.lock.duration.ms",
    "delivery.count.limit",
    "partition.max.record.locks",
)


class ShareSettings(NamedTuple):
    """Settings in force for one share group."""

    lock_duration_ms: int
    delivery_limit: int
    most_in_flight: int
    auto_offset_reset: str
    committed_only: bool
    may_renew: bool
    dead_letter_topic: str
    """"": records that are given up have no dead letters."""
    copies_records: bool


class SettingsOfGroups:
    """Cached settings of the share groups of one broker."""

    def __init__(self, cluster: Cluster, configs: BrokerConfigs) -> None:
        self._cluster = cluster
        self._configs = configs
        self._kept: dict[str, tuple[dict[str, str], ShareSettings]] = {}
        self._broker = self._in_force({})
        configs.on_change(self._read_again)

    def __call__(self, group_id: str) -> ShareSettings:
        """Return the settings in force for a group."""
        own = self._cluster.group_configs.get(group_id)
        if own is None:
            return self._broker
        kept = self._kept.get(group_id)
        if kept is None or kept[0] is not own:
            kept = self._kept[group_id] = (own, self._in_force(own))
        return kept[1]

    def deliveries(self, group_id: str) -> Deliveries:
        """Return the group's delivery count limit, and whether it has a dead letter topic."""
        known = self(group_id)
        dead_letters = self._cluster.features.get(FEATURE, 0) >= DEAD_LETTERS_SINCE
        return Deliveries(known.delivery_limit, dead_letters and bool(known.dead_letter_topic))

    def _read_again(self) -> None:
        self._kept.clear()
        self._broker = self._in_force({})

    def _in_force(self, own: Mapping[str, str]) -> ShareSettings:
        known = settable_defs()

        def text(name: str) -> str:
            return trim(own.get(name) or known[name].default or "")

        lock, deliveries, records = (
            self._number(name, own.get(f"share.{name}")) for name in _BROKER_KNOWS
        )
        return ShareSettings(
            lock,
            deliveries,
            records,
            text("share.auto.offset.reset"),
            text("share.isolation.level").lower() == "read_committed",
            text("share.renew.acknowledge.enable").lower() == "true",
            text("errors.deadletterqueue.topic.name"),
            text("errors.deadletterqueue.copy.record.enable").lower() == "true",
        )

    def _number(self, name: str, own: str | None) -> int:
        get = self._configs.get_int
        if own is None:
            return get(f"group.share.{name}")
        kept = parse_whole(trim(own)) or 0  # it was checked
        return min(max(kept, get(f"group.share.min.{name}")), get(f"group.share.max.{name}"))
