"""What every run of a story on a real broker shows, and where another transcript differs from it.

Of each member the normal form is compared (`normal`): its steps in their order, or, where a story
does not order calls of the listener and results of calls, each of the two in its own order. Which
of the two views holds is found when a story is recorded: the strictest that was the same in all
runs. A story with neither is not determined, and cannot be recorded.

The record also keeps the steps as they happened, once for each way that was seen. A transcript with
the normal form of the record but with steps that were never seen agrees; that is told as `rounds`,
since a broker whose rebalances all took other rounds than Kafka's would show itself there. Depends
on transcripts only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from typing import Any, Final, NamedTuple

from integration_tests.clients.normal import Normal, normal, seen
from integration_tests.clients.stage import Transcript

VIEWS: Final[dict[str, Callable[[Normal], Any]]] = {
    "steps": lambda form: form.steps,
    "apart": lambda form: form.apart,
}
"""What is compared of the normal form, the strictest first."""

STUCK: Final = "stuck"


class Expected(NamedTuple):
    """What a member must show: a view of its normal form by name, the values it consumes, and its
    steps as they were seen."""

    view: str
    normal: list[Any]
    records: dict[str, str]
    ways: list[list[str]]


class Undetermined(Exception):
    """Runs of one story differ in more than their rounds; the text says where."""


def stable(runs: Sequence[Transcript]) -> dict[str, Expected]:
    """What all runs show, by member. Raises Undetermined."""
    names = sorted(set().union(*runs))
    missing = [name for name in names if not all(name in run for run in runs)]
    if missing or STUCK in names:
        raise Undetermined(f"{', '.join(missing or names)}: not in every run")
    return {name: _stable(name, [run[name] for run in runs]) for name in names}


def _stable(name: str, runs: list[list[str]]) -> Expected:
    forms = [normal(run) for run in runs]
    for form in forms:
        if form.records != forms[0].records:
            raise Undetermined(f"{name} consumed {form.records} and {forms[0].records}")
    ways = sorted({tuple(seen(run)) for run in runs})
    for view, of in VIEWS.items():
        if all(of(form) == of(forms[0]) for form in forms):
            return Expected(view, of(forms[0]), forms[0].records, [list(way) for way in ways])
    raise Undetermined("; ".join([f"{name} saw", *sorted({str(form.steps) for form in forms})]))


class Finding(NamedTuple):
    """Where a transcript differs from what is expected, a line each; and whether it agrees, but in
    rounds that were never seen."""

    differences: list[str]
    rounds: bool = False


def find(expected: dict[str, Expected], transcript: Transcript) -> Finding:
    """Compare a transcript with what is expected."""
    found = [f"stuck: {transcript[STUCK]}"] if STUCK in transcript else []
    for name, wanted in expected.items():
        found += (
            _differences(name, wanted, normal(transcript[name]))
            if name in transcript
            else [f"{name}: is not there"]
        )
    found += [
        f"{name}: is not in Kafka's"
        for name in transcript
        if name != STUCK and name not in expected
    ]
    other = not found and any(
        seen(transcript[name]) not in wanted.ways for name, wanted in expected.items()
    )
    return Finding(found, other)


def _differences(name: str, wanted: Expected, got: Normal) -> Iterator[str]:
    steps = VIEWS[wanted.view](got)
    if steps != wanted.normal:
        yield f"{name}: {_first(wanted.normal, steps)}"
    if got.records != wanted.records:
        yield f"{name} consumed {got.records}, Kafka's {wanted.records}"


def _first(wanted: list[Any], got: list[Any]) -> str:
    """The first place where two lists of steps differ, and all of both."""
    for number, (one, other) in enumerate(
        zip_longest(_flat(wanted), _flat(got), fillvalue="nothing"), 1
    ):
        if one != other:
            return f"step {number} is {other!r}, Kafka's {one!r}; all: {got}; Kafka's: {wanted}"
    return f"calls and results are {got}, Kafka's {wanted}"


def _flat(steps: list[Any]) -> list[str]:
    return [step for entry in steps for step in (entry if isinstance(entry, list) else [entry])]
