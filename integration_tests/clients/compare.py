"""What of a story is stable on a real broker, and where a transcript parts from it.

Of each member three things are looked at, from the strictest down; the first that was the same in all runs of the real broker
is what the emulator must show too:

- `steps`: calls of the listener and results of calls, in the order in which they happened;
- `apart`: the calls of the listener in their order, and the results of calls in theirs;
- `merged`: the same, but calls in a row of one kind count as one, calls with no partitions as none, and partitions that are
  given up and come back with the next call as kept;
- `results`: the results of calls.

And the values consumed from each partition, where they were the same.

Some clients race with each other or with themselves, on any broker. How many rounds a *cooperative* rebalance takes depends on
who hears of its assignment first: a member that hears of it only after another has asked for the next round gets no call for
the first, and its partitions in other portions. And a follower of kafka-python may join a second time at once, which brings it
the same generation and the same partitions. So where the steps of such members were stable on the real broker, by chance of
its slower answers, equal `merged` steps still agree; that is counted as `raced`. Knows transcripts only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from integration_tests.clients.stage import Transcript

_CALLS: Final = ("assigned ", "revoked ", "lost ")
UNSTABLE: Final = "not stable"


def _apart(steps: list[str]) -> list[list[str]]:
    return [[s for s in steps if s.startswith(_CALLS)], [s for s in steps if not s.startswith(_CALLS)]]


def _results(steps: list[str]) -> list[str]:
    return _apart(steps)[1]


def _merged(steps: list[str]) -> list[list[str]]:
    calls, results = _apart(steps)
    merged: list[tuple[str, set[str]]] = []
    for call in calls:
        kind, *partitions = call.split()
        if partitions == ["-"]:
            continue
        if merged and merged[-1][0] == kind:
            merged[-1][1].update(partitions)
        elif [(kind, set(partitions)), ("revoked", set(partitions))] == merged[-2:]:
            merged.pop()
        else:
            merged.append((kind, set(partitions)))
    return [[" ".join([kind, *sorted(partitions)]) for kind, partitions in merged], results]


VIEWS: Final[dict[str, Callable[[list[str]], Any]]] = {
    "steps": lambda steps: steps, "apart": _apart, "merged": _merged, "results": _results,
}  # fmt: skip
"""What is looked at, the strictest first."""


class Expected(NamedTuple):
    """What a member must show: a view of its steps by name, or UNSTABLE; and its records, or None where they were not stable."""

    view: str
    seen: Any
    records: dict[str, str] | None

    @property
    def calls_stable(self) -> bool:
        """Were the listener's calls the same in every run?"""
        return self.view in ("steps", "apart")


def stable(runs: Sequence[Transcript]) -> dict[str, Expected]:
    """What was the same in all runs, by member. A run that was stuck says `stuck` as every run must."""
    names = sorted(set().union(*runs) - {"stuck"})
    return {name: _stable([run.get(name, {"steps": [], "records": {}}) for run in runs]) for name in names}


def _stable(runs: list[Any]) -> Expected:
    records = runs[0]["records"] if all(run["records"] == runs[0]["records"] for run in runs) else None
    for view, of in VIEWS.items():
        seen = of(runs[0]["steps"])
        if all(of(run["steps"]) == seen for run in runs):
            return Expected(view, seen, records)
    return Expected(UNSTABLE, None, records)


class Finding(NamedTuple):
    """Where a transcript parts from what is expected, a line each; and whether it agrees only but for a race of clients."""

    differences: list[str]
    raced: bool = False


def find(expected: dict[str, Expected], transcript: Transcript, *, may_race: bool) -> Finding:
    """Compare a transcript with what is expected; `may_race`: it is of clients that do."""
    found = [f"stuck: {transcript['stuck']}"] if "stuck" in transcript else []
    raced = False
    for name, wanted in expected.items():
        member = transcript.get(name, {"steps": ["(is not there)"], "records": {}})
        if wanted.view != UNSTABLE:
            got = VIEWS[wanted.view](member["steps"])
            if got != wanted.seen:
                if may_race and _merged(member["steps"]) == _merged_expected(wanted):
                    raced = True
                else:
                    found.append(f"{name}: {_first(wanted.seen, got)}")
        if wanted.records is not None and member["records"] != wanted.records:
            found.append(f"{name} consumed {member['records']}, Kafka's {wanted.records}")
    found += [f"{name}: is not in Kafka's" for name in transcript if name != "stuck" and name not in expected]
    return Finding(found, raced and not found)


def _merged_expected(wanted: Expected) -> list[list[str]] | None:
    if not wanted.calls_stable:
        return None
    return _merged(wanted.seen if wanted.view == "steps" else _flat(wanted.seen))


def _first(wanted: list[Any], got: list[Any]) -> str:
    """The first place where two lists of steps part, and all of both."""
    flat_wanted, flat_got = _flat(wanted), _flat(got)
    for i, (one, other) in enumerate(zip(flat_wanted, flat_got, strict=False)):
        if one != other:
            return f"step {i + 1} is {other!r}, Kafka's {one!r}; all: {got}; Kafka's: {wanted}"
    return f"{len(flat_got)} steps, Kafka's {len(flat_wanted)}; all: {got}; Kafka's: {wanted}"


def _flat(steps: list[Any]) -> list[str]:
    return [step for entry in steps for step in (entry if isinstance(entry, list) else [entry])]
