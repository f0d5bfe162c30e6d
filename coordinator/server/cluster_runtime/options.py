"""The parts of a cluster of several brokers, and the error of what cannot be done to it. Does not
depend on how it is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..build import TopicOption
from ..limits import Limits

if TYPE_CHECKING:
    from random import Random

    from coordinator.events import EventLog

    from ..settings.broker_configs import BrokerConfigs


class ClusterError(ValueError):
    """Something that cannot be done to a cluster: what, what there is, and what would be right."""


@dataclass(kw_only=True)
class ClusterOptions:
    """The parts of a cluster. `configs`: one configuration a broker, whose ids are 1..n;
    `racks`: none, or one a broker."""

    configs: Sequence[BrokerConfigs]
    random: Random
    epoch_ms: int
    topics: Sequence[TopicOption] = ()
    groups: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Groups' own configurations, by group id, as whoever gives them has checked them."""
    racks: Sequence[str | None] = ()
    log: EventLog | None = None
    cluster_id: str | None = None
    metadata_delay_ms: int = 0
    limits: Limits = field(default_factory=Limits)
