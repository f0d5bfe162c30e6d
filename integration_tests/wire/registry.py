"""Which scenarios there are, and which broker configuration each profile asks for."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache
from typing import Final

from coordinator.base.releases import RELEASES
from integration_tests.wire.recorder import Scenario, Session

Play = Callable[[Session], None]

PROFILES: Final[dict[str, dict[str, str]]] = {
    "plain": {"group.initial.rebalance.delay.ms": "0", "offsets.topic.num.partitions": "4"},
    "limits": {
        "group.initial.rebalance.delay.ms": "1000",
        "group.max.size": "2",
        "group.min.session.timeout.ms": "100",
        "group.max.session.timeout.ms": "40000",
        "auto.create.topics.enable": "false",
        "num.partitions": "3",
        "message.max.bytes": "2000",
        "offset.metadata.max.bytes": "10",
        "socket.request.max.bytes": "100000",
        "offsets.topic.num.partitions": "7",
    },
    "cleanup": {
        "group.initial.rebalance.delay.ms": "0",
        "offsets.topic.num.partitions": "4",
        "group.min.session.timeout.ms": "100",
        "offsets.retention.minutes": "1",
        "offsets.retention.check.interval.ms": "100",
        "connections.max.idle.ms": "12000",
        "transaction.abort.timed.out.transaction.cleanup.interval.ms": "100",
        "transaction.remove.expired.transaction.cleanup.interval.ms": "100",
        "transactional.id.expiration.ms": "3000",
    },
    "consumer": {
        "group.initial.rebalance.delay.ms": "0",
        "offsets.topic.num.partitions": "4",
        "group.consumer.assignment.interval.ms": "0",
        "group.consumer.min.session.timeout.ms": "100",
        "group.consumer.min.heartbeat.interval.ms": "1",
        "group.min.session.timeout.ms": "100",
    },
    "features_off": {"group.initial.rebalance.delay.ms": "0", "offsets.topic.num.partitions": "4"},
    "consumer_limits": {
        "group.initial.rebalance.delay.ms": "0",
        "group.consumer.max.size": "2",
        "group.max.size": "1",
        "group.consumer.migration.policy": "disabled",
        "group.consumer.assignors": "range",
        "offsets.topic.num.partitions": "4",
    },
    "upgrades": {
        "group.initial.rebalance.delay.ms": "0",
        "group.consumer.migration.policy": "upgrade",
        "group.consumer.assignment.interval.ms": "0",
        "offsets.topic.num.partitions": "4",
    },
    "downgrades": {
        "group.initial.rebalance.delay.ms": "0",
        "group.consumer.migration.policy": "downgrade",
        "group.consumer.assignment.interval.ms": "0",
        "offsets.topic.num.partitions": "4",
    },
    "shares": {
        "group.initial.rebalance.delay.ms": "0",
        "offsets.topic.num.partitions": "4",
        "share.coordinator.state.topic.num.partitions": "4",
        "share.coordinator.snapshot.update.records.per.snapshot": "5",
        "group.share.assignment.interval.ms": "0",
        "group.share.min.record.lock.duration.ms": "1000",
        "group.share.min.session.timeout.ms": "1000",
        "group.share.min.heartbeat.interval.ms": "100",
    },
    "share_limits": {
        "group.initial.rebalance.delay.ms": "0",
        "offsets.topic.num.partitions": "4",
        "share.coordinator.state.topic.num.partitions": "4",
        "group.share.assignment.interval.ms": "0",
        "group.share.max.size": "2",
    },
    "logs": {
        "group.initial.rebalance.delay.ms": "0",
        "offsets.topic.num.partitions": "4",
        "share.coordinator.state.topic.num.partitions": "4",
        "group.share.assignment.interval.ms": "0",
        "log.initial.task.delay.ms": "0",
        "log.retention.check.interval.ms": "100",
        "log.cleaner.backoff.ms": "100",
        "log.cleaner.dedupe.buffer.size": "2097152",
    },
    "security": {},  # integration_tests.wire.secured
}
"""The settings that differ from Kafka's defaults, by profile: stock, tight limits, quick clean-up,
consumer groups, which the client matrix shares, and others."""

OF_SCENARIOS_ALONE: Final = frozenset(
    {
        "limits",
        "cleanup",
        "features_off",
        "consumer_limits",
        "upgrades",
        "downgrades",
        "share_limits",
        "logs",
    }
)
"""Profiles whose brokers are asked by raw scenarios, and by nobody else."""

SINCE: Final = dict.fromkeys(
    ("consumer", "consumer_limits", "features_off", "upgrades", "downgrades"), "4.0"
)
"""The first release that can be configured so, of profiles that not all can."""
UNSTEADY: Final[dict[str, frozenset[str]]] = {
    "3.9": frozenset(
        {
            "cleanup.a_parked_request_does_not_keep_a_connection",
            "internal_topics.offsets_topic_deleted",
            "internal_topics.offsets_topic_grows",
            "internal_topics.transactions_topic_deleted",
            "join_group.first_join_in_every_version",
            "join_group.the_id_handed_out_is_pending",
            "join_leaders.the_leaders_list_is_in_javas_order",
            "join_leaders.the_next_leader_is_javas_first",
            "newer_versions.settings_of_groups",
            "transactions.verified_before_v2",
        }
    )
}
"""Scenarios that do not come to the same twice on a release."""
_SCENARIOS: dict[str, Scenario] = {}


def scenario(
    profile: str = "plain",
    *,
    repeats: bool = True,
    alone: bool = False,
    lasts_s: int = 0,
    since: str | None = None,
) -> Callable[[Play], Play]:
    """Register a function as a scenario named after its module and itself; the heading is that of
    `Scenario`."""

    def register(play: Play) -> Play:
        name = f"{play.__module__.rsplit('.', 1)[-1]}.{play.__name__}"
        _SCENARIOS[name] = Scenario(name, play, profile, repeats, alone, lasts_s, since)
        return play

    return register


def all_scenarios() -> dict[str, Scenario]:
    """Every scenario by name."""
    _register_all()
    return dict(_SCENARIOS)


@cache
def _register_all() -> None:
    """Import the modules of scenarios, each of which registers its own."""
    package = importlib.import_module("integration_tests.wire.scenarios")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"integration_tests.wire.scenarios.{module.name}")


def scenarios_of(release: str) -> dict[str, Scenario]:
    """Those that can be played on a release of Kafka."""
    newest_first = list(RELEASES)
    at = newest_first.index(release)
    return {
        name: one
        for name, one in all_scenarios().items()
        if name not in UNSTEADY.get(release, ())
        and all(
            since is None or newest_first.index(since) >= at
            for since in (one.since, SINCE.get(one.profile))
        )
    }
