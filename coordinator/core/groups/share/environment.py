"""The outside needs of a share group's decisions: configuration, topics and the assignor.

Plain interfaces, shared with consumer groups where they are the same; who implements them is
elsewhere. The assignor is injected: this package does not depend on it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from coordinator.base.releases import NEWEST, Release

from ..consumer.environment import AssignorPort, GroupSettings, Topics


@dataclass(slots=True)
class ShareEnvironment:
    """Everything that a decision may ask for. `max_size` is group.share.max.size."""

    topics: Topics
    make_assignor: Callable[[], AssignorPort]
    """Makes the one assignor of group.share.assignors; called once, when it is first needed."""
    settings: Callable[[str], GroupSettings] = lambda group_id: GroupSettings()
    max_size: int = 200
    initialize_retry_interval_ms: int = 30_000
    """After what silence the share coordinator is asked again to initialise a partition's state."""
    release: Release = NEWEST
    """Whose behaviour the groups have."""

    _assignor: AssignorPort | None = None

    @property
    def assignor(self) -> AssignorPort:
        """The assignor."""
        if self._assignor is None:
            self._assignor = self.make_assignor()
        return self._assignor
