"""Queries of a run's picture, written in TOML: what was lost, who owned which partitions, and what a
member did.

They have the numbers and letters that a reader sees. `queries.py` has the queries of lines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from coordinator.history.explain.formatting import duration, listed

from .places import nearest
from .query_parts import At, Plain, Value, fact_of, instant_of, moment_of, text_of
from .runs import Run, s, summed

Moment = str | int
END: Final = "end"
"""Names the last millisecond of the window, in place of a fact."""

LOST: Final = ("lost", ("lost", "of", "as", "minus"))
OWNER: Final = ("owner", ("owner", "at"))
OWNED: Final = ("owned_by", ("owned_by", "at", "as"))
KEPT: Final = ("kept", ("kept",))
ACTIVITY: Final = ("activity", ("activity", "member", "nth", "take", "count"))
"""Each kind of query: the key that names it, and all of its keys."""
_PARTS: Final[Mapping[str, bool | None]] = {"all": None, "unowned": False, "owned": True}
_DOES: Final = ("consuming", "stopped", "idle", "stalled", "frozen", "gone", "silent")
_TAKES: Final = ("begin", "end", "length")


class Answer(Protocol):
    """Answers a query that was read. `base`: the lesson's run, beside that of a try."""

    def __call__(self, run: Run, facts: Mapping[str, Value], at: At, base: Run | None) -> Value: ...


@dataclass(frozen=True, slots=True)
class Drawn:
    """A query of the picture, ready to be answered."""

    answer: Answer


def read_drawn(given: Plain, at: At, known: Sequence[str]) -> Drawn:
    """Return the query of a table. Raises LessonError."""
    return Drawn(next(_READ[kind] for kind in _READ if kind in given)(given, at, known))


def _read_lost(given: Plain, at: At, known: Sequence[str]) -> Answer:
    part = _one_of(given, "lost", _PARTS, "the parts of what is lost", at)
    of = _one_of(given, "of", ("lesson",), "the runs to look at", at)
    shown = _one_of(given, "as", ("number",), "the ways to show what is lost", at)
    minus = fact_of(given["minus"], "minus", at, known) if "minus" in given else None

    def answer(run: Run, facts: Mapping[str, Value], at: At, base: Run | None) -> Value:
        looked_at = run
        if of is not None:
            if base is None:
                raise at.error("a lesson has one run: `of` is for tries", "of")
            looked_at = base.within(run.window_ms)
        lost_ms = looked_at.lost_ms(still=_PARTS[part or "all"])
        if minus is not None:
            lost_ms -= int(facts[minus].raw)
        return Value(lost_ms, f"{lost_ms / 1000:g}" if shown else summed(lost_ms))

    return answer


def _read_owner(given: Plain, at: At, known: Sequence[str]) -> Answer:
    name, moment = text_of(given, "owner", at), _moment(given.get("at"), "at", at, known)
    topic, _, number = (name or "").rpartition("-")
    if not topic or not number.isdecimal():
        raise at.error(f"{name!r}: give a partition, such as orders-0", "owner")

    def answer(run: Run, facts: Mapping[str, Value], at: At, base: Run | None) -> Value:
        there = [f"{row['topic']}-{row['partition']}" for row in run.group["raster"]]
        if name not in there:
            right = nearest(str(name), there, "the partitions of this run")
            raise at.error(f"{name!r} is no partition here: {right}", "owner")
        at_ms = _instant(moment, run, facts, at)
        owner = next((who for who in _members(run) if name in run.held(who, at_ms)), None)
        if owner is None:
            raise at.error(f"nobody owns {name} at {s(at_ms)}", "at")
        return Value(owner, owner)

    return answer


def _read_owned(given: Plain, at: At, known: Sequence[str]) -> Answer:
    member, when = text_of(given, "owned_by", at), given.get("at")
    moments = [
        _moment(each, "at", at, known) for each in (when if isinstance(when, list) else [when])
    ]
    shown = _one_of(given, "as", ("number",), "the ways to show partitions", at)

    def answer(run: Run, facts: Mapping[str, Value], at: At, base: Run | None) -> Value:
        _check_member(member, run, at, "owned_by")
        first, *more = (run.held(str(member), _instant(each, run, facts, at)) for each in moments)
        held = [each for each in first if all(each in other for other in more)]
        return Value(len(held), len(held)) if shown else Value(held, listed(held))

    return answer


def _read_kept(given: Plain, at: At, known: Sequence[str]) -> Answer:
    two = given["kept"]
    if not isinstance(two, list) or len(two) != 2:
        raise at.error(f'{two!r}: give two instants, such as ["joined", "end"]', "kept")
    moments = [_moment(each, "kept", at, known) for each in two]

    def answer(run: Run, facts: Mapping[str, Value], at: At, base: Run | None) -> Value:
        before_ms, after_ms = (_instant(each, run, facts, at) for each in moments)
        kept = run.kept(before_ms, after_ms)
        return Value(kept, kept)

    return answer


def _read_activity(given: Plain, at: At, known: Sequence[str]) -> Answer:
    does = _one_of(given, "activity", _DOES, "what a member does", at)
    take = _one_of(given, "take", _TAKES, "what is taken of it", at) or "begin"
    member, nth, counts = text_of(given, "member", at), given.get("nth", 1), given.get("count")
    if member is None:
        raise at.error("name the member whose activity is meant, with `member`")
    if type(nth) is not int or nth < 1:
        raise at.error(f"{nth!r}: give a number from 1 on", "nth")
    if counts is not None and (counts is not True or {"nth", "take"} & given.keys()):
        raise at.error("give count = true, without `nth` and `take`", "count")

    def answer(run: Run, facts: Mapping[str, Value], at: At, base: Run | None) -> Value:
        _check_member(member, run, at, "member")
        spans = run.activity(str(member), str(does))
        if counts:
            return Value(len(spans), len(spans))
        if len(spans) < nth:
            raise at.error(f"{member} is {does} {len(spans)} times in this run, not {nth}", "nth")
        begin, end = spans[nth - 1]
        if take == "length":
            return Value(end - begin, duration(end - begin))
        at_ms = begin if take == "begin" else end
        return Value(at_ms, s(at_ms), True)

    return answer


_READ: Final[Mapping[str, Callable[[Plain, At, Sequence[str]], Answer]]] = {
    "lost": _read_lost,
    "owner": _read_owner,
    "owned_by": _read_owned,
    "kept": _read_kept,
    "activity": _read_activity,
}


def _one_of(
    given: Plain, key: str, known: Sequence[str] | Mapping[str, Any], what: str, at: At
) -> str | None:
    value = text_of(given, key, at)
    if value is not None and value not in known:
        raise at.error(f"{value!r} is none of {what}: {nearest(value, known, what)}", key)
    return value


def _moment(value: object, key: str, at: At, known: Sequence[str]) -> Moment:
    if value == END:
        return END
    moment = moment_of({key: value}, key, at, known)
    if moment is None:
        raise at.error(f'say when: a fact, an instant in ms, or "{END}" (of the window)', key)
    return moment


def _instant(moment: Moment, run: Run, facts: Mapping[str, Value], at: At) -> int:
    if moment == END:
        return run.window_ms[1] - 1
    return moment if isinstance(moment, int) else instant_of(facts[moment], moment, at)


def _members(run: Run) -> list[str]:
    return [lane["name"] for lane in run.group["lanes"]]


def _check_member(member: str | None, run: Run, at: At, key: str) -> None:
    if member not in _members(run):
        right = nearest(str(member), _members(run), "the members of this run")
        raise at.error(f"{member!r} is no member of this run: {right}", key)
