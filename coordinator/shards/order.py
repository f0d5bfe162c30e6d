"""The order in which Kafka asks for groups: by partition of __consumer_offsets, partitions in the
order of a HashMap (DSC-5, HM-3).

Owns that order alone. Does not depend on groups that are served, on requests or on time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..common.java_hash import in_compute_order, topic_partition_hash
from ..common.slices import ITEMS_A_STEP, Slices


def by_partition(
    group_ids: Sequence[str], partition_for: Callable[[str], int]
) -> Slices[list[str]]:
    """Groups in that order, worked out in slices. `partition_for`: the partition that holds a group
    (CFG-2)."""
    groups: dict[int, list[str]] = {}
    calls = []
    for count, group_id in enumerate(group_ids, 1):
        if not count % ITEMS_A_STEP:
            yield
        index = partition_for(group_id)
        calls.append(index)
        groups.setdefault(index, []).append(group_id)
    partitions = in_compute_order(
        calls, lambda index: topic_partition_hash("__consumer_offsets", index)
    )
    return [group_id for index in partitions for group_id in groups[index]]
