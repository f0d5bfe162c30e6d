"""Transcripts of releases that leave to chance what the reference does not: brought to a normal form
before they are compared."""

from __future__ import annotations

from typing import Any, Final

from integration_tests.wire.recorder import Step

_HASHED: Final = frozenset({"4.2", "4.1", "4.0", "3.9"})
"""Releases whose Metadata tells a topic's partitions in the order of their hash, to which the random
id of the broker's directory belongs."""


def normal(release: str, steps: list[Step]) -> list[Step]:
    """The transcript as it may be compared."""
    return [_ordered(step) for step in steps] if release in _HASHED else steps


def _ordered(step: Step) -> Step:
    if not str(step.get("got", "")).startswith("Metadata ") or "topics" not in step["fields"]:
        return step
    fields = step["fields"]
    topics: list[dict[str, Any]] = [
        {**topic, "partitions": sorted(topic["partitions"], key=lambda p: p["partition_index"])}
        for topic in fields["topics"]
    ]
    return {**step, "fields": {**fields, "topics": topics}}
