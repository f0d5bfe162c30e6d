"""The records that an application has processed. The wire does not show that, so the application or
its test must report it.

An application in the test's own process calls `kafka.processed(topic, partition, offset)` after
each record. The kit keeps the reports in order; judges of gaps, duplicates and premature commits
read them.
"""

from __future__ import annotations

from typing import Any

from coordinator.base.keyword_errors import nearest_keywords

from ..in_process_requests import ControlError

Processed = tuple[str, int, int]
"""Topic, partition and offset of a record that was processed."""


@nearest_keywords
class ProcessingKit:
    """Methods of a running emulator for reports of processed records. They may be called from any
    thread."""

    _reports: list[Processed] | None = None
    _reported: set[tuple[str, int]]

    def processed(self, topic: Any, partition: Any, offset: Any) -> None:
        """Report that a record was processed. Raises ControlError for an invalid topic,
        partition or offset."""
        if not isinstance(topic, str):
            raise ControlError(f"topic: {topic!r} is no text")
        for name, value in (("partition", partition), ("offset", offset)):
            if not isinstance(value, int) or isinstance(value, bool) or value < 0:
                raise ControlError(f"{name}: {value!r}; a whole number from 0 on")
        if self._reports is None:
            self._reports, self._reported = [], set()
        if (topic, partition) not in self._reported:
            self._check_partition(topic, partition)
            self._reported.add((topic, partition))
        self._reports.append((topic, partition, offset))

    def _check_partition(self, topic: str, partition: int) -> None:
        """Raise ControlError, which names what exists, for a partition that does not exist."""
        raise NotImplementedError

    @property
    def processed_records(self) -> list[Processed]:
        """All reports, in order, for `verify(...).no_gaps(...)` and `exactly_once(...)`."""
        return list(self._reports or ())
