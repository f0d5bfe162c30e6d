"""Checks of a scenario's members and producers: their names, and the fields that each kind
needs. Raises ScenarioError with the place in the file. Contradictions between settings and keys
are found by `contradictions.py`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from coordinator.members.requests import CLIENT_VERSIONS
from coordinator.wire.messages.join_group import JoinGroupRequest

from .contradictions import check_member_settings, check_producer_settings, check_said_twice
from .key_positions import Where
from .reading import Plain, ScenarioError
from .there import default_of

_MOST_RECORDS: Final = 100_000_000
_SETTINGS_WITH_KEYS: Final = {
    "group.id": "group",
    "client.id": "name",
    "group.protocol": "protocol",
}
"""Settings of a consumer for which a scenario has keys of its own."""
_STATIC_SINCE: Final = 5
"""The version of JoinGroup that knows static members (KIP-345)."""
_NAME: Final = re.compile(r"[\w.-]+", re.ASCII)


def check_called(names: Sequence[str], where: Sequence[Where]) -> None:
    """Check that each kind of members and producers has a name of its own, which is not the
    client id of a member of another kind."""
    for index, name in enumerate(names):
        if name in names[:index]:
            raise ScenarioError(
                f"{where[index].at('name')}: two kinds of members or producers have the same name: {name}"
            )
        kind, _, number = name.rpartition("-")
        if number.isdecimal() and kind in names:
            raise ScenarioError(
                f"{where[index].at('name')}: name = {name!r}: that may be the client id of one of {kind}: give a name that is not "
                f"another kind's with a number behind it, such as {kind}-x{number}"
            )


def check_member_names(plain: Plain, where: Where) -> None:
    """Check the name and topics of a kind of members, and that `config` sets nothing for which
    there is a key."""
    name = f"members {plain['name']}"
    _check_name("members", plain["name"], where)
    if not plain["topics"]:
        raise ScenarioError(
            f"{where.at('topics')}: {name}: topics = []: name at least one of [topics]"
        )
    for setting, key in _SETTINGS_WITH_KEYS.items():
        if setting in plain["config"]:
            raise ScenarioError(
                f"{where.of(setting)}: {name}: {setting} is not set in config: {key} says it"
            )
    check_said_twice(name, plain["topics"], where.at("topics"))


def check_member(plain: Plain, where: Where) -> None:
    """Check a kind of members: its name, topics, assignors, settings, and static membership."""
    name = f"members {plain['name']}"
    check_member_names(plain, where)
    if not plain["assignor"] and where.at("assignor") != str(where):
        raise ScenarioError(
            f"{where.at('assignor')}: {name}: assignor = []: name at least one, or leave the key out"
        )
    check_member_settings(plain, where)
    highest = CLIENT_VERSIONS.get(plain["versions"], {}).get(
        JoinGroupRequest.api_key, _STATIC_SINCE
    )
    if highest < _STATIC_SINCE and (plain["static"] or "group.instance.id" in plain["config"]):
        told = f"clients of Kafka {plain['versions']} know no static members, which came with 2.3: leave static or versions out"
        raise ScenarioError(f"{where.at('versions')}: {name}: {told}")
    if plain["static"] and "group.instance.id" in plain["config"]:
        told = "group.instance.id is not set in config beside static = true, which makes it the client id: leave one of the two out"
        raise ScenarioError(f"{where.of('group.instance.id')}: {name}: {told}")


def check_producer(plain: Plain, stop_ms: int, duration_ms: int, where: Where) -> None:
    """Check a kind of producers: its name, topics, settings, times, and number of records.
    `stop_ms`: the time at which it stops."""
    name = f"producers {plain['name']}"
    _check_name("producers", plain["name"], where)
    if not plain["topics"]:
        raise ScenarioError(
            f"{where.at('topics')}: {name}: topics = []: name at least one of [topics]"
        )
    check_said_twice(name, plain["topics"], where.at("topics"))
    check_producer_settings(plain, where)
    if not plain["transactional"] and plain["transaction"] != default_of(
        "transaction", "producers"
    ):
        raise ScenarioError(
            f"{where.at('transaction')}: {name}: transaction needs transactional = true"
        )
    if plain["stop"] is not None and plain["start"][0] >= stop_ms:
        raise ScenarioError(
            f"{where.at('stop')}: {name}: stop = {stop_ms} ms is not after start, {plain['start'][0]} ms"
        )
    records = plain["count"] * plain["rate"] * min(stop_ms, duration_ms) // 1000
    if records > _MOST_RECORDS:
        said = f"{plain['count']} of them at rate = {plain['rate']} write {records} records"
        raise ScenarioError(
            f"{where.at('rate')}: {name}: {said}: a run has at most {_MOST_RECORDS}"
        )


def _check_name(table: str, name: str, where: Where) -> None:
    """Check a kind's name: it becomes a part of client ids, and of the paths of `--set`."""
    if not _NAME.fullmatch(name):
        raise ScenarioError(
            f"{where.at('name')}: {table}: name = {name!r}: give one or more of the characters a-z A-Z 0-9 . _ -"
        )
