"""Which scenarios of several brokers there are, and how one is played."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable

from integration_tests.cluster.hosts import Hosts
from integration_tests.cluster.stage import Cluster
from integration_tests.wire import recorder
from integration_tests.wire.codec import TableCodec
from integration_tests.wire.recorder import Session, Step

Story = Callable[[Cluster], None]

LASTS_S = 240
"""How long brokers may take to go, to be missed and to come back, on a busy machine."""

_STORIES: dict[str, Story] = {}


def scenario(story: Story) -> Story:
    """Register a function as a scenario named after its module and itself."""
    _STORIES[f"{story.__module__.rsplit('.', 1)[-1]}.{story.__name__}"] = story
    return story


def all_scenarios() -> dict[str, Story]:
    """Every scenario by name."""
    package = importlib.import_module("integration_tests.cluster.scenarios")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"integration_tests.cluster.scenarios.{module.name}")
    return dict(sorted(_STORIES.items()))


def play(name: str, hosts: Hosts, nonce: str) -> list[Step]:
    """The transcript of one scenario; the cluster is whole afterwards, or the last step says why
    not."""
    return play_story(name, all_scenarios()[name], hosts, nonce)


def play_story(name: str, story: Story, hosts: Hosts, nonce: str) -> list[Step]:
    """The transcript of a story under a name."""

    def told(s: Session) -> None:
        cluster = Cluster(s, hosts)
        try:
            story(cluster)
        finally:
            cluster.make_whole()

    return recorder.play(
        recorder.Scenario(name, told, lasts_s=LASTS_S), hosts.bootstrap_servers, TableCodec(), nonce
    )
