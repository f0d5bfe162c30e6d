"""Lives of processes: from a client's first request to its removal, with what it asked for; of those
that write the stream `member`, from their start to their end by their own word.

A log knows requests, not processes: each member id is a life of its own. A member whose session
expired is taken as dead since its last sign of life, a session timeout before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from ...event_log.reader import Line
from ...wire.consumer_protocol import Subscription
from ..blobs import decoded


@dataclass(slots=True)
class Life:
    """One process, as far as the log tells: from its first request to its removal."""

    client: str
    begun_ms: int
    protocol: str = "classic"
    topics: tuple[str, ...] = ()
    assignors: tuple[str, ...] = ()
    session_ms: int | None = None
    rebalance_ms: int | None = None
    instance: str | None = None
    ended_ms: int | None = None
    how: str = "crash"
    stalls: list[tuple[int, int]] = field(default_factory=list)
    """When its application did not poll, by its own word: since when, how long."""
    told: bool = False
    """It wrote itself when it started, and how it ended."""


class Lives:
    """The lives of all groups, by group and member id, in the order in which they began."""

    def __init__(self) -> None:
        self.of: dict[str, dict[str, Life]] = {}
        self._pending: dict[str, tuple[str, int]] = {}
        """By member id that was minted: its client id, and when."""
        self._started: dict[str, int] = {}
        self._stalled: dict[str, int] = {}

    def see(self, line: Line) -> None:
        """Take one line; most mean nothing here."""
        take = _TAKES.get(line["type"])
        if take is not None:
            take(self, line)

    def _minted(self, line: Line) -> None:
        self._pending[line["member"]] = line["client_id"], line["at_ms"]

    def _life(self, line: Line, client: str) -> Life:
        lives = self.of.setdefault(line["group"], {})
        life = lives.get(line["member"])
        if life is None:
            _, begun = self._pending.pop(line["member"], ("", line["at_ms"]))
            told = self._started.pop(client, None)
            life = lives[line["member"]] = Life(
                client, begun if told is None else told, told=told is not None
            )
        return life

    def _joined(self, line: Line) -> None:
        replaced = self.of.get(line["group"], {}).get(line.get("replaced", ""))
        client = line.get("client_id") or (
            replaced.client if replaced is not None else line["member"]
        )
        life = self._life(line, client)
        life.instance = line.get("group_instance_id")
        life.session_ms, life.rebalance_ms = (
            line["session_timeout_ms"],
            line["rebalance_timeout_ms"],
        )
        life.assignors = tuple(row["name"] for row in line["protocols"])
        wishes = [decoded(Subscription.decode, row["metadata"]) for row in line["protocols"]]
        life.topics = tuple(
            dict.fromkeys(topic for wish in wishes if wish is not None for topic in wish.topics)
        )
        if replaced is not None and replaced.ended_ms is None:
            replaced.ended_ms = line["at_ms"]

    def _subscribed(self, line: Line) -> None:
        life = self._life(line, line["client_id"])
        classic = line.get("classic")
        life.protocol = "consumer" if classic is None else "classic"
        life.topics, life.instance, life.rebalance_ms = (
            tuple(line["topics"]),
            line.get("group_instance_id"),
            line["rebalance_timeout_ms"],
        )
        life.assignors = (line["server_assignor"],) if line.get("server_assignor") else ()
        if classic is not None:
            life.session_ms, life.assignors = (
                classic["session_timeout_ms"],
                tuple(row["name"] for row in classic["protocols"]),
            )

    def _removed(self, line: Line) -> None:
        life = self.of.get(line["group"], {}).get(line["member"])
        if life is not None and life.ended_ms is None:
            life.how = "close" if line["reason"] == "left" else "crash"
            silent = life.session_ms or 0 if line["reason"] == "session expired" else 0
            life.ended_ms = max(life.begun_ms, line["at_ms"] - silent)

    def _process(self, line: Line) -> None:
        """A process's own word."""
        client, at_ms = line["client"], line["at_ms"]
        if line["type"] == "MemberStarted":
            self._started[client] = at_ms
            return
        lives = [
            life
            for life in self.of.get(line.get("group", ""), {}).values()
            if life.client == client
        ]
        life = lives[-1] if lives else None
        if line["type"] == "ApplicationStalled":
            self._stalled[client] = at_ms
        elif line["type"] == "ApplicationResumed":
            begun = self._stalled.pop(client, None)
            if life is not None and begun is not None and at_ms > begun:
                life.stalls.append((begun, at_ms - begun))
        elif life is not None:
            life.ended_ms, life.how = at_ms, "crash" if line["type"] == "MemberCrashed" else "close"


_TAKES: Final[dict[str, Callable[[Lives, Line], None]]] = {
    "MemberPending": Lives._minted,
    "MemberJoined": Lives._joined,
    "MemberReplaced": Lives._joined,
    "ConsumerMemberSubscribed": Lives._subscribed,
    "MemberRemoved": Lives._removed,
    "ConsumerMemberRemoved": Lives._removed,
    "MemberStarted": Lives._process,
    "MemberCrashed": Lives._process,
    "MemberClosing": Lives._process,
    "ApplicationStalled": Lives._process,
    "ApplicationResumed": Lives._process,
}
