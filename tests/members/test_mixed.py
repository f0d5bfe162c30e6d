"""Our member, a kafka-python consumer and an aiokafka consumer in one group, each with its own
sticky, each in turn the leader.

The leader's assignor decides. Ours reads Java's user data (aiokafka's, too) and kafka-python's;
kafka-python's own misreads everybody else's, so that under its lead partitions are only sure to be
shared out fairly.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.members.adapters.test_consumers import AioConsumer, OurConsumer, PythonConsumer, group

pytest.importorskip("kafka")
pytest.importorskip("aiokafka")
from aiokafka.coordinator.assignors.sticky.sticky_assignor import (
    StickyPartitionAssignor as AioSticky,
)
from kafka.coordinator.assignors.sticky.sticky_assignor import (
    StickyPartitionAssignor as PythonSticky,
)

KINDS: list[tuple[Any, Any]] = [
    (OurConsumer, "sticky"),
    (AioConsumer, AioSticky),
    (PythonConsumer, PythonSticky),
]


@pytest.mark.parametrize("leading", [0, 1, 2], ids=["ours", "aiokafka", "kafka-python"])
def test_three_clients_with_their_own_sticky(leading: int) -> None:
    """UD-1, UD-2: whoever comes first leads; a fourth comes and goes. `settle` sees to it that
    every partition has one owner, fairly."""
    with group() as g:
        three = [g.add(*kind) for kind in KINDS[leading:] + KINDS[:leading]]
        ours = next(member for member in three if isinstance(member, OurConsumer))
        assert ours.peer.is_leader is (leading == 0)
        before = [member.owned() for member in three]
        fourth = g.add(OurConsumer, "sticky")
        now = [member.owned() for member in three]
        if leading == 0:
            assert all(part < whole for part, whole in zip(now, before, strict=True))
        g.remove(fourth)
        if leading == 0:
            assert all(member.owned() > part for member, part in zip(three, now, strict=True))
        assert ours.peer.fault is None and {call.kind for call in ours.peer.callbacks} == {
            "assigned",
            "revoked",
        }
