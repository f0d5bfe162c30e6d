"""Stories whose transcripts differ from Kafka's on purpose: docs/divergences.md has the reasons for users. Nothing else may differ."""

from __future__ import annotations

from integration_tests.tools.transcript import Divergence

_UNSERVED = (
    "ConsumerGroupHeartbeat(68): 0 to 1 [usable: 1],", "ConsumerGroupDescribe(69): 0 to 1 [usable: 1],",
    "ShareGroupHeartbeat(76): 1 [usable: 1],", "ShareGroupDescribe(77): 1 [usable: 1],", "ShareFetch(78): 1 to 2 [usable: 2],",
    "ShareAcknowledge(79): 1 to 2 [usable: 2],", "AddRaftVoter(80): 0 to 1 [usable: 1],", "RemoveRaftVoter(81): 0 [usable: 0],",
    "InitializeShareGroupState(83): 0 [usable: 0],", "ReadShareGroupState(84): 0 [usable: 0],",
    "WriteShareGroupState(85): 0 to 1 [usable: 1],", "DeleteShareGroupState(86): 0 [usable: 0],",
    "ReadShareGroupStateSummary(87): 0 to 1 [usable: 1],", "StreamsGroupHeartbeat(88): 0 [usable: 0],",
    "StreamsGroupDescribe(89): 0 [usable: 0],", "DescribeShareGroupOffsets(90): 0 to 1 [usable: 1],",
    "AlterShareGroupOffsets(91): 0 [usable: 0],", "DeleteShareGroupOffsets(92): 0 [usable: 0]",
)  # fmt: skip
"""APIs of KIP-848, share and streams groups, and of a quorum that changes, as Kafka advertises them."""


def _unsupported(line: str) -> str:
    name, _, ranges = line.partition(": ")
    return f"\t{name}: UNSUPPORTED{',' if ranges.endswith(',') else ''}"


def _feature(name: str, level: int) -> str:
    return f"Feature: {name}  SupportedMinVersion: 0  SupportedMaxVersion: 1  FinalizedVersionLevel: {level}  Epoch: <n>"


DIVERGENCES: dict[str, Divergence] = {
    "cluster.api_versions": Divergence(
        "groups of other kinds than classic, and a quorum that changes, are not served",
        {f"\t{line}": _unsupported(line) for line in _UNSERVED},
    ),
    "cluster.features": Divergence(
        "in force is what is served",
        {_feature(name, 1): _feature(name, 0) for name in ("group.version", "share.version", "streams.version")},
    ),
}
"""By story name."""
