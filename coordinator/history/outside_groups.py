"""Clients that never reached a group: they spoke another protocol than the listener (TLS, SASL,
HTTP), could not log in, may not do what they ask for, are made to wait by a quota, or read a topic
that has no records here. And topics that a client's question made. Each kind is counted once for each client.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from ..event_log.reader import Line

_NO_SASL = "ILLEGAL_SASL_STATE"
_SASL = frozenset({"sasl_handshake", "sasl_authenticate"})


@dataclass(slots=True)
class Tried:
    """Vain attempts of one client, or all whose id is not known."""

    line: Line
    times: int = 1
    last_ms: int = 0
    hosts: dict[str, None] = field(default_factory=dict)
    clients: dict[str, None] = field(default_factory=dict)
    """Client ids, as far as lines name them."""


class OutsideGroups:
    """Follows the lines of a log that belong to no group."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, ...], Tried] = {}
        self._told: set[str] = set()  # why logins failed, and their connections ended

    def follow(self, line: Line) -> None:
        """Fold a line of stream `wire`."""
        match line["type"]:
            case "ConnectionRefused" if line["why"] not in self._told:
                key: tuple[str, ...] = ("ConnectionRefused", line["why"])
            case "AuthenticationFailed":
                self._told.add(line["why"])
                key = ("AuthenticationFailed", line.get("principal") or "", line["why"])
            case "AuthorizationRefused":
                about = (line["api"], line["operation"], line["resource"], line["name"])
                why = (str(line.get("acl")), str(line.get("acl_deleted_ms")))
                key = ("AuthorizationRefused", line["principal"], *about, *why)
            case "ClientThrottled":
                key = ("ClientThrottled", line["principal"], line["client"], line["api"])
            case "RequestRefused" if line.get("api") in _SASL and _NO_SASL in line["errors"]:
                key = ("RequestRefused", line.get("client", ""))
            case "InternalTopicRead":
                key = ("InternalTopicRead", line["client"], line["topic"])
            case "TopicAutoCreated":
                key = ("TopicAutoCreated", line["topic"])
            case _:
                return
        known = self.found.get(key)
        if known is None:
            if len(self.found) >= _MOST:
                return
            known = self.found[key] = Tried(line, 0)
        known.times, known.last_ms = known.times + 1, line["at_ms"]
        peer = str(line.get("peer", ""))
        _add(known.hosts, peer.rpartition(":")[0] or peer)
        _add(known.clients, str(line.get("client") or ""))


_MOST = 100
"""A client may take a new name each time."""
_MOST_NAMES = 8
OTHERS: Final = "others"
"""The name for further hosts, or clients."""


def _add(names: dict[str, None], name: str) -> None:
    if name and name not in names:
        names[name if len(names) < _MOST_NAMES else OTHERS] = None
