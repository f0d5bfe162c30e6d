"""Lines of sarama's logger. It logs when a session (a member in a generation) ends, seldom why."""

from __future__ import annotations

import re

from ..facts import (
    ClientAsked,
    ClientFenced,
    ClientMember,
    ClientRemoved,
    CoordinatorLost,
    Fact,
    TopicChanged,
    Unnumbered,
)
from ..stories.people import client_of

NAME = "sarama"
ANCHORS = (
    "consumergroup/",
    "client/coordinator ",
    "consumer/broker/",
    "kafka server: ",
    "JoinGroup failed: group instance id ",
)
_SESSION = re.compile(
    r"consumergroup/session/(?P<member>[^/\s]{1,300})/(?P<n>\d{1,10}) (?P<what>released|heartbeat loop stopped)"
)
_GREW = re.compile(
    r"consumergroup/(?P<group>[^\s/]{1,300}) loop check partition number (?:goroutine|coroutine) find partitions in topics"
)
_LOST = re.compile(r"consumergroup/(?P<group>[^\s/:]{1,300}): lost ownership of ")
_GROUP = re.compile(r"coordinator for consumergroup (?P<group>\S{1,300}) ")


class Reader:
    """Reads the lines of one file. Keeps state, because a session's line does not name the
    group."""

    def __init__(self) -> None:
        self.groups: set[str] = set()
        self.client: str | None = None
        self.member: str | None = None

    def read(self, source: str, text: str) -> list[Fact] | None:
        """Return the facts of a line that begins at an anchor; None if sarama did not write it."""
        named = _GROUP.search(text, 0, 200)
        if named:
            self.groups.add(named["group"])
            return []
        group = next(iter(self.groups)) if len(self.groups) == 1 else None
        client = self.client or source
        session = _SESSION.match(text)
        if session:
            self.member = session["member"]
            self.client = client_of(self.member) or source
            facts: list[Fact] = [ClientMember(self.client, group, self.member)]
            if session["what"] == "released":
                facts.append(Unnumbered(self.client, group, int(session["n"]), "released"))
            return facts
        grew = _GREW.match(text)
        if grew:
            return [TopicChanged(client, grew["group"])]
        if "has been fenced" in text:
            return [ClientFenced(client, group, None)]
        lost = _LOST.match(text)
        if lost:
            self.groups.add(lost["group"])
            group = lost["group"]
        if "The provided member is not known in the current generation" in text:
            return [ClientRemoved(client, group, "UNKNOWN_MEMBER_ID")]
        if "A rebalance for the group is in progress" in text:
            return [ClientAsked(client, group, "group is already rebalancing")]
        if "not coordinated by this broker" in text:
            return [CoordinatorLost(client, group, "NOT_COORDINATOR")]
        return [] if text.startswith(("consumergroup/", "client/coord", "consumer/br")) else None
