"""Transcripts of releases that leave to chance what the reference does not: brought to a normal form
before they are compared."""

from __future__ import annotations

from typing import Any, Final

from integration_tests.wire.recorder import Step

_HASHED: Final = frozenset({"4.2", "4.1", "4.0", "3.9"})
"""Releases whose Metadata tells a topic's partitions in the order of their hash, to which the random
id of the broker's directory belongs."""
_COMMITS_HASHED: Final = frozenset({"3.9"})
"""Releases that answer commits in the order of a hash to which a topic's random id belongs."""


def normal(release: str, steps: list[Step]) -> list[Step]:
    """The transcript as it may be compared."""
    if release in _COMMITS_HASHED:
        steps = [_in_order(step, "OffsetCommit ", "TxnOffsetCommit ") for step in steps]
    return [_in_order(step, "Metadata ") for step in steps] if release in _HASHED else steps


def _in_order(step: Step, *apis: str) -> Step:
    if not str(step.get("got", "")).startswith(apis) or "topics" not in step["fields"]:
        return step
    fields = step["fields"]
    topics: list[dict[str, Any]] = [
        {**topic, "partitions": sorted(topic["partitions"], key=lambda p: p["partition_index"])}
        for topic in fields["topics"]
    ]
    return {**step, "fields": {**fields, "topics": topics}}
