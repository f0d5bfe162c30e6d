"""View of the broker for share groups: topics, the `simple` assignor, and configuration. Implements
the interfaces of `core.groups.share.environment`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.core.groups.share.environment import ShareEnvironment

from .consumer import Assigning, ClusterTopics, Settings, user_assignor

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..settings.broker_configs import BrokerConfigs

BUILT_IN = ("simple",)
"""The names of the assignors of share groups there are."""


def assignor(configs: BrokerConfigs) -> Assigning:
    """Return the one assignor of group.share.assignors. Raises ConfigError if it cannot be loaded."""
    from assignors.server_side import SimpleAssignor

    (entry,) = configs.get_list("group.share.assignors")
    if entry in BUILT_IN:
        return Assigning(SimpleAssignor())
    return Assigning(user_assignor("group.share.assignors", entry, BUILT_IN))


def environment(cluster: Cluster, configs: BrokerConfigs) -> ShareEnvironment:
    """Return the environment of share groups for a broker configuration. Raises ConfigError."""
    if not set(configs.get_list("group.share.assignors")) <= set(BUILT_IN):
        assignor(configs)  # told now, not at the first member
    return ShareEnvironment(
        topics=ClusterTopics(cluster),
        make_assignor=lambda: assignor(configs),
        settings=Settings(cluster, configs, "share"),
        max_size=configs.get_int("group.share.max.size"),
        release=configs.release,
    )
