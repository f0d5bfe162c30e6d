"""The traits of a release of Apache Kafka, as types.

Does not depend on anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

Behaviour = Literal[
    "ACL-5",
    "BRK-41-1",
    "CFG-40-1",
    "CFG-42-1",
    "CFG-43-1",
    "CFG-43-2",
    "CFG-44-3",
    "CFG-44-5",
    "DSC-40-1",
    "K8-CLS-43-5",
    "K8-CLS-44-3",
    "K8-DSC-43-1",
    "K8-EP-42-1",
    "K8-EP-44-1",
    "K8-HB-43-1",
    "K8-MIG-42-1",
    "K8-MIG-44-4",
    "K8-OFF-43-1",
    "K8-REC-42-1",
    "K8-ST-5",
    "K8-TGT-44-2",
    "LV-40-1",
    "META-44-1",
    "OC-40-1",
    "PART-44-1",
    "PLACE-43-1",
    "QUO-44-1",
    "REC-44-1",
    "REF-44-1",
    "SH-43-1",
    "SH-44-1",
    "SH-44-2",
    "SH-44-3",
    "SYNC-40-1",
    "V44-7",
]
"""A release's behaviour that an older one has not, by the rule that says it (docs/rules.md)."""
BEHAVIOURS: Final[frozenset[Behaviour]] = frozenset(get_args(Behaviour))


@dataclass(frozen=True, slots=True)
class Settings:
    """The differences between a release's settings and those of the newest one."""

    without: frozenset[str] = frozenset()
    """Names of settings that the release does not have."""
    different: str = ""
    """Settings that it defines differently, in the notation of `config_defs.read_table`."""
    more: str = ""
    """Settings that the newest does not know, in that notation."""
    in_place: Mapping[str, str] = field(default_factory=dict)
    """Values in force where the release does not know a setting, if not the newest's default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """A feature of the cluster (KIP-584): the levels that a release supports, and the level of a
    cluster formatted by that release, as far as that is served here.
    """

    lowest: int
    highest: int
    finalized: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """One release: `name` selects it, `number` is the exact version that was examined."""

    name: str
    number: str
    api_versions: Mapping[int, tuple[int, int]]
    """Lowest and highest version that a broker advertises, by API key."""
    features: Mapping[str, Feature]
    """By name, in the order in which ApiVersions tells them."""
    metadata_versions: Mapping[int, str]
    """The name of each level of metadata.version, the highest last."""
    behaviours: frozenset[Behaviour] = BEHAVIOURS
    broker_settings: Settings = field(default_factory=Settings)
    topic_settings: Settings = field(default_factory=Settings)
    group_settings: Settings = field(default_factory=Settings)

    def has(self, behaviour: Behaviour) -> bool:
        """Return whether the release has a behaviour; one without it behaves as the releases before
        that rule.
        """
        return behaviour in self.behaviours

    def finalizes(self, feature: str) -> bool:
        """Return whether a cluster formatted by the release has a feature finalised."""
        return feature in self.features and self.features[feature].finalized > 0

    def __str__(self) -> str:
        return self.number

    __hash__ = object.__hash__
