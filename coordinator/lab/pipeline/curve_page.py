"""The page of the curve in Markdown (`docs/curve/README.md`): tables of the simulations' results
beside live measurements, and the assumptions. It must not know how the figures were computed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from .curve import EVENTS, MEASURED, CurvePoint, Measured, plot_name
from .curve_live import LIVE_MEASURES, LiveRun

_Points = Mapping[tuple[str, int, str, str], CurvePoint]
"""By protocol, members, event and measure."""


def curve_page(points: Sequence[CurvePoint], command: str, live: Sequence[LiveRun] = ()) -> str:
    """Return the report in Markdown; the plots stand beside it, `EVENT-MEASURE.svg`. `live`:
    live measurements."""
    sizes = sorted({point.members for point in points})
    protocols = list(dict.fromkeys(point.protocol for point in points))
    by_key: _Points = {point[:4]: point for point in points}
    parts = [_HEAD.format(sizes=_listed(sizes), command=command, chance=_chance(points))]
    for event, meaning in EVENTS.items():
        parts.append(f"\n## {event.capitalize()}\n\n{meaning[0].upper()}{meaning[1:]}.\n")
        for measure in MEASURED:
            rows = [
                f"| {size} | "
                + " | ".join(
                    _told(by_key.get((protocol, size, event, measure.column)), measure.scale)
                    for protocol in protocols
                )
                + " |"
                for size in sizes
            ]
            head = f"| members | {' | '.join(protocols)} |\n|---|{'---|' * len(protocols)}"
            parts.append(
                f"\n**{measure.title[0].upper()}{measure.title[1:]}**\n\n{head}\n"
                + "\n".join(rows)
                + "\n"
            )
            parts.append(f"\n![{measure.title}, {event}]({plot_name(event, measure)}.svg)\n")
    parts.extend(_beside(by_key, protocols, live) if live else ())
    parts.append(_FOOT.format(measured=_MEASURED if live else _NOT_MEASURED))
    return "".join(parts)


def _beside(by_key: _Points, protocols: Sequence[str], live: Sequence[LiveRun]) -> Iterator[str]:
    """Yield the section with live measurements: one table for each measure."""
    sizes = sorted({run.members for run in live})
    yield _LIVE.format(
        sizes=_listed(sizes), brokers=" and ".join(sorted({run.broker for run in live}))
    )
    for number, column in enumerate(LIVE_MEASURES):
        measure = next(each for each in MEASURED if each.column == column)
        found: dict[tuple[str, int, str, str], list[int | None]] = {}
        for run in live:
            key = (run.protocol, run.members, run.event, column)
            found.setdefault(key, []).append(run.values[number])
        yield f"\n**{measure.title[0].upper()}{measure.title[1:]}**\n\n"
        yield f"{_compared(by_key, found)}\n\n"
        yield f"| event, members | {' | '.join(protocols)} |\n|---|{'---|' * len(protocols)}\n"
        for event in EVENTS:
            for size in sizes:
                keys = [(protocol, size, event, column) for protocol in protocols]
                cells = [
                    f"{_told(by_key.get(key), measure.scale)} / {_live(found.get(key), measure)}"
                    for key in keys
                ]
                yield f"| {event}, {size} | {' | '.join(cells)} |\n"


def _live(values: Sequence[int | None] | None, measure: Measured) -> str:
    """Return the live results of a group's runs."""
    return (
        ", ".join(
            "not settled" if value is None else f"{value * measure.scale:.4g}"
            for value in values or ()
        )
        or "–"
    )


def _compared(
    by_key: _Points, found: Mapping[tuple[str, int, str, str], Sequence[int | None]]
) -> str:
    """Return the sentence that says how many live figures lie within the simulations' range."""
    below = within = above = 0
    for key, values in found.items():
        point = by_key.get(key)
        if point is None:
            continue
        for value in values:
            if value is None or value > point.p95:
                above += 1
            elif value < point.p5:
                below += 1
            else:
                within += 1
    return (
        f"Of {below + within + above} live figures {within} lie between the simulations' 5 % and 95 %, "
        f"{below} below and {above} above."
    )


def _listed(sizes: Sequence[int]) -> str:
    *others, last = [f"{size:,}" for size in sizes]
    return f"{', '.join(others)} and {last}" if others else last


def _chance(points: Sequence[CurvePoint]) -> str:
    """Return a sentence for each number of seeds: how certain the medians of so many simulations
    are."""
    sizes: dict[tuple[int, float], set[int]] = {}
    for point in points:
        sizes.setdefault((point.median.size, point.median.coverage), set()).add(point.members)
    told = [
        f"With {_listed(sorted(members))} members there are {seeds} seeds: the interval from `low` to `high`, by ranks, holds the true "
        f"median with a probability of {coverage:.1%}."
        if seeds > 1
        else f"With {_listed(sorted(members))} members it is one simulation of each protocol, and nothing can be told of chance."
        for (seeds, coverage), members in sorted(sizes.items(), key=lambda pair: min(pair[1]))
    ]
    return "\n".join(told)


def _told(found: CurvePoint | None, scale: float) -> str:
    if found is None:
        return "–"
    median = f"{found.median.value * scale:.4g}"
    if found.median.size == 1:
        return median
    return f"{median} ({found.p5 * scale:.4g} to {found.p95 * scale:.4g})"


_HEAD = """\
# What a rebalance costs, against the size of the group

Simulated, not measured: groups of {sizes} members
on this project's coordinator and members, which speak Kafka's protocol over simulated links in virtual time. Each
figure is the median over some seeds and, in brackets, where 5 % and 95 % of the simulations lie: how much chance matters, not how far the
simulation is from a real cluster. With fewer than 20 seeds these are nearly the smallest and the largest.
{chance}

`{command}` computes this page anew and goes on where it was interrupted.
[runs.csv](runs.csv) has what each simulation contributes, by its seed, and [curve.csv](curve.csv) the same columns, in the same units
(milliseconds, partition milliseconds, partitions, bytes), for each `statistic`: `median`, `low` and `high` of its interval, `p5` and
`p95`. Each simulation is repeated by `coordinator simulate docs/curve/scenario.toml --seed SEED` with the settings of its row (`--set`
before each). With `KNOWN=docs/curve/runs.csv` the command takes the figures that are there (of this version and this scenario), and
simulates the others.

## What was assumed

- **Instants are drawn.** Each event falls at an instant that the seed draws from 15 s, whole heartbeat intervals of both protocols (3 s
  and 5 s), and what it costs is counted from that instant. A member learns of a rebalance by its next heartbeat: an event just before the
  heartbeats would cost next to nothing, one just after them a whole interval.
- **Phases are drawn.** Members start over nine seconds, three heartbeat intervals. After a rebalance all members are in step, since
  SyncGroup is answered to all at once. So that they do not stay so, each sends its heartbeats 0 to 100 ms later than they are due, always
  as much (drawn for each member): Java's heartbeat thread looks every `retry.backoff.ms` (100 ms) whether one is due. After two quiet
  minutes members of the classic protocol are out of step by up to four seconds, more than an interval.
- **Members that stop do so one after the other**: in a deployment each goes within 3 s of its step. Members that stop at the same
  millisecond would make one rebalance of what are several.
- Applications poll all the time, and do nothing else: what a busy application adds before it joins again is missing here.
- Links take 1 to 5 ms one way, drawn for each message. Brokers and members take no time to compute: what a real broker and a real
  assignor add for thousands of members is missing here.
- One broker, ten topics, two partitions for each member, `group.initial.rebalance.delay.ms=3000`, and Kafka's defaults for consumers:
  sessions of 45 s, heartbeats every 3 s, `max.poll.interval.ms` of 5 min.
- Above 2,000 members `message.max.bytes` is 10 MiB. A classic group is one record of `__consumer_offsets`, with the subscription and the
  assignment of each member, and Kafka's 1 MiB does not hold every such group: with 5,000 members and `sticky`, or 10,000 and any assignor,
  the leader's SyncGroup is answered UNKNOWN_SERVER_ERROR at the first rebalance that shows owned partitions, if not before, and the
  members end. (Leave the setting out of a row's settings to see it.) A KIP-848 group has records of its own for each member, but a target
  assignment of thousands of members at once is more than 1 MiB, too, which a real coordinator refuses and this one does not.
- The `range` assignor shares out each topic by itself. In topics with a fifth as many partitions as there are members, only the first
  fifth of the members has any; what a departure or a crash costs then depends on who goes.
- Nobody commits or fetches. Traffic is what members and brokers send each other beyond the rate of the 30 s before the event (for the
  first join: all of it), sizes and headers of TCP not included. The time of the crash also has each member's refresh of its metadata
  (`metadata.max.age.ms`), five minutes after it started.
- A partition is unavailable when no member's application has it by its own word, from its first owner on; so a killed member's partitions
  are unavailable until another member has them.
- Members use the classic protocol, except those of "KIP-848", whose coordinator assigns by `uniform`. A group of theirs has no join phase
  and no generation: it counts as Stable when every member has reached the last group epoch, with nothing left to revoke or to wait for,
  and a partition has moved when its target is another member than before. The initial rebalance delay is not for them: members that join
  one after the other are assigned one after the other, every `group.consumer.assignment.interval.ms` (1 s) at most. The coordinator
  sets their heartbeats (5 s) and sessions (45 s), so their quiet traffic is less than that of classic members, too.
"""
_LIVE = """
## Beside a real broker

Groups of {sizes} members went through the same events live: this project's members on {brokers}, on the
machine on which they ran, with Kafka's defaults and an initial rebalance delay of 3 s. Instants, phases and how late heartbeats are were
drawn as above, for each group. Each cell has the simulations' median with 5 % and 95 % and, after the stroke, what each live run showed.
`python -m benchmarks.curve_live` measures them anew ([live.csv](live.csv)). The five groups of a size lived at the same time, their members
in one process, on two cores that had much other work: what is above the simulations is in part waiting for a processor.

The live members are asked whether they are settled; the simulation looks at the coordinator. In a group of KIP-848 that is when each has
told the same epoch, which may be a heartbeat or two later, or after the end of a run. A partition has moved live when another application
has it; a target that changes before anybody has acted on it is no move. With `range` the order of the member ids decides who has partitions
at all, and so what the leave of one costs. While many members of a KIP-848 group join, live ones move fewer partitions than
simulated ones. That is not the coordinator's: fifty live members moved 115 and 115 on the emulator, and 99 and 65 on Kafka 4.4.0.
Why is not known.
"""
_MEASURED = "Beyond the section above nothing here was measured on a real cluster."
_NOT_MEASURED = "Nothing here was measured on a real cluster."
_FOOT = """
## What this does not say

{measured} Absolute times at large sizes are lower bounds, because computing takes no time. Larger groups
than those of the tables were not computed for this page. A simulation of 10,000 members takes one to two minutes of one core.
"""
