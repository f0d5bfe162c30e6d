"""Options of a cluster of several brokers, and `ClusterError` for actions that are not possible.
Does not know how a cluster is built; see `runtime`.
"""

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
    """Error for an action that is not possible in a cluster; the message says what there is and
    what would be right.
    """


@dataclass(kw_only=True)
class ClusterOptions:
    """Options of a cluster. `configs`: the configuration of each broker, in the order of the ids
    1..n; `racks`: empty, or the rack of each broker.
    """

    configs: Sequence[BrokerConfigs]
    random: Random
    epoch_ms: int
    topics: Sequence[TopicOption] = ()
    groups: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Groups' own configurations, by group id, already validated."""
    racks: Sequence[str | None] = ()
    log: EventLog | None = None
    cluster_id: str | None = None
    metadata_delay_ms: int = 0
    limits: Limits = field(default_factory=Limits)
