"""Stories whose transcripts differ from Kafka's on purpose: docs/divergences.md has the reasons for users. Nothing else may differ."""

from __future__ import annotations

from integration_tests.tools.transcript import Divergence

_UNSERVED = ("AddRaftVoter(80): 0 to 1 [usable: 1],", "RemoveRaftVoter(81): 0 [usable: 0],")
"""APIs of a quorum that changes, as Kafka advertises them."""


def _unsupported(line: str) -> str:
    name, _, ranges = line.partition(": ")
    return f"\t{name}: UNSUPPORTED{',' if ranges.endswith(',') else ''}"


def _feature(name: str, level: int) -> str:
    return f"Feature: {name}  SupportedMinVersion: 0  SupportedMaxVersion: 1  FinalizedVersionLevel: {level}  Epoch: <n>"


DIVERGENCES: dict[str, Divergence] = {
    "cluster.api_versions": Divergence(
        "a quorum that changes is not served",
        {f"\t{line}": _unsupported(line) for line in _UNSERVED},
    ),
    "cluster.features": Divergence(
        "in force is what is served",
        {_feature(name, 1): _feature(name, 0) for name in ("share.version", "streams.version")},
    ),
}
"""By story name."""
