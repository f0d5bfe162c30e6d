"""Sweeps: work done once for every group of a shard, in slices, such as removing offsets that
expired or whose topics were deleted. A sweep proposes events, and the shard folds them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from coordinator.events import groups as ev

from ..groups.config import GroupConfig
from ..groups.group import Group
from ..groups.offsets.expiry import expired, removed_with_topics
from .journal import Effects

Fold = Callable[[Group, ev.Event, Effects], int | None]
"""Folds one event of a group."""
ForgetTopics = Callable[[Group, Collection[tuple[str, int]], Effects], None]
"""Lets a group forget the share partitions of topics that are gone."""
Work = Callable[[Group, Effects], int]
"""Does something for one group; returns what that cost."""


class Sweep:
    """Work to do once for every group of a shard, a few groups at a time. `comes_before_requests`:
    a request to a group must wait until the work is done for it.
    """

    __slots__ = ("_cause", "_do", "comes_before_requests", "waiting")

    def __init__(
        self,
        do: Work,
        groups: Iterable[str],
        cause: int | None,
        *,
        comes_before_requests: bool = False,
    ) -> None:
        self.waiting = dict.fromkeys(groups)
        """The groups for which it is not done yet."""
        self.comes_before_requests = comes_before_requests
        self._do = do
        self._cause = cause

    def visit(self, groups: Mapping[str, Group], group_id: str, effects: Effects) -> int:
        """Do the work for one group, if it still exists; return the cost. The events' cause is that
        of the sweep.
        """
        del self.waiting[group_id]
        group = groups.get(group_id)
        if group is None:
            return 1
        request, effects.cause = effects.cause, self._cause
        cost = self._do(group, effects)
        effects.cause = request
        return cost


def removing_offsets(
    partitions: Collection[tuple[str, int]], fold: Fold, forget_topics: ForgetTopics
) -> Work:
    """Return work that removes committed offsets of deleted partitions (EXP-7), and the share
    groups' state of their topics.
    """

    def remove(group: Group, effects: Effects) -> int:
        cost = 1 + min(len(partitions), len(group.offsets))
        gone = removed_with_topics(group, partitions)
        if gone is not None:
            fold(group, gone, effects)
        forget_topics(group, partitions, effects)
        return cost

    return remove


def cleaning_up(config: GroupConfig, fold: Fold) -> Work:
    """Return work that removes a group's expired offsets, then an Empty group that has no offsets
    and no pending ones (EXP-5, EXP-6).
    """

    def clean_up(group: Group, effects: Effects) -> int:
        cost = 1 + len(group.offsets)
        gone = expired(group, effects.now, config)
        if gone is not None:
            fold(group, gone, effects)
        if (
            group.share is None  # which stays until somebody deletes it
            and not group.offsets
            and not group.pending_offsets
            and not group.membership.refuse_delete()
        ):
            fold(group, ev.GroupDeleted("empty, without offsets"), effects)
        return cost

    return clean_up
