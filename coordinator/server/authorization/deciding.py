"""Decision on whether a request is allowed: the checks of the table in their order, or the API's
own function in `special`. Runs in slices, for a request may contain hundreds of thousands of
entries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from coordinator.base.slices import done

from .. import apis
from ..shares.service import is_enabled
from .by_table import by_table
from .special import SPECIAL
from .table import CHECKS

if TYPE_CHECKING:
    from coordinator.base.slices import Slices

    from .asking import Asker
    from .verdicts import Verdict


_OF_SHARE_GROUPS: Final = frozenset(
    {
        "AlterShareGroupOffsets",
        "DeleteShareGroupOffsets",
        "DescribeShareGroupOffsets",
        "ShareAcknowledge",
        "ShareFetch",
        "ShareGroupDescribe",
        "ShareGroupHeartbeat",
    }
)
"""Requests of share groups. Where these are off, they are refused whatever the rights. Streams
groups are never served, so the table has none of theirs."""


def decide(asker: Asker) -> Slices[Verdict | None]:
    """Return the verdict on a request, or None if it is allowed unchanged."""
    api = apis.title(type(asker.call.message).api_key)
    if api in _OF_SHARE_GROUPS and not is_enabled(asker.broker):
        return done(None)
    special = SPECIAL.get(api)
    if special is not None:
        return special(asker)
    return by_table(asker, api, CHECKS.get(api, ()))
