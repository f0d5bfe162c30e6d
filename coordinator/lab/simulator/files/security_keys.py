"""Reads a scenario's keys about users and their rights. Raises ScenarioError. There is no
cryptography: a client is the user that its kind names. The rights are applied by
`coordinator/lab/simulator/rights.py`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from coordinator.events.acls import Acl, AclError, read_acl
from coordinator.server.requests.call import ANONYMOUS

from .key_positions import Places, Where
from .reading import Plain, ScenarioError

GRANT, REVOKE = "GrantAcls", "RevokeAcls"
ACL_VERBS: Final = (GRANT, REVOKE)
"""The verbs that make ACLs and delete them."""


class Rights(NamedTuple):
    """The ACLs at the beginning, and the principal of each kind of members and producers."""

    acls: tuple[Acl, ...]
    principals: dict[str, str]

    def principal(self, client: str) -> str:
        """Return the principal of a client, by its name: the name of its kind, and a number."""
        return self.principals.get(client.rpartition("-")[0], ANONYMOUS)


_USER: Final = "User:"
"""The beginning of a principal; a file may leave it out."""


class AclChange(NamedTuple):
    """ACLs that a fault makes (`grants`) or deletes."""

    grants: bool
    acls: tuple[Acl, ...]


def read_rights(plain: Plain, places: Places) -> Rights | None:
    """Read the users and ACLs; None if everybody may do everything."""
    users = {
        each["name"]: f"{_USER}{each['user'].removeprefix(_USER)}"
        for table in ("members", "producers")
        for each in plain[table]
        if each["user"]
    }
    where = places.where("security")
    acls = _acls(plain["security"]["acls"], "security.acls", where.at("acls"))
    faults = [index for index, each in enumerate(plain["faults"]) if each["verb"] in ACL_VERBS]
    if acls:
        return Rights(acls, users)
    for table, index in _need(plain, faults):
        there = places.where(table, index)
        key = "verb" if table == "faults" else "user"
        raise ScenarioError(
            f"{there.at(key)}: {table}: {key} = {plain[table][index][key]!r}: without ACLs everybody may do everything: "
            "give security.acls"
        )
    return None


def _need(plain: Plain, faults: list[int]) -> Iterator[tuple[str, int]]:
    """Yield the tables with a key that has no effect without ACLs."""
    for table in ("members", "producers"):
        for index, each in enumerate(plain[table]):
            if each["user"]:
                yield table, index
    for index in faults:
        yield "faults", index


def read_change(verb: str, fields: Plain, where: Where) -> AclChange:
    """Such a verb's action."""
    for key in fields:
        if key != "acls":
            raise ScenarioError(f"{where.at(key)}: {verb} has the key acls, not {key}")
    acls = _acls(fields.get("acls", ()), f"{verb}: acls", where.at("acls"))
    if not acls:
        raise ScenarioError(
            f'{where}: {verb}: acls is missing: give ["User:billing may Read group app"], say'
        )
    return AclChange(verb == GRANT, acls)


def _acls(given: Any, what: str, where: str) -> tuple[Acl, ...]:
    sentences = [given] if isinstance(given, str) else given
    if not isinstance(sentences, list | tuple):
        raise ScenarioError(f"{where}: {what} = {given!r}: give a text, or several")
    try:
        return tuple(read_acl(each) for each in sentences)
    except AclError as error:
        raise ScenarioError(f"{where}: {what}: {error}") from None
