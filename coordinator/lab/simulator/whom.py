"""Targets of churn and faults that a scenario describes in words: the leader of a group, all
members of a kind, several of them, or the member for which a state was seen.

Words are resolved at the instant of the action. Raises ClusterError if there is no such member
or broker.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from coordinator.server.cluster_runtime import ClusterError

if TYPE_CHECKING:
    from .clients.client_hosts import ClientHosts

IT: Final = "it"
"""The word for the member for which `when` was seen."""
_OF_MEMBER: Final = re.compile(r"leader of (.+)")
_OF_BROKER: Final = re.compile(r"coordinator of (.+)|leader of (.+)-([0-9]+)")
WORDS_OF_MEMBERS: Final = "'leader of GROUP', 'it' (whom when was seen of)"
WORDS_OF_BROKERS: Final = "'coordinator of GROUP', 'leader of TOPIC-NUMBER'"


def listed(value: Any) -> list[Any]:
    """Return one value or several as a list."""
    return list(value) if isinstance(value, list | tuple) else [value]


def group_led(word: str) -> str | None:
    """Return the group whose leader a word means, or None."""
    found = _OF_MEMBER.fullmatch(word)
    return None if found is None else found[1]


def broker_of(word: str) -> tuple[str, str, int] | None:
    """Return ("group", GROUP, 0) or ("partition", TOPIC, NUMBER) for a word that means a broker,
    or None."""
    found = _OF_BROKER.fullmatch(word)
    if found is None:
        return None
    return ("group", found[1], 0) if found[1] else ("partition", found[2], int(found[3]))


def is_word(value: object) -> bool:
    """Return True if the target is described in words, which are resolved at the instant of the
    action."""
    return isinstance(value, str) and (
        value == IT or group_led(value) is not None or broker_of(value) is not None
    )


def clients(world: ClientHosts, whom: Any, subject: str, kinds: Iterable[str]) -> list[str]:
    """Return the client ids of the targets, each once. `subject`: the member for which `when`
    was seen. `kinds`: names of kinds, which stand for all their members."""
    found: dict[str, None] = {}
    known = frozenset(kinds)
    for each in listed(whom):
        for name in _clients(world, str(each), subject, known):
            found[name] = None
    return list(found)


def _clients(world: ClientHosts, word: str, subject: str, kinds: frozenset[str]) -> Sequence[str]:
    if word == IT:
        if not subject:
            raise ClusterError("it: what was waited for is no member's")
        return [subject]
    group = group_led(word)
    if group is not None:
        return [world.seen().leader(group)]
    if word in kinds:
        return [name for name in world.members if name.rpartition("-")[0] == word]
    return [word]


def brokers(world: ClientHosts, whom: Any) -> Iterator[int]:
    """Yield the ids of the targeted brokers."""
    for each in listed(whom):
        asked = broker_of(each) if isinstance(each, str) else None
        if asked is None:
            yield each
        elif asked[0] == "group":
            yield world.seen().coordinator(asked[1])
        else:
            yield world.seen().partition_leader(*asked[1:])
