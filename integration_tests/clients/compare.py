"""What of a story is stable on a real broker, and where a transcript parts from it.

Of each member three things are looked at, from the strictest down; the first that was the same in all runs of the real broker
is what the emulator must show too:

- `steps`: calls of the listener and results of calls, in the order in which they happened;
- `apart`: the calls of the listener in their order, and the results of calls in theirs;
- `results`: the results of calls.

And the values consumed from each partition, where they were the same. Knows transcripts only.
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


VIEWS: Final[dict[str, Callable[[list[str]], Any]]] = {"steps": lambda steps: steps, "apart": _apart, "results": _results}
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


def differences(expected: dict[str, Expected], transcript: Transcript) -> list[str]:
    """Where a transcript parts from what is expected, a line each; nothing when it does not."""
    found = []
    if "stuck" in transcript:
        found.append(f"it was stuck: {transcript['stuck']}")
    for name, wanted in expected.items():
        member = transcript.get(name, {"steps": ["(is not there)"], "records": {}})
        if wanted.view != UNSTABLE:
            got = VIEWS[wanted.view](member["steps"])
            if got != wanted.seen:
                found.append(f"{name}: {_first(wanted.seen, got)}")
        if wanted.records is not None and member["records"] != wanted.records:
            found.append(f"{name} consumed {member['records']}, Kafka's {wanted.records}")
    found += [f"{name}: is not in Kafka's" for name in transcript if name != "stuck" and name not in expected]
    return found


def _first(wanted: list[Any], got: list[Any]) -> str:
    """The first place where two lists of steps part, and all of both."""
    flat_wanted, flat_got = _flat(wanted), _flat(got)
    for i, (one, other) in enumerate(zip(flat_wanted, flat_got, strict=False)):
        if one != other:
            return f"step {i + 1} is {other!r}, Kafka's {one!r}; all: {got}; Kafka's: {wanted}"
    return f"{len(flat_got)} steps, Kafka's {len(flat_wanted)}; all: {got}; Kafka's: {wanted}"


def _flat(steps: list[Any]) -> list[str]:
    return [step for entry in steps for step in (entry if isinstance(entry, list) else [entry])]
