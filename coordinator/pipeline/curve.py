"""The curve: what joins, departures, crashes and deployments cost a group, against its size, for
each way to rebalance.

Says which simulations it takes (a sweep of `docs/curve/scenario.toml`) and writes what they showed
as a page in Markdown. `spark.curve` runs it.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import Final, NamedTuple

from ..common.statistics import Estimate
from .sweeps import Sweep, Variant
from .windows import Windows

SIZES: Final = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
PROTOCOLS: Final[Mapping[str, tuple[str, ...]]] = {
    "eager range": ("assignor=range",),
    "eager sticky": ("assignor=sticky",),
    "cooperative-sticky": ("assignor=cooperative-sticky",),
    "static members, range": ("assignor=range", "static=true"),
    "KIP-848, uniform": ("protocol=consumer", "assignor=uniform"),
}
"""The ways to rebalance, and the settings of the members that use each."""
WINDOWS: Final[Windows] = (
    ("join", 0),
    ("leave", 120_000),
    ("crash", 240_000),
    ("one more", 360_000),
    ("deployment", 480_000),
)
EVENTS: Final = {
    "join": "all members join a new group within a second",
    "leave": "one member leaves (a static one is closed, which Kafka does not tell the group: its session has to expire)",
    "crash": "one member is killed; its session expires after 45 s",
    "one more": "one member joins",
    "deployment": "a tenth of the members is restarted, in five steps of 20 s, each back after 5 s",
}
TOPICS: Final = 10
_STEPS = 5
_DEFAULT_IS_ENOUGH: Final = 2000
"""Members of the largest group whose generation is stored under Kafka's message.max.bytes, whatever
the protocol."""
_LARGE_RECORDS: Final = "brokers.config.message.max.bytes=10485760"


class Measured(NamedTuple):
    """A column of table `windows` that becomes a curve."""

    column: str
    title: str
    scale: float


MEASURED: Final = (
    Measured("recovered_ms", "time until the group is Stable again, s", 1 / 1000),
    Measured("unavailable_partition_ms", "partitions unavailable, partition s", 1 / 1000),
    Measured("moved", "partitions moved", 1),
    Measured("extra_bytes", "traffic beyond heartbeats, kB", 1 / 1000),
)


LIVE_MEASURES: Final = ("recovered_ms", "unavailable_partition_ms", "moved")
"""What is measured on a real broker, too."""
LIVE_COLUMNS: Final = ("protocol", "members", "event", "measure", "value", "broker")
"""The columns of live.csv, with one row for each measure; `value` as in table `windows`, empty if
the group did not settle in time."""


class CurvePoint(NamedTuple):
    """One estimate: the median of a measure over the seeds."""

    protocol: str
    members: int
    event: str
    measure: str
    estimate: Estimate


def curve_settings(protocol: str, members: int) -> tuple[str, ...]:
    """The settings of the scenario for a size: two partitions for each member, in ten topics.
    `members` is at least 10."""
    rolling = members // 10
    rest = members - rolling
    own = [f"members.{kind}.{each}" for kind in ("app", "rolling") for each in PROTOCOLS[protocol]]
    topics = [f"topics.t{number}={ceil(2 * members / TOPICS)}" for number in range(TOPICS)]
    larger = (_LARGE_RECORDS,) if members > _DEFAULT_IS_ENOUGH else ()
    return (
        *own,
        *topics,
        *larger,
        f"members.app.count={rest}",
        f"members.rolling.count={rolling}",
        f"churn.1.to={rest - 1}",
        f"churn.2.to={rest - 2}",
        f"churn.3.to={rest - 1}",
        f"churn.4.at_once={ceil(rolling / _STEPS)}",
    )


def curve_sweep(
    text: str, sizes: Sequence[int], seeds: int, protocols: Sequence[str] = tuple(PROTOCOLS)
) -> Sweep:
    """The simulations of the curve: sizes from 10 on, seeds 1 to `seeds`. `text`: the
    scenario's."""
    variants = tuple(
        Variant(f"{protocol}: {size}", curve_settings(protocol, size))
        for size in sizes
        for protocol in protocols
    )
    return Sweep(
        "docs/curve/scenario.toml", text, variants, tuple(range(1, seeds + 1)), "windows", WINDOWS
    )


class LivePoint(NamedTuple):
    """One measure of one group that was measured live. `value`: as table `windows` has it; None: it
    did not settle in time."""

    protocol: str
    members: int
    event: str
    measure: str
    value: int | None
    broker: str


def read_live(text: str) -> list[LivePoint]:
    """The points in a live.csv. Raises ValueError for a file that is none."""
    lines = list(csv.reader(text.splitlines()))
    if (
        not lines
        or tuple(lines[0]) != LIVE_COLUMNS
        or any(len(line) != len(LIVE_COLUMNS) for line in lines)
    ):
        raise ValueError(f"not a live.csv: its columns are {','.join(LIVE_COLUMNS)}")
    return [
        LivePoint(
            line[0], int(line[1]), line[2], line[3], int(line[4]) if line[4] else None, line[5]
        )
        for line in lines[1:]
    ]


def curve_page(points: Sequence[CurvePoint], command: str, live: Sequence[LivePoint] = ()) -> str:
    """The report in Markdown; the plots stand beside it, `EVENT-MEASURE.svg`. `live`: what was
    measured beside the simulation."""
    sizes = sorted({point.members for point in points})
    protocols = list(dict.fromkeys(point.protocol for point in points))
    by_key = {
        (point.protocol, point.members, point.event, point.measure): point.estimate
        for point in points
    }
    parts = [_HEAD.format(sizes=_listed(sizes), command=command, chance=_chance(points))]
    for event, meaning in EVENTS.items():
        parts.append(f"\n## {event.capitalize()}\n\n{meaning[0].upper()}{meaning[1:]}.\n")
        for measure in MEASURED:
            rows = [
                f"| {size} | "
                + " | ".join(
                    _told(by_key.get((protocol, size, event, measure.column)))
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


def _beside(
    by_key: Mapping[tuple[str, int, str, str], Estimate],
    protocols: Sequence[str],
    live: Sequence[LivePoint],
) -> Iterator[str]:
    """The section with what was measured live: one table a measure."""
    found = {point[:4]: point.value for point in live}
    sizes = sorted({point.members for point in live})
    yield _LIVE.format(
        sizes=_listed(sizes), brokers=" and ".join(sorted({point.broker for point in live}))
    )
    for measure in (each for each in MEASURED if each.column in LIVE_MEASURES):
        yield f"\n**{measure.title[0].upper()}{measure.title[1:]}**\n\n"
        yield f"| event, members | {' | '.join(protocols)} |\n|---|{'---|' * len(protocols)}\n"
        for event in EVENTS:
            for size in sizes:
                cells = []
                for protocol in protocols:
                    key = (protocol, size, event, measure.column)
                    simulated = f"{by_key[key].value:.4g}" if key in by_key else "–"
                    value = found.get(key)
                    told = (
                        f"{value * measure.scale:.4g}"
                        if value is not None
                        else "not settled"
                        if key in found
                        else "–"
                    )
                    cells.append(f"{simulated} / {told}")
                yield f"| {event}, {size} | {' | '.join(cells)} |\n"


def plot_name(event: str, measure: Measured) -> str:
    """The name of a plot's files."""
    return f"{event.replace(' ', '-')}-{measure.column.removesuffix('_ms').replace('_', '-')}"


def _listed(sizes: Sequence[int]) -> str:
    *others, last = [f"{size:,}" for size in sizes]
    return f"{', '.join(others)} and {last}" if others else last


def _chance(points: Sequence[CurvePoint]) -> str:
    """How many seeds stand behind a figure, and how much its interval holds: one sentence for each
    number of seeds."""
    sizes: dict[tuple[int, float], set[int]] = {}
    for point in points:
        sizes.setdefault((point.estimate.size, point.estimate.coverage), set()).add(point.members)
    told = [
        f"With {_listed(sorted(members))} members there are {seeds} seeds: the interval, which goes by ranks, holds the true median with a "
        f"probability of {coverage:.1%}."
        if seeds > 1
        else f"With {_listed(sorted(members))} members it is one simulation of each protocol, and no interval can be told."
        for (seeds, coverage), members in sorted(sizes.items(), key=lambda pair: min(pair[1]))
    ]
    return "\n".join(told)


def _told(found: Estimate | None) -> str:
    if found is None:
        return "–"
    return (
        f"{found.value:.4g} [{found.low:.4g}, {found.high:.4g}]"  # the coverage stands above, once for all
        if found.size > 1
        else f"{found.value:.4g}"
    )


_HEAD = """\
# What a rebalance costs, against the size of the group

Simulated, not measured: groups of {sizes} members
on this project's coordinator and members, which speak Kafka's protocol over simulated links in virtual time. Each
figure is the median over some seeds, with an interval that says how much chance matters, not how far the simulation is from a real cluster.
{chance}

`{command}` computes this page anew and goes on where it was interrupted.
[curve.csv](curve.csv) has every figure with its settings, [runs.csv](runs.csv) what each simulation contributes, by its seed; each is
repeated by `coordinator simulate docs/curve/scenario.toml --seed SEED` with the settings of its row (`--set` before each). With
`KNOWN=docs/curve/runs.csv` the command takes the figures that are there (of this version and this scenario), and simulates the others.

## What was assumed

- Links take 1 or 2 ms one way, drawn for each message (1 ms, 0.5 more or less, in whole milliseconds, which are never too few).
  Brokers and members take no time to compute: what a real broker and a real assignor add for thousands of members is missing here.
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

Groups of {sizes} members went through the same events once, live: this project's members on {brokers}, in a container on the
machine on which they ran, with Kafka's defaults and an initial rebalance delay of 3 s. Each cell has the simulation's median and, after
the stroke, what was measured. `python -m benchmarks.curve_live` measures them anew ([live.csv](live.csv)). One run each says
nothing about chance, and the five groups of a size lived at the same time, their members in one process, on two cores that had much other
work: of times below some seconds, and most of all with 100 members, the greater part is waiting for a processor. What may be compared is
what does not depend on that: which events cost a session timeout or a heartbeat interval, and how many partitions move.

The live members are asked whether they are settled; the simulation looks at the coordinator. Live members that start together send their
last JoinGroup together. With `range` the order of the member ids decides who has partitions at all, and so what the leave of one costs.
"""
_MEASURED = "Beyond the section above nothing here was measured on a real cluster."
_NOT_MEASURED = "Nothing here was measured on a real cluster."
_FOOT = """
## What this does not say

{measured} Absolute times at large sizes are lower bounds, because computing takes no time. Larger groups
than those of the tables were not computed for this page. A simulation of 10,000 members takes one to one and a half minutes of one core,
and 20 seeds of every size and protocol, by what the parts took, somewhat less than two hours of two.
"""
