"""The normal form of what a member saw: equal for two runs of a story that differ only in what
Kafka leaves open.

A transcript gives each member its *steps*: calls of its rebalance listener, results of its own
calls, and the values it consumed, in the order in which they happened. Kafka determines which
partitions a member owns once a group has settled, what a call results in and which records are
delivered. It leaves open how many rounds a rebalance takes: members that notice a change at
different moments (grown topics, a second JoinGroup of kafka-python, the rounds of a cooperative
rebalance) may meet in one round or in two, on any broker. So the normal form

- leaves out calls with no partitions;
- counts calls in a row of one kind as one call with all their partitions;
- leaves out a round that changes nothing for its member: partitions given up that come back with
  the next call, with no more than a look at the consumer in between. Values that are delivered once
  more after such a round, because nothing was committed, count once;
- puts a look at the subscription before partitions given up just before it: that changes no
  subscription, and kafka-python may begin such a round of its own at any moment after a rebalance.

Nothing else is left out: lost partitions, a call too few, another owner, another result, a record
too many each show. Depends on steps only.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

CALLS: Final = ("assigned", "revoked", "lost")
CONSUMED: Final = "consumed"
LOOKS: Final = ("assignment: ", "committed ", "paused: ", "position ", "subscription: ")
"""Beginnings of the results of calls that change nothing."""
SUBSCRIPTION: Final = "subscription: "
IN_REVOKED: Final = "committed in revoked: "


class Normal(NamedTuple):
    """The steps without chance in them, and the values consumed from each partition."""

    steps: list[str]
    records: dict[str, str]

    @property
    def apart(self) -> list[list[str]]:
        """The calls in their order and the results in theirs, for stories that do not order the
        two."""
        calls = [step for step in self.steps if _is_call(step)]
        return [calls, [step for step in self.steps if not _is_call(step)]]


def consumed(partition: str, value: str) -> str:
    """The step that says that a value was consumed from a partition."""
    return f"{CONSUMED} {partition} {value}"


def seen(steps: Iterable[str]) -> list[str]:
    """Calls and results as they happened, without the values consumed."""
    return [step for step in steps if not step.startswith(f"{CONSUMED} ")]


def normal(steps: Iterable[str]) -> Normal:
    """The normal form of one member's steps."""
    reading = _Reading()
    for step in steps:
        kind, _, rest = step.partition(" ")
        if kind == CONSUMED:
            reading.consumed(*rest.split(" ", 1))
        elif _is_call(step):
            reading.called(kind, set(rest.split()) - {"-"})
        elif step.startswith(IN_REVOKED):
            reading.committed(step)
        else:
            reading.resulted(step)
    return Normal(
        [str(entry) for entry in reading.entries],
        {at: "".join(values) for at, values in sorted(reading.records.items())},
    )


def _is_call(step: str) -> bool:
    return step.split(" ", 1)[0] in CALLS


class _Call:
    """A call of the listener, and the results of commits made inside it."""

    def __init__(self, kind: str, partitions: set[str]) -> None:
        self.kind = kind
        self.partitions = partitions
        self.commits: list[str] = []

    def __str__(self) -> str:
        return " ".join(
            [self.kind, *sorted(self.partitions), *(f"({commit})" for commit in self.commits)]
        )


class _Reading:
    """The entries and records read until now."""

    def __init__(self) -> None:
        self.entries: list[_Call | str] = []
        self.records: dict[str, list[str]] = {}
        self._delivered: dict[str, list[str]] = {}
        self._delivered_before: dict[str, set[str]] = {}

    def called(self, kind: str, partitions: set[str]) -> None:
        """The listener was called."""
        if not partitions:
            return
        last = self.entries[-1] if self.entries else None
        before = self._last_but_looks()
        if (
            before is not None
            and (before.kind, kind) == ("revoked", "assigned")
            and before.partitions == partitions
        ):
            self.entries.remove(before)
            for partition in partitions:
                self._delivered_before[partition] = set(self._delivered.get(partition, ()))
            return
        if isinstance(last, _Call) and last.kind == kind:
            last.partitions |= partitions
        else:
            self.entries.append(_Call(kind, partitions))
        if kind == "assigned":
            for partition in partitions:
                self._delivered[partition] = []
                self._delivered_before.pop(partition, None)

    def resulted(self, step: str) -> None:
        """A call of the member itself was answered."""
        last = self.entries[-1] if self.entries else None
        revoked = isinstance(last, _Call) and last.kind == "revoked"
        if revoked and step.startswith(SUBSCRIPTION):
            self.entries.insert(-1, step)
        else:
            self.entries.append(step)

    def _last_but_looks(self) -> _Call | None:
        """The last call, if there is nothing but looks at the consumer after it."""
        for entry in reversed(self.entries):
            if isinstance(entry, _Call):
                return entry
            if not entry.startswith(LOOKS):
                break
        return None

    def committed(self, step: str) -> None:
        """A commit inside the listener was answered."""
        last = self.entries[-1] if self.entries else None
        if isinstance(last, _Call):
            if not last.commits:
                last.commits.append(step)
        else:
            self.entries.append(step)

    def consumed(self, partition: str, value: str) -> None:
        """A value was consumed."""
        before = self._delivered_before.get(partition, set())
        if value in before:
            before.discard(value)
            return
        self.records.setdefault(partition, []).append(value)
        self._delivered.setdefault(partition, []).append(value)
