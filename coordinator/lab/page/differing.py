"""Sentences about the differences between a run and a changed run, and about the reason if nothing
changed.

Both runs are given as pictures (see `picture`); nothing else is read. Only differences of a
group's members and owners count; messages and sessions without consequences do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from coordinator.events.faults import FaultSkipped
from coordinator.history.explain.formatting import duration, instant, printable

Plain = dict[str, Any]
_MOST_LANES: Final = 3
_NO_MATTER: Final = {
    "commit": "a commit changes only offsets: step to it to see its answer",
    "move_coordinator": "the new coordinator loads the group as it was stored",
    "reassign": "the group does not depend on which brokers have a partition's replicas",
    "add_partitions": "the members do not refresh the topic's metadata before the run ends",
}
_SEEN: Final = ("states", "numbers")


Window = tuple[int, int]


def compared(
    before: Plain, after: Plain, actions: Sequence[Plain] = (), window_ms: Window | None = None
) -> list[str]:
    """Return sentences about the differences, the most important first; if several groups
    differ, about the one that differs first. `actions`: the actions, for the reason why nothing
    differs. `window_ms`: where losses are counted, as above the two pictures; by default the
    whole run."""
    now = {group["group"]: group for group in after["groups"]}
    pairs = [(each, now[each["group"]]) for each in before["groups"] if each["group"] in now]
    differing = [(at, pair) for pair in pairs if (at := _first(*pair)) is not None]
    if not differing:
        return [f"Members and owners are as before, because {_why(before, after, actions)}."]
    first, (one, other) = min(differing, key=lambda found: found[0])
    whose = f" of group {printable(other['name'])}" if len(pairs) > 1 else ""
    said = [f"Both runs{whose} are the same until {instant(first)}."]
    window = window_ms or (0, max(before["end_ms"], after["end_ms"]))
    more = lost_ms(other, window) - lost_ms(one, window)
    if other["protocol"] == "share":
        said.append(_delivered(_again(other, window) - _again(one, window)))
    elif more:
        sums = f"{abs(more) / 1000:g} partition-second{'s' * (abs(more) != 1000)}"
        said.append(f"{sums} {'more' if more > 0 else 'fewer'} are lost.")
    else:
        said.append("As many partition-seconds are lost.")
    last = [group["numbers"][-1][2] if group["numbers"] else 0 for group in (one, other)]
    if last[0] != last[1]:
        word = "generation" if other["protocol"] == "classic" else "group epoch"
        said.append(f"The run ends in {word} {last[1]} instead of {last[0]}.")
    stops = {
        name: _stopped(other, name, window) - _stopped(one, name, window)
        for name in _names(one, other)
    }
    longest = sorted(
        (name for name, by in stops.items() if by), key=lambda name: -abs(stops[name])
    )[:_MOST_LANES]
    said += [
        f"Rebalances stop {printable(name)} for {duration(abs(stops[name]))} {'more' if stops[name] > 0 else 'less'}."
        for name in longest
    ]
    return said


def lost_ms(group: Plain, window_ms: Window) -> int:
    """Return the partition-milliseconds that a group lost in a window, as shown above its
    picture."""
    low, high = window_ms
    return sum(
        min(end, high) - max(begin, low)
        for row in group["raster"]
        for begin, end, owners, still in row["spans"]
        if (still or not owners) and begin < high and end > low
    )


def _again(group: Plain, window_ms: Window) -> int:
    """Return the number of records that a share group got again within a window."""
    low, high = window_ms
    return sum(
        last - first + 1
        for queue in group["queues"]
        for begin, _, first, last, state, _, count in queue["stays"]
        if state == "Acquired" and count > 1 and low <= begin <= high
    )


def _delivered(more: int) -> str:
    if not more:
        return "As many records are delivered again."
    records = f"{abs(more)} record{'s are' if abs(more) != 1 else ' is'}"
    return f"{records} delivered again {'more' if more > 0 else 'less'} often."


def _names(*groups: Plain) -> list[str]:
    return list(dict.fromkeys(lane["name"] for group in groups for lane in group["lanes"]))


def _lane(group: Plain, name: str) -> Plain | None:
    return next((lane for lane in group["lanes"] if lane["name"] == name), None)


def _activity(group: Plain, name: str) -> Sequence[Any]:
    lane = _lane(group, name)
    return lane["activity"] if lane is not None else ()


def _stopped(group: Plain, name: str, window_ms: Window) -> int:
    low, high = window_ms
    return sum(
        max(0, min(end, high) - max(begin, low))
        for begin, end, does in _activity(group, name)
        if does == "stopped"
    )


def _first(one: Plain, other: Plain) -> int | None:
    rows: list[tuple[Sequence[Any], Sequence[Any]]] = [(one[name], other[name]) for name in _SEEN]
    rows += [(_activity(one, name), _activity(other, name)) for name in _names(one, other)]
    owners = [
        {
            (row["topic"], row["partition"]): [
                (begin, end, [group["lanes"][each]["name"] for each in owned], still)
                for begin, end, owned, still in row["spans"]
            ]
            for row in group["raster"]
        }
        for group in (one, other)
    ]
    rows += [(owners[0].get(key, ()), owners[1].get(key, ())) for key in owners[0] | owners[1]]
    queues = [
        {
            (each["topic"], each["partition"]): _by_time(group, each)
            for each in group.get("queues", ())
        }
        for group in (one, other)
    ]
    rows += [(queues[0].get(key, ()), queues[1].get(key, ())) for key in queues[0] | queues[1]]
    found = [at for pair in rows if (at := _parted(*pair)) is not None]
    return min(found, default=None)


def _by_time(group: Plain, queue: Plain) -> Sequence[Sequence[Any]]:
    """Return the states of a share partition's records, in the order in which they began."""
    return sorted(
        (
            begin,
            end,
            first,
            last,
            state,
            "" if lane is None else group["lanes"][lane]["name"],
            count,
        )
        for begin, end, first, last, state, lane, count in queue["stays"]
    )


def _parted(one: Sequence[Any], other: Sequence[Any]) -> int | None:
    """Return the first instant at which two lists of spans differ, or None."""
    for mine, theirs in zip(one, other, strict=False):
        if mine[0] != theirs[0] or tuple(mine[2:]) != tuple(theirs[2:]):
            return int(min(mine[0], theirs[0]))
        if mine[1] != theirs[1]:
            return int(min(mine[1], theirs[1]))
    if len(one) == len(other):
        return None
    longer = max(one, other, key=len)
    begin: int = longer[min(len(one), len(other))][0]
    return begin


def _why(before: Plain, after: Plain, actions: Sequence[Plain]) -> str:
    """Return why the last action changed nothing."""
    if not actions:
        return "the changed run has no additional action"
    action = actions[-1]
    at_ms, name = action["at_ms"], action.get("member")
    skipped = next(
        (
            dict(step["fields"]).get("why")
            for step in after["steps"]
            if step["type"] == FaultSkipped.__name__ and step["at_ms"] == at_ms
        ),
        None,
    )
    if skipped:
        return str(skipped)
    lanes = [_lane(group, name) for group in before["groups"]] if name is not None else []
    lane = next(filter(None, lanes), None)
    if name is not None and lane is None:
        return f"{printable(name)} never joins in this run"
    if lane is not None:
        spans = [(begin, end, does) for begin, end, does in lane["activity"]]
        doing = next((span for span in spans if span[0] <= at_ms < span[1]), None)
        if doing is None:
            ended = [end for _, end, _ in spans if end <= at_ms]
            return (
                f"{printable(name)} ended at {instant(max(ended))}"
                if ended
                else f"{printable(name)} starts at {instant(spans[0][0])} only"
                if spans
                else f"{printable(name)} never runs"
            )
        if doing[2] == "frozen":
            return f"{printable(name)} stands still already, until {instant(doing[1])}"
    if action["kind"] in ("lose_answer", "slow_assignor"):
        return f"{printable(str(name))} sends no such request after {instant(at_ms)}"
    return _NO_MATTER.get(
        action["kind"],
        f"what was done at {instant(at_ms)} ended before a member or broker noticed it",
    )
