"""A group of a log as a scenario for the simulator: its members, topics and settings, as far as the
log has them, and a list of guesses.

A log has requests, not processes. When a process started and ended, and how often it sent
heartbeats, is guessed from its first and last requests and its session timeout, unless the
process wrote the stream `member`. `Copied.guessed` lists the guesses. Faults of requests and
links are not copied. Reads the log alone; the text is a scenario file (docs/simulator.md).
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from coordinator.events.cluster import BrokerRegistered, PartitionsAdded, TopicCreated
from coordinator.events.handlers import Reader, on
from coordinator.events.line import Line
from coordinator.events.run import RunStarted
from coordinator.history.explain.formatting import duration, instant, printable
from coordinator.history.world.processes.lives import Life, Lives

from .toml import table

MOST_MEMBERS: Final = 200
_NEVER_MS: Final = 366 * 86_400_000
"""The longest duration that a scenario may have; longer than any run."""
_SETTINGS: Final = ("group.", "offsets.topic.num.partitions")
_NOT_SETTINGS: Final = frozenset(
    {"group.consumer.assignors", "group.coordinator.rebalance.protocols", "group.version"}
)


class CopyError(ValueError):
    """A group cannot be copied; the message says which, and why."""


class Copied(NamedTuple):
    """A scenario file's text, and the guesses in it, as sentences."""

    scenario: str
    guessed: list[str]


class Copier(Reader):
    """All groups of a log: call `feed` with each line, then `copy` with a group."""

    def __init__(self) -> None:
        self._config: dict[str, str] = {}
        self._topics: dict[str, int] = {}
        self._brokers: set[int] = {1}
        self._lives = Lives()
        self._end_ms = 0

    def feed(self, line: Line) -> None:
        """Read one line."""
        self._end_ms = line.at_ms
        self._lives.see(line)
        self.see(line)

    # -- what the lines say

    @on(RunStarted)
    def _run(self, _: Line, event: RunStarted) -> None:
        self._config = {str(key): str(each) for key, each in event.config.items()}

    @on(TopicCreated, PartitionsAdded)
    def _topic(self, _: Line, event: TopicCreated | PartitionsAdded) -> None:
        if not event.topic.startswith("__"):
            first = event.first if isinstance(event, PartitionsAdded) else 0
            self._topics[event.topic] = first + len(event.replicas)

    @on(BrokerRegistered)
    def _broker(self, _: Line, event: BrokerRegistered) -> None:
        self._brokers.add(event.broker)

    # -- the copy

    def copy(self, group: str) -> Copied:
        """Return a group as a scenario. Raises CopyError."""
        lives = list(self._lives.of.get(group, {}).values())
        if not lives:
            raise CopyError(
                f"group {printable(group)} has no member in this log: there is nothing to copy"
            )
        if len(lives) > MOST_MEMBERS:
            raise CopyError(
                f"group {printable(group)} had {len(lives)} member ids: at most {MOST_MEMBERS} are copied"
            )
        guessed = _guesses(lives)
        topics = {topic: self._topics.get(topic, 0) for life in lives for topic in life.topics}
        for topic in [topic for topic, count in topics.items() if not count]:
            topics[topic] = 1
            guessed.append(
                f"topic {printable(topic)} has one partition: the log does not say how many it had"
            )
        if not topics:
            raise CopyError(
                f"no member of group {printable(group)} says which topics it wants: its subscriptions cannot be read"
            )
        named = list(zip(_names(lives), lives, strict=True))
        end_ms = max(self._end_ms, 1000)
        config = {
            key: each
            for key, each in self._config.items()
            if key.startswith(_SETTINGS) and key not in _NOT_SETTINGS
        }
        head = {"lesson": f"a copy of group {printable(group)}", "duration": end_ms}
        parts = [
            "\n".join(f"# Guessed: {each}." for each in guessed),
            table("", head),
            table("[topics]", topics),
            table("[brokers]", {"count": max(self._brokers), "config": config}),
            *(
                table("[[members]]", _member(name, group, life, next(iter(topics))))
                for name, life in named
            ),
            *(
                table("[[churn]]", churn)
                for name, life in named
                for churn in _churn(name, life, end_ms)
            ),
        ]
        return Copied("\n\n".join(parts) + "\n", guessed)


def _member(name: str, group: str, life: Life, topic: str) -> dict[str, Any]:
    config: dict[str, Any] = {}
    if life.protocol == "classic" and life.session_ms is not None:
        config = {
            "session.timeout.ms": life.session_ms,
            "heartbeat.interval.ms": _heartbeat_ms(life.session_ms),
        }
    if life.rebalance_ms:
        config["max.poll.interval.ms"] = life.rebalance_ms
    if life.instance is not None:
        config["group.instance.id"] = life.instance
    assignor = {"assignor": list(life.assignors)} if life.assignors else {}
    return {
        "name": name,
        "group": group,
        "topics": list(life.topics) or [topic],
        "protocol": life.protocol,
        **assignor,
        "start": [life.begun_ms, life.begun_ms],
        "config": config,
    }


def _heartbeat_ms(session_ms: int) -> int:
    """Return Kafka's default heartbeat interval in ms, but at most a third of the session
    timeout, as Kafka recommends."""
    return max(1, min(3_000, session_ms // 3))


def _churn(name: str, life: Life, end_ms: int) -> list[dict[str, Any]]:
    once = {"members": f"{name}-1", "every": 0, "times": 1}
    stalls: list[dict[str, Any]] = [
        {"kind": "stall", "at": at_ms, "lasts": lasts_ms, **once} for at_ms, lasts_ms in life.stalls
    ]
    if life.ended_ms is None or life.ended_ms >= end_ms:
        return stalls
    return [
        *stalls,
        {"kind": "restart", "at": life.ended_ms, "how": life.how, "down": _NEVER_MS, **once},
    ]


def _names(lives: list[Life]) -> list[str]:
    """Return a unique name for each process that a scenario may have: its client id with unusual
    characters replaced."""
    taken: dict[str, int] = {}
    names = []
    for life in lives:
        plain = re.sub(r"[^A-Za-z0-9._-]", "_", life.client)[:40] or "member"
        taken[plain] = taken.get(plain, 0) + 1
        names.append(plain if taken[plain] == 1 else f"{plain}_{taken[plain]}")
    return (
        names
        if len(set(names)) == len(names)
        else [f"member{number}" for number in range(1, len(lives) + 1)]
    )


def _guesses(lives: list[Life]) -> list[str]:
    said = []
    sessions = sorted(
        {
            life.session_ms
            for life in lives
            if life.protocol == "classic" and life.session_ms is not None
        }
    )
    if sessions:
        beats = ", ".join(
            f"{duration(_heartbeat_ms(each))} with a session timeout of {duration(each)}"
            for each in sessions[:3]
        )
        said.append(
            f"sessions: heartbeats that succeed are not in a log, so heartbeat.interval.ms is {beats}"
        )
    silent = [life for life in lives if not life.told]
    if silent:
        names = ", ".join(printable(life.client) for life in silent[:5]) + (
            " and others" if len(silent) > 5 else ""
        )
        said.append(
            f"sessions: processes of {names} start with their first JoinGroup or heartbeat; the log does not know when they did"
        )
    died = [life for life in silent if life.ended_ms is not None and life.how == "crash"]
    if died:
        said.append(
            f"sessions: {len(died)} that fell silent are killed a session timeout before they were removed, the first at "
            f"{instant(min(life.ended_ms or 0 for life in died))}"
        )
    return said
