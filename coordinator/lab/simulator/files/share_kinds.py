"""Reads members of share groups (KIP-932), `protocol = "share"`, and the configurations of
groups, `[[groups]]`. Raises ScenarioError for contradictions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from coordinator.base.releases import Release
from coordinator.members.applications.sharing import Work
from coordinator.members.share.config import ShareConfig
from coordinator.server.settings.broker_configs import BrokerConfigs
from coordinator.server.settings.definitions import ConfigException
from coordinator.server.settings.group_configs import settable_defs, validate
from coordinator.server.shares.settings import FEATURE

from .client_checks import check_member_names
from .contradictions import check_said_twice
from .key_positions import Where
from .reading import Plain, ScenarioError
from .schema import TABLES
from .there import blamed

PROTOCOL: Final = "share"
OF_SHARE: Final = ("release", "reject", "renew", "repeats")
"""Keys that only members of share groups have."""
_NOT_OF_SHARE: Final = {
    "assignor": "the coordinator of a share group assigns",
    "static": "a share group has no static members",
    "reads": "members of share groups read the records that there are",
    "consumes": "they always do",
    "commit": "they acknowledge records, and commit no offsets",
    "output": "only a pipeline has one",
    "versions": "older clients have no share groups",
    "assigning": "the coordinator of a share group assigns",
    "late": "its heartbeats are those of its requests",
    "transactional_id": "it writes nothing",
    "per": "each record takes the same time",
    "slow": "each record takes the same time",
    "on_poison": "a poison record is given back",
}


@dataclass(frozen=True, slots=True)
class ShareKind:
    """Members of a share group that are alike."""

    name: str
    count: int
    group: str
    topics: tuple[str, ...]
    start_ms: tuple[int, int]
    work: Work
    properties: dict[str, str]
    repeats: int = 0
    """Every n-th request arrives twice; 0: none."""
    restarts_ms: tuple[int, int] | None = None
    """A process that ends by an error starts again after so long, at first and at most."""

    def config(self, client_id: str) -> ShareConfig:
        """Return the settings of one member. Raises MemberConfigError."""
        own = {"group.id": self.group, "client.id": client_id}
        return ShareConfig.from_properties({**self.properties, **own})


def read_share_kind(plain: Plain, where: Where) -> ShareKind:
    """Read a kind of members of a share group."""
    name = f"members {plain['name']}"
    check_member_names(plain, where)
    for key, why in _NOT_OF_SHARE.items():
        if plain[key] != _default(key):
            raise ScenarioError(
                f'{where.at(key)}: {name}: {key} is not of protocol = "share": {why}'
            )
    if not isinstance(plain["processing"], int):
        raise ScenarioError(
            f'{where.at("processing")}: {name}: processing of protocol = "share" is one duration'
        )
    words = plain["release"], plain["reject"], plain["poison"], plain["renew"]
    work = Work(plain["processing"], *words)
    properties = dict(plain["config"])
    if work.is_explicit:
        properties.setdefault("share.acknowledgement.mode", "explicit")
    kind = ShareKind(
        plain["name"],
        plain["count"],
        plain["group"],
        plain["topics"],
        plain["start"],
        work,
        properties,
        plain["repeats"],
        plain["restarts"],
    )
    with blamed(where):
        work.checked(implicit=kind.config(f"{kind.name}-1").implicit)
    return kind


def check_not_share(plain: Plain, where: Where) -> None:
    """Refuse keys of share groups for members of other groups."""
    for key in OF_SHARE:
        if plain[key]:
            raise ScenarioError(
                f'{where.at(key)}: members {plain["name"]}: {key} needs protocol = "share"'
            )


def check_one_type(groups: Iterable[tuple[str, bool]], where: Callable[[int], Where]) -> None:
    """Check that a group is a share group for all of its members, or for none. `groups`: for
    each kind of members its group, and whether that is a share group."""
    known: dict[str, bool] = {}
    for index, (group, shares) in enumerate(groups):
        if known.setdefault(group, shares) is not shares:
            right = "give group another name, or the same protocol"
            raise ScenarioError(
                f"{where(index).at('protocol')}: group {group!r} is a share group for some of its members, and none for others: {right}"
            )


def check_served(kinds: Iterable[object], release: Release, where: Callable[[int], Where]) -> None:
    """Refuse share group members if the brokers' release has no share groups, or their settings
    disable them."""
    for index, kind in enumerate(kinds):
        if isinstance(kind, ShareKind) and not release.finalizes(FEATURE):
            said = f'protocol = "share": brokers of {release.number} do not serve it: give brokers.kafka_version 4.2 or later'
            raise ScenarioError(f"{where(index).at('protocol')}: members {kind.name}: {said}")


def read_groups(
    tables: Sequence[Plain],
    there: Iterable[str],
    configs: BrokerConfigs,
    where: Callable[[int], Where],
) -> dict[str, dict[str, str]]:
    """Read the configurations of groups, by the groups' names."""
    known, found = list(dict.fromkeys(there)), dict[str, dict[str, str]]()
    for index, plain in enumerate(tables):
        name, settings, at = plain["name"], plain["config"], where(index)
        if name not in known:
            raise ScenarioError(
                f"{at.at('name')}: groups {name}: no members have group = {name!r}; there are {', '.join(known)}"
            )
        check_said_twice("groups", [*found, name], at.at("name"))
        settable = settable_defs(configs.release)
        for setting in settings:
            if setting not in settable:
                raise ScenarioError(
                    f"{at.of(setting)}: groups {name}: {setting} is no configuration of a group; they are {', '.join(settable)}"
                )
        try:
            validate(settings, configs)
        except ConfigException as error:
            raise ScenarioError(f"{at.of(str(error))}: groups {name}: {error}") from None
        found[name] = settings
    return found


def _default(key: str) -> object:
    """Return the default of a key of members."""
    value = TABLES["members"].keys[key].default
    return tuple(value) if isinstance(value, list) else value
