"""Topics, partitions and members as small ints, so that assigning a million partitions is work on
lists.

Owns the numbering: topics by name, their partitions one after the other, members by id. A
claimed partition that does not exist (STK-29) gets a number too, beyond the real ones. Does not
depend on what the numbers are used for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import accumulate

from assignors.group_input import existing_topics, partition_objects
from assignors.java_order import sorted_strings, table_order
from assignors.model import Subscription, TopicPartition
from assignors.user_data import Runs


class Numbers:
    """The numbering of one assignment."""

    def __init__(self, partitions: Mapping[str, int], members: Mapping[str, Subscription]) -> None:
        walk = table_order(list(members))
        self.ids = sorted_strings(walk)
        """Member ids by number, sorted."""
        index = {member: i for i, member in enumerate(self.ids)}
        self.walk = [index[member] for member in walk]
        """Members in the order of the HashMap that the leader makes (HM-6)."""
        self.current_order = table_order(walk)
        """Member ids as the map of what each holds iterates, which is filled from the leader's map.
        """
        self.current_walk = [index[member] for member in self.current_order]
        self.subscriptions = [members[member] for member in self.ids]
        existing = existing_topics(partitions, map(self.subscriptions.__getitem__, self.walk))
        self.topics = sorted_strings(existing)
        self.topic_index = {topic: t for t, topic in enumerate(self.topics)}
        self.counts = [existing[topic] for topic in self.topics]
        self.bases = [0, *accumulate(self.counts)]
        """Number of each topic's partition 0, and at the end how many partitions there are."""
        self.total = self.bases[-1]
        self.phantoms: list[tuple[int, int]] = []
        """Topic and partition of the numbers from `total` on."""
        self._phantom_numbers: dict[tuple[int, int], int] = {}

    def numbers_of(self, runs: Runs) -> list[int]:
        """Return the numbers of these partitions; those of unknown topics are left out."""
        numbers: list[int] = []
        for topic, partitions in runs:
            t = self.topic_index.get(topic)
            if t is None or not partitions:
                continue
            base, count = self.bases[t], self.counts[t]
            if len(partitions) == 1 and 0 <= partitions[0] < count:
                numbers.append(base + partitions[0])
            elif min(partitions) >= 0 and max(partitions) < count:
                numbers += [base + p for p in partitions]
            else:
                numbers += [base + p if 0 <= p < count else self._phantom(t, p) for p in partitions]
        return numbers

    def _phantom(self, topic: int, partition: int) -> int:
        number = self._phantom_numbers.setdefault(
            (topic, partition), self.total + len(self.phantoms)
        )
        if number == self.total + len(self.phantoms):
            self.phantoms.append((topic, partition))
        return number

    def topic_of_each(self) -> list[int]:
        """Return the topic's number for each partition number."""
        topics = [t for t, count in enumerate(self.counts) for _ in range(count)]
        return topics + [t for t, _ in self.phantoms]

    def objects(self) -> list[TopicPartition]:
        """Return the partition for each partition number."""
        objects: list[TopicPartition] = []
        for topic, count in zip(self.topics, self.counts, strict=True):
            objects += partition_objects(topic, count)
        objects += [TopicPartition(self.topics[t], p) for t, p in self.phantoms]
        return objects


def runs_of(partitions: Iterable[TopicPartition]) -> Runs:
    """Return partitions in their order, with neighbours of one topic grouped."""
    runs: Runs = []
    before = None
    numbers: list[int] = []
    for topic, number in partitions:
        if topic != before:
            before, numbers = topic, []
            runs.append((topic, numbers))
        numbers.append(number)
    return runs
