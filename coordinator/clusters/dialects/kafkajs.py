"""Lines of KafkaJS: JSON with the message's namespace in brackets. They name member and group, and no
generation."""

from __future__ import annotations

from collections.abc import Mapping

from ..facts import (
    ClientAsked,
    ClientLeaving,
    ClientMember,
    ClientRemoved,
    CoordinatorLost,
    Fact,
    Unnumbered,
)
from ..stories.people import client_of

NAME = "kafkajs"
_PASSED = ("[Connection] ", "[Consumer] Crash", "[BrokerPool]", "[Cluster]", "[Fetcher]")


class Reader:
    """Reads the lines of one file."""

    def __init__(self) -> None:
        self.clients: dict[str, str] = {}

    def read(
        self, source: str, message: str, fields: Mapping[str, object] | None
    ) -> list[Fact] | None:
        """Return the facts of a line; None if KafkaJS did not write it."""
        message = message[message.find("[", 0, 10) :]  # some loggers put the level in front
        if fields is None or not message.startswith(
            ("[Runner]", "[ConsumerGroup]", "[Consumer]", *_PASSED)
        ):
            return None
        group, member = _text(fields, "groupId"), _text(fields, "memberId")
        if group is None:
            return [] if message.startswith(_PASSED) else None
        if member:
            self.clients[group] = client_of(member) or source
        client = self.clients.get(group, source)
        words = message.partition("] ")[2]
        if words.startswith("Consumer has joined the group"):
            facts: list[Fact] = [ClientMember(client, group, member)] if member else []
            return [*facts, Unnumbered(client, group, None, "joined")]
        if words.startswith("The group is rebalancing"):
            return [ClientAsked(client, group, "group is already rebalancing")]
        if words.startswith("The coordinator is not aware of this member"):
            return [ClientRemoved(client, group, "UNKNOWN_MEMBER_ID")]
        if words.startswith("Stopped"):
            return [ClientLeaving(client, group, member, "")]
        error = _text(fields, "error") or ""
        if "not the correct coordinator" in error:
            return [CoordinatorLost(client, group, error)]
        return []


def _text(fields: Mapping[str, object], key: str) -> str | None:
    value = fields.get(key)
    return value if isinstance(value, str) and value else None
