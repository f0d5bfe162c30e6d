"""Keys of a share group's durable events, so that later events replace earlier ones.

The keys are those of Kafka's records: group epoch, member, target of a member, current
assignment of a member, share partitions with state. Does not know where events are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Final

from coordinator.events.groups import share as ev

from ..consumer.durable import of_member

BEGINNINGS: Final = frozenset({ev.ShareGroupCreated})
"""Events that make all that stood about the membership out of date."""
OWNED: Final[dict[type, Callable[[Any], list[Hashable]]]] = {
    ev.ShareMemberSubscribed: lambda event: [("member", event.member_id)],
    ev.ShareMemberReconciled: lambda event: [("current", event.member_id)],
    ev.ShareGroupEpochBumped: lambda event: ["group epoch"],
    ev.ShareTargetAssigned: lambda event: [
        "assignment epoch",
        *(("target", target.member_id) for target in event.targets),
    ],
    ev.SharePartitionsRecorded: lambda event: ["state partitions"],
}
"""The keys whose value an event has."""
RELEASED: Final[dict[type, Callable[[Any], list[Hashable]]]] = {
    ev.ShareMemberRemoved: lambda event: of_member(event.member_id),
}
"""The keys that have no value any more after an event."""
