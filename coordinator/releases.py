"""The releases of Apache Kafka that the emulator behaves as: what each advertises, supports, is
configured by and does differently, as data.

The newest release is the reference; a row of an older one says what it has otherwise. Rule: code
asks a release for a behaviour by its name (`has`), and never compares version numbers. Whoever makes
a connection, a coordinator or a configuration asks once and keeps the answer. Does not depend on
anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal, get_args

Behaviour = Literal[
    "CFG-44-3",
    "K8-CLS-44-3",
    "K8-EP-44-1",
    "K8-MIG-44-4",
    "K8-TGT-44-2",
    "META-44-1",
    "PART-44-1",
    "QUO-44-1",
    "REC-44-1",
    "SH-44-1",
    "V44-7",
]
"""What a release does and an older one does not, by the rule that says it (docs/rules.md)."""
BEHAVIOURS: Final[frozenset[Behaviour]] = frozenset(get_args(Behaviour))


_NUMBER: Final = re.compile(r"([0-9]+\.[0-9]+)(\.[0-9]+)?\Z")


class ReleaseError(ValueError):
    """A release that there is none of: what was given, and which there are."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How the settings of a release differ from those of the newest."""

    without: frozenset[str] = frozenset()
    """Names that the release does not know."""
    different: str = ""
    """Settings that it defines differently, in the notation of `config_defs.read_table`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """A feature of the cluster (KIP-584): the levels that a release supports, and the one at which
    a cluster formatted by it has the feature, as far as that is served here."""

    lowest: int
    highest: int
    finalized: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """One release: `name` chooses it, `number` is the exact one that was looked at."""

    name: str
    number: str
    api_versions: Mapping[int, tuple[int, int]]
    """Lowest and highest version that a broker advertises, by API key."""
    features: Mapping[str, Feature]
    """By name, in the order in which ApiVersions tells them."""
    metadata_versions: Mapping[int, str]
    """What each level of metadata.version is called, the highest last."""
    behaviours: frozenset[Behaviour] = BEHAVIOURS
    broker_settings: Settings = field(default_factory=Settings)
    topic_settings: Settings = field(default_factory=Settings)
    group_settings: Settings = field(default_factory=Settings)

    def has(self, behaviour: Behaviour) -> bool:
        """Whether the release behaves as a rule says; where not, it does what the releases before
        that rule did."""
        return behaviour in self.behaviours

    def __str__(self) -> str:
        return self.number

    __hash__ = object.__hash__


_METADATA_VERSIONS: Final[Mapping[int, str]] = {
    7: "3.3-IV3",
    8: "3.4-IV0",
    9: "3.5-IV0",
    10: "3.5-IV1",
    11: "3.5-IV2",
    12: "3.6-IV0",
    13: "3.6-IV1",
    14: "3.6-IV2",
    15: "3.7-IV0",
    16: "3.7-IV1",
    17: "3.7-IV2",
    18: "3.7-IV3",
    19: "3.7-IV4",
    20: "3.8-IV0",
    21: "3.9-IV0",
    22: "4.0-IV0",
    23: "4.0-IV1",
    24: "4.0-IV2",
    25: "4.0-IV3",
    26: "4.1-IV0",
    27: "4.1-IV1",
    28: "4.2-IV0",
    29: "4.2-IV1",
    30: "4.3-IV0",
    31: "4.4-IV0",
    32: "4.4-IV1",
    33: "4.4-IV2",
}

_API_VERSIONS: Final[Mapping[int, tuple[int, int]]] = {
    0: (0, 13),
    1: (4, 18),
    2: (1, 11),
    3: (0, 13),
    8: (2, 10),
    9: (1, 10),
    10: (0, 6),
    11: (0, 9),
    12: (0, 4),
    13: (0, 5),
    14: (0, 5),
    15: (0, 6),
    16: (0, 5),
    17: (0, 1),
    18: (0, 5),
    19: (2, 7),
    20: (1, 6),
    21: (0, 2),
    22: (0, 5),
    23: (2, 4),
    24: (0, 5),
    25: (0, 4),
    26: (0, 5),
    27: (1, 2),
    28: (0, 6),
    29: (1, 3),
    30: (1, 3),
    31: (1, 3),
    32: (1, 4),
    33: (0, 2),
    34: (1, 2),
    35: (1, 5),
    36: (0, 2),
    37: (0, 3),
    38: (1, 3),
    39: (1, 2),
    40: (1, 2),
    41: (1, 3),
    42: (0, 3),
    43: (0, 2),
    44: (0, 1),
    45: (0, 1),
    46: (0, 0),
    47: (0, 0),
    48: (0, 1),
    49: (0, 1),
    50: (0, 0),
    51: (0, 0),
    55: (0, 2),
    57: (0, 2),
    60: (0, 2),
    61: (0, 0),
    64: (0, 0),
    65: (0, 0),
    66: (0, 2),
    68: (0, 1),
    69: (0, 1),
    74: (0, 1),
    75: (0, 0),
    76: (1, 1),
    77: (1, 1),
    78: (1, 2),
    79: (1, 2),
    80: (0, 1),
    81: (0, 0),
    83: (0, 0),
    84: (0, 0),
    85: (0, 1),
    86: (0, 0),
    87: (0, 1),
    88: (0, 1),
    89: (0, 1),
    90: (0, 1),
    91: (0, 0),
    92: (0, 0),
    93: (0, 0),
    94: (0, 0),
}
"""Those of the newest release. Produce 0-2 are advertised for librdkafka's sake, as Kafka does, and
close the connection."""


def _newest() -> Release:
    return Release(
        name="4.4",
        number="4.4.0",
        api_versions=_API_VERSIONS,
        features={
            "group.version": Feature(lowest=0, highest=1, finalized=1),
            "kraft.version": Feature(lowest=0, highest=1),
            "metadata.version": Feature(lowest=7, highest=33, finalized=33),
            "share.version": Feature(lowest=0, highest=2, finalized=2),
            "streams.version": Feature(lowest=0, highest=1),
            "transaction.version": Feature(lowest=0, highest=2, finalized=2),
            "eligible.leader.replicas.version": Feature(lowest=0, highest=1, finalized=1),
        },
        metadata_versions=_METADATA_VERSIONS,
    )


def _before(
    newer: Release,
    name: str,
    number: str,
    *,
    metadata_version: int,
    api_versions: Mapping[int, tuple[int, int] | None],
    features: Mapping[str, Feature],
    behaviours: Iterable[Behaviour],
    broker_settings: Settings,
    topic_settings: Settings,
    group_settings: Settings,
) -> Release:
    """The release before another one, from what it has otherwise: APIs (None: not at all), features,
    and the behaviours that it does not have yet."""
    versions = {
        key: wanted
        for key, known in newer.api_versions.items()
        if (wanted := api_versions.get(key, known)) is not None
    }
    levels = {
        **newer.features,
        "metadata.version": Feature(
            lowest=newer.features["metadata.version"].lowest,
            highest=metadata_version,
            finalized=metadata_version,
        ),
        **features,
    }
    return replace(
        newer,
        name=name,
        number=number,
        api_versions=versions,
        features=levels,
        metadata_versions={
            level: called
            for level, called in newer.metadata_versions.items()
            if level <= metadata_version
        },
        behaviours=newer.behaviours - frozenset(behaviours),
        broker_settings=broker_settings,
        topic_settings=topic_settings,
        group_settings=group_settings,
    )


NEWEST: Final = _newest()

_4_3 = _before(
    NEWEST,
    "4.3",
    "4.3.1",
    metadata_version=30,
    api_versions={
        18: (0, 4),
        28: (0, 5),
        42: (0, 2),
        88: (0, 0),
        89: (0, 0),
        93: None,
        94: None,
    },
    features={"share.version": Feature(lowest=0, highest=1, finalized=1)},
    behaviours=BEHAVIOURS,
    broker_settings=Settings(
        without=frozenset(
            {
                "errors.deadletterqueue.auto.create.topics.enable",
                "errors.deadletterqueue.topic.name.prefix",
                "group.consumer.assignor.offload.enable",
                "group.share.assignor.offload.enable",
                "group.streams.acceptable.recovery.lag",
                "group.streams.assignor.offload.enable",
                "group.streams.assignors",
                "group.streams.max.warmup.replicas",
                "group.streams.min.task.offset.interval.ms",
                "group.streams.num.warmup.replicas",
                "group.streams.rack.aware.assignment.tags",
                "group.streams.task.offset.interval.ms",
                "group.streams.topology.description.plugin.class",
                "log.remote.copy.lag.bytes",
                "log.remote.copy.lag.ms",
                "max.decompressed.message.bytes",
                "sasl.oauthbearer.allow.unverified.audience",
                "sasl.oauthbearer.allow.unverified.issuer",
            }
        )
    ),
    topic_settings=Settings(
        without=frozenset(
            {
                "errors.deadletterqueue.group.enable",
                "max.decompressed.message.bytes",
                "remote.copy.lag.bytes",
                "remote.copy.lag.ms",
            }
        )
    ),
    group_settings=Settings(
        without=frozenset(
            {
                "consumer.assignor.offload.enable",
                "errors.deadletterqueue.copy.record.enable",
                "errors.deadletterqueue.topic.name",
                "share.assignor.offload.enable",
                "streams.acceptable.recovery.lag",
                "streams.assignor.name",
                "streams.assignor.offload.enable",
                "streams.num.warmup.replicas",
                "streams.rack.aware.assignment.tags",
                "streams.task.offset.interval.ms",
            }
        )
    ),
)

RELEASES: Final[Mapping[str, Release]] = {release.name: release for release in (NEWEST, _4_3)}
"""Every release that may be chosen, by its name, the newest first."""


def release_named(text: object) -> Release:
    """The release that a person chose: its name, with or without a patch number (`4.3`, `4.3.1`).
    Raises ReleaseError."""
    found = None
    if isinstance(text, str) and (parts := _NUMBER.match(text.strip())):
        found = RELEASES.get(parts[1])
    if found is None:
        there_are = ", ".join(RELEASES)
        raise ReleaseError(f"{text!r}: there is no such release here; give one of {there_are}")
    return found
