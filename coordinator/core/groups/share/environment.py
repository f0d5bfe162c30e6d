"""Interfaces that a share group's decisions need: configuration, topics and the assignor. Shared
with consumer groups where they are the same; the server implements them (`server.environments`)
and injects the assignor.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from coordinator.base.releases import NEWEST, Release

from ..consumer.environment import AssignorPort, GroupSettings, Topics


@dataclass(slots=True)
class ShareEnvironment:
    """Everything that a decision may ask for. `max_size`: group.share.max.size."""

    topics: Topics
    make_assignor: Callable[[], AssignorPort]
    """Returns the one assignor of group.share.assignors; called once, when first needed."""
    settings: Callable[[str], GroupSettings] = lambda group_id: GroupSettings()
    max_size: int = 200
    initialize_retry_interval_ms: int = 30_000
    """After what silence the share coordinator is asked again to initialise a partition's state."""
    release: Release = NEWEST
    """The release as which the groups behave."""

    _assignor: AssignorPort | None = None

    @property
    def assignor(self) -> AssignorPort:
        """The assignor of group.share.assignors."""
        if self._assignor is None:
            self._assignor = self.make_assignor()
        return self._assignor
