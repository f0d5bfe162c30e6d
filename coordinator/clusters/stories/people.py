"""One name for each member, from the member ids, instance ids and client ids of all files."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..facts import (
    Assigned,
    ClientAsked,
    ClientJoined,
    ClientLeaving,
    ClientMember,
    Expired,
    Joined,
    LeaderKnown,
    Left,
    MemberTimeouts,
    Prepared,
    Replaced,
    Seen,
)
from .reasons import told

_UUID = re.compile(r"-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$")
GIVEN = re.compile(r"need to re-join with the given member-id: (\S+)")


def client_of(member: str) -> str | None:
    """Return the client id at the beginning of a member id; None if there is none."""
    short = _UUID.sub("", member)
    return short if short and short != member else None


class People:
    """Names of members. A member id that no line connects with a client stays as it is."""

    def __init__(self, seen: Iterable[Seen]) -> None:
        self.clients: dict[str, str] = {}
        self.instances: dict[str, str] = {}
        self.groups: dict[str, str] = {}
        self.timeouts: dict[str, MemberTimeouts] = {}
        self._sources: dict[str, set[str]] = {}
        for each in seen:
            self._learn(each)
        self._static = set(self.instances.values())

    def alone(self, client: str) -> bool:
        """Return True if one file alone has the lines of a client: its member ids are of one process
        and its successors, not of several with one client id."""
        return len(self._sources.get(client, ())) == 1

    def _learn(self, each: Seen) -> None:
        if isinstance(each.fact, ClientMember | ClientJoined):
            self._sources.setdefault(each.fact.client, set()).add(each.source)
        self._of_clients(each)
        self._of_brokers(each)

    def _of_clients(self, each: Seen) -> None:
        match each.fact:
            case ClientMember(client, group, member):
                self._client(client, group, member)
            case ClientJoined(client, group, member) | ClientLeaving(client, group, member):
                self._client(client, group, member)
            case ClientAsked(client, group, reason):
                given = GIVEN.match(reason)
                if given:
                    self._client(client, group, given[1])
            case Assigned(_, group, _, members):
                for one in members:
                    if group:
                        self.groups.setdefault(one, group)
            case _:
                pass

    def _of_brokers(self, each: Seen) -> None:
        match each.fact:
            case Joined(group, member, instance) | Left(group, member, _, instance):
                self.groups[member] = group
                if instance:
                    self.instances[member] = instance
            case Replaced(group, instance, new, former):
                for one in (new, former):
                    if one:
                        self.groups[one], self.instances[one] = group, instance
            case Expired(group, member) | LeaderKnown(group, member):
                self.groups[member] = group
            case MemberTimeouts(member, client, instance):
                self.timeouts[member] = each.fact
                if client:
                    self.clients.setdefault(member, client)
                if instance:
                    self.instances[member] = instance
            case Prepared(group, _, reason):
                about = told(reason)
                if about.member:
                    self.groups[about.member] = group
                    if about.instance:
                        self.instances[about.member] = about.instance
            case _:
                pass

    def _client(self, client: str, group: str | None, member: str | None) -> None:
        if member:
            self.clients[member] = client
            if group:
                self.groups[member] = group

    def name(self, member: str | None) -> str | None:
        """Return the instance id, else the client id, else the member id without its random
        part."""
        if member is None:
            return None
        # A broker puts the instance id of a static member in front of its member id.
        short = client_of(member)
        instance = self.instances.get(member) or (short if short in self._static else None)
        return instance or self.client(member) or member

    def client(self, member: str) -> str | None:
        """Return the client id of a member id; None if no file has it."""
        if member in self.clients:
            return self.clients[member]
        return client_of(member)

    def is_of(self, member: str | None, client: str) -> bool:
        """Return True if a member id belongs to this client."""
        if member is None:
            return False
        return client in (self.client(member), self.name(member))
