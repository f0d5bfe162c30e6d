"""Members of share groups (KIP-932) for scenarios: they know their epoch and what they were given."""

from __future__ import annotations

from typing import Any

from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Link, Session

API = "ShareGroupHeartbeat"


class ShareMember:
    """A member on its own connection. `given` is its assignment: partitions by topic id, in
    hexadecimal."""

    def __init__(
        self, s: Session, label: str, group: str, *, member_id: str | None = None, **join: Any
    ) -> None:
        self.link: Link = s.connect(label, client_id=label)
        self.group = group
        self.member_id = f"member-{label}" if member_id is None else member_id
        self.epoch = 0
        self.given: dict[str, list[int]] = {}
        self.join_fields: Plain = join

    def join(self, *names: str, **other: Any) -> Plain:
        """Join, or join again, with epoch 0."""
        self.epoch = 0
        return self.beat(**{**self.join_fields, "subscribed_topic_names": list(names), **other})

    def beat(self, **other: Any) -> Plain:
        """A heartbeat that says nothing but what is given; learns from the answer."""
        return self._learn(self.link.ask(API, 1, **(self.said() | other)))

    def counted(self, **other: Any) -> Plain:
        """A heartbeat of whose assignment the transcript has no more than how many partitions it
        is: which ones are given is a matter of hashes (SH-ASN-2)."""
        link, fields = self.link, self.said() | other
        answer = self._learn(link.ask_quietly(API, 1, **fields))
        told = answer["assignment"]
        count = None if told is None else sum(len(of) for of in self.given.values())
        link.session.note(link.name, sent=f"{API} v1", fields=link.session.names.value("", fields))
        shown = link.session.names.value("", answer) | {"assignment": count}
        link.session.note(link.name, got=f"{API} v1", fields=shown)
        return answer

    def until(self, partitions: int | None = None, **other: Any) -> Plain:
        """Heartbeats until one brings an assignment, of so many partitions if that is given.

        Only the last leaves steps: nobody can tell how many the broker answers before the state of
        the group's share partitions is initialised.
        """

        link = self.link
        answer: Plain = {}

        def asked() -> bool:
            nonlocal answer
            answer = self._learn(link.ask_quietly(API, 1, **(self.said() | other)))
            if answer["assignment"] is None:
                return bool(answer["error_code"])
            count = sum(len(of) for of in self.given.values())
            return count > 0 if partitions is None else count == partitions

        link.session.until(asked, f"{self.member_id} was never given {partitions} partitions")
        link.session.note(link.name, got=f"{API} v1", fields=link.session.names.value("", answer))
        return answer

    def leave(self, **other: Any) -> Plain:
        """Leave."""
        return self.beat(**{"member_epoch": -1, **other})

    def said(self) -> Plain:
        """What every heartbeat of the member says."""
        return {"group_id": self.group, "member_id": self.member_id, "member_epoch": self.epoch}

    def _learn(self, answer: Plain) -> Plain:
        if answer["error_code"] == 0:
            self.epoch = answer["member_epoch"]
            if answer["assignment"] is not None:
                self.given = {
                    of["topic_id"]: of["partitions"]
                    for of in answer["assignment"]["topic_partitions"]
                }
        return answer


def describe(link: Link, *groups: str, **other: Any) -> Plain:
    """ShareGroupDescribe of groups."""
    return link.ask("ShareGroupDescribe", 1, group_ids=list(groups), **other)
